import { readFileSync } from 'node:fs'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bech32, bech32m, createBase58check } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Network, networkNames, networks } from '../../core/networks.ts'
import { isPayableAddress } from './address.ts'

type Vector = { network: Network; address: string; valid: boolean; why: string }

const vectors: Vector[] = JSON.parse(
  readFileSync(new URL('../../../test/vectors/addresses.json', import.meta.url), 'utf8'),
)

const base58check = createBase58check(sha256)
const base58Alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const bech32Alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const alphanumerics = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const evmNetworks = networkNames.filter((name) => networks[name].kind === 'evm')
const evm = (address: string, require_checksum = false) =>
  new Set(evmNetworks.map((network) => isPayableAddress(network, address, { require_checksum })))
const yes = new Set([true])
const no = new Set([false])

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const hexOf = (data: Uint8Array) => Buffer.from(data).toString('hex')
const fromHex = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))
const base58 = (version: number, hash: Uint8Array) => base58check.encode(Uint8Array.of(version, ...hash))
const segwit = (version: number, program: Uint8Array, prefix = 'bc') =>
  (version === 0 ? bech32 : bech32m).encode(prefix, [version, ...bech32.toWords(program)])

/** EIP-55 once more, by bits of the hash read as one number. */
function checksummed(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = BigInt(`0x${hexOf(keccak_256(Buffer.from(digits, 'latin1')))}`)
  const upper = (index: number) => ((hash >> BigInt(255 - 4 * index)) & 1n) === 1n
  return `0x${[...digits].map((digit, index) => (upper(index) ? digit.toUpperCase() : digit)).join('')}`
}

const flipped = (letter: string) =>
  letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
const replaced = (text: string, index: number, put: string) =>
  text.slice(0, index) + put + text.slice(index + 1)

function changesOfOne(text: string, alphabet: string): string[] {
  return [...text].flatMap((old, index) =>
    [...alphabet].filter((other) => other !== old).map((other) => replaced(text, index, other)),
  )
}

const valid = (network: Network) =>
  vectors.filter((vector) => vector.valid && vector.network === network).map(({ address }) => address)
const bitcoinBase58 = valid('bitcoin').filter((address) => /^[13]/.test(address))
const bitcoinBech32 = valid('bitcoin').filter((address) => /^bc1/.test(address))

describe('the vectors', () => {
  it.each(vectors)('$network $address is $valid: $why', ({ network, address, valid }) => {
    expect(isPayableAddress(network, address)).toBe(valid)
  })

  it('name every network and hold both outcomes', () => {
    expect(new Set(vectors.map(({ network }) => network))).toEqual(new Set(networkNames))
    expect(new Set(vectors.map(({ valid }) => valid))).toEqual(new Set([true, false]))
  })
})

describe('networks', () => {
  it('USDT moves on five, BTC on bitcoin', () => {
    expect(Object.keys(networks).sort()).toEqual([...networkNames].sort())
    expect(networkNames.filter((name) => networks[name].asset === 'USDT')).toEqual([
      'polygon',
      'arbitrum',
      'optimism',
      'tron',
      'ethereum',
    ])
    expect(networks.bitcoin).toMatchObject({ asset: 'BTC', kind: 'bitcoin' })
  })

  it('the contracts are written with their own checksum', () => {
    for (const network of evmNetworks) {
      for (const contract of contractsOf(network)) expect(contract).toBe(checksummed(contract))
    }
    expect(base58check.decode(networks.tron.usdt_contracts[0])[0]).toBe(0x41)
  })
})

