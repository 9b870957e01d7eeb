import { afterEach, describe, expect, test } from 'vitest'
import { startEfiStub } from '../../../test/pix/efi-stub.ts'
import { type Bench, openBench, silent } from '../../../test/support/rail-bench.ts'
import { until } from '../../../test/support/wait.ts'
import { systemClock } from '../../core/clock.ts'
import { money } from '../../core/money.ts'
import { claimOf } from '../../ledger/once.ts'
import { readClientCertificate } from '../../rails/pix/efi/certificate.ts'
import { openEfi } from '../../rails/pix/efi/rail.ts'
import type {
  PixAccount,
  PixOutcome,
  PixRail,
  PixStatus,
  SentPix,
  UnreadEntry,
} from '../../rails/pix/rail.ts'
import { simulatedTerms } from '../../rails/pix/simulated.ts'
import { unreadEntry } from '../../rails/pix/unread.ts'
import { openExceptions, recordException } from '../../records/exceptions/store.ts'
import { pauseRail, resumeRail } from '../custody/controls.ts'
import { selectControls } from '../custody/controls-store.ts'
import { compareSent, openCompareSent } from './compare-sent.ts'
import { assertCompared } from './first-comparison.ts'
import { failNeverSent } from './never-sent.ts'
import { createPayout } from './payouts.ts'
import { openTurns } from './turns.ts'
import { openPayoutWorker } from './worker.ts'

/** What becomes of a payout on a rail that refuses for a while, or for good. */
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

async function open(pix: Partial<PixRail<'sandbox'>>) {
  bench = await openBench({ pix: { ...quietPix, ...pix } })
  const customer = await bench.customer({ BRL: BALANCE })
  const payout = await bench.payout(customer)
  const worker = openPayoutWorker(bench.world, silent)
  stopping.push(worker.stop)
  return { payout, worker, balance: () => bench.balance(customer, 'BRL') }
}

const quietPix: PixRail<'sandbox'> = {
  environment: 'sandbox',
  ...simulatedTerms,
  ready: async () => {},
  holder: async (_, asking) => ({ kind: 'held', holder: asking! }),
  send: async () => ({ kind: 'unknown' }),
  status: async () => ({ kind: 'unknown' }),
}

test('a payout that the rail takes later waits as long as the rail says, and is sent once it is due', async () => {
  const sends: string[] = []
  let says: PixOutcome = { kind: 'later', at: new Date(Date.now() + 90_000) }
  const { payout, worker, balance } = await open({
    async send({ send_id }) {
      sends.push(send_id)
      return says
    },
    status: async (): Promise<PixStatus> => ({ kind: 'absent' }),
  })
  expect(await worker.send(payout, performance.now())).toBeUndefined()
  const { status, next_attempt_at, accepted_at } = await bench.payoutNow(payout.id)
  expect({ status, accepted_at }).toEqual({ status: 'processing', accepted_at: null })
  expect(next_attempt_at.getTime() - Date.now()).toBeGreaterThan(60_000)
  expect(next_attempt_at.getTime() - Date.now()).toBeLessThan(91_000)
  says = SETTLED
  await bench.past(payout, '1 minute')
  await bench.admin(`UPDATE payouts SET next_attempt_at = now() WHERE id = '${payout.id}'`)
  await until(async () => (await bench.payoutNow(payout.id)).status === 'completed', 20_000)
  expect(sends).toEqual([payout.send_id, payout.send_id])
  expect(await balance()).toEqual({ balance: BALANCE - 700n, in_transit: 0n })
})

test('a refusal that is the fault of the service returns the money and pauses the rail', async () => {
  const { payout, worker, balance } = await open({
    send: async () => ({
      ...{ kind: 'refused', rail_code: 'documento_bloqueado', reason: 'provider_error' },
      is_ours: true,
    }),
  })
  await worker.send(payout, performance.now())
  expect(await bench.payoutNow(payout.id)).toMatchObject({
    ...{ status: 'failed', failure_code: 'provider_error', rail_code: 'documento_bloqueado' },
  })
  expect(await balance()).toEqual({ balance: BALANCE, in_transit: 0n })
  expect(await selectControls(bench.world.db)).toMatchObject([
    { rail: 'pix', paused_by: 'service', paused_reason: expect.stringContaining(payout.id) },
  ])
  expect(await openExceptions(bench.world.db, 10)).toMatchObject([{ kind: 'rail_paused', rail: 'pix' }])
})

test.each([
  ['recipient_key_not_found', 'chave_favorecido_nao_encontrada'],
  ['recipient_document_mismatch', 'chave_nao_pertence_ao_documento'],
] as const)('a refusal keeps its reason %s and the code of the provider', async (reason, rail_code) => {
  const { payout, worker } = await open({ send: async () => ({ kind: 'refused', rail_code, reason }) })
  await worker.send(payout, performance.now())
  expect(await bench.payoutNow(payout.id)).toMatchObject({
    status: 'failed',
    failure_code: reason,
    rail_code,
  })
  expect(await selectControls(bench.world.db)).toEqual([])
})

