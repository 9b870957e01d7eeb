import { afterEach, expect, test } from 'vitest'
import { desk } from '../../../test/support/operators.ts'
import {
  type Bench,
  type BenchOptions,
  openBench,
  openGate,
  silent,
} from '../../../test/support/rail-bench.ts'
import { takeOne } from '../../../test/support/take.ts'
import { until } from '../../../test/support/wait.ts'
import { perform } from '../../control/operator/actions.ts'
import { retryAfter } from '../../db/due.ts'
import { claimOf, readRecord } from '../../ledger/once.ts'
import { openJournal } from '../../rails/journal.ts'
import type { PixRail, PixStatus } from '../../rails/pix/rail.ts'
import { simulatedPix, simulatedTerms } from '../../rails/pix/simulated.ts'
import { takeFollowUps } from '../../records/desk/resolutions.ts'
import { exceptionsAbout, openExceptions } from '../../records/exceptions/store.ts'
import { pixOrderOf } from './order.ts'
import { awaitResponse, fixResponse } from './responses.ts'
import { intendSend } from './sends.ts'
import { settlePayout } from './settle.ts'
import { payoutSteps } from './steps.ts'
import { type Payout, payoutColumns } from './store.ts'
import { openPayoutWorker } from './worker.ts'

const { approve, propose } = desk

let bench: Bench
let stopping: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stopping.reverse()) await stop()
  stopping = []
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const SETTLED = { kind: 'settled', end_to_end_id: 'E00000000202611151200abcdefghijk' } as const
const BALANCE = 10_000n
const WHOLE = { balance: BALANCE, in_transit: 0n }
const PAID = { balance: BALANCE - 700n, in_transit: 0n }
const OPEN = { balance: BALANCE - 700n, in_transit: 700n }

function pixThat(more: Partial<PixRail<'sandbox'>> = {}): PixRail<'sandbox'> {
  return {
    environment: 'sandbox',
    ...simulatedTerms,
    ready: async () => {},
    holder: async (_, asking) => ({ kind: 'held', holder: asking! }),
    send: async () => ({ kind: 'unknown' }),
    status: async () => ({ kind: 'unknown' }),
    ...more,
  }
}

/** A rail that loses the first order, answers `absent`, and counts the sends after that. */
function forgetful(status: () => Promise<PixStatus>) {
  const paid: string[] = []
  const send = async ({ send_id, attempt }: { send_id: string; attempt: number }) => {
    if (attempt === 1) return { kind: 'unknown' } as const
    paid.push(send_id)
    return SETTLED
  }
  return { paid, pix: pixThat({ send, status }) }
}

async function open(options: BenchOptions) {
  bench = await openBench(options)
  const customer = await bench.customer({ BRL: BALANCE })
  const payout = await bench.payout(customer)
  return { customer, payout, world: bench.world, balance: () => bench.balance(customer, 'BRL') }
}

function start(world = bench.world) {
  const worker = openPayoutWorker(world, silent)
  stopping.push(worker.stop)
  return worker
}

/** Makes the payout look as if a node that is gone had accepted it long ago. */
const leftBehind = async (payout: Payout) => {
  await bench.past(payout)
  await bench.admin(
    `UPDATE payouts SET next_attempt_at = now() - interval '1 minute' WHERE id = '${payout.id}'`,
  )
}

/** Makes the payout due, and again after three seconds: a question that was under way puts it off when it has its answer. */
async function dueUntil({ id }: Payout, isDone: () => Promise<boolean> | boolean): Promise<void> {
  let made_due_at = Number.NEGATIVE_INFINITY
  await until(async () => {
    if (await isDone()) return true
    if (performance.now() - made_due_at < 3000) return false
    await bench.admin(`UPDATE payouts SET next_attempt_at = now() WHERE id = '${id}'`)
    made_due_at = performance.now()
    return false
  }, 20_000)
}

const fail = ({ id }: Payout) =>
  perform(bench.world, {
    name: 'resolve_payout',
    details: { payout_id: id, outcome: 'failed', evidence: 'the bank never got it' },
  })