describe('EVM', () => {
  // The list of EIP-55 itself.
  it.each([
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x27b1fdb04752bbc536007a920d24acb045561c26',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ])('takes %s of EIP-55, also where a checksum is required', (address) => {
    expect(evm(address)).toEqual(yes)
    expect(evm(address, true)).toEqual(yes)
  })

  it('all lower case is taken unless a checksum is required', () => {
    const lower = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'
    expect(isPayableAddress('ethereum', lower)).toBe(true)
    expect(isPayableAddress('ethereum', lower, {})).toBe(true)
    expect(evm(lower)).toEqual(yes)
    expect(evm(lower, true)).toEqual(no)
  })

  it('all upper case is taken only where that is the checksum', () => {
    expect(evm('0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED')).toEqual(no)
    expect(evm('0x52908400098527886E0F7030069857D2E4169EE7')).toEqual(yes)
  })

  it('an address of digits only has no letter case to check', () => {
    const digits = '0x1234567890123456789012345678901234567890'
    expect(evm(digits)).toEqual(yes)
    expect(evm(digits, true)).toEqual(yes)
  })

  it.each([
    '0x0000000000000000000000000000000000000000',
    '0x000000000000000000000000000000000000dEaD',
    '0x000000000000000000000000000000000000dead',
    '0x000000000000000000000000000000000000DEAD',
    checksummed('0x000000000000000000000000000000000000dead'),
  ])('refuses %s, which nobody holds', (address) => {
    expect(evm(address)).toEqual(no)
    expect(evm(address, true)).toEqual(no)
  })

  it.each(evmNetworks)('refuses the USDT contracts of %s in every spelling', (network) => {
    const contracts = contractsOf(network)
    expect(contracts).toHaveLength(network === 'optimism' ? 2 : 1)
    for (const contract of contracts) {
      for (const text of [contract, contract.toLowerCase(), `0x${contract.slice(2).toUpperCase()}`]) {
        expect(isPayableAddress(network, text)).toBe(false)
        expect(isPayableAddress(network, text, { require_checksum: true })).toBe(false)
      }
    }
  })

  it.each([
    ['0X in front', '0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['0X in front of lower case', '0X5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
    ['space in front', ' 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['line feed behind', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n'],
    ['chain prefix of EIP-3770', 'eth:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['payment link of EIP-681', 'ethereum:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['full-width digit', '0x５aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
    ['a private key', `0x${'1f'.repeat(32)}`],
    ['a Bitcoin address', 'bc1qhxt04s5xnpy0kxw4x99n5hpdf5pmtzpqs52es2'],
  ])('refuses %s', (_, address) => {
    expect(evm(address)).toEqual(no)
  })

  it('takes any address in lower case and with its checksum', () => {
    fc.assert(
      fc.property(bytes(20), (data) => {
        fc.pre(data.some((byte) => byte !== 0))
        const address = `0x${hexOf(data)}`
        expect(evm(address)).toEqual(yes)
        expect(evm(checksummed(address))).toEqual(yes)
        expect(evm(checksummed(address), true)).toEqual(yes)
      }),
    )
  })

  it('a letter in the wrong case is refused', () => {
    fc.assert(
      fc.property(bytes(20), (data) => {
        const address = checksummed(`0x${hexOf(data)}`)
        for (const { index, 0: letter } of address.matchAll(/[A-Fa-f]/g)) {
          const changed = replaced(address, index, flipped(letter))
          expect(evm(changed, true)).toEqual(no)
          // If the only capital changed, the address is in lower case and has no checksum.
          expect(evm(changed)).toEqual(/[A-F]/.test(changed) ? no : yes)
        }
      }),
    )
  })

  it('every case flip of the mixed-case vectors is refused', () => {
    const mixed = valid('ethereum').filter((address) => /[a-f]/.test(address) && /[A-F].*[A-F]/.test(address))
    expect(mixed).toHaveLength(3)
    for (const address of mixed) {
      for (const { index, 0: letter } of address.matchAll(/[A-Fa-f]/g)) {
        expect(evm(replaced(address, index, flipped(letter)))).toEqual(no)
      }
    }
  })
})

describe('Tron', () => {
  const holder = fromHex('dd791d6b49e190062d650e6a23c575510d35f2f9')

  it.each([
    ['hex form', `41${hexOf(holder)}`],
    ['hex form with 0x', `0x41${hexOf(holder)}`],
    ['hex form without version', `0x${hexOf(holder)}`],
    ['zero address', base58(0x41, new Uint8Array(20))],
    ['USDT contract', networks.tron.usdt_contracts[0]],
    ['next version', base58(0x42, holder)],
    ['previous version', base58(0x40, holder)],
    ['19 bytes', base58(0x41, holder.slice(1))],
    ['21 bytes', base58(0x41, Uint8Array.of(1, ...holder))],
    ['no checksum', base58(0x41, holder).slice(0, -5)],
    ['a 1 in front', `1${base58(0x41, holder)}`],
    ['space in front', ` ${base58(0x41, holder)}`],
    ['line feed behind', `${base58(0x41, holder)}\n`],
    ['lower case', base58(0x41, holder).toLowerCase()],
    ['nothing', ''],
  ])('refuses %s', (_, address) => {
    expect(isPayableAddress('tron', address)).toBe(false)
  })

  it('takes any address with a right checksum', () => {
    const edges = fc.constantFrom(
      Uint8Array.of(...new Uint8Array(19), 1),
      Uint8Array.of(1, ...new Uint8Array(19)),
      new Uint8Array(20).fill(255),
    )
    fc.assert(
      fc.property(fc.oneof(bytes(20), edges), (hash) => {
        fc.pre(hash.some((byte) => byte !== 0))
        const address = base58(0x41, hash)
        expect(address).toMatch(/^T.{33}$/)
        expect(isPayableAddress('tron', address)).toBe(true)
        expect(isPayableAddress('tron', address, { require_checksum: true })).toBe(true)
      }),
    )
  })

  it.each(valid('tron'))('refuses every change of one character of %s', (address) => {
    const changes = changesOfOne(address, alphanumerics)
    expect(changes).toHaveLength(34 * 61)
    expect(changes.filter((changed) => isPayableAddress('tron', changed))).toEqual([])
  })
})

describe('Bitcoin', () => {
  const hash20 = fromHex('b996fac2869848fb19d5314b3a5c2d4d03b58820')
  const hash32 = fromHex('460bf90d8d4ab2f120a3dec07d1adf039248787a70572ff70d40f0dc7a1dd210')
  const outputKey = fromHex('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798')
  const words = (version: number, data: Uint8Array) => [version, ...bech32.toWords(data)]
  const paddedBy = (all: number[], bits: number) => [...all.slice(0, -1), all.at(-1)! | bits]

  it.each([
    ['P2PKH', base58(0x00, hash20), /^1/],
    ['P2PKH of the shortest form', base58(0x00, Uint8Array.of(...new Uint8Array(19), 1)), /^1{20}/],
    ['P2SH', base58(0x05, hash20), /^3/],
    ['P2WPKH', segwit(0, hash20), /^bc1q/],
    ['P2WSH', segwit(0, hash32), /^bc1q/],
    ['P2TR', segwit(1, outputKey), /^bc1p/],
  ])('takes %s', (_, address, form) => {
    expect(address).toMatch(form)
    expect(isPayableAddress('bitcoin', address)).toBe(true)
  })

  it.each(bitcoinBech32)('takes %s all in upper case, never mixed', (address) => {
    const upper = address.toUpperCase()
    expect(isPayableAddress('bitcoin', upper)).toBe(true)
    expect(isPayableAddress('bitcoin', `bc1${upper.slice(3)}`)).toBe(false)
    expect(isPayableAddress('bitcoin', `BC1${address.slice(3)}`)).toBe(false)
    expect(isPayableAddress('bitcoin', `Bc1${address.slice(3)}`)).toBe(false)
  })

  it.each([
    [
      'a key that is on no curve point (Bitcoin Core, key_io_valid.json)',
      'bc1pve739yap4uxjvfk0jrey69078u0gasm2nwvv483ec6zkzulgw9xqu4w9fd',
    ],
    [
      'a key not on the curve (BIP 340, vector 5)',
      segwit(1, fromHex('eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34')),
    ],
    [
      'a key beyond the field (BIP 340, vector 14)',
      segwit(1, fromHex('fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc30')),
    ],
    ['a key of zero', segwit(1, new Uint8Array(32))],
  ])('refuses P2TR with %s', (_, address) => {
    expect(isPayableAddress('bitcoin', address)).toBe(false)
    expect(isPayableAddress('bitcoin', address.toUpperCase())).toBe(false)
  })

  it.each([
    ['pay to anchor', 'bc1pfeessrawgf'],
    ['pay to anchor in upper case', 'BC1PFEESSRAWGF'],
    ['version 1 of 20 bytes', segwit(1, hash20)],
    ['version 1 of 33 bytes', segwit(1, Uint8Array.of(2, ...outputKey))],
    ['version 0 of 31 bytes', segwit(0, hash32.slice(1))],
    ['version 0 with the checksum of BIP 350', bech32m.encode('bc', words(0, hash20))],
    ['version 0 of 32 bytes with the checksum of BIP 350', bech32m.encode('bc', words(0, hash32))],
    ['version 1 with the checksum of BIP 173', bech32.encode('bc', words(1, outputKey))],
    ['no program', bech32.encode('bc', [])],
    ['padding that is not zero, version 0', bech32.encode('bc', paddedBy(words(0, hash32), 1))],
    ['padding that is not zero, version 1', bech32m.encode('bc', paddedBy(words(1, outputKey), 1))],
    ['padding of more than four bits', bech32m.encode('bc', [...words(1, outputKey), 0])],
    ['testnet P2WPKH', segwit(0, hash20, 'tb')],
    ['testnet P2TR', segwit(1, outputKey, 'tb')],
    ['regtest P2WPKH', segwit(0, hash20, 'bcrt')],
    ['Litecoin', segwit(0, hash20, 'ltc')],
    ['testnet P2PKH', base58(0x6f, hash20)],
    ['testnet P2SH', base58(0xc4, hash20)],
    ['Litecoin P2SH', base58(0x32, hash20)],
    ['Tron', base58(0x41, hash20)],
    ['P2PKH of 19 bytes', base58(0x00, hash20.slice(1))],
    ['P2SH of 21 bytes', base58(0x05, Uint8Array.of(0, ...hash20))],
    ['a 1 more in front', `1${base58(0x00, hash20)}`],
    ['space in front', ` ${segwit(0, hash20)}`],
    ['line feed behind', `${segwit(0, hash20)}\n`],
    ['payment link of BIP 21', `bitcoin:${segwit(0, hash20)}`],
    ['a public key', `02${hexOf(outputKey)}`],
  ])('refuses %s', (_, address) => {
    expect(isPayableAddress('bitcoin', address)).toBe(false)
  })

  it.each(Array.from({ length: 15 }, (_, index) => index + 2))('refuses witness version %i', (version) => {
    expect(isPayableAddress('bitcoin', segwit(version, outputKey))).toBe(false)
    expect(isPayableAddress('bitcoin', segwit(version, hash20))).toBe(false)
  })

  it('refuses a letter that only lower-casing turns into k', () => {
    const upper = bitcoinBech32.map((address) => address.toUpperCase()).filter((text) => text.includes('K'))
    expect(upper.length).toBeGreaterThan(0)
    for (const address of upper) {
      expect(address.replace('K', '\u212a').toLowerCase()).toBe(address.toLowerCase())
      expect(isPayableAddress('bitcoin', address.replace('K', '\u212a'))).toBe(false)
    }
  })

  it('takes any hash, and a taproot key exactly when it lies on the curve', () => {
    const { p } = secp256k1.Point.CURVE()
    const liftable = (x: bigint) => {
      // BIP 340, lift_x: x³ + 7 has a square root modulo p.
      if (x >= p) return false
      const square = (x ** 3n + 7n) % p
      let power = 1n
      for (let base = square, rest = (p - 1n) / 2n; rest > 0n; rest >>= 1n, base = (base * base) % p) {
        if (rest & 1n) power = (power * base) % p
      }
      return power <= 1n
    }
    const seen = { on: 0, off: 0 }
    fc.assert(
      fc.property(bytes(20), bytes(32), (short, long) => {
        for (const address of [base58(0, short), base58(5, short), segwit(0, short), segwit(0, long)]) {
          expect(isPayableAddress('bitcoin', address)).toBe(true)
        }
        const on = liftable(BigInt(`0x${hexOf(long)}`))
        seen[on ? 'on' : 'off'] += 1
        expect(isPayableAddress('bitcoin', segwit(1, long))).toBe(on)
      }),
    )
    expect(seen.on).toBeGreaterThan(0)
    expect(seen.off).toBeGreaterThan(0)
  })

  it.each(bitcoinBase58)('refuses every change of one character of %s', (address) => {
    const changes = changesOfOne(address, alphanumerics)
    expect(changes).toHaveLength(34 * 61)
    expect(changes.filter((changed) => isPayableAddress('bitcoin', changed))).toEqual([])
  })

  it.each(bitcoinBech32)('refuses every change of one character of %s', (address) => {
    const changes = changesOfOne(address, alphanumerics)
    expect(changes).toHaveLength(address.length * 61)
    expect(changes.filter((changed) => isPayableAddress('bitcoin', changed))).toEqual([])
    const upper = changesOfOne(address.toUpperCase(), alphanumerics)
    expect(upper.filter((changed) => isPayableAddress('bitcoin', changed))).toEqual([])
  })
})

describe('properties', () => {
  const address = fc.constantFrom(...vectors.map((vector) => vector.address))
  const network = fc.constantFrom(...networkNames)

  it('a change of one character of any Base58Check or Bech32 address is refused', () => {
    const pick = fc.tuple(fc.nat(), fc.nat())
    const change = (text: string, alphabet: string, [at, which]: readonly [number, number]) => {
      const index = at % text.length
      const others = [...alphabet].filter((other) => other !== text[index])
      return replaced(text, index, others[which % others.length]!)
    }
    fc.assert(
      fc.property(bytes(20), bytes(32), pick, (short, long, place) => {
        expect(isPayableAddress('tron', change(base58(0x41, short), base58Alphabet, place))).toBe(false)
        for (const text of [base58(0, short), base58(5, short)]) {
          expect(isPayableAddress('bitcoin', change(text, base58Alphabet, place))).toBe(false)
        }
        for (const text of [segwit(0, short), segwit(0, long), segwit(1, long)]) {
          expect(isPayableAddress('bitcoin', change(text, bech32Alphabet, place))).toBe(false)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('no address is payable on networks of two kinds', () => {
    fc.assert(
      fc.property(address, (text) => {
        const taken = networkNames.filter((name) => isPayableAddress(name, text))
        expect(new Set(taken.map((name) => networks[name].kind)).size).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('never throws, and takes no random text', () => {
    const unit = fc.constantFrom(...alphanumerics, ' ', '\0', '\u212a', '\ud800', 'İ')
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 120 }),
      fc.string({ unit, maxLength: 120 }),
      fc
        .tuple(fc.constantFrom('bc1', 'BC1', '0x', 'T', '1', '3'), fc.string({ unit, maxLength: 80 }))
        .map(([front, rest]) => front + rest),
    )
    fc.assert(
      fc.property(network, text, fc.boolean(), (name, random, require_checksum) => {
        expect(isPayableAddress(name, random, { require_checksum })).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })

  it('never throws for an address with characters inserted or removed', () => {
    const put = fc.string({ unit: 'binary', maxLength: 3 })
    fc.assert(
      fc.property(network, address, put, fc.nat(), fc.nat(3), (name, text, more, at, less) => {
        const index = at % (text.length + 1)
        const changed = text.slice(0, index) + more + text.slice(index + less)
        expect(typeof isPayableAddress(name, changed)).toBe('boolean')
      }),
      { numRuns: 2000 },
    )
  })

  it('rejects a text that is far too long at once', () => {
    const began = performance.now()
    for (const name of networkNames) {
      for (const one of ['1', 'T', 'z', 'bc1', '0x', '٣']) {
        expect(isPayableAddress(name, one.repeat(30_000 / one.length))).toBe(false)
      }
    }
    expect(performance.now() - began).toBeLessThan(5000)
  })
})

function contractsOf(network: Network): readonly string[] {
  const rules = networks[network]
  return rules.kind === 'bitcoin' ? [] : rules.usdt_contracts
}
