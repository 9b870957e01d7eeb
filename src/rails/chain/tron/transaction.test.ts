import { hexToBytes } from '@noble/hashes/utils.js'
import { describe, expect, test } from 'vitest'
import { tronAddressOf, tronAddressOfKey, tronHexOf } from './address.ts'
import { readFields } from './protobuf.ts'
import { trc20TransferData } from './token.ts'
import {
  decodeRaw,
  encodeRaw,
  encodeSigned,
  refBlockOf,
  signRaw,
  type TronTransaction,
  tronFactsOf,
  txIdOf,
} from './transaction.ts'

const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'

/**
 * Transactions that other programs made. `mined`: Tron took this one on 2026-09-12 (transaction 59a57a6e… on every explorer).
 * `node`: what java-tron's `triggersmartcontract` returned.
 */
const vectors: Readonly<
  Record<
    string,
    TronTransaction & {
      readonly raw: string
      readonly tx_hash: string
      readonly to: string
      readonly amount: bigint
    }
  >
> = {
  mined: {
    owner: 'TEvQ7WSPCbJCKVC7qLo29L6zGJb2VQBRVy',
    contract: USDT,
    to: 'TWqvtpZkwfpbjujqJtzLsVx5bm79wFDJTg',
    amount: 1_000_000n,
    data: 'a9059cbb000000000000000000000000e4fa48a8512b9c332177674bb83d74e01265102800000000000000000000000000000000000000000000000000000000000f4240',
    ref_block: { bytes: '4db5', hash: '9341d33e550cdeef' },
    expiration: 1789271391000n,
    timestamp: 1789271331541n,
    fee_limit: 200_000_000n,
    raw: '0a024db522089341d33e550cdeef4098f68ac789345aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a15413650a7fc3fd9c32a46913cf76b4b157ce6efc625121541a614f803b6fd780986a42c78ec9c7f77e6ded13c2244a9059cbb000000000000000000000000e4fa48a8512b9c332177674bb83d74e01265102800000000000000000000000000000000000000000000000000000000000f424070d5a587c7893490018084af5f',
    tx_hash: '59a57a6ece659c6792ca63ce568886c1b876823a08e464b1998badf0f4f9a97f',
  },
  node: {
    owner: 'TV6MuMXfmLbBqPZvBHdwFsDnQeVfnmiuSi',
    contract: USDT,
    to: 'TV6MuMXfmLbBqPZvBHdwFsDnQeVfnmiuSi',
    amount: 1_000_000n,
    data: 'a9059cbb000000000000000000000000d1c4bb7b2f39aba5707711719b2236b5b605af2e00000000000000000000000000000000000000000000000000000000000f4240',
    ref_block: { bytes: '65b6', hash: 'ec0e44ee89090915' },
    expiration: 1790273151000n,
    timestamp: 1790273091849n,
    fee_limit: 30_000_000n,
    raw: '0a0265b62208ec0e44ee890909154098c0e1a48d345aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541d1c4bb7b2f39aba5707711719b2236b5b605af2e121541a614f803b6fd780986a42c78ec9c7f77e6ded13c2244a9059cbb000000000000000000000000d1c4bb7b2f39aba5707711719b2236b5b605af2e00000000000000000000000000000000000000000000000000000000000f42407089f2dda48d3490018087a70e',
    tx_hash: '0d71ab37cc07f5632292b37f90ce4371a2893358abd6ed113a72004278ef8b18',
  },
}

/** Of the transaction `mined`. */
const MINED_SIGNATURE =
  '70ff8f852e7a05431a929cb05def3974b4a1775d214a103e70b3954c9f9efce668ccf3d6fbfeeedfed43602c49bd963d20767d7b7229b1301f2d9361cd2abd911b'

/**
 * From the tests of Trust Wallet Core (SignTransferTrc20Contract): a published key, and the signature that it gives. Its library writes
 * the recovery without the 27 that tronweb adds; nodes take both.
 */
const walletCore = {
  key: '2d8f68944bdbfbc0769542fba8fc2d2a3de67393334471624364c7006da2aa54',
  owner: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC',
  raw: '0a027b3b2208b21ace8d6ac20e7e40d8abb9bae62c5aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a15415cd0fb0ab3ce40f3051414c604b27756e69e43db121541521ea197907927725ef36d70f25f850d1659c7c72244a9059cbb000000000000000000000041dbd7c53729b3310e1843083000fa84abad99696100000000000000000000000000000000000000000000000000000000000003e870d889a4a9e62c',
  tx_hash: '0d644290e3cf554f6219c7747f5287589b6e7e30e1b02793b48ba362da6a5058',
  rs: 'bec790877b3a008640781e3948b070740b1f6023c29ecb3f7b5835433c13fc5835e5cad3bd44360ff2ddad5ed7dc9d7dee6878f90e86a40355b7697f5954b88c',
  recovery: 1,
}

