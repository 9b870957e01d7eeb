import { afterEach, expect, test } from 'vitest'
import { type Bench, openBench } from '../../../test/support/rail-bench.ts'
import { perform } from '../../control/operator/actions.ts'
import type { PixCharges, PixRail, PixStatus } from '../../rails/pix/rail.ts'
import { simulatedTerms } from '../../rails/pix/simulated.ts'
import { exceptionsAbout } from '../../records/exceptions/store.ts'
import { receivedScan } from '../charges/store.ts'
import { reconciliationStates } from '../custody/store.ts'
import { reconcilePix } from './reconcile.ts'
import { bookReturnsOf } from './returns.ts'
import { settlePayout } from './settle.ts'
import type { Payout } from './store.ts'

/** The account at the provider against the books (decision 0069). */
let bench: Bench
afterEach(async () => {
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const E2E = 'E00000000202611151200abcdefghijk'
const bank = { available: 0n, blocked: 0n }
let bank_read = async () => ({ ...bank })

async function open(says: () => PixStatus = () => ({ kind: 'accepted' })) {
  Object.assign(bank, { available: 99_000n, blocked: 1000n })
  bank_read = async () => ({ ...bank })
  const pix: PixRail<'sandbox'> = {
    environment: 'sandbox',
    ...simulatedTerms,
    ready: async () => {},
    holder: async (_, asking) => ({ kind: 'held', holder: asking! }),
    send: async () => ({ kind: 'unknown' }),
    status: async () => says(),
    account: { balance: () => bank_read(), async *sent() {} },
  }
  bench = await openBench({ pix })
  await move('100000')
  return bench.customer({ BRL: 10_000n })
}

const move = (amount: string) =>
  perform(bench.world, {
    name: 'move_custody',
    details: {
      ...({ rail: 'pix', asset: 'BRL', direction: 'to_rail', reason: 'test' } as const),
      ...{ amount, reference: `ref ${amount}` },
    },
  })

const orderPayout = (customer: string) => bench.payout(customer)
const compare = async () => (await reconcilePix(bench.world))!
const problems = async () =>
  (await exceptionsAbout(bench.world.db, 'reconciliation pix')).map(({ details, closed_by }) => [
    ...[details.problem, closed_by],
  ])
const pay = (payout: Payout) =>
  bench.world.commit(
    settlePayout(bench.world, payout, { kind: 'settled', end_to_end_id: E2E }, { by: 'caller' }),
  )

test('names money that nobody booked; the second time it opens an exception, which a right comparison closes', async () => {
  await open()
  expect(await compare()).toMatchObject({
    outside: 100_000n,
    booked: 100_000n,
    on_its_way: 0n,
    difference: 0n,
  })
  bank.available += 7n
  expect(await compare()).toMatchObject({ rail: 'pix', block_height: null, difference: 7n })
  expect(await problems(), 'one sighting may be a passing one').toEqual([])
  await compare()
  const problem = 'The account at the Pix provider holds 0.07 BRL more than the books say.'
  expect(await problems()).toEqual([[problem, null]])
  await move('7')
  expect((await compare()).difference).toBe(0n)
  expect(await problems()).toEqual([[problem, 'service']])
  expect(await reconciliationStates(bench.world.db)).toMatchObject([{ rail: 'pix', difference: 0n }])
})

test('is 0 at every moment of a payout: it may be paid, is paid and not booked, is booked, comes back', async () => {
  let says: PixStatus = { kind: 'accepted' }
  const payout = await orderPayout(await open(() => says))
  expect(await compare(), 'not paid yet').toMatchObject({ difference: 0n, parts: { unsure: [payout.id] } })
  bank.available -= 700n
  expect(await compare(), 'paid, and not told').toMatchObject({ difference: 0n })
  says = { kind: 'settled', end_to_end_id: E2E }
  expect(await compare(), 'paid and told').toMatchObject({
    ...{ on_its_way: 700n, difference: 0n, parts: { not_booked_yet: [payout.id], unsure: [] } },
  })
  bank.available -= 1n
  expect((await compare()).difference, 'a payout that is paid explains no more than itself').toBe(-1n)
  bank.available += 1n
  const { payout: paid } = await pay(payout)
  expect(await compare()).toMatchObject({ booked: 99_300n, on_its_way: 0n, difference: 0n })
  bank.available += 700n
  expect((await compare()).difference, 'came back, and is not booked').toBe(700n)
  await bookReturnsOf(bench.world, paid, [{ id: 'D1', amount: 700n, state: 'settled' }])
  expect((await compare()).difference).toBe(0n)
})

test('takes what is booked while the balance is read for neither more nor less', async () => {
  const payout = await orderPayout(await open())
  let during = async () => {}
  bank_read = async () => {
    const before = { ...bank }
    await during()
    return before
  }
  during = async () => void (await pay(payout))
  expect(await compare(), 'the balance was read before the payment').toMatchObject({
    ...{ outside: 100_000n, booked: 99_300n, difference: 0n },
  })
  bank.available -= 700n
  during = async () => {}
  expect((await compare()).difference).toBe(0n)
})

test('goes on while the provider lets nobody read what came in', async () => {
  await open()
  const charges: PixCharges = {
    register: async () => ({ kind: 'unknown' }),
    // biome-ignore lint/correctness/useYield: the list cannot be read at all.
    async *received() {
      throw new Error('no scope')
    },
    payment: async () => undefined,
  }
  const node = bench.openNode({ pix: { ...bench.world.pix, charges } })
  await receivedScan(bench.world.db, node.pix.provider)
  expect(await reconcilePix(node)).toMatchObject({ difference: 0n })
})