const kinds = async () => (await openExceptions(bench.world.db, 10)).map(({ kind }) => kind)

const takeNow = async ({ id }: Payout): Promise<Payout> => {
  await bench.admin(`UPDATE payouts SET next_attempt_at = now() - interval '1 ms' WHERE id = '${id}'`)
  return (await takeOne<Payout>(bench.world, 'payouts', payoutColumns))!
}

test('while a worker may be sending again, an operator cannot return the money', async () => {
  const asked = openGate()
  const sent = openGate()
  const { paid, pix } = forgetful(async () => {
    await asked.arrive()
    return { kind: 'absent' }
  })
  const send = pix.send
  const { payout, balance } = await open({
    pix: {
      ...pix,
      async send(order) {
        await sent.arrive()
        return send(order)
      },
    },
  })
  await leftBehind(payout)
  start()
  await asked.reached
  asked.open()
  await sent.reached
  await expect(fail(payout)).rejects.toThrow(/a worker may send it until/)
  sent.open()
  await until(async () => (await bench.payoutNow(payout.id)).status === 'completed', 20_000)
  expect(paid).toHaveLength(1)
  expect(await balance()).toEqual(PAID)
  expect(await kinds()).toEqual([])
})

test('a payout returned between the status query and the send is not sent', async () => {
  const asked = openGate()
  let questions = 0
  const { paid, pix } = forgetful(async () => {
    // The operator's own status query is answered at once.
    if (questions++ === 0) await asked.arrive()
    return { kind: 'absent' }
  })
  const { payout, balance } = await open({ pix })
  await leftBehind(payout)
  const worker = start()
  await asked.reached
  await fail(payout)
  asked.open()
  await worker.stop()
  expect(paid).toEqual([])
  expect(await balance()).toEqual(WHOLE)
  const { rows } = await bench.world.db.query(
    'SELECT outcome, evidence, proposal_id, resolved_by FROM resolutions',
  )
  expect(rows).toEqual([
    { outcome: 'failed', evidence: 'the bank never got it', proposal_id: null, resolved_by: 'shell' },
  ])
})

test('the node that accepted a payout sends it within its lease, and not after', async () => {
  const sent: string[] = []
  const { payout, balance } = await open({
    lease_ms: 30_000,
    rail_timeout_ms: 10_000,
    pix: pixThat({
      async send({ send_id }) {
        sent.push(send_id)
        return SETTLED
      },
    }),
  })
  await expect(fail(payout)).rejects.toThrow(/a worker may send it/)
  expect(await balance()).toEqual(OPEN)
  const worker = start()
  // Accepting began so long ago that a call of the rail could end after the lease.
  expect(await worker.send(payout, performance.now() - 25_000)).toBeUndefined()
  expect(sent).toEqual([])
  await worker.send(payout, performance.now())
  expect(sent).toHaveLength(1)
})

test('an open proposal holds its payout: workers ask for the status, and send nothing until it is decided', async () => {
  let questions = 0
  const { paid, pix } = forgetful(async () => {
    questions++
    return { kind: 'absent' }
  })
  const { payout, world, balance } = await open({ pix })
  await leftBehind(payout)
  const details = { payout_id: payout.id, outcome: 'failed', evidence: 'the bank never got it' } as const
  const { id } = await propose(world, { name: 'resolve_payout', details }, 'a@example.com')
  await expect(propose(world, { name: 'resolve_payout', details }, 'c@example.com')).rejects.toThrow(
    /open proposal already/,
  )
  const worker = start()
  await until(() => questions >= 1, 20_000)
  await until(
    async () => (await bench.payoutNow(payout.id)).next_attempt_at.getTime() > Date.now() - 60_000,
    20_000,
  )
  expect(paid).toEqual([])
  await worker.stop()
  await approve(world, id, 'b@example.com')
  expect(await balance()).toEqual(WHOLE)
  const { rows } = await world.db.query('SELECT FROM holds')
  expect(rows).toEqual([])
  const resolutions = await world.db.query('SELECT proposal_id, resolved_by FROM resolutions')
  expect(resolutions.rows).toEqual([{ proposal_id: id, resolved_by: 'b@example.com' }])
})