describe('bytes equal to those of other programs', () => {
  test.each(Object.entries(vectors))('%s', (_, { raw, tx_hash, to, amount, ...transaction }) => {
    expect(trc20TransferData(to, amount)).toBe(transaction.data)
    expect(encodeRaw(transaction)).toBe(raw)
    expect(decodeRaw(raw)).toEqual(transaction)
    expect(txIdOf(raw)).toBe(tx_hash)
  })

  test('the signature of a mined transaction is attributed to its wallet', () => {
    const { raw, tx_hash, owner } = vectors.mined!
    const signed = encodeSigned(raw, hexToBytes(MINED_SIGNATURE))
    expect(tronFactsOf(signed)).toEqual({ raw, tx_hash, signer: owner })
  })

  test('the signature of a published key', () => {
    const { key, raw, tx_hash, owner, rs, recovery } = walletCore
    const secret = hexToBytes(key)
    expect(tronAddressOfKey(secret)).toBe(owner)
    expect(txIdOf(raw)).toBe(tx_hash)
    const signature = hexToBytes(`${rs}${(27 + recovery).toString(16)}`)
    expect(signRaw(raw, secret)).toBe(encodeSigned(raw, signature))
    expect(tronFactsOf(signRaw(raw, secret))).toEqual({ raw, tx_hash, signer: owner })
  })

  test('the id of block 0 of Tron gives its reference', () => {
    expect(refBlockOf('00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc')).toEqual({
      bytes: '0000',
      hash: '1ebf88508a03865c',
    })
  })
})

describe('strict decoding', () => {
  const { raw } = vectors.mined!
  const tail = raw.slice(raw.indexOf('70d5a5'))
  const changes: Record<string, string> = {
    'a memo': raw.replace('5aae01', '52026869' + '5aae01'),
    'a second contract': raw.replace(tail, raw.slice(raw.indexOf('5aae01'), raw.indexOf('70d5a5')) + tail),
    'bytes behind the end': `${raw}00`,
    'a field of a later number': `${raw}a00101`,
    'a number in a longer form': raw.replace('90018084af5f', '90018084afdf00'),
    'a fee limit of 0, written': raw.replace('90018084af5f', '900100'),
    'fields in another order': `${raw.slice(raw.indexOf('2208'), raw.indexOf('4098'))}${raw.slice(0, 8)}${raw.slice(raw.indexOf('4098'))}`,
    'another kind of contract': raw.replace('081f', '0801'),
    'another type URL': raw.replace('54726967676572', '54726967676573'),
    'bytes that are cut off': raw.slice(0, -2),
    'no hex': `${raw.slice(0, -2)}zz`,
    'upper case': raw.toUpperCase(),
    empty: '',
  }
  test.each(Object.entries(changes))('refuses %s', (_, changed) => {
    expect(changed).not.toBe(raw)
    expect(decodeRaw(changed)).toBeUndefined()
  })

  test('refuses TRX, a token and a permission in the call', () => {
    const call = (extra: string) => {
      const length = extra.length / 2
      return raw
        .replace('5aae01', `5a${(0xae + length).toString(16)}01`)
        .replace('12a901', `12${(0xa9 + length).toString(16)}01`)
        .replace('1274', `12${(0x74 + length).toString(16)}`)
        .replace('70d5a5', `${extra}70d5a5`)
    }
    // call_value (3) comes before data (4), call_token_value is 5, token_id 6.
    for (const extra of ['2801', '3001', '28013001']) expect(decodeRaw(call(extra))).toBeUndefined()
    const valued = raw
      .replace('5aae01', '5ab001')
      .replace('12a901', '12ab01')
      .replace('1274', '1276')
      .replace('2244', '18012244')
    expect(readFields(hexToBytes(valued))).toBeDefined()
    expect(decodeRaw(valued)).toBeUndefined()
  })

  test('every change of one bit gives another transaction, or none', () => {
    const bytes = hexToBytes(raw)
    for (let at = 0; at < bytes.length; at++)
      for (let bit = 0; bit < 8; bit++) {
        const changed = bytes.slice()
        changed[at]! ^= 1 << bit
        const hex = Buffer.from(changed).toString('hex')
        const found = decodeRaw(hex)
        if (found) expect(encodeRaw(found)).toBe(hex)
      }
  })

  test('a signature is of its bytes alone', () => {
    const signed = signRaw(walletCore.raw, hexToBytes(walletCore.key))
    expect(tronFactsOf(`${signed}00`)).toBeUndefined()
    expect(tronFactsOf(signed.slice(0, -2))).toBeUndefined()
    expect(tronFactsOf('')).toBeUndefined()
    const other = signed.replace('70d889a4', '70d989a4')
    expect(tronFactsOf(other)?.signer).not.toBe(walletCore.owner)
  })
})

test('addresses: base58 with a checksum, or 41 and the account as hex', () => {
  expect(tronHexOf(USDT)).toBe('41a614f803b6fd780986a42c78ec9c7f77e6ded13c')
  expect(tronAddressOf('41a614f803b6fd780986a42c78ec9c7f77e6ded13c')).toBe(USDT)
  expect(tronHexOf('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u')).toBeUndefined()
  expect(tronHexOf('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')).toBeUndefined()
  expect(() => tronAddressOf('a614f803b6fd780986a42c78ec9c7f77e6ded13c')).toThrow()
})
