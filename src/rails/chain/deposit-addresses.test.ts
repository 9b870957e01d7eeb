import { expect, test } from 'vitest'
import { networkNames } from '../../core/networks.ts'
import {
  childOf,
  derivedAddresses,
  encodeAddress,
  readExtendedKey,
  sandboxAddresses,
} from './deposit-addresses.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** BIP 32, test vector 2: m/0 is derived from the public key of m. */
const M =
  'xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB'
const M_0 =
  'xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH'
/** BIP 32, test vector 1: m/0'/1 and its hardened child, whose public child m/0'/1/2'/2 is known. */
const M_0H_1_2H =
  'xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5'
const M_0H_1_2H_2 =
  'xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62cfN7fe5JnJ7dh8zL4fiyLHV'
const XPRV =
  'xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U'

test.each([
  [M, 0, M_0],
  [M_0H_1_2H, 2, M_0H_1_2H_2],
])('derives the public children of the vectors of BIP 32', (parent, index, child) => {
  const derived = childOf(readExtendedKey(parent), index)
  const expected = readExtendedKey(child)
  expect([hex(derived.publicKey!), hex(derived.chainCode!)]).toEqual([
    hex(expected.publicKey!),
    hex(expected.chainCode!),
  ])
})

test('the sandbox derives the addresses of BIP 84 and BIP 44 for the public mnemonic', () => {
  const { addressOf } = sandboxAddresses()
  expect(addressOf('bitcoin', 0)).toBe('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu')
  expect(addressOf('bitcoin', 1)).toBe('bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g')
  expect(addressOf('ethereum', 0)).toBe('0x9858EfFD232B4033E47d90003D41EC34EcaEda94')
  expect(addressOf('polygon', 0)).toBe(addressOf('ethereum', 0))
  expect(addressOf('tron', 0)).toBe('TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH')
})

test('EVM and Tron write the same account, each in its own form', () => {
  const point = childOf(readExtendedKey(M), 7).publicKey!
  expect(encodeAddress.evm(point)).toMatch(/^0x[0-9A-Fa-f]{40}$/)
  expect(encodeAddress.tron(point)).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/)
})

test('an extended private key is refused, and no message repeats it', () => {
  expect(() => readExtendedKey(XPRV)).toThrow(/extended private key/)
  for (const text of [XPRV, `${XPRV}x`, XPRV.slice(0, -1), '', 'xpub', `${M.slice(0, -1)}C`]) {
    const message = (() => {
      try {
        readExtendedKey(text)
        return ''
      } catch (error) {
        return (error as Error).message
      }
    })()
    expect(message).toMatch(/^is /)
    expect(message).not.toContain(text.slice(4, 20) || '\0')
  }
})

test.each([-1, 0.5, 2 ** 31])('index %s has no child without the private key', (index) => {
  expect(() => childOf(readExtendedKey(M), index)).toThrow(/index/)
})

test.each(networkNames)('without a key nobody gets an address on %s, and the refusal says so', (network) => {
  expect(() => derivedAddresses('production', {}).addressOf(network, 0)).toThrow(
    new RegExp(`Deposits on ${network}`),
  )
})

test('no address is given on a network that nobody watches, although its kind has a key', () => {
  const { addressOf } = derivedAddresses('production', { evm: M }, (network) => network === 'polygon')
  expect(addressOf('polygon', 0)).toMatch(/^0x/)
  expect(() => addressOf('ethereum', 0)).toThrow(/Deposits on ethereum/)
  expect(() => addressOf('bitcoin', 0)).toThrow(/Deposits on bitcoin/)
})