test('a held payout is still settled by an answer of the rail', async () => {
  const { payout, world, balance } = await open({ pix: pixThat({ status: async () => SETTLED }) })
  await leftBehind(payout)
  const details = { payout_id: payout.id, outcome: 'failed', evidence: 'x' } as const
  const { id } = await propose(world, { name: 'resolve_payout', details }, 'a@example.com')
  start()
  await until(async () => (await bench.payoutNow(payout.id)).status === 'completed', 20_000)
  await expect(approve(world, id, 'b@example.com')).rejects.toThrow(/is completed already/)
  expect(await balance()).toEqual(PAID)
})

test('sending again needs the latest attempt number, enough of the lease, and two seconds since the last send', async () => {
  const { payout, world } = await open({ lease_ms: 60_000, rail_timeout_ms: 1000, pix: pixThat() })
  const intend = (taken: Payout) => world.commit(intendSend(world, taken))
  const first = await takeNow(payout)
  // Just accepted: the first send may not be visible yet.
  expect(await intend(first)).toMatchObject({ kind: 'wait' })
  await bench.past(payout)
  const second = await takeNow(payout)
  expect(await intend(first)).toEqual({ kind: 'lost' })
  expect(await intend(second)).toMatchObject({ kind: 'send' })
  // Nor can the previous holder of the lease change the next attempt's time.
  const { next_attempt_at } = await bench.payoutNow(payout.id)
  await retryAfter(world.db, 'payouts', first, 0)
  expect((await bench.payoutNow(payout.id)).next_attempt_at).toEqual(next_attempt_at)
  await retryAfter(world.db, 'payouts', second, 0)
  expect((await bench.payoutNow(payout.id)).next_attempt_at).not.toEqual(next_attempt_at)
  // The two seconds count from the last send, not from the acceptance.
  const third = await takeNow(payout)
  expect(await intend(third)).toMatchObject({ kind: 'wait' })
  await bench.admin(`UPDATE sends SET sent_at = now() - interval '1 hour'`)
  await bench.admin(`UPDATE payouts SET next_attempt_at = now() + interval '500 ms'`)
  expect(await intend(third)).toEqual({ kind: 'lost' })
})

test('a refusal counts only if no other worker took the payout after the one that reports it', async () => {
  const { payout, world, balance } = await open({ pix: pixThat() })
  const stale = await takeNow(payout)
  const newest = await takeNow(payout)
  const refused = { kind: 'refused', rail_code: 'AC03' } as const
  const say = ({ attempts }: Payout) =>
    world.commit(settlePayout(world, payout, refused, { by: 'rail', attempt: attempts }))
  expect(await say(stale)).toMatchObject({ changed: false, payout: { status: 'processing' } })
  expect(await balance()).toEqual(OPEN)
  expect(await say(newest)).toMatchObject({ changed: true, payout: { status: 'failed' } })
})

test('a payout that an operator returned and the rail paid later is a late success, with one exception row', async () => {
  let says: PixStatus = { kind: 'absent' }
  const { payout, world, balance } = await open({ pix: pixThat({ status: async () => says }) })
  await bench.past(payout)
  await takeNow(payout)
  await fail(payout)
  start()
  says = SETTLED
  for (let i = 0; i < 2; i++) {
    await bench.admin(`UPDATE follow_ups SET ask_at = now(), asked = 0 WHERE resource_id = '${payout.id}'`)
    await until(async () => {
      const { rows } = await world.db.query('SELECT ask_at FROM follow_ups')
      return rows[0].ask_at === null
    }, 20_000)
  }
  expect(await openExceptions(world.db, 10)).toMatchObject([
    { kind: 'late_success', rail: 'pix', object_id: payout.id, details: { booked: 'failed' } },
  ])
  expect(await balance()).toEqual(WHOLE)
})

