import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allBehind, neededBy, type Selectable, selectCoins } from './selection.ts'

const NEEDS = { amount: 100_000n, sat_per_vbyte: 5n, script_bytes: 22 }
const mined = (id: string, amount: bigint): Selectable => ({ id, amount, behind: [] })
const unmined = (id: string, amount: bigint, ...behind: string[]): Selectable => ({
  id,
  amount,
  behind: behind.map((one) => ({ id: one, vsize: 140, fee: 700n })),
})
const ids = (coins: readonly Selectable[] | undefined) => coins?.map(({ id }) => id)

test('the smallest coin that suffices with room for a replacement, else the largest ones', () => {
  const coins = [mined('small', 60_000n), mined('fit', 110_000n), mined('large', 900_000n)]
  expect(ids(selectCoins(coins, NEEDS))).toEqual(['fit'])
  expect(ids(selectCoins(coins, { ...NEEDS, amount: 950_000n }))).toEqual(['large', 'fit'])
  expect(selectCoins(coins, { ...NEEDS, amount: 2_000_000n })).toBeUndefined()
  expect(selectCoins([], NEEDS)).toBeUndefined()
})

test('without room for a replacement if nothing else is there', () => {
  const needed = neededBy([mined('a', 0n)], NEEDS)
  expect(ids(selectCoins([mined('exact', needed)], NEEDS))).toEqual(['exact'])
  expect(selectCoins([mined('less', needed - 1n)], NEEDS)).toBeUndefined()
})

test('change that is not mined only where mined coins do not suffice, and never behind five transactions', () => {
  const change = unmined('change', 500_000n, 'tr_1')
  expect(ids(selectCoins([change, mined('fit', 110_000n)], NEEDS))).toEqual(['fit'])
  expect(ids(selectCoins([change, mined('small', 50_000n)], NEEDS))).toEqual(['change'])
  expect(ids(selectCoins([unmined('four', 500_000n, '1', '2', '3', '4')], NEEDS))).toEqual(['four'])
  expect(selectCoins([unmined('five', 500_000n, '1', '2', '3', '4', '5')], NEEDS)).toBeUndefined()
})

test('the transaction pays what those behind it lack at its rate, and gets nothing back where they paid more', () => {
  const alone = neededBy([mined('a', 1n)], NEEDS)
  expect(neededBy([unmined('b', 1n, 'tr_1')], NEEDS)).toBe(alone)
  const cheap: Selectable = { id: 'c', amount: 1n, behind: [{ id: 'tr_1', vsize: 140, fee: 140n }] }
  expect(neededBy([cheap], NEEDS)).toBe(alone + 560n)
  const rich: Selectable = { id: 'd', amount: 1n, behind: [{ id: 'tr_1', vsize: 140, fee: 9000n }] }
  expect(neededBy([rich], NEEDS)).toBe(alone)
})

const anyCoin = fc.record({
  amount: fc.bigInt({ min: 1n, max: 3_000_000n }),
  behind: fc.uniqueArray(
    fc.nat({ max: 9 }).map((n) => ({ id: `tr_${n}`, vsize: 140, fee: BigInt(n) * 200n })),
    { selector: ({ id }) => id, maxLength: 6 },
  ),
})

test('what is selected suffices, is there, and has no coin too many; what mined coins can pay they pay', () => {
  fc.assert(
    fc.property(
      fc.array(anyCoin, { maxLength: 12 }),
      fc.bigInt({ min: 300n, max: 5_000_000n }),
      fc.bigInt({ min: 1n, max: 200n }),
      (made, amount, sat_per_vbyte) => {
        const coins = made.map((coin, n) => ({ ...coin, id: `c${n}` }))
        const needs = { amount, sat_per_vbyte, script_bytes: 34 }
        const chosen = selectCoins(coins, needs)
        const all_mined = coins.filter(({ behind }) => behind.length === 0)
        const useful = all_mined.filter((coin) => coin.amount > 68n * sat_per_vbyte)
        const sum = (list: readonly Selectable[]) => list.reduce((total, coin) => total + coin.amount, 0n)
        if (sum(useful) >= neededBy(useful, needs) && useful.length > 0) expect(chosen).toBeDefined()
        if (!chosen) return
        expect(new Set(ids(chosen)).size).toBe(chosen.length)
        for (const coin of chosen) expect(coins).toContain(coin)
        expect(sum(chosen)).toBeGreaterThanOrEqual(neededBy(chosen, needs))
        expect(allBehind(chosen).length).toBeLessThanOrEqual(4)
        const with_room = { ...needs, sat_per_vbyte: 2n * sat_per_vbyte + 1n }
        const enough = (list: readonly Selectable[]) => sum(list) >= neededBy(list, with_room)
        if (chosen.length > 1 && enough(chosen)) expect(enough(chosen.slice(0, -1))).toBe(false)
        if (useful.length > 0 && enough(useful)) expect(allBehind(chosen)).toEqual([])
      },
    ),
    { numRuns: 500 },
  )
})

test('a coin that costs more to spend than it is worth is not spent, although mined coins come first', () => {
  const dust = mined('dust', 68n * NEEDS.sat_per_vbyte)
  const change = [unmined('a', 60_000n, 'tr_1'), unmined('b', 60_000n, 'tr_2')]
  expect(ids(selectCoins([dust, ...change], NEEDS))).toEqual(['a', 'b'])
  const worth_it = mined('worth it', dust.amount + 1n)
  expect(ids(selectCoins([worth_it, ...change], NEEDS))).toEqual(['worth it', 'a', 'b'])
})