test('a refusal of a repeated send counts as unknown, and the payment that an earlier send made is found', async () => {
  let sends = 0
  let says: PixStatus = { kind: 'absent' }
  const { payout, worker, balance } = await open({
    sending: { visible_after_ms: 0 },
    send: async () => (sends++ === 0 ? { kind: 'unknown' } : { kind: 'refused', rail_code: 'AM02' }),
    status: async () => says,
  })
  await worker.send(payout, performance.now())
  await bench.past(payout, '1 minute')
  await askNow(payout.id)
  await until(async () => (await bench.payoutNow(payout.id)).refusal !== null, 20_000)
  // The first send has arrived late.
  says = SETTLED
  await askNow(payout.id)
  await until(async () => (await bench.payoutNow(payout.id)).status !== 'processing', 20_000)
  expect(await bench.payoutNow(payout.id)).toMatchObject({ status: 'completed', failure_code: null })
  expect(await balance()).toEqual({ balance: BALANCE - 700n, in_transit: 0n })
  expect(sends).toBe(2)
})

test('a refusal of a repeated send returns the money once the rail has nothing of the sends before', async () => {
  let sends = 0
  const { payout, worker, balance } = await open({
    sending: { visible_after_ms: 0 },
    send: async () =>
      sends++ === 0
        ? { kind: 'unknown' }
        : { kind: 'refused', rail_code: 'saldo', reason: 'payment_not_supported' },
    status: async () => ({ kind: 'absent' }),
  })
  await worker.send(payout, performance.now())
  await bench.past(payout, '1 minute')
  await askNow(payout.id)
  await until(async () => (await bench.payoutNow(payout.id)).status === 'failed', 20_000)
  expect(await bench.payoutNow(payout.id)).toMatchObject({
    ...{ failure_code: 'payment_not_supported', rail_code: 'saldo' },
  })
  expect(await balance()).toEqual({ balance: BALANCE, in_transit: 0n })
  expect(sends).toBe(2)
})

test('a refusal of a repeated send is not believed because of an absence that was asked about too early', async () => {
  const VISIBLE_MS = 3000
  let sends = 0
  let questions_after = 0
  let release = () => {}
  let isHeld = false
  const { payout, worker, balance } = await open({
    sending: { visible_after_ms: VISIBLE_MS },
    send: async () => (sends++ === 0 ? { kind: 'unknown' } : { kind: 'refused', rail_code: 'AM02' }),
    async status() {
      if (sends < 2) return { kind: 'absent' }
      if (questions_after++ > 0) return SETTLED
      // Asked at once after the refusal; the answer takes until the sends are visible.
      isHeld = true
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return { kind: 'absent' }
    },
  })
  await worker.send(payout, performance.now())
  await bench.past(payout, '1 minute')
  await askNow(payout.id)
  await until(async () => (await bench.payoutNow(payout.id)).refusal !== null, 20_000)
  const refused_at = performance.now()
  await askNow(payout.id)
  await until(() => isHeld, 20_000)
  await until(() => performance.now() - refused_at > VISIBLE_MS, 20_000)
  release()
  await until(async () => (await bench.payoutNow(payout.id)).status !== 'processing', 20_000)
  expect(await bench.payoutNow(payout.id)).toMatchObject({ status: 'completed', failure_code: null })
  expect(questions_after).toBe(2)
  expect(await balance()).toEqual({ balance: BALANCE - 700n, in_transit: 0n })
})

const SENDING = { visible_after_ms: 0, send_for_ms: 600_000 }
const askNow = (id: string) => bench.admin(`UPDATE payouts SET next_attempt_at = now() WHERE id = '${id}'`)

test.each([
  ['completed', 'shows the first send late'],
  ['failed', 'still has nothing'],
] as const)(
  'a refusal of a repeated send needs two answers a minute apart: the payout is %s if the rail %s',
  async (end, _) => {
    let sends = 0
    let says: PixStatus = { kind: 'absent' }
    const { payout, worker, balance } = await open({
      sending: SENDING,
      send: async () => (sends++ === 0 ? { kind: 'unknown' } : { kind: 'refused', rail_code: 'AM02' }),
      status: async () => says,
    })
    await worker.send(payout, performance.now())
    await bench.past(payout, '1 minute')
    await askNow(payout.id)
    await until(async () => (await bench.payoutNow(payout.id)).absent_at !== null, 20_000)
    await askedAgain(payout.id)
    expect(await bench.payoutNow(payout.id)).toMatchObject({
      ...{ status: 'processing', refusal: { rail_code: 'AM02' } },
    })
    expect(await balance()).toEqual({ balance: BALANCE - 700n, in_transit: 700n })
    if (end === 'completed') says = SETTLED
    await bench.past(payout, '2 minutes')
    await bench.admin(
      `UPDATE sends SET sent_at = now() - interval '2 minutes'`,
      `UPDATE payouts SET absent_at = now() - interval '61 seconds'`,
    )
    await askNow(payout.id)
    await until(async () => (await bench.payoutNow(payout.id)).status === end, 20_000)
    const in_hand = end === 'completed' ? BALANCE - 700n : BALANCE
    expect(await balance()).toEqual({ balance: in_hand, in_transit: 0n })
    expect(sends).toBe(2)
  },
)