test('an end_to_end_id reported for two payouts is booked once; the other payout stays open, with an exception', async () => {
  const { customer, payout, world } = await open({ pix: pixThat({ status: async () => SETTLED }) })
  const other = await bench.payout(customer)
  start()
  for (const { id } of [payout, other])
    await bench.admin(`UPDATE payouts SET next_attempt_at = now() WHERE id = '${id}'`)
  await until(async () => (await kinds()).length > 0, 20_000)
  const states = [await bench.payoutNow(payout.id), await bench.payoutNow(other.id)]
  expect(states.map(({ status }) => status).sort()).toEqual(['completed', 'processing'])
  expect(await openExceptions(world.db, 10)).toMatchObject([
    { kind: 'contradiction', object_id: states.find(({ status }) => status === 'processing')!.id },
  ])
  const resolved = perform(world, {
    name: 'resolve_payout',
    details: {
      payout_id: states.find(({ status }) => status === 'processing')!.id,
      outcome: 'completed',
      end_to_end_id: SETTLED.end_to_end_id,
      evidence: 'statement',
    },
  })
  await expect(resolved).rejects.toThrow(/Another payout has the id/)
})

/** A rail whose connection fails during the send: a status query finds the payment later, and it is paid later still. */
function bank({ visible_ms, pays_ms }: { visible_ms: number; pays_ms: number }) {
  let handed_at = 0
  const since = () => performance.now() - handed_at
  return {
    paid: () => handed_at > 0 && since() >= pays_ms,
    pix: pixThat({
      async send() {
        handed_at ||= performance.now()
        throw new Error('ECONNRESET after the request was handed over')
      },
      async status(): Promise<PixStatus> {
        if (handed_at === 0 || since() < visible_ms) return { kind: 'absent' }
        return since() < pays_ms ? { kind: 'accepted' } : SETTLED
      },
    }),
  }
}

test.each([
  ['not visible yet', { visible_ms: 1500, pays_ms: 1500 }],
  ['accepted by the bank', { visible_ms: 0, pays_ms: 4000 }],
])('a payout that was sent and is %s is not returned, whatever an operator says', async (_, behaviour) => {
  const { pix, paid } = bank(behaviour)
  const { payout, balance } = await open({ pix, rail_timeout_ms: 1000 })
  const worker = start()
  await worker.send(payout, performance.now())
  while (!paid()) await fail(payout).catch(() => {})
  await until(async () => (await bench.payoutNow(payout.id)).status !== 'processing', 20_000)
  expect(await balance()).toEqual(PAID)
})

test('a payout completed by an operator that the rail never received is an exception', async () => {
  const { payout, world } = await open({ pix: pixThat({ status: async () => ({ kind: 'absent' }) }) })
  const { end_to_end_id } = SETTLED
  await perform(world, {
    name: 'resolve_payout',
    details: { payout_id: payout.id, outcome: 'completed', end_to_end_id, evidence: 'a statement' },
  })
  start()
  await bench.admin(`UPDATE follow_ups SET ask_at = now() WHERE resource_id = '${payout.id}'`)
  await until(async () => (await kinds()).includes('contradiction'), 20_000)
})

test('an operator cannot complete a payout that the network refused or paid under another id', async () => {
  let says: PixStatus = { kind: 'refused', rail_code: 'AC03' }
  const { payout, world } = await open({ pix: pixThat({ status: async () => says }) })
  const complete = () =>
    perform(world, {
      name: 'resolve_payout',
      details: {
        payout_id: payout.id,
        outcome: 'completed',
        end_to_end_id: 'E00000000202611151200otherpaymnt',
        evidence: 'a statement',
      },
    })
  await expect(complete()).rejects.toThrow(/the network refused it with AC03/)
  says = SETTLED
  await expect(complete()).rejects.toThrow(/the network names it E00000000202611151200abcdefghijk/)
  expect((await bench.payoutNow(payout.id)).status).toBe('processing')
})

test('a machine suspended past its lease sends nothing, though its monotonic clock stood still', async () => {
  const sent: string[] = []
  const pix = pixThat({
    async send({ send_id }) {
      sent.push(send_id)
      return SETTLED
    },
  })
  const { payout, world } = await open({ pix, lease_ms: 3000, rail_timeout_ms: 1000 })
  world.clock.adjust(3500)
  const { send } = payoutSteps(world, silent, () => {})
  await send(payout, performance.now() + world.lease_ms)
  expect(sent).toEqual([])
})

