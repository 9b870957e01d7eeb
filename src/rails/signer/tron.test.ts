import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { networks } from '../../core/networks.ts'
import { tronAddressOfKey } from '../chain/tron/address.ts'
import { trc20TransferData } from '../chain/tron/token.ts'
import { encodeRaw, type TronTransaction, tronFactsOf, txIdOf } from '../chain/tron/transaction.ts'
import { sealOf } from './seal.ts'
import { type Intent, SignatureRefused, type Signer, type SignerRule, type SignRequest } from './signer.ts'
import { localTronSigner, TRON_EXPIRY_MS } from './tron.ts'

const key = createHash('sha256').update('a wallet of tests on tron').digest('hex')
const wallet = tronAddressOfKey(Buffer.from(key, 'hex'))
const seal_key = createHash('sha256').update('a seal key').digest()
const destination_address = 'TWqvtpZkwfpbjujqJtzLsVx5bm79wFDJTg'
const stranger = 'TEvQ7WSPCbJCKVC7qLo29L6zGJb2VQBRVy'
const amount = 1_500_000n
const NOW = 1_789_271_331_000

const openSigner = (changes: Partial<Parameters<typeof localTronSigner>[0]> = {}) =>
  localTronSigner({
    key,
    sealKey: async () => seal_key,
    fee_most: 30_000_000n,
    per_hour: { count: 3, amount: 5_000_000n, cost: 90_000_000n },
    clock: { now: () => NOW },
    ...changes,
  })

function intentOf(changes: Partial<Intent> = {}): Intent {
  const sealable = { transfer_id: 'tr_1', network: 'tron', destination_address, amount, ...changes } as const
  return { seal: sealOf(seal_key, sealable), ...sealable }
}

const payment = (changes: Partial<TronTransaction> = {}): TronTransaction => ({
  owner: wallet,
  contract: networks.tron.usdt_contracts[0],
  data: trc20TransferData(destination_address, amount),
  ref_block: { bytes: '4db5', hash: '9341d33e550cdeef' },
  expiration: BigInt(NOW + TRON_EXPIRY_MS),
  timestamp: BigInt(NOW),
  fee_limit: 17_000_000n,
  ...changes,
})

type Changes = Partial<Omit<SignRequest, 'unsigned'>> & { readonly unsigned?: TronTransaction | string }

const requestOf = ({ unsigned = payment(), ...changes }: Changes = {}): SignRequest => ({
  intent: intentOf(),
  purpose: 'pay',
  reservation: { wallet, nonce: 7n },
  ...changes,
  unsigned: typeof unsigned === 'string' ? unsigned : encodeRaw(unsigned),
})

const ruleOf = (
  signer: ReturnType<typeof openSigner>,
  request: SignRequest,
): Promise<SignerRule | 'signed'> =>
  signer.sign(request).then(
    () => 'signed' as const,
    (error: unknown) => {
      if (error instanceof SignatureRefused) return error.rule
      throw error
    },
  )

test('signs exactly the bytes that it was handed', async () => {
  const request = requestOf()
  const { signed } = await openSigner().sign(request)
  expect(tronFactsOf(signed)).toEqual({
    raw: request.unsigned,
    signer: wallet,
    tx_hash: txIdOf(request.unsigned),
  })
  expect(await openSigner().sign(request)).toEqual({ signed })
  expect(await openSigner().addresses()).toEqual({ tron: wallet })
})