/** Counts sends and questions. The rail does not know the payout. */
function absentee(more: Partial<PixRail<'sandbox'>> = {}) {
  const counted = { sends: 0, questions: 0 }
  const pix: Partial<PixRail<'sandbox'>> = {
    sending: SENDING,
    async send() {
      counted.sends++
      return { kind: 'unknown' }
    },
    async status() {
      counted.questions++
      return { kind: 'absent' }
    },
    ...more,
  }
  return { counted, pix }
}

/** Has the rail asked, and waits until the worker has put the next question off for longer than any lease. */
async function askedAgain(id: string): Promise<void> {
  await askNow(id)
  const put_off = () => Date.now() + bench.world.lease_ms + 1000
  await until(async () => (await bench.payoutNow(id)).next_attempt_at.getTime() > put_off(), 20_000)
}

test('a payout that the provider never got is sent again for ten minutes, then fails after two answers a minute apart', async () => {
  const { counted, pix } = absentee()
  const { payout, worker, balance } = await open(pix)
  await worker.send(payout, performance.now())
  await bench.past(payout, '9 minutes')
  await askNow(payout.id)
  await until(() => counted.sends === 2, 20_000)
  // Nobody sends any more, but somebody tried a moment ago.
  await bench.past(payout, '2 minutes')
  await askedAgain(payout.id)
  expect(await bench.payoutNow(payout.id)).toMatchObject({ status: 'processing', absent_at: null })
  await bench.admin(
    `UPDATE sends SET sent_at = sent_at - interval '6 minutes', until = until - interval '6 minutes'`,
  )
  await askedAgain(payout.id)
  expect((await bench.payoutNow(payout.id)).absent_at).not.toBeNull()
  await askedAgain(payout.id)
  expect((await bench.payoutNow(payout.id)).status).toBe('processing')
  expect(await balance()).toEqual({ balance: BALANCE - 700n, in_transit: 700n })
  await bench.admin(`UPDATE payouts SET absent_at = absent_at - interval '61 seconds'`)
  await askNow(payout.id)
  await until(async () => (await bench.payoutNow(payout.id)).status === 'failed', 20_000)
  expect(await bench.payoutNow(payout.id)).toMatchObject({
    failure_code: 'never_sent',
    rail_code: 'never_sent',
  })
  expect(await balance()).toEqual({ balance: BALANCE, in_transit: 0n })
  expect(counted.sends).toBe(2)
})

test('a payment that the provider finds after the payout failed as never sent is an exception', async () => {
  let says: PixStatus = { kind: 'absent' }
  const { payout } = await open({ sending: SENDING, status: async () => says })
  await bench.past(payout, '1 hour')
  await bench.admin(`UPDATE payouts SET absent_at = now() - interval '61 seconds'`)
  await askNow(payout.id)
  await until(async () => (await bench.payoutNow(payout.id)).status === 'failed', 20_000)
  says = SETTLED
  await bench.admin(`UPDATE follow_ups SET ask_at = now()`)
  await until(async () => (await openExceptions(bench.world.db, 10)).length > 0, 30_000)
  expect(await openExceptions(bench.world.db, 10)).toMatchObject([
    { kind: 'late_success', object_id: payout.id },
  ])
})

test('a payout that the rail accepted, or that has no answer, never fails as never sent', async () => {
  let says: PixStatus = { kind: 'accepted' }
  let questions = 0
  const { payout, balance } = await open({
    sending: SENDING,
    async status() {
      questions++
      return says
    },
  })
  await bench.past(payout, '1 day')
  await askNow(payout.id)
  await until(async () => (await bench.payoutNow(payout.id)).accepted_at !== null, 20_000)
  await bench.admin(`UPDATE payouts SET absent_at = now() - interval '1 hour'`)
  for (const kind of ['absent', 'unknown', 'absent'] as const) {
    says = { kind }
    const before = questions
    await askNow(payout.id)
    await until(() => questions > before, 20_000)
  }
  await until(async () => (await openExceptions(bench.world.db, 10)).length > 0, 20_000)
  expect((await openExceptions(bench.world.db, 10)).map(({ kind }) => kind)).toEqual(['accepted_then_absent'])
  expect((await bench.payoutNow(payout.id)).status).toBe('processing')
  expect(await balance()).toEqual({ balance: BALANCE - 700n, in_transit: 700n })
})