test('status queries after a resolution by an operator end after a day', async () => {
  const { payout, world } = await open({ pix: pixThat({ status: async () => ({ kind: 'absent' }) }) })
  await bench.past(payout)
  await takeNow(payout)
  await fail(payout)
  let asked = 0
  let waited = 0
  for (;;) {
    const { rows } = await world.db.query(
      'SELECT asked, extract(epoch FROM ask_at - now())::float8 AS waits FROM follow_ups',
    )
    asked = rows[0].asked
    if (rows[0].waits === null) break
    waited += rows[0].waits
    await bench.admin('UPDATE follow_ups SET ask_at = now() WHERE ask_at IS NOT NULL')
    expect(await takeFollowUps(world.db, 'payout', 10)).toHaveLength(1)
  }
  expect(asked).toBe(6)
  expect(waited).toBeGreaterThan(24 * 3600)
  expect(waited).toBeLessThan(25 * 3600)
})

test('a refusal of a completed payout is a contradiction; the same outcome again is none', async () => {
  const { payout, world } = await open({ pix: pixThat() })
  const say = (outcome: Parameters<typeof settlePayout>[2]) =>
    world.commit(settlePayout(world, payout, outcome, { by: 'rail', attempt: 1 }))
  await say(SETTLED)
  await say(SETTLED)
  expect(await kinds()).toEqual([])
  await say({ kind: 'refused', rail_code: 'AC03' })
  expect(await kinds()).toEqual(['contradiction'])
})

test('after its 24 hours an old payout does not touch the claim of a new one', async () => {
  const { payout: old, world, customer } = await open({ pix_wait_ms: 0, pix: pixThat() })
  const key = old.idempotency_key
  await world.commit(settlePayout(world, old, SETTLED, { by: 'rail', attempt: 1 }))
  await bench.past(old, '24 hours')
  const fresh = await bench.payout(customer, { key })
  const claim = claimOf(bench.actor.key_id, 'pix.payout', { idempotency_key: key })
  const fixed = await world.commit(fixResponse(world, old))
  expect(JSON.parse('response' in fixed ? fixed.response.body : '{}').id).toBe(old.id)
  await world.commit(settlePayout(world, old, SETTLED, { by: 'rail', attempt: 1 }))
  expect(await readRecord(world.db, claim)).toMatchObject({
    resource_id: fresh.id,
    response: null,
    final: false,
  })
})

test('a clock that runs ahead costs a waiting call one more query, not an endless loop', async () => {
  const { payout, world } = await open({ pix_wait_ms: 1500, pix: pixThat() })
  world.clock.adjust(10_000)
  let commits = 0
  const counting: typeof world = {
    ...world,
    commit(command) {
      commits++
      return world.commit(command)
    },
  }
  const began = performance.now()
  const response = await awaitResponse(counting, payout, { settled: new Promise(() => {}), stop() {} })
  world.clock.adjust(0)
  expect(JSON.parse(response.body)).toMatchObject({ id: payout.id, status: 'processing' })
  expect(performance.now() - began).toBeGreaterThan(1000)
  expect(commits).toBeLessThan(10)
})

test('a final response given late has the body of its event, from the first call on', async () => {
  const { payout, world } = await open({ pix_wait_ms: 0, pix: pixThat() })
  await world.commit(settlePayout(world, payout, SETTLED, { by: 'rail', attempt: 1 }))
  // As another version might render the same object.
  await bench.admin(
    `UPDATE events SET data = replace(data::text, ',"direction"', ', "direction"')::json WHERE object_id = '${payout.id}'`,
  )
  const ask = () => awaitResponse(world, payout, { settled: new Promise(() => {}), stop() {} })
  const first = await ask()
  expect((await ask()).body).toBe(first.body)
})

