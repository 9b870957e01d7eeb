import { secp256k1 } from '@noble/curves/secp256k1.js'
import { expect, test } from 'vitest'
import { derivedAddresses, encodeAddress } from '../chain/deposit-addresses.ts'
import { openDepositKeys } from './deposit-keys.ts'

/** BIP 32, test vectors 2 and 1. */
const XPRV =
  'xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U'
const XPUB =
  'xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB'
const OTHER_XPUB =
  'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8'

test.each([0, 1, 77, 2 ** 31 - 1])('the private key at %s is that of the address at this index', (index) => {
  const { addressOf } = derivedAddresses('production', { bitcoin: XPUB, evm: XPUB })
  const point = secp256k1.getPublicKey(openDepositKeys(XPRV, XPUB).secretAt(index))
  expect(encodeAddress.bitcoin(point)).toBe(addressOf('bitcoin', index))
  expect(encodeAddress.evm(point)).toBe(addressOf('polygon', index))
})

test('the account for gas is none of the first thousand addresses', () => {
  const keys = openDepositKeys(XPRV, XPUB)
  const gas = encodeAddress.evm(secp256k1.getPublicKey(keys.gasSecret()))
  const { addressOf } = derivedAddresses('production', { evm: XPUB })
  expect(Array.from({ length: 1000 }, (_, index) => addressOf('polygon', index))).not.toContain(gas)
})

test.each([
  [XPRV, OTHER_XPUB, /another extended public key/],
  [XPUB, XPUB, /does not begin with xprv/],
  [`${XPRV}1`, XPUB, /checksum/],
  ['', XPUB, /length|checksum/],
])('a key that does not fit is refused without being shown', (xprv, xpub, problem) => {
  const open = () => openDepositKeys(xprv, xpub)
  expect(open).toThrow(problem)
  expect(open).not.toThrow(xprv.slice(4, 30) || '\0')
})