test('Efí took a payment, its answer got lost, and its look-up never finds it: no money goes back', async () => {
  const efi = await startEfiStub()
  const { url, ca, client_id, client_secret, certificate, pix_key } = efi
  const access = { url, ca, client_id, client_secret, certificate: readClientCertificate(certificate) }
  const rail = openEfi({
    ...{ access, pix_key, at_once: 1, timeout_ms: 5000, clock: systemClock(), log: silent },
  })
  stopping.push(efi.stop, rail.stop)
  await rail.ready()
  efi.hideFor(86_400_000)
  efi.spoil('send', { kind: 'lose' })
  const { payout, worker, balance } = await open({
    ...{ sending: SENDING, send: rail.send, status: rail.status },
  })
  await worker.send(payout, performance.now())
  expect(efi.payments.size).toBe(1)
  await bench.past(payout, '1 minute')
  await askNow(payout.id)
  await until(() => efi.count('send') === 2, 20_000)
  await until(async () => (await bench.payoutNow(payout.id)).accepted_at !== null, 20_000)
  await bench.past(payout, '1 hour')
  await bench.admin(`UPDATE payouts SET absent_at = created_at + interval '1 minute'`)
  await askNow(payout.id)
  await until(async () => (await openExceptions(bench.world.db, 10)).length > 0, 20_000)
  expect((await openExceptions(bench.world.db, 10)).map(({ kind }) => kind)).toEqual(['accepted_then_absent'])
  expect((await bench.payoutNow(payout.id)).status).toBe('processing')
  expect(await balance()).toEqual({ balance: BALANCE - 700n, in_transit: 700n })
})

test('an acceptance that arrives while a payout is being failed as never sent keeps it open', async () => {
  const { payout } = await open({ sending: SENDING })
  await bench.past(payout, '1 hour')
  await bench.admin(`UPDATE payouts SET absent_at = now() - interval '61 seconds', accepted_at = now()`)
  const now = await bench.payoutNow(payout.id)
  const settled = await bench.world.commit(failNeverSent(bench.world, { ...now, accepted_at: null }))
  expect(settled).toMatchObject({ changed: false, payout: { status: 'processing' } })
})

test('a payout that another account was to pay is neither sent nor failed by this one', async () => {
  const { counted, pix } = absentee({ provider: 'efi:other' })
  const { payout } = await open(pix)
  await bench.admin(
    `BEGIN; SET LOCAL session_replication_role = replica; UPDATE payouts SET provider = 'efi:first', absent_at = now() - interval '1 hour'; COMMIT`,
  )
  for (const age of ['1 minute', '1 hour']) {
    await bench.past(payout, age)
    const { questions } = counted
    // The second question is asked after the first one was dealt with.
    for (const more of [1, 2]) {
      await askNow(payout.id)
      await until(() => counted.questions >= questions + more, 20_000)
    }
  }
  expect(counted.sends).toBe(0)
  expect((await bench.payoutNow(payout.id)).status).toBe('processing')
  await expect(bench.world.db.query(`UPDATE payouts SET provider = 'efi:other'`)).rejects.toThrow(
    'never changes',
  )
  await bench.admin('UPDATE payouts SET absent_at = NULL')
})

test.each([1, 2])('a rail that takes %i at once gets no more, from all nodes together', async (at_once) => {
  let under_way = 0
  let most = 0
  const paid: string[] = []
  const pix: PixRail<'sandbox'> = {
    ...quietPix,
    sending: { visible_after_ms: 0, at_once },
    async send({ send_id }) {
      most = Math.max(most, ++under_way)
      await new Promise((resolve) => setTimeout(resolve, 30))
      under_way--
      paid.push(send_id)
      const end_to_end_id = `E00000000202611151200${send_id.slice(-11)}`
      return { kind: 'settled', end_to_end_id }
    },
  }
  await open(pix)
  const customer = await bench.customer({ BRL: BALANCE })
  const nodes = [bench.world, bench.openNode({ pix })]
  const workers = nodes.map((node) => openPayoutWorker(node, silent, { follows: false }))
  stopping.push(...workers.map(({ stop }) => stop))
  const made = await Promise.all(Array.from({ length: 12 }, () => bench.payout(customer)))
  const settled = await Promise.all(made.map((payout, i) => workers[i % 2]!.send(payout, performance.now())))
  expect(settled.every((one) => one?.payout.status === 'completed')).toBe(true)
  expect(most).toBe(at_once)
  expect(new Set(paid).size).toBe(12)
})

/** Takes the only turn of the rail, as a node that is paying does. */
async function takeTurn() {
  const holder = await bench.world.db.connect()
  await holder.query(`SELECT pg_advisory_lock(hashtextextended('pix turn ' || current_schema() || ' 0', 0))`)
  return { giveBack: () => holder.release(new Error('over')) }
}

test('a repeated send without a turn within its lease is not made, and the payout is asked about again', async () => {
  let sends = 0
  let questions = 0
  const pix: PixRail<'sandbox'> = {
    ...quietPix,
    sending: { visible_after_ms: 0, at_once: 1 },
    async send() {
      sends++
      return { kind: 'unknown' }
    },
    async status() {
      questions++
      return { kind: 'absent' }
    },
  }
  bench = await openBench({ pix, lease_ms: 900, rail_timeout_ms: 300 })
  const turn = await takeTurn()
  const payout = await bench.payout(await bench.customer({ BRL: BALANCE }))
  await bench.past(payout, '1 minute')
  stopping.push(openPayoutWorker(bench.world, silent).stop)
  await until(() => questions >= 2, 20_000)
  expect(sends).toBe(0)
  turn.giveBack()
})