test('payouts of one partner that hang at the rail leave slots to other partners', async () => {
  const hanging: (() => void)[] = []
  const pix = pixThat({
    async status({ description }) {
      if (description !== 'hangs') return SETTLED
      await new Promise<void>((resolve) => hanging.push(resolve))
      return { kind: 'unknown' }
    },
  })
  const { customer } = await open({ pix, rail_timeout_ms: 200_000, lease_ms: 600_000 })
  const other = await bench.openActor()
  const beside = await bench.payout(await bench.customer({ BRL: BALANCE }, other), { by: other })
  for (let i = 0; i < 12; i++) await bench.payout(customer, { description: 'hangs' })
  const second = await bench.customer({ BRL: 100n * BALANCE })
  for (let i = 0; i < 60; i++) await bench.payout(second, { description: 'hangs' })
  await bench.admin(`UPDATE payouts SET next_attempt_at = now() WHERE description = 'hangs'`)
  const worker = openPayoutWorker(bench.world, silent)
  stopping.push(async () => {
    const stopped = worker.stop()
    for (const end of hanging) end()
    await stopped
  })
  await until(() => hanging.length >= 32, 45_000)
  await bench.admin(`UPDATE payouts SET next_attempt_at = now() WHERE id = '${beside.id}'`)
  await until(async () => (await bench.payoutNow(beside.id)).status === 'completed', 45_000)
  expect(hanging.length).toBe(32)
})

test.each([
  ['when it was sent', { sent: 'accepted', asked: 'absent' }],
  ['when it was asked', { sent: 'unknown', asked: 'accepted' }],
] as const)(
  'accepted by the rail %s and absent there later: never sent again, never returned, on the desk',
  async (_, first) => {
    const sends: string[] = []
    let says: PixStatus = { kind: first.asked }
    let questions = 0
    const pix = pixThat({
      async send({ send_id }) {
        sends.push(send_id)
        return { kind: first.sent }
      },
      async status() {
        questions++
        return says
      },
    })
    const { payout, balance, world } = await open({ pix })
    const worker = start()
    await worker.send(payout, performance.now())
    await until(async () => (await bench.payoutNow(payout.id)).accepted_at !== null, 20_000)
    says = { kind: 'absent' }
    await bench.past(payout)
    await dueUntil(payout, async () => (await kinds()).length > 0)
    // Once closed by an operator, the exception is not recorded again at every status query.
    await world.db.query(
      `UPDATE exceptions SET closed_at = now(), closed_by = 'a@example.com', closed_reason = 'asked the provider'`,
    )
    for (let i = 0; i < 3; i++) {
      const before = questions
      await dueUntil(payout, () => questions > before)
    }
    await until(async () => (await bench.payoutNow(payout.id)).next_attempt_at.getTime() > Date.now(), 20_000)
    expect(sends).toHaveLength(1)
    expect((await bench.payoutNow(payout.id)).status).toBe('processing')
    expect(await balance()).toEqual(OPEN)
    expect(await exceptionsAbout(world.db, payout.id)).toMatchObject([
      {
        kind: 'accepted_then_absent',
        rail: 'pix',
        partner_id: payout.partner_id,
        details: { send_id: payout.send_id, check: expect.stringContaining(payout.send_id) },
      },
    ])
    says = SETTLED
    await dueUntil(payout, async () => (await bench.payoutNow(payout.id)).status === 'completed')
    expect(await balance()).toEqual(PAID)
  },
)

test('the sandbox rail knows the payouts it accepted, also on another node or after a restart', async () => {
  const { payout, world } = await open({})
  const slow = { ...payout.counterparty, type: 'pix_key', pix_key: 'slow@sandbox.test' } as const
  const order = pixOrderOf({ ...payout, counterparty: slow })
  const [one, other] = [0, 0].map(() =>
    simulatedPix({ clock: world.clock, journal: openJournal(undefined) }),
  ) as [PixRail, PixRail]
  expect(await one.send(order)).toEqual({ kind: 'accepted' })
  expect(await other.status(order)).toEqual({ kind: 'absent' })
  const accepted = pixOrderOf({ ...payout, counterparty: slow, accepted_at: payout.created_at })
  expect((await other.status(accepted)).kind).toBe('accepted')
})

