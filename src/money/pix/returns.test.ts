import { afterEach, describe, expect, test } from 'vitest'
import { type Bench, openBench, silent } from '../../../test/support/rail-bench.ts'
import { perform } from '../../control/operator/actions.ts'
import { money, UNITS_MAX } from '../../core/money.ts'
import { entriesOf } from '../../ledger/balances.ts'
import { blockCustomer } from '../../parties/customers/customers.ts'
import type { PixAccount, PixRail, PixReturn, SentPix, UnreadEntry } from '../../rails/pix/rail.ts'
import { simulatedTerms } from '../../rails/pix/simulated.ts'
import { unreadEntry } from '../../rails/pix/unread.ts'
import { openExceptions } from '../../records/exceptions/store.ts'
import { askAboutReturns, openReturnPass } from '../charges/find-returns.ts'
import { operatorCredit } from '../deposits/deposits.ts'
import { compareSent } from './compare-sent.ts'
import { askAboutNoticed } from './notices.ts'
import { bookPayoutReturn, bookReturnsOf } from './returns.ts'
import { returnScanOf, storeReturnScan } from './returns-store.ts'
import { settlePayout } from './settle.ts'
import type { Payout } from './store.ts'

/** What comes back of a payout that was completed (decision 0068). */
let bench: Bench
afterEach(async () => {
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const E2E = 'E00000000202611151200abcdefghijk'
const D = (n: number) => `D0000000020261115120000000000${String(n).padStart(3, '0')}`
const always = () => true

async function open(pix: Partial<PixRail<'sandbox'>> = {}) {
  bench = await openBench({
    pix: {
      environment: 'sandbox',
      ...simulatedTerms,
      ready: async () => {},
      holder: async (_, asking) => ({ kind: 'held', holder: asking! }),
      send: async () => ({ kind: 'unknown' }),
      status: async () => ({ kind: 'unknown' }),
      ...pix,
    },
  })
  const customer = await bench.customer({ BRL: 10_000n })
  const accepted = await bench.payout(customer)
  const available = async () => (await bench.balance(customer, 'BRL')).balance
  return { customer, accepted, available }
}

const end = async (payout: Payout, is_paid = true): Promise<Payout> => {
  const outcome = is_paid
    ? ({ kind: 'settled', end_to_end_id: E2E } as const)
    : ({ kind: 'refused', rail_code: 'AC03' } as const)
  return (await bench.world.commit(settlePayout(bench.world, payout, outcome, { by: 'caller' }))).payout
}

const settled = (n: number, amount: bigint): PixReturn => ({ id: D(n), amount, state: 'settled' })

const events = async (id: string) => {
  const { rows } = await bench.world.db.query(
    'SELECT type, sequence, data FROM events WHERE object_id = $1 AND sequence > 3 ORDER BY sequence',
    [id],
  )
  return rows.map(({ type, sequence, data }) => ({ type, sequence, returned: data.amount_returned }))
}

const problems = async () =>
  (await openExceptions(bench.world.db, 10))
    .filter(({ kind }) => kind !== 'payout_returned')
    .map(({ kind, object_id, details }) => ({ kind, object_id, problem: details.problem }))

test('each return is credited once, with a movement and an event of its own, and the payout stays completed', async () => {
  const { accepted, available, customer } = await open()
  const payout = await end(accepted)
  const after_payout = await available()
  const said = [settled(1, 300n), settled(2, 400n)]
  await Promise.all([1, 2, 3].map(() => bookReturnsOf(bench.world, payout, said)))
  expect(await available()).toBe(after_payout + 700n)
  expect(await bench.payoutNow(payout.id)).toMatchObject({
    status: 'completed',
    amount_returned: 700n,
    sequence: 3,
  })
  expect(await events(payout.id)).toEqual([
    { type: 'pix.payout.returned', sequence: 4, returned: '300' },
    { type: 'pix.payout.returned', sequence: 5, returned: '700' },
  ])
  expect(await openExceptions(bench.world.db, 10)).toMatchObject([
    { kind: 'payout_returned', object_id: payout.id, details: { return_id: D(1), amount: '300' } },
  ])
  const { rows } = await bench.world.db.query('SELECT id, amount FROM pix_returns ORDER BY sequence')
  expect(rows.map(({ amount }) => amount)).toEqual([300n, 400n])
  expect(await entriesOf(bench.world.db, rows[0].id)).toMatchObject([
    { movement: 'reversed', account: 'external:pix', owner: '', amount: -300n },
    { movement: 'reversed', account: 'customer', owner: customer, amount: 300n },
  ])
})

test('a return is credited by the service or by an operator, under its id or that of the payout, and never by both', async () => {
  const { accepted, available, customer } = await open()
  const payout = await end(accepted)
  const before = await available()
  const credit = (reference: string, units: bigint) =>
    bench.world.commit(
      operatorCredit(bench.world, {
        ...{ partner_id: bench.actor.partner_id, customer_id: customer, money: money('BRL', units) },
        ...{ reason: 'it came back', reference },
      }),
    )
  await bookReturnsOf(bench.world, payout, [settled(1, 300n)])
  for (const reference of [D(1), E2E])
    await expect(credit(reference, 300n), reference).rejects.toMatchObject({
      sentence: expect.stringContaining(`names a return of payout ${payout.id}`),
    })
  await credit(D(2), 400n)
  await bookReturnsOf(bench.world, payout, [settled(1, 300n), settled(2, 400n)])
  expect(await available()).toBe(before + 700n)
  expect(await problems()).toMatchObject([{ problem: expect.stringContaining('is a credit by an operator') }])
})

test('a return that was credited by the service and by an operator is a finding of the audit', async () => {
  const { accepted, customer } = await open()
  const payout = await end(accepted)
  const { world, actor } = bench
  await bookReturnsOf(world, payout, [settled(1, 300n)])
  const { id } = await world.commit(
    operatorCredit(world, {
      ...{ partner_id: actor.partner_id, customer_id: customer, money: money('BRL', 300n) },
      ...{ reason: 'it came back', reference: 'by hand' },
    }),
  )
  const rename = (reference: string) =>
    bench.admin(
      'SET session_replication_role = replica',
      `UPDATE deposits SET reference = '${reference}' WHERE id = '${id}'`,
      `UPDATE claims SET key = '${reference}' WHERE resource_id = '${id}'`,
    )
  for (const reference of [D(1), E2E]) {
    await rename(reference)
    expect(await bench.findings()).toMatchObject([
      { check: 'no return of a payout is credited by the service and by an operator' },
    ])
  }
  await rename('by hand')
})

test('a return of a payout that was completed after the payout was read waits for the next look', async () => {
  const { accepted, available, customer } = await open()
  await end(accepted)
  const before = await available()
  const { world, actor } = bench
  await world.commit(
    operatorCredit(world, {
      ...{ partner_id: actor.partner_id, customer_id: customer, money: money('BRL', 700n) },
      ...{ reason: 'it came back', reference: E2E },
    }),
  )
  expect(await world.commit(bookPayoutReturn(world, accepted, settled(1, 700n)))).toMatchObject({
    kind: 'open',
  })
  expect(await available()).toBe(before + 700n)
})

test('of a return that the service books and an operator credits in one batch one is done; a reversed credit does not count', async () => {
  const { accepted, available, customer } = await open()
  const payout = await end(accepted)
  const before = await available()
  const { world, actor } = bench
  const credit = (reference: string) =>
    world.commit(
      operatorCredit(world, {
        ...{ partner_id: actor.partner_id, customer_id: customer, money: money('BRL', 300n) },
        ...{ reason: 'it came back', reference },
      }),
    )
  const done = await Promise.allSettled([
    world.commit(bookPayoutReturn(world, payout, settled(1, 300n))),
    credit(D(1)),
  ])
  expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(await available()).toBe(before + 300n)
  const { id } = await credit(D(2))
  await perform(world, {
    name: 'reverse_credit',
    details: { deposit_id: id, reason: 'another customer', reference: 'r1' },
  })
  await bookReturnsOf(world, payout, [settled(2, 300n)])
  expect(await available()).toBe(before + 600n)
})

test('each return that cannot be booked is told, also while an exception about another return of the payout is open', async () => {
  const { accepted, available, customer } = await open()
  const payout = await end(accepted)
  await bench.world.commit(
    operatorCredit(bench.world, {
      ...{ partner_id: bench.actor.partner_id, customer_id: customer, money: money('BRL', 300n) },
      ...{ reason: 'it came back', reference: E2E },
    }),
  )
  const before = await available()
  await bookReturnsOf(bench.world, payout, [settled(1, 300n)])
  for (let i = 0; i < 2; i++) await bookReturnsOf(bench.world, payout, [settled(1, 300n), settled(2, 400n)])
  expect(await available()).toBe(before)
  const told = (await problems()).map(({ problem }) => String(problem))
  expect([1, 2].map((n) => told.filter((problem) => problem.includes(D(n))).length)).toEqual([1, 1])
})

test('a return for which the balance has no room is told, keeps no other return waiting, and is credited once there is room', async () => {
  const sent: SentPix[] = []
  const account: PixAccount = {
    balance: async () => ({ available: 0n, blocked: 0n }),
    async *sent() {
      yield* sent
    },
  }
  const { accepted, available, customer } = await open({ account })
  const payout = await end(accepted)
  const { partner_id } = bench.actor
  const filling = { partner_id, customer_id: customer, reason: 'x', reference: 'full' }
  const full = money('BRL', UNITS_MAX - (await available()))
  const { id: filled } = await bench.world.commit(operatorCredit(bench.world, { ...filling, money: full }))
  const other = await bench.payout(await bench.customer({ BRL: 10_000n }))
  const paid = { kind: 'settled', end_to_end_id: `${E2E.slice(0, -1)}l` } as const
  await bench.world.commit(settlePayout(bench.world, other, paid, { by: 'caller' }))
  for (const [n, { send_id }] of [payout, other].entries())
    sent.push({ send_id, amount: 700n, state: 'settled', returns: [settled(n + 1, 700n)] })
  await openReturnPass(bench.world)(bench.world.db, always)
  expect((await bench.payoutNow(other.id)).amount_returned).toBe(700n)
  expect(await problems()).toMatchObject([{ problem: expect.stringContaining('no room') }])
  const { began_at, read_until } = (await returnScanOf(bench.world.db, 'sent'))!
  expect(read_until).toEqual(began_at)
  await perform(bench.world, {
    name: 'reverse_credit',
    details: { deposit_id: filled, reason: 'too much', reference: 'r2' },
  })
  await bookReturnsOf(bench.world, payout, [settled(1, 700n)])
  expect((await bench.payoutNow(payout.id)).amount_returned).toBe(700n)
})

test('a return that is open or refused credits nothing', async () => {
  const { accepted, available } = await open()
  const payout = await end(accepted)
  const before = await available()
  const said: PixReturn[] = [
    { id: D(1), amount: 300n, state: 'open' },
    { id: D(2), amount: 300n, state: 'refused' },
  ]
  expect(await bookReturnsOf(bench.world, payout, said)).toBe(false)
  expect(await bookReturnsOf(bench.world, payout, said.slice(1))).toBe(true)
  expect(await available()).toBe(before)
})

test('returns above the amount, and of a payout that failed here, credit nothing beyond, and a person is told', async () => {
  const { accepted, available, customer } = await open()
  const payout = await end(accepted)
  const before = await available()
  await bookReturnsOf(bench.world, payout, [settled(1, 600n), settled(2, 101n), settled(3, 100n)])
  expect(await available()).toBe(before + 700n)
  expect(await problems()).toMatchObject([
    { kind: 'contradiction', object_id: D(2), problem: expect.stringContaining('more than was paid') },
  ])
  const failed = await end(await bench.payout(customer), false)
  const then = await available()
  await bookReturnsOf(bench.world, failed, [settled(4, 700n)])
  // The same return under another payment.
  await bookReturnsOf(bench.world, failed, [settled(1, 600n)])
  expect(await available()).toBe(then)
  expect((await problems()).map(({ object_id }) => object_id).sort()).toEqual([D(1), D(2), D(4)])
})

test.each([
  ['another amount', { ...settled(1, 500n) }],
  ['no return after all', { ...settled(1, 600n), state: 'refused' }],
] as const)(
  'a booked return of which the provider tells %s later stays, and a person is told',
  async (_, said) => {
    const { accepted, available } = await open()
    const payout = await end(accepted)
    const before = await available()
    await bookReturnsOf(bench.world, payout, [settled(1, 600n)])
    await bookReturnsOf(bench.world, payout, [said])
    expect(await available()).toBe(before + 600n)
    expect(await problems()).toMatchObject([{ kind: 'contradiction', object_id: D(1) }])
  },
)

test('a blocked customer is credited all the same', async () => {
  const { accepted, available, customer } = await open()
  const payout = await end(accepted)
  const before = await available()
  await blockCustomer(bench.world, customer, 'blocked')
  await bookReturnsOf(bench.world, payout, [settled(1, 700n)])
  expect(await available()).toBe(before + 700n)
})

test('a return of a payout that is still open here waits until the payout has its end', async () => {
  const { accepted } = await open()
  expect(await bookReturnsOf(bench.world, accepted, [settled(1, 700n)])).toBe(false)
  const payout = await end(accepted)
  expect(await bookReturnsOf(bench.world, payout, [settled(1, 700n)])).toBe(true)
  expect((await bench.payoutNow(payout.id)).amount_returned).toBe(700n)
})

describe('returns are found', () => {
  const listing = (sent: (SentPix | UnreadEntry)[], asked: Date[][] = []): PixAccount => ({
    balance: async () => ({ available: 0n, blocked: 0n }),
    async *sent(from, to) {
      asked.push([from, to])
      yield* sent
    },
  })
  const listed = (payout: Payout, returns: PixReturn[]): SentPix => ({
    ...{ send_id: payout.send_id, end_to_end_id: E2E, amount: 700n, state: 'settled', returns },
  })

  test('by asking the provider about a payment that a notice names; the notice itself credits nothing', async () => {
    let said: PixReturn[] = []
    const asked: string[] = []
    const { accepted, available } = await open({
      async returnsOf(end_to_end_id) {
        asked.push(end_to_end_id)
        return said
      },
    })
    const payout = await end(accepted)
    const before = await available()
    const run = () => askAboutReturns(bench.world, bench.world.db, { log: silent, shouldContinue: always })
    expect(await askAboutNoticed(bench.world, [{ end_to_end_id: 'Eunknown' }, { end_to_end_id: E2E }])).toBe(
      1,
    )
    await run()
    expect({ asked, now: await available() }).toEqual({ asked: [E2E], now: before })
    await run()
    expect(asked).toHaveLength(1)
    said = [settled(1, 250n)]
    await askAboutNoticed(bench.world, [{ end_to_end_id: E2E }])
    await run()
    expect(await available()).toBe(before + 250n)
    expect((await bench.payoutNow(payout.id)).amount_returned).toBe(250n)
  })

  test('later, if the provider does not answer', async () => {
    let answers = false
    const { accepted, available } = await open({
      async returnsOf() {
        if (!answers) throw new Error('no answer')
        return [settled(1, 700n)]
      },
    })
    await end(accepted)
    const before = await available()
    const run = () => askAboutReturns(bench.world, bench.world.db, { log: silent, shouldContinue: always })
    await askAboutNoticed(bench.world, [{ end_to_end_id: E2E }])
    await run()
    answers = true
    await run()
    expect(await available()).toBe(before)
    await bench.admin('UPDATE pix_return_checks SET due_at = now()')
    await run()
    expect(await available()).toBe(before + 700n)
    expect((await bench.world.db.query('SELECT FROM pix_return_checks')).rowCount).toBe(0)
  })

  test('by the comparison with the provider’s list', async () => {
    const sent: SentPix[] = []
    const { accepted, available } = await open({ account: listing(sent) })
    const payout = await end(accepted)
    const before = await available()
    sent.push(listed(payout, [settled(1, 100n), { id: D(2), amount: 600n, state: 'open' }]))
    const window = { from: new Date(0), to: new Date(), shouldContinue: always }
    for (let i = 0; i < 2; i++) await compareSent(bench.world, bench.world.db, window)
    expect(await available()).toBe(before + 100n)
    expect(await problems()).toEqual([])
  })

  test('although another entry of the list of 90 days cannot be read, which a person is told of once', async () => {
    const sent: (SentPix | UnreadEntry)[] = []
    const { accepted, available } = await open({ account: listing(sent) })
    const payout = await end(accepted)
    const before = await available()
    sent.push(unreadEntry({}, 'valor is undefined', { end_to_end_id: 'E1' }))
    sent.push(listed(payout, [settled(1, 700n)]))
    await openReturnPass(bench.world)(bench.world.db, always)
    expect(await available()).toBe(before + 700n)
    const { began_at, read_until } = (await returnScanOf(bench.world.db, 'sent'))!
    expect(read_until).toEqual(began_at)
    expect(await problems()).toEqual([
      { kind: 'invalid_answer', object_id: 'E1', problem: expect.stringContaining('valor') },
    ])
  })

  test('and an entry that cannot be read is one exception by our id, whatever state the provider tells', async () => {
    const sent: UnreadEntry[] = []
    await open({ account: listing(sent) })
    const window = { from: new Date(Date.now() - 60_000), to: new Date(), shouldContinue: always }
    const send_id = 'byhand1'
    for (const status of ['created', 'processing', 'success']) {
      sent.splice(0, 1, unreadEntry({ status }, 'amount is undefined', { send_id }))
      await compareSent(bench.world, bench.world.db, window)
    }
    expect((await problems()).map(({ object_id }) => object_id)).toEqual([send_id])
  })

  test('once a day in the list of 90 days, from the stored position on', async () => {
    const sent: SentPix[] = []
    const asked: Date[][] = []
    const { accepted, available } = await open({ account: listing(sent, asked) })
    const payout = await end(accepted)
    const before = await available()
    sent.push(listed(payout, [settled(1, 700n)]))
    const pass = openReturnPass(bench.world)
    let left = 10
    await pass(bench.world.db, () => left-- > 0)
    const { began_at, read_until } = (await returnScanOf(bench.world.db, 'sent'))!
    expect(began_at.getTime() - asked[0]![0]!.getTime()).toBe(90 * 86_400_000)
    expect(read_until < began_at).toBe(true)
    expect(await available()).toBe(before + 700n)
    const so_far = asked.length
    await openReturnPass(bench.world)(bench.world.db, always)
    expect(asked[so_far]![0]).toEqual(read_until)
    expect(asked.at(-1)![1]).toEqual(began_at)
    const whole = asked.length
    await pass(bench.world.db, always)
    expect(asked).toHaveLength(whole)
    const yesterday = new Date(began_at.getTime() - 86_400_000)
    await storeReturnScan(bench.world.db, 'sent', { began_at: yesterday, read_until: yesterday })
    await pass(bench.world.db, always)
    expect(asked.length).toBeGreaterThan(whole)
    expect(await available()).toBe(before + 700n)
  })

  test('although a node whose clock was ahead began a pass in the future', async () => {
    const asked: Date[][] = []
    await open({ account: listing([], asked) })
    const ahead = new Date(Date.now() + 10 * 86_400_000)
    await storeReturnScan(bench.world.db, 'sent', { began_at: ahead, read_until: ahead })
    await openReturnPass(bench.world)(bench.world.db, always)
    expect(asked.length).toBeGreaterThan(0)
    expect((await returnScanOf(bench.world.db, 'sent'))!.began_at < ahead).toBe(true)
  })

  test('in the newest days of the list, too, when the pass over 90 days takes longer than a day', async () => {
    const asked: Date[][] = []
    await open({ account: listing([], asked) })
    const began_at = new Date(Date.now() - 2 * 86_400_000)
    const read_until = new Date(began_at.getTime() - 10 * 86_400_000)
    await storeReturnScan(bench.world.db, 'sent', { began_at, read_until })
    const pass = openReturnPass(bench.world)
    await pass(bench.world.db, always)
    expect([asked[0]![0], asked.at(-1)![1]]).toEqual([read_until, began_at])
    await pass(bench.world.db, always)
    expect((await returnScanOf(bench.world.db, 'sent'))!.began_at > began_at).toBe(true)
    expect(asked.at(-1)![1]! > began_at).toBe(true)
  })

  test('in both lists, although one of them uses up whole runs', async () => {
    const windows: Date[] = []
    const sent: SentPix[] = [{ amount: 5n, state: 'settled' }]
    await open({
      account: listing(sent),
      charges: {
        register: async () => ({ kind: 'unknown' }),
        async *received({ from }) {
          windows.push(from)
          yield* []
        },
        payment: async () => undefined,
      },
    })
    const pass = openReturnPass(bench.world)
    for (let i = 0; i < 2; i++) {
      let left = 10
      await pass(bench.world.db, () => left-- > 0)
    }
    expect(windows.length).toBeGreaterThan(0)
    expect(await returnScanOf(bench.world.db, 'received')).toBeDefined()
  })
})
