import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DraftInput, DUST_SATOSHIS, draftBitcoin } from './drafting.ts'
import type { Coin } from './rail.ts'
import { amountOf, feeOf, vsizeOf } from './transaction.ts'

const wallet_script = `0014${'ab'.repeat(20)}`
const payment = { script: `0014${'cd'.repeat(20)}`, amount: 50_000n }
const coin = (amount: bigint, vout = 0): Coin => ({
  txid: 'ef'.repeat(32),
  vout,
  amount,
  script: wallet_script,
})

function input({ coins = [coin(100_000n)], is_spent_further = false, ...changes }: Changes = {}): DraftInput {
  return {
    ...{ purpose: 'pay', payment, wallet_script, rate: 10_000n, made: [] },
    ...{ fee_most: 100_000n, rate_most: 500_000n },
    spending: { coins, unmined: { vsize: 0, fee: 0n }, is_spent_further },
    ...changes,
  }
}
type Changes = Partial<DraftInput> & { readonly coins?: readonly Coin[]; readonly is_spent_further?: boolean }
const back = (amount: bigint) => ({ script: wallet_script, amount })
const outputs = (...expected: readonly unknown[]) => ({ kind: 'drafted', draft: { outputs: expected } })
const later = (why: string) => ({ kind: 'later', why })

describe('a payment', () => {
  test('is exactly the amount; the fee comes from the change', () => {
    expect(draftBitcoin(input())).toMatchObject(outputs(payment, back(100_000n - 50_000n - 1410n)))
    const coins = [coin(30_000n), coin(30_000n, 1)]
    const found = draftBitcoin(input({ coins }))
    expect(found).toMatchObject(outputs(payment, back(10_000n - 2080n)))
    expect(found).toMatchObject({ draft: { coins } })
  })

  test('has no change below 294 satoshis: it goes to the fee', () => {
    const exact = 50_000n + 1410n
    expect(draftBitcoin(input({ coins: [coin(exact + 294n)] }))).toMatchObject(outputs(payment, back(294n)))
    expect(draftBitcoin(input({ coins: [coin(exact + 293n)] }))).toMatchObject(outputs(payment))
    expect(draftBitcoin(input({ coins: [coin(50_000n + 1100n)] }))).toMatchObject(outputs(payment))
  })

  test('waits if its coins do not pay amount and fee', () => {
    expect(draftBitcoin(input({ coins: [coin(50_000n + 1099n)] }))).toEqual(later('wallet_too_empty'))
    expect(draftBitcoin(input({ coins: [coin(40_000n)] }))).toEqual(later('wallet_too_empty'))
    expect(draftBitcoin(input({ coins: [coin(50_000n)] }))).toEqual(later('wallet_too_empty'))
  })

  test('waits while its fee is above a cap, also because of change that is too small', () => {
    expect(draftBitcoin(input({ fee_most: 1409n }))).toEqual(later('fee_above_cap'))
    const coins = [coin(50_000n + 1410n + 293n)]
    expect(draftBitcoin(input({ coins, fee_most: 1702n }))).toEqual(later('fee_above_cap'))
    expect(draftBitcoin(input({ coins, fee_most: 1703n }))).toMatchObject({ kind: 'drafted' })
  })
})

describe('a replacement', () => {
  const made = [{ purpose: 'pay', fee: 1000n, vsize: 141 }] as const

  test('takes its fee from the change, down to nothing', () => {
    expect(draftBitcoin(input({ made }))).toMatchObject(outputs(payment, back(48_590n)))
    expect(draftBitcoin(input({ made, coins: [coin(51_500n)] }))).toMatchObject(outputs(payment))
    expect(draftBitcoin(input({ made, coins: [coin(51_105n)] }))).toEqual(later('wallet_too_empty'))
  })

  test('is not made if another transfer spends the change', () => {
    expect(draftBitcoin(input({ made, is_spent_further: true }))).toEqual(later('not_worth_it'))
    expect(draftBitcoin(input({ made, is_spent_further: true, purpose: 'cancel' }))).toEqual(
      later('change_is_spent'),
    )
    expect(draftBitcoin(input({ is_spent_further: true }))).toMatchObject({ kind: 'drafted' })
  })

  test('that cancels gives everything but the fee back to the wallet', () => {
    expect(draftBitcoin(input({ made, purpose: 'cancel' }))).toMatchObject(outputs(back(98_890n)))
    const coins = [coin(1393n)]
    expect(draftBitcoin(input({ made, purpose: 'cancel', coins }))).toEqual(later('wallet_too_empty'))
  })
})

test('whatever the coins and rates, nothing is lost: payment, change and a fee within its bounds', () => {
  const amount = fc.bigInt({ min: 294n, max: 10n ** 7n })
  const rate = fc.bigInt({ min: 1000n, max: 600_000n })
  fc.assert(
    fc.property(fc.array(amount, { minLength: 1, maxLength: 20 }), amount, rate, (amounts, paid, rate) => {
      const coins = amounts.map(coin)
      const given = input({ coins, rate, payment: { ...payment, amount: paid } })
      const found = draftBitcoin(given)
      if (found.kind === 'later') return
      const { draft } = found
      const fee = feeOf(draft)
      const scripts = draft.outputs.map(({ script }) => script)
      const vsize = BigInt(vsizeOf(coins.length, scripts))
      expect(draft.outputs[0]).toEqual({ ...payment, amount: paid })
      expect(draft.outputs.slice(1).every(({ amount }) => amount >= DUST_SATOSHIS)).toBe(true)
      expect(amountOf(draft.outputs) + fee).toBe(amountOf(coins))
      expect(fee).toBeLessThanOrEqual(given.fee_most)
      expect(fee * 1000n).toBeGreaterThanOrEqual(rate * vsize)
    }),
  )
})