test('a first send that begins late is stored before it is made, and the wait for visibility counts from then', async () => {
  const seen: unknown[][] = []
  const sendsNow = async () => (await bench.world.db.query('SELECT attempt, sent_at FROM sends')).rows
  const pix = pixThat({
    async send() {
      seen.push(await sendsNow())
      return { kind: 'unknown' }
    },
  })
  const { payout, world } = await open({ pix })
  const worker = openPayoutWorker(world, silent, { follows: false })
  await bench.past(payout, '10 seconds')
  // The send is late but within the lease, for example because the answer to COMMIT was lost and had to be queried.
  await worker.send(payout, performance.now() - 3000)
  expect(seen).toEqual([[{ attempt: 1, sent_at: expect.any(Date) }]])
  const [first] = await sendsNow()
  expect(first.sent_at.getTime()).toBeGreaterThan(
    (await bench.payoutNow(payout.id)).created_at.getTime() + 9000,
  )
  const taken = await takeNow(payout)
  await bench.admin(`UPDATE sends SET sent_at = now() + interval '1 minute'`)
  expect(await world.commit(intendSend(world, taken))).toMatchObject({ kind: 'wait' })
  await bench.admin('UPDATE sends SET sent_at = until')
})

test('a first send that begins at once stores no row in sends', async () => {
  const { payout, world } = await open({ pix: pixThat() })
  const worker = openPayoutWorker(world, silent, { follows: false })
  const at_once = { ...payout, created_at: new Date(world.clock.now()) }
  await worker.send(at_once, performance.now())
  expect((await world.db.query('SELECT FROM sends')).rows).toEqual([])
})

const NUL = String.fromCharCode(0)
test.each<[string, unknown]>([
  ['nothing', undefined],
  ['no kind that there is', { kind: 'done' }],
  ['an empty end_to_end_id', { kind: 'settled', end_to_end_id: '' }],
  ['no end_to_end_id', { kind: 'settled' }],
  ['an end_to_end_id with a NUL', { kind: 'settled', end_to_end_id: `E${NUL}` }],
  ['an end_to_end_id of 9 kB', { kind: 'settled', end_to_end_id: 'E'.repeat(9000) }],
  ['a month that does not exist', { kind: 'settled', end_to_end_id: 'E00000000202613151200abcdefghijk' }],
  ['a rail_code with a NUL', { kind: 'refused', rail_code: `A${NUL}` }],
  ['no rail_code', { kind: 'refused' }],
  ['a lone surrogate', { kind: 'refused', rail_code: '\ud800' }],
  ['a rail_code of 1 MB', { kind: 'refused', rail_code: 'x'.repeat(1_000_000) }],
  ['a date that is not valid', { kind: 'accepted', ask_at: new Date(Number.NaN) }],
])(
  'a rail that answers %s: the payout stays open, with one exception, until there is a valid answer',
  async (_, nonsense) => {
    let says = nonsense as PixStatus
    let answers = 0
    const answer = async () => {
      answers++
      return says as never
    }
    const { payout, balance, world } = await open({ pix: pixThat({ send: answer, status: answer }) })
    const worker = start()
    expect(await worker.send(payout, performance.now())).toBeUndefined()
    const dueNow = `UPDATE payouts SET next_attempt_at = now() WHERE id = '${payout.id}' AND status = 'processing'`
    await until(async () => {
      await bench.admin(dueNow)
      return answers >= 3
    }, 30_000)
    expect(await bench.payoutNow(payout.id)).toMatchObject({ status: 'processing', accepted_at: null })
    expect(await balance()).toEqual(OPEN)
    expect(await exceptionsAbout(world.db, payout.id)).toMatchObject([
      { kind: 'invalid_answer', rail: 'pix', details: { call: 'send', problem: expect.any(String) } },
    ])
    says = SETTLED
    await until(async () => {
      await bench.admin(dueNow)
      return (await bench.payoutNow(payout.id)).status === 'completed'
    }, 30_000)
    expect(await balance()).toEqual(PAID)
  },
)