test('a first send keeps its lease while it waits for its turn: nobody asks about it, and it is sent once', async () => {
  const sent: string[] = []
  const asked: string[] = []
  const pix = {
    sending: { visible_after_ms: 60_000, at_once: 1 },
    async send({ send_id }: { send_id: string }) {
      sent.push(send_id)
      return SETTLED
    },
    async status({ send_id }: { send_id: string }): Promise<PixStatus> {
      asked.push(send_id)
      return { kind: 'absent' }
    },
  }
  const { worker } = await open(pix)
  const turn = await takeTurn()
  // The lease is kept eight seconds before it ends, and then there are eight seconds for taking the turn.
  const node = bench.openNode({ lease_ms: 16_000, rail_timeout_ms: 8000 })
  const payout = await bench.payout(await bench.customer({ BRL: BALANCE }), { node })
  const sending = openPayoutWorker(node, silent, { follows: false })
  const settled = sending.send(payout, performance.now())
  // The lease of the acceptance is over, and the payout has another one.
  const ends_at = payout.next_attempt_at.getTime()
  await until(
    async () =>
      Date.now() > ends_at && (await bench.payoutNow(payout.id)).next_attempt_at.getTime() > Date.now(),
    60_000,
  )
  expect(sent).toEqual([])
  turn.giveBack()
  expect((await settled)?.payout.status).toBe('completed')
  await worker.stop()
  expect(sent).toEqual([payout.send_id])
  expect(asked).not.toContain(payout.send_id)
})