describe('refuses', () => {
  const refused: readonly [string, SignerRule, Changes][] = [
    ['another network', 'network', { intent: intentOf({ network: 'polygon' }) }],
    ['a seal of another amount', 'seal', { intent: { ...intentOf(), amount: 2n } }],
    ['a seal of another destination', 'seal', { intent: { ...intentOf(), destination_address: stranger } }],
    ['no seal', 'seal', { intent: { ...intentOf(), seal: '' } }],
    ['a cancel', 'purpose', { purpose: 'cancel' }],
    ['bytes that are no transaction', 'encoding', { unsigned: 'abcd' }],
    ['a memo', 'encoding', { unsigned: encodeRaw(payment()).replace('5aae01', '520268695aae01') }],
    ['a reservation of another wallet', 'wallet', { reservation: { wallet: stranger, nonce: 7n } }],
    ['a reservation of coins', 'nonce', { reservation: { wallet, coins: [] } }],
    ['another owner', 'wallet', { unsigned: payment({ owner: stranger }) }],
    ['another contract', 'to', { unsigned: payment({ contract: stranger }) }],
    ['another destination', 'data', { unsigned: payment({ data: trc20TransferData(stranger, amount) }) }],
    ['another amount', 'data', { unsigned: payment({ data: trc20TransferData(destination_address, 1n) }) }],
    [
      'another function',
      'data',
      {
        unsigned: payment({
          data: trc20TransferData(destination_address, amount).replace('a9059cbb', '095ea7b3'),
        }),
      },
    ],
    [
      'more data than a transfer',
      'data',
      { unsigned: payment({ data: `${trc20TransferData(destination_address, amount)}00` }) },
    ],
    ['a fee limit above the cap', 'fee_cap', { unsigned: payment({ fee_limit: 30_000_001n }) }],
    [
      'an expiry after ten minutes and the difference that two clocks may have',
      'expiration',
      { unsigned: payment({ expiration: BigInt(NOW + TRON_EXPIRY_MS + 30_001) }) },
    ],
    ['an expiry in the past', 'expiration', { unsigned: payment({ expiration: BigInt(NOW) }) }],
    [
      'an expiry before its time',
      'expiration',
      { unsigned: payment({ timestamp: BigInt(NOW + TRON_EXPIRY_MS) }) },
    ],
  ]
  test.each(refused)('%s', async (_, rule, changes) => {
    expect(await ruleOf(openSigner(), requestOf(changes))).toBe(rule)
  })

  test('more than the limits of an hour; each payment counts for itself, the same bytes count their amount once', async () => {
    const next = (signer: Signer, place: number, transfer_id = 'tr_1') =>
      ruleOf(
        signer,
        requestOf({ intent: intentOf({ transfer_id }), unsigned: payment({ timestamp: BigInt(place) }) }),
      )
    const signer = openSigner()
    expect([await next(signer, 1), await next(signer, 1), await next(signer, 2, 'tr_2')]).toEqual([
      ...['signed', 'signed', 'signed'],
    ])
    expect(await next(signer, 3, 'tr_3')).toBe('count_per_hour')
    const narrow = openSigner({ per_hour: { count: 9, amount: 2_000_000n, cost: 90_000_000n } })
    expect([await next(narrow, 1), await next(narrow, 1), await next(narrow, 2, 'tr_2')]).toEqual([
      ...['signed', 'signed', 'amount_per_hour'],
    ])
  })
})

describe('a further payment of a transfer', () => {
  const at = (ms: number): TronTransaction =>
    payment({ expiration: BigInt(ms + TRON_EXPIRY_MS), timestamp: BigInt(ms) })
  const first = at(NOW)
  const hash = txIdOf(encodeRaw(first))
  const per_hour = { count: 99, amount: 10n ** 9n, cost: 10n ** 9n }
  const open = () => {
    const clock = { time: NOW, now: () => clock.time }
    return { clock, signer: openSigner({ clock, per_hour }) }
  }
  const PAST = NOW + TRON_EXPIRY_MS + 120_000

  test('is signed when the first one expired two minutes ago, and is named', async () => {
    const { clock, signer } = open()
    const again = (earlier?: readonly string[]) =>
      ruleOf(signer, requestOf({ unsigned: at(clock.time), ...(earlier ? { earlier } : {}) }))
    expect(await ruleOf(signer, requestOf({ unsigned: first }))).toBe('signed')
    clock.time = PAST - 1
    expect(await again([hash])).toBe('earlier_payments')
    clock.time = PAST
    expect(await again()).toBe('earlier_payments')
    expect(await again([txIdOf(encodeRaw(at(1)))])).toBe('earlier_payments')
    // A draft that nobody signed is named beside it.
    expect(await again([txIdOf(encodeRaw(at(1))), hash])).toBe('signed')
    const second = txIdOf(encodeRaw(at(PAST)))
    clock.time = PAST + TRON_EXPIRY_MS + 120_000
    expect(await again([hash])).toBe('earlier_payments')
    expect(await again([second])).toBe('earlier_payments')
    expect(await again([second, hash])).toBe('signed')
  })

  test('is none if its bytes are those of the first one', async () => {
    const { clock, signer } = open()
    const { signed } = await signer.sign(requestOf({ unsigned: first }))
    clock.time = NOW + 1
    expect(await signer.sign(requestOf({ unsigned: first }))).toEqual({ signed })
    const other = intentOf({ transfer_id: 'tr_2' })
    expect(await ruleOf(signer, requestOf({ intent: other, unsigned: first }))).toBe('earlier_payments')
  })

  test('gets no room kept either', async () => {
    const { clock, signer } = open()
    await signer.sign(requestOf({ unsigned: first }))
    const ahead = { transfer_id: 'tr_1', network: 'tron', amount, cost: 1n } as const
    clock.time = PAST
    await expect(signer.keepRoom(ahead)).rejects.toMatchObject({ rule: 'earlier_payments' })
    expect(await signer.keepRoom({ ...ahead, earlier: [hash] })).toBeUndefined()
  })
})

test('what was signed before a restart counts', async () => {
  const before = { network: 'tron', spends: '1', amount: 4_000_000n, cost: 1n, at: new Date(NOW) } as const
  const signer = openSigner({ signedBefore: async () => [before] })
  expect(await ruleOf(signer, requestOf())).toBe('amount_per_hour')
})

test('no object and no error shows the key', async () => {
  const signer = openSigner()
  const error = await signer.sign(requestOf({ purpose: 'cancel' })).catch((thrown: unknown) => thrown)
  for (const shown of [inspect(signer, { depth: 9, showHidden: true }), inspect(error)])
    expect(shown).not.toContain(key)
})