describe('turns at a rail that takes one payment at a time', () => {
  /** Each payment is under way until the test ends it. */
  function openTeller() {
    const sent: string[] = []
    const under_way: (() => void)[] = []
    let questions = 0
    const pix: PixRail<'sandbox'> = {
      ...quietPix,
      sending: { visible_after_ms: 60_000, at_once: 1 },
      async send({ send_id }) {
        sent.push(send_id)
        await new Promise<void>((resolve) => under_way.push(resolve))
        return { kind: 'settled', end_to_end_id: `E00000000202611151200${send_id.slice(-11)}` }
      },
      async status() {
        questions++
        return { kind: 'absent' }
      },
    }
    const endNext = async () => {
      await until(() => under_way.length > 0, 20_000)
      under_way.shift()!()
    }
    return { pix, sent, endNext, questions: () => questions }
  }

  test('go to the partners in turn: many payouts of one partner delay those of another by one', async () => {
    const teller = openTeller()
    await open(teller.pix)
    const worker = openPayoutWorker(bench.world, silent, { follows: false })
    const crowd = await bench.customer({ BRL: BALANCE })
    const other = await bench.openActor()
    const alone = await bench.customer({ BRL: BALANCE }, other)
    const many = await Promise.all(Array.from({ length: 6 }, () => bench.payout(crowd)))
    const one = await bench.payout(alone, { by: other })
    const sending = [...many, one].map((payout) => worker.send(payout, performance.now()))
    for (const _ of sending) await teller.endNext()
    await Promise.all(sending)
    expect(teller.sent.indexOf(one.send_id)).toBeLessThanOrEqual(2)
    expect(new Set(teller.sent).size).toBe(7)
  })

  test('go to the nodes in turn: the queue of one node does not pass a payout of another', async () => {
    const teller = openTeller()
    await open(teller.pix)
    const [crowded, other] = [bench.world, bench.openNode({ pix: teller.pix })]
    const customer = await bench.customer({ BRL: BALANCE })
    const many = await Promise.all(Array.from({ length: 4 }, () => bench.payout(customer)))
    const one = await bench.payout(customer, { node: other })
    const workers = [crowded, other].map((node) => openPayoutWorker(node, silent, { follows: false }))
    const sending = many.map((payout) => workers[0]!.send(payout, performance.now()))
    await until(() => teller.sent.length === 1, 20_000)
    sending.push(workers[1]!.send(one, performance.now()))
    // The turn of the payment that is under way, and the place of the node that is next.
    await until(async () => (await locks()) === 2, 20_000)
    for (const _ of sending) await teller.endNext()
    await Promise.all(sending)
    expect(teller.sent[1]).toBe(one.send_id)
  })

  const locks = async () => {
    const { rows } = await bench.world.db.query(
      `SELECT count(*)::integer AS count FROM pg_locks WHERE locktype = 'advisory' AND granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
    return rows[0].count
  }

  test('of a node that stands still go to another node', async () => {
    bench = await openBench({ pix: quietPix })
    const { db } = bench.world
    const [still, other] = [500, 30_000].map((idle_most_ms) => openTurns(db, { at_once: 1, idle_most_ms }))
    const until_ms = performance.now() + 60_000
    let goOn = (_: string) => {}
    const standing = still!.take(
      'ptn_still',
      until_ms,
      () => new Promise<string>((resolve) => (goOn = resolve)),
    )
    await until(async () => (await locks()) === 1, 20_000)
    expect(await other!.take('ptn_other', until_ms, async () => 'paid')).toEqual({ done: 'paid' })
    goOn('late')
    expect(await standing).toEqual({ done: 'late' })
    const clients = await Promise.all([db.connect(), db.connect(), db.connect()])
    const limits = await Promise.all(clients.map((client) => client.query('SHOW idle_session_timeout')))
    for (const client of clients) client.release()
    expect(limits.map(({ rows }) => rows[0].idle_session_timeout)).toEqual(['0', '0', '0'])
  })

  test('are waited for by eight first sends of a partner on a node; a worker sends the rest, without asking about it', async () => {
    const teller = openTeller()
    bench = await openBench({ pix: teller.pix, pix_wait_ms: 0 })
    const node = bench.world
    const worker = openPayoutWorker(node, silent, { follows: false })
    const customer = await bench.customer({ BRL: BALANCE })
    const order = (n: number) =>
      createPayout(
        node,
        bench.actor,
        {
          order: {
            ...{ customer_id: customer, amount: money('BRL', 100n), description: null, metadata: {} },
            ...{ to: { pix_key: 'ana@example.com' }, idempotency_key: `many-${n}` },
          },
          claim: claimOf(bench.actor.key_id, 'pix.payout', { idempotency_key: `many-${n}` }),
          bodyOf: () => '',
        },
        { worker, countLookup: async () => {} },
      )
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => order(n)))
    const ids = answers.map(({ response }) => JSON.parse(response.body).id as string)
    const attempts = await Promise.all(ids.map(async (id) => (await bench.payoutNow(id)).attempts))
    expect(attempts.sort()).toEqual([...Array(4).fill(0), ...Array(8).fill(1)])
    stopping.push(openPayoutWorker(bench.openNode(), silent).stop)
    for (const _ of ids) await teller.endNext()
    await until(
      async () => (await Promise.all(ids.map(bench.payoutNow))).every(({ status }) => status === 'completed'),
      20_000,
    )
    expect(new Set(teller.sent).size).toBe(12)
    expect(teller.sent).toHaveLength(12)
    expect(teller.questions()).toBe(0)
  })

  test('a refusal of what a worker sent first is not believed before the rail was asked', async () => {
    let says: PixStatus = { kind: 'absent' }
    await open({
      sending: { visible_after_ms: 0, at_once: 1 },
      send: async () => ({ kind: 'refused', rail_code: 'AM02' }),
      status: async () => says,
    })
    const payout = await bench.payout(await bench.customer({ BRL: BALANCE }))
    // As if it had been left to a worker, by a database that has lost the send since.
    await bench.admin(`UPDATE payouts SET attempts = 0, next_attempt_at = now() WHERE id = '${payout.id}'`)
    await until(async () => (await bench.payoutNow(payout.id)).refusal !== null, 20_000)
    says = SETTLED
    await askNow(payout.id)
    await until(async () => (await bench.payoutNow(payout.id)).status !== 'processing', 20_000)
    expect(await bench.payoutNow(payout.id)).toMatchObject({ status: 'completed', failure_code: null })
  })

  test('a payout that was left for longer than its time for sending is asked about, and not sent', async () => {
    const sends: string[] = []
    let questions = 0
    await open({
      sending: { visible_after_ms: 0, at_once: 1, send_for_ms: 600_000 },
      async send({ send_id }) {
        sends.push(send_id)
        return SETTLED
      },
      async status() {
        questions++
        return { kind: 'absent' }
      },
    })
    const payout = await bench.payout(await bench.customer({ BRL: BALANCE }))
    await bench.past(payout, '11 minutes')
    await bench.admin(`UPDATE payouts SET attempts = 0, next_attempt_at = now() WHERE id = '${payout.id}'`)
    await until(async () => questions > 0 && (await bench.payoutNow(payout.id)).absent_at !== null, 20_000)
    expect(sends).toEqual([])
  })
})

describe('the list of the provider', () => {
  const listOf = (sent: (SentPix | UnreadEntry)[]): PixAccount => ({
    balance: async () => ({ available: 0n, blocked: 0n }),
    async *sent() {
      yield* sent
    },
  })
  const day = () => ({ from: new Date(Date.now() - 86_400_000), to: new Date() })
  const compare = () => compareSent(bench.world, bench.world.db, { ...day(), shouldContinue: () => true })
  const pauses = async () => (await selectControls(bench.world.db)).map(({ paused_at }) => paused_at !== null)
  const ours = (send_id: string, more: Partial<SentPix> = {}): SentPix => ({
    ...{ send_id, amount: 700n, state: 'settled', end_to_end_id: SETTLED.end_to_end_id },
    ...more,
  })

  test('with a payment that the database does not know pauses the rail, once for each payment', async () => {
    const sent: SentPix[] = [{ amount: 5n, state: 'settled' }, ours('byhand')]
    await open({ account: listOf(sent) })
    await compare()
    expect(await pauses()).toEqual([])
    const lost = `TRILHO${'0'.repeat(26)}`
    sent.push(ours(lost))
    await compare()
    expect(await pauses()).toEqual([true])
    const kinds = async () => (await openExceptions(bench.world.db, 10)).map(({ kind }) => kind).sort()
    expect(await kinds()).toEqual(['foreign_transactions', 'rail_paused'])
    await bench.world.commit(
      resumeRail({ rail: 'pix', by: 'a@example.com', reason: 'looked up', proposal_id: null }),
    )
    await compare()
    expect(await kinds()).toEqual([])
    expect(await pauses()).toEqual([false])
    sent.push(ours(`TRILHO${'1'.repeat(26)}`))
    await compare()
    expect(await pauses()).toEqual([true])
  })

  test('pauses the rail for an unknown payment although a return in the list cannot be booked', async () => {
    const sent: SentPix[] = []
    const { payout, worker } = await open({ account: listOf(sent), send: async () => SETTLED })
    await worker.send(payout, performance.now())
    const returns = [{ id: 'D1', amount: 700n, state: 'settled' } as const]
    sent.push(ours(payout.send_id, { returns }), ours(`TRILHO${'0'.repeat(26)}`))
    const commit = () => Promise.reject(new Error('no database'))
    const window = { ...day(), shouldContinue: () => true }
    await expect(compareSent({ ...bench.world, commit }, bench.world.db, window)).rejects.toThrow(
      'no database',
    )
    expect(await pauses()).toEqual([true])
  })

  test('pauses the rail for an unknown payment although the rest of the list cannot be read', async () => {
    await open({
      account: {
        balance: async () => ({ available: 0n, blocked: 0n }),
        async *sent() {
          yield ours(`TRILHO${'0'.repeat(26)}`)
          throw new Error('504')
        },
      },
    })
    await expect(compare()).rejects.toThrow('504')
    expect(await pauses()).toEqual([true])
  })

  test('with an unknown payment that was found after a resume was proposed keeps the rail paused', async () => {
    const sent: SentPix[] = []
    await open({ account: listOf(sent) })
    const order = { rail: 'pix', by: 'a@example.com', reason: 'looked up', proposal_id: null } as const
    await pauseRail(bench.world, { rail: 'pix', by: 'a@example.com', reason: 'a drill' })
    const proposed_at = new Date()
    sent.push(ours(`TRILHO${'0'.repeat(26)}`))
    await compare()
    await expect(bench.world.commit(resumeRail({ ...order, proposed_at }))).rejects.toMatchObject({
      details: { reason: 'foreign_transactions_found' },
    })
    expect(await pauses()).toEqual([true])
    await bench.world.commit(resumeRail({ ...order, proposed_at: new Date(Date.now() + 1000) }))
    expect(await pauses()).toEqual([false])
    expect(await openExceptions(bench.world.db, 10)).toEqual([])
  })

  test('is compared before the first send of a node: a database that is behind sends nothing', async () => {
    const sends: string[] = []
    const { payout, worker } = await open({
      sending: { visible_after_ms: 0 },
      account: listOf([ours(`TRILHO${'0'.repeat(26)}`)]),
      async send({ send_id }) {
        sends.push(send_id)
        return SETTLED
      },
      status: async () => ({ kind: 'absent' }),
    })
    await worker.send(payout, performance.now())
    expect(await pauses()).toEqual([true])
    expect(sends).toEqual([])
  })

  test('that cannot be read yet keeps the first sends and orders waiting, and is read again', async () => {
    const sends: string[] = []
    let is_readable = false
    const { payout, worker } = await open({
      sending: { visible_after_ms: 0 },
      account: {
        balance: async () => ({ available: 0n, blocked: 0n }),
        // biome-ignore lint/correctness/useYield: the list is empty, or cannot be read.
        async *sent() {
          if (!is_readable) throw new Error('no list')
        },
      },
      async send({ send_id }) {
        sends.push(send_id)
        return SETTLED
      },
      status: async () => ({ kind: 'absent' }),
    })
    await worker.send(payout, performance.now())
    expect(sends).toEqual([])
    await expect(assertCompared(bench.world)).rejects.toMatchObject({ code: 'rail_unavailable' })
    is_readable = true
    await bench.past(payout, '1 minute')
    await askNow(payout.id)
    await until(async () => (await bench.payoutNow(payout.id)).status === 'completed', 20_000)
    await assertCompared(bench.world)
    expect(sends).toEqual([payout.send_id])
  })

  test('has more unknown payments than one pass names: all are named before the first send, without another order', async () => {
    const lost = Array.from({ length: 120 }, (_, i) => ours(`TRILHO${String(i).padStart(26, '0')}`))
    const { payout, worker } = await open({ account: listOf(lost) })
    await worker.send(payout, performance.now())
    const named = async () => {
      const { rows } = await bench.world.db.query(
        `SELECT count(*) FROM exceptions WHERE kind = 'foreign_transactions'`,
      )
      return Number(rows[0].count)
    }
    await until(async () => (await named()) === lost.length, 60_000)
    await assertCompared(bench.world)
  })

  test('is read again after an error, although nobody orders or sends', async () => {
    let readings = 0
    await open({
      account: {
        balance: async () => ({ available: 0n, blocked: 0n }),
        // biome-ignore lint/correctness/useYield: the list cannot be read at first.
        async *sent() {
          if (++readings < 3) throw new Error('no list')
        },
      },
    })
    await expect(assertCompared(bench.world)).rejects.toMatchObject({ code: 'rail_unavailable' })
    await until(async () => readings >= 3, 60_000)
  })

  test('with an hour that has more unknown payments than one pass names is compared in its other hours, too', async () => {
    const lost = Array.from({ length: 60 }, (_, i) => ours(`TRILHO${String(i).padStart(26, '0')}`))
    const asked: number[] = []
    await open({
      account: {
        balance: async () => ({ available: 0n, blocked: 0n }),
        async *sent(from) {
          asked.push(from.getTime())
          if (asked.length === 1) yield* lost
        },
      },
    })
    await openCompareSent(bench.world)(bench.world.db, () => true)
    expect(new Set(asked).size).toBeGreaterThanOrEqual(24)
  })

  test('has open payouts asked about, and names what ended otherwise', async () => {
    const sent: SentPix[] = []
    let questions = 0
    const { payout } = await open({
      account: listOf(sent),
      async status() {
        questions++
        return { kind: 'refused', rail_code: 'AC03' }
      },
    })
    sent.push(ours(payout.send_id))
    await bench.admin(`UPDATE payouts SET next_attempt_at = now() + interval '1 hour'`)
    await compare()
    await until(async () => (await bench.payoutNow(payout.id)).status === 'failed', 20_000)
    expect(questions).toBe(1)
    for (let i = 0; i < 2; i++) await compare()
    expect(await openExceptions(bench.world.db, 10)).toMatchObject([
      { kind: 'late_success', object_id: payout.id, details: { booked: 'failed' } },
    ])
    expect(await pauses()).toEqual([])
  })

  test('names a payment of a failed payout although the desk has had another exception of it', async () => {
    const sent: SentPix[] = []
    const { payout, worker } = await open({
      account: listOf(sent),
      send: async () => ({ kind: 'refused', rail_code: 'AC03' }),
    })
    const { id: object_id, partner_id } = payout
    for (const kind of ['invalid_answer', 'contradiction'] as const)
      await recordException(bench.world.db, bench.world.clock, {
        ...{ kind, rail: 'pix', object_id, partner_id, details: {} },
      })
    await worker.send(payout, performance.now())
    sent.push(ours(payout.send_id))
    for (let i = 0; i < 2; i++) await compare()
    const kinds = (await openExceptions(bench.world.db, 10)).map(({ kind }) => kind)
    expect(kinds.sort()).toEqual(['contradiction', 'invalid_answer', 'late_success'])
  })

  test('of a day that is longer than one run is read on by the next, the newest hours by each', async () => {
    const asked: number[] = []
    let left = 3
    await open({
      account: {
        balance: async () => ({ available: 0n, blocked: 0n }),
        async *sent(from) {
          asked.push(from.getTime())
          yield ours('byhand')
        },
      },
    })
    const run = openCompareSent(bench.world)
    await run(bench.world.db, () => left-- > 0)
    expect(asked).toHaveLength(4)
    expect(asked).toEqual(asked.toSorted((a, b) => b - a))
    left = Infinity
    await run(bench.world.db, () => left > 0)
    const hours = new Set(asked)
    expect(hours.size).toBeGreaterThanOrEqual(24)
    // The third hour was read by the first run, and is not read again soon.
    const before = asked.length
    await run(bench.world.db, () => true)
    expect(asked.length - before).toBeLessThanOrEqual(3)
  })

  test('with an entry that cannot be read compares the others, and pauses the rail if its id is unknown', async () => {
    const [known, lost] = ['TRILHO00000000000000000000000001', 'TRILHO00000000000000000000000002']
    const unread = unreadEntry({}, 'valor is undefined', { send_id: known, end_to_end_id: 'E1' })
    await open({ account: listOf([unread, ours(lost)]) })
    for (let i = 0; i < 2; i++) await compare()
    const told = (await openExceptions(bench.world.db, 10)).map(({ kind, object_id }) => [kind, object_id])
    expect(told.sort()).toEqual([
      ['foreign_transactions', known],
      ['foreign_transactions', lost],
      ['invalid_answer', 'E1'],
      ['rail_paused', 'pix'],
    ])
  })

  test('with more unknown payments than one run names has all of them named by further runs', async () => {
    const lost = Array.from({ length: 60 }, (_, i) => `TRILHO${String(i).padStart(26, '0')}`)
    await open({ account: listOf(lost.map((send_id) => ours(send_id))) })
    for (let i = 0; i < 2; i++) await compare()
    const { rows } = await bench.world.db.query(
      `SELECT object_id FROM exceptions WHERE kind = 'foreign_transactions' ORDER BY object_id`,
    )
    expect(rows.map(({ object_id }) => object_id)).toEqual(lost)
  })
})
