import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { type Bench, openBench, openGate, silent } from '../../../test/support/rail-bench.ts'
import { until } from '../../../test/support/wait.ts'
import { makeBrCode } from '../../core/br-code.ts'
import { money, UNITS_MAX } from '../../core/money.ts'
import { claimOf } from '../../ledger/once.ts'
import type {
  ChargeOrder,
  ChargeOutcome,
  PixCharges,
  PixRail,
  ReceivedPix,
  UnreadEntry,
} from '../../rails/pix/rail.ts'
import { simulatedTerms } from '../../rails/pix/simulated.ts'
import { unreadEntry } from '../../rails/pix/unread.ts'
import { closeException, openExceptions } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { debit } from '../adjustments/adjustments.ts'
import { deposit } from '../deposits/deposits.ts'
import { acceptCharge, createCharge } from './charges.ts'
import { openReturnPass } from './find-returns.ts'
import { endCharges, hurryReceived, openFindAgain, openFindReceived } from './finder.ts'
import { noteReceived } from './received.ts'
import {
  type Charge,
  chargeById,
  endingCharges,
  receivedById,
  receivedScan,
  takeDueCharges,
} from './store.ts'
import { openChargeWorker } from './worker.ts'

let bench: Bench
let stopping: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stopping.reverse()) await stop()
  stopping = []
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const AMOUNT = 1050n
const codeFor = ({ txid, amount }: ChargeOrder) =>
  makeBrCode({ url: `pix.example/${txid}`, amount: amount.units, name: 'Trilho', city: 'SAO PAULO' })

/** A provider that a test has in its hands: what it answers to a registration, and what it has received. */
function provider(register: PixCharges['register'] = async (order) => registered(order)) {
  const paid: ReceivedPix[] = []
  const asked: string[] = []
  const windows: { from: Date; to: Date }[] = []
  const charges: PixCharges = {
    async register(order) {
      asked.push(order.txid)
      return register(order)
    },
    async *received({ from, to }) {
      windows.push({ from, to })
      // Up to the end, inclusive: a test may pay and read within the same millisecond.
      for (const one of paid) if (one.paid_at >= from && one.paid_at <= to) yield one
    },
    payment: async (id) => paid.find(({ end_to_end_id }) => end_to_end_id === id),
  }
  const pix: PixRail<'sandbox'> = {
    environment: 'sandbox',
    ...simulatedTerms,
    ready: async () => {},
    holder: async (_, asking) => ({ kind: 'held', holder: asking! }),
    send: async () => ({ kind: 'unknown' }),
    status: async () => ({ kind: 'unknown' }),
    charges,
  }
  return { pix, paid, asked, windows }
}

const registered = (order: ChargeOrder): ChargeOutcome => ({ kind: 'registered', br_code: codeFor(order) })

let payments = 0
const payment = (txid: string | undefined, amount = AMOUNT, paid_at = new Date()): ReceivedPix => ({
  end_to_end_id: `E00000000${paid_at.toISOString().replaceAll(/[-:T]/g, '').slice(0, 12)}${String(++payments).padStart(11, '0')}`,
  ...(txid === undefined ? {} : { txid }),
  amount,
  paid_at,
  payer: { name: 'Paula Pagadora', document: '11144477735' },
  returns: [],
})

let keys = 0
const requestOf = (
  customer_id: string,
  expires_in_seconds = 3600,
  key = `c${++keys}`,
  key_id = bench.actor.key_id,
) => ({
  order: {
    customer_id,
    amount: money('BRL', AMOUNT),
    expires_in_seconds,
    description: null,
    idempotency_key: key,
    metadata: {},
  },
  claim: claimOf(key_id, 'pix.charge', { idempotency_key: key }),
  bodyOf: () => '',
})

async function accept(customer_id: string, expires_in_seconds?: number): Promise<Charge> {
  const command = acceptCharge(bench.world, bench.actor, requestOf(customer_id, expires_in_seconds))
  const done = await bench.world.commit(command)
  if (done.kind !== 'made') throw new Error(`the charge was ${done.kind}`)
  return done.made
}

function start(world: World<'sandbox'> = bench.world) {
  const worker = openChargeWorker(world, silent)
  stopping.push(worker.stop)
  return worker
}

const now = async ({ id }: Charge): Promise<Charge> => (await chargeById(bench.world.db, id))!
const statusOf = async (charge: Charge) => (await now(charge)).status
const find = (world = bench.world) => openFindReceived(world)(world.db)
const end = () => endCharges(bench.world, bench.world.db)
const balance = async (customer_id: string) => (await bench.balance(customer_id, 'BRL')).balance
const told = async (kind: string) =>
  (await openExceptions(bench.world.db, 100)).filter((each) => each.kind === kind)

async function open(at: ReturnType<typeof provider>) {
  bench = await openBench({ pix: at.pix, lease_ms: 300, pix_wait_ms: 300 })
  const customer = await bench.customer({})
  return { customer }
}

async function openCharge(customer: string, expires_in_seconds?: number): Promise<Charge> {
  const charge = await accept(customer, expires_in_seconds)
  await openChargeWorker(bench.world, silent, { follows: false }).register(charge)
  return now(charge)
}

/** As if the charge had been made so long ago. */
const inThePast = (charge: Charge, by: string) =>
  bench.admin(
    'SET session_replication_role = replica',
    `UPDATE pix_charges SET created_at = created_at - interval '${by}', expires_at = expires_at - interval '${by}',
       opened_at = opened_at - interval '${by}' WHERE id = '${charge.id}'`,
    `UPDATE claims SET claimed_at = claimed_at - interval '${by}', expires_at = expires_at - interval '${by}' WHERE resource_id = '${charge.id}'`,
    `UPDATE events SET created_at = created_at - interval '${by}', data = replace(data::text, '${charge.created_at.toISOString()}',
       to_char((timestamptz '${charge.created_at.toISOString()}' - interval '${by}') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::json
       WHERE object_id = '${charge.id}'`,
  )

describe('registration', () => {
  test('a call whose answer was lost is repeated under the same txid, and the charge is opened once', async () => {
    let is_answered = false
    const at = provider(async (order) => {
      if (!is_answered || at.asked.length < 3) throw new Error('cut')
      return registered(order)
    })
    const { customer } = await open(at)
    const worker = start()
    const { response } = await createCharge(bench.world, bench.actor, requestOf(customer), worker)
    const { id, status } = JSON.parse(response.body)
    expect(status).toBe('pending')
    is_answered = true
    await until(async () => (await chargeById(bench.world.db, id))?.status === 'open', 20_000)
    expect(new Set(at.asked).size).toBe(1)
    expect((await chargeById(bench.world.db, id))!.sequence).toBe(1)
  })

  test('a node that dies before or after the call leaves the charge to another one', async () => {
    const gate = openGate()
    const at = provider()
    const { customer } = await open(at)
    const dying = bench.openNode({
      pix: {
        ...at.pix,
        charges: { ...at.pix.charges!, register: (order) => gate.arrive().then(() => registered(order)) },
      },
    })
    const request = requestOf(customer)
    const first = createCharge(
      dying,
      bench.actor,
      request,
      openChargeWorker(dying, silent, { follows: false }),
    )
    await gate.reached
    start()
    await until(async () => {
      const { rows } = await bench.world.db.query('SELECT status FROM pix_charges')
      return rows[0]?.status === 'open'
    }, 20_000)
    const again = await createCharge(bench.world, bench.actor, request, start())
    gate.open()
    expect((await first).response.body).toBe(again.response.body)
    // On a busy machine a lease may end before its answer is stored: the same charge is registered again.
    expect(new Set(at.asked).size).toBe(1)
  })

  test('a refusal fails the charge, and later asks again at its time', async () => {
    let later = true
    const at = provider(async () => {
      if (!later) return { kind: 'refused', rail_code: 'valor_invalido' }
      later = false
      return { kind: 'later', at: new Date(Date.now() + 600) }
    })
    const { customer } = await open(at)
    const charge = await accept(customer)
    await bench.admin(`UPDATE pix_charges SET next_attempt_at = now() WHERE id = '${charge.id}'`)
    start()
    await until(async () => (await statusOf(charge)) === 'failed', 20_000)
    expect(await now(charge)).toMatchObject({ failure_code: 'provider_error', rail_code: 'valor_invalido' })
    expect(at.asked.length).toBeGreaterThanOrEqual(2)
  })

  test.each([
    ['with a wrong check sum', (order: ChargeOrder) => `${codeFor(order).slice(0, -4)}0000`],
    ['for another amount', (order: ChargeOrder) => codeFor({ ...order, amount: money('BRL', AMOUNT + 1n) })],
    ['that is none', () => 'https://pix.example/pay/this/instead'],
  ])('a code %s is never shown, and an operator hears of it', async (_, code) => {
    const at = provider(async (order) => ({ kind: 'registered', br_code: code(order) }))
    const { customer } = await open(at)
    const charge = await openCharge(customer)
    expect(charge).toMatchObject({ status: 'pending', br_code: null })
    expect(await told('invalid_answer')).toMatchObject([{ object_id: charge.id, rail: 'pix' }])
  })

  test('a charge that could not be registered fails at its end, and a payment that comes all the same is credited', async () => {
    const at = provider(async () => ({ kind: 'unknown' }))
    const { customer } = await open(at)
    await find()
    const charge = await openCharge(customer, 60)
    await end()
    expect(await statusOf(charge)).toBe('pending')
    await inThePast(charge, '2 hours')
    await end()
    expect(await now(charge)).toMatchObject({ status: 'failed', failure_code: 'provider_unreachable' })
    at.paid.push(payment(charge.txid))
    await find()
    expect(await now(charge)).toMatchObject({ status: 'failed', amount_received: AMOUNT })
    expect(await balance(customer)).toBe(AMOUNT)
  })

  test('a payment completes a charge that the provider has registered without an answer', async () => {
    const at = provider(async () => ({ kind: 'unknown' }))
    const { customer } = await open(at)
    await find()
    const charge = await openCharge(customer)
    at.paid.push(payment(charge.txid))
    await find()
    expect(await now(charge)).toMatchObject({ status: 'paid', br_code: null, sequence: 1 })
  })

  test('is taken up in turns: many charges of one partner do not keep those of another one waiting', async () => {
    const { customer } = await open(provider())
    for (let i = 0; i < 5; i++) await accept(customer)
    const other = await bench.openActor()
    const their = await bench.customer({}, other)
    const command = acceptCharge(bench.world, other, requestOf(their, 3600, 'theirs', other.key_id))
    await bench.world.commit(command)
    await bench.admin(
      `UPDATE pix_charges SET next_attempt_at = now() - CASE partner_id WHEN '${other.partner_id}' THEN interval '1 minute' ELSE interval '2 minutes' END`,
    )
    const taken = await takeDueCharges(bench.world.db, { lease_ms: 60_000, most: 3 })
    expect(taken.map(({ partner_id }) => partner_id)).toContain(other.partner_id)
    expect(taken).toHaveLength(3)
  })

  test('is taken up in turns although slots become free one by one, and one partner has not all of them', async () => {
    const { customer } = await open(provider())
    for (let i = 0; i < 3; i++) await accept(customer)
    const other = await bench.openActor()
    const their = await bench.customer({}, other)
    await bench.world.commit(acceptCharge(bench.world, other, requestOf(their, 3600, 'theirs', other.key_id)))
    await bench.admin(
      `UPDATE pix_charges SET next_attempt_at = now() - CASE partner_id WHEN '${other.partner_id}' THEN interval '1 minute' ELSE interval '2 minutes' END`,
    )
    const running = [{ rail: 'pix', partner_id: bench.actor.partner_id, count: 1 }]
    const take = (most: number) =>
      takeDueCharges(bench.world.db, { lease_ms: 60_000, most, running, per_partner: 2 })
    expect((await take(1)).map(({ partner_id }) => partner_id)).toEqual([other.partner_id])
    expect((await take(10)).map(({ partner_id }) => partner_id)).toEqual([bench.actor.partner_id])
  })

  test('at creation is made for a few charges at once; the others are pending, due at once, and no other partner waits', async () => {
    const open_gates: (() => void)[] = []
    let isHeld = true
    const held = new Set<string>()
    const at = provider(async (order) => {
      if (isHeld && !order.description) {
        held.add(order.txid)
        await new Promise<void>((resolve) => open_gates.push(resolve))
      }
      return registered(order)
    })
    bench = await openBench({ pix: at.pix, pix_wait_ms: 300 })
    const customer = await bench.customer({})
    const other = await bench.openActor()
    const their = await bench.customer({}, other)
    // The workers of another node take up what this node leaves.
    const worker = openChargeWorker(bench.world, silent, { follows: false })
    const flood = Array.from({ length: 12 }, () =>
      createCharge(bench.world, bench.actor, requestOf(customer), worker),
    )
    await until(() => held.size > 0, 20_000)
    const theirs = requestOf(their, 3600, 'theirs', other.key_id)
    const order = { ...theirs.order, description: 'at once' }
    const patient = { ...bench.world, pix_wait_ms: 60_000 }
    const open_one = await createCharge(patient, other, { ...theirs, order }, worker)
    expect(JSON.parse(open_one.response.body).status).toBe('open')
    const answers = await Promise.all(flood)
    expect(answers.map(({ response }) => JSON.parse(response.body).status)).toEqual(Array(12).fill('pending'))
    expect(held.size).toBe(2)
    const due = async () => {
      const { rows } = await bench.world.db.query(
        `SELECT count(*)::integer AS count FROM pix_charges WHERE status = 'pending' AND next_attempt_at <= now()`,
      )
      return rows[0].count
    }
    await until(async () => (await due()) === 10, 20_000)
    isHeld = false
    for (const open_gate of open_gates) open_gate()
    start()
    const pending = async () =>
      (await bench.world.db.query(`SELECT FROM pix_charges WHERE status <> 'open'`)).rowCount
    await until(async () => (await pending()) === 0, 20_000)
    expect(new Set(at.asked).size).toBe(13)
  })

  test('without a provider that takes payments in, a charge is refused', async () => {
    const { pix } = provider()
    const { charges: _, ...without } = pix
    bench = await openBench({ pix: without })
    const customer = await bench.customer({})
    await expect(createCharge(bench.world, bench.actor, requestOf(customer), start())).rejects.toMatchObject({
      code: 'rail_unavailable',
    })
  })
})

describe('payments', () => {
  test('are found from the stored position on, with an overlap, and each is credited once', async () => {
    const at = provider()
    const { customer } = await open(at)
    await find()
    const begun = (await receivedScan(bench.world.db, 'simulated')).begun_at
    const charge = await openCharge(customer)
    at.paid.push(payment(charge.txid, 1000n), payment(charge.txid, 50n))
    await find()
    await find()
    expect(await now(charge)).toMatchObject({ status: 'paid', amount_received: AMOUNT })
    expect(await balance(customer)).toBe(AMOUNT)
    expect(at.windows.every(({ from }) => from < begun)).toBe(true)
    const { read_until } = await receivedScan(bench.world.db, 'simulated')
    expect(read_until.getTime()).toBeGreaterThan(begun.getTime())
    const { rows } = await bench.world.db.query('SELECT payer_name, payer_document FROM pix_received')
    expect(rows[0]).toEqual({ payer_name: 'Paula ***', payer_document: '***.444.777-**' })
  })

  test('of a charge are credited even if they came before the first reading; others of that time are none of ours', async () => {
    const at = provider()
    const { customer } = await open(at)
    const charge = await openCharge(customer)
    at.paid.push(payment(charge.txid), { ...payment(undefined), paid_at: new Date(Date.now() - 900_000) })
    await until(() => Date.now() > at.paid[0]!.paid_at.getTime(), 20_000)
    await find()
    expect(await balance(customer)).toBe(AMOUNT)
    expect(await told('unknown_payment')).toEqual([])
  })

  test('are credited once by many nodes that see them at the same time', async () => {
    const at = provider()
    const { customer } = await open(at)
    const charge = await openCharge(customer)
    const nodes = [bench.world, bench.openNode(), bench.openNode()]
    const seen = [payment(charge.txid), payment(charge.txid), payment(undefined)]
    await Promise.all(
      Array.from({ length: 30 }, (_, i) => noteReceived(nodes[i % 3]!, seen[Math.floor(i / 3) % 3]!)),
    )
    expect(await balance(customer)).toBe(2n * AMOUNT)
    expect(await told('unknown_payment')).toHaveLength(1)
    const { rows } = await bench.world.db.query('SELECT count(*)::integer AS count FROM deposits')
    expect(rows[0].count).toBe(2)
  })

  test('of a slice that broke off are read again: the position stays until all are stored', async () => {
    const at = provider()
    const { customer } = await open(at)
    await find()
    const before = await receivedScan(bench.world.db, 'simulated')
    const charge = await openCharge(customer)
    at.paid.push(payment(charge.txid, 400n), payment(charge.txid, 650n))
    const breaking = bench.openNode({
      pix: {
        ...at.pix,
        charges: {
          ...at.pix.charges!,
          async *received() {
            yield at.paid[0]!
            throw new Error('cut')
          },
        },
      },
    })
    await expect(find(breaking)).rejects.toThrow('cut')
    expect(await receivedScan(bench.world.db, 'simulated')).toEqual(before)
    expect(await balance(customer)).toBe(400n)
    await find()
    expect(await balance(customer)).toBe(AMOUNT)
  })

  test('are credited although an entry of the list cannot be read, which a person is told of once', async () => {
    const at = provider()
    const broken: UnreadEntry[] = []
    const pix: PixRail<'sandbox'> = {
      ...at.pix,
      charges: {
        ...at.pix.charges!,
        async *received(window) {
          yield* broken
          yield* at.pix.charges!.received(window)
        },
      },
    }
    const { customer } = await open({ ...at, pix })
    await find()
    const before = await receivedScan(bench.world.db, 'simulated')
    const charge = await openCharge(customer)
    const [first, second] = [payment(charge.txid, 400n), payment(charge.txid, 650n)]
    at.paid.push(first)
    const named = unreadEntry({ valor: 'x' }, 'valor is "x"', { end_to_end_id: second.end_to_end_id })
    const nameless = unreadEntry({ valor: 'y' }, 'endToEndId is undefined')
    broken.push(named, nameless)
    for (let i = 0; i < 2; i++) await find()
    expect(await balance(customer)).toBe(400n)
    const { read_until } = await receivedScan(bench.world.db, 'simulated')
    expect(read_until > before.read_until).toBe(true)
    const reported = await told('invalid_answer')
    expect(reported.map(({ object_id }) => object_id).sort()).toEqual(
      [second.end_to_end_id, nameless.digest].sort(),
    )
    const of = (id: string) => reported.find(({ object_id }) => object_id === id)!
    expect(of(nameless.digest).details).toMatchObject({ problem: expect.stringContaining('endToEndId') })
    const closing = { id: of(nameless.digest).id, closed_by: 'maria', closed_reason: 'seen' }
    await closeException(bench.world.db, closing)
    await find()
    expect(await told('invalid_answer')).toHaveLength(1)

    // A day later only the exception tells that there was something.
    await bench.admin(
      'SET session_replication_role = replica',
      `UPDATE exceptions SET details = (details::jsonb || '{"from": "2026-01-05T10:00:00Z", "to": "2026-01-05T11:00:00Z"}')::json`,
    )
    await openFindAgain(bench.world)(bench.world.db, () => true)
    expect(await told('invalid_answer')).toHaveLength(1)
    broken.length = 0
    at.paid.push({ ...second, paid_at: new Date('2026-01-05T10:30:00Z') })
    await openFindAgain(bench.world)(bench.world.db, () => true)
    expect(await balance(customer)).toBe(AMOUNT)
    expect(await told('invalid_answer')).toEqual([])
  })

  test('are credited once they can be read, although the list of returns had the unreadable entry first', async () => {
    const at = provider()
    const broken: UnreadEntry[] = []
    const charges: PixCharges = {
      ...at.pix.charges!,
      async *received(window) {
        yield* broken
        yield* at.pix.charges!.received(window)
      },
    }
    const { customer } = await open({ ...at, pix: { ...at.pix, charges } })
    await find()
    const charge = await openCharge(customer)
    const paid = payment(charge.txid)
    broken.push(unreadEntry({ valor: 'x' }, 'valor is "x"', { end_to_end_id: paid.end_to_end_id }))
    const lists = async () => (await told('invalid_answer')).map(({ details }) => details.list)
    await openReturnPass(bench.world)(bench.world.db, () => true)
    expect(await lists()).toEqual(['returned'])
    for (let i = 0; i < 2; i++) await find()
    expect(await lists()).toEqual(['received'])
    await bench.admin('DELETE FROM pix_return_scans')
    await openReturnPass(bench.world)(bench.world.db, () => true)
    expect(await lists()).toEqual(['received'])

    await bench.admin(
      'SET session_replication_role = replica',
      `UPDATE exceptions SET details = (details::jsonb || '{"from": "2026-01-05T10:00:00Z", "to": "2026-01-05T11:00:00Z"}')::json`,
    )
    broken.length = 0
    at.paid.push({ ...paid, paid_at: new Date('2026-01-05T10:30:00Z') })
    await openFindAgain(bench.world)(bench.world.db, () => true)
    expect(await balance(customer)).toBe(AMOUNT)
    expect(await told('invalid_answer')).toEqual([])
  })

  test('are credited later, and the desk is not flooded, when no entry of the list can be read', async () => {
    const at = provider()
    let runs = 0
    let is_broken = true
    const charges: PixCharges = {
      ...at.pix.charges!,
      async *received(window) {
        // Each time with another field, so that no two digests are the same.
        if (is_broken)
          for (let i = 0; i < 60; i++) yield unreadEntry({ i, run: ++runs }, 'endToEndId is undefined')
        yield* at.pix.charges!.received(window)
      },
    }
    const { customer } = await open({ ...at, pix: { ...at.pix, charges } })
    const charge = await openCharge(customer)
    for (let i = 0; i < 3; i++) await find()
    const reported = await told('invalid_answer')
    const shared = reported.filter(({ details }) => details.count !== undefined)
    expect(reported.length - shared.length).toBe(50)
    expect(shared.at(-1)!.details).toMatchObject({ list: 'received', count: 10 })
    // The last hour and the hours that it touches, also if the test runs over the end of one.
    expect(shared.length).toBeLessThanOrEqual(4)
    expect(new Set(shared.map(({ object_id }) => object_id)).size).toBe(shared.length)

    const window = { from: '2026-01-05T10:00:00Z', to: '2026-01-05T11:00:00Z' }
    await bench.admin(
      'SET session_replication_role = replica',
      `UPDATE exceptions SET closed_at = now(), closed_by = 'maria', closed_reason = 'seen' WHERE details ->> 'count' IS NULL`,
      `UPDATE exceptions SET details = (details::jsonb || '${JSON.stringify(window)}')::json`,
    )
    is_broken = false
    at.paid.push(payment(charge.txid, AMOUNT, new Date('2026-01-05T10:30:00Z')))
    await openFindAgain(bench.world)(bench.world.db, () => true)
    expect(await balance(customer)).toBe(AMOUNT)
    expect(await told('invalid_answer')).toEqual([])
  })

  test('after a long absence are read in slices, and none is left out', async () => {
    const at = provider()
    const { customer } = await open(at)
    await find()
    const charge = await openCharge(customer)
    await bench.admin(
      `UPDATE pix_received_scan SET begun_at = now() - interval '3 days', read_until = now() - interval '2 days'`,
    )
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)
    for (const hours of [48.5, 40, 33, 12, 1]) at.paid.push(payment(charge.txid, 10n, hoursAgo(hours)))
    await find()
    expect(await balance(customer)).toBe(50n)
    expect(at.windows.length).toBeGreaterThan(20)
  })

  test('are found although no run has the time to read the whole list', async () => {
    const at = provider()
    const pix: PixRail<'sandbox'> = {
      ...at.pix,
      charges: {
        ...at.pix.charges!,
        /** A page of ten payments takes so long, as at a provider that answers slowly. */
        async *received(window) {
          let count = 0
          for await (const one of at.pix.charges!.received(window)) {
            if (count++ % 10 === 0) await sleep(20)
            yield one
          }
        },
      },
    }
    const { customer } = await open({ ...at, pix })
    await find()
    const charge = await openCharge(customer)
    const began = Date.now() - 3_600_000
    await bench.admin(
      `UPDATE pix_received_scan SET begun_at = now() - interval '3 hours', read_until = now() - interval '1 hour'`,
    )
    for (let i = 0; i < 300; i++)
      at.paid.push(payment(i === 299 ? charge.txid : undefined, 1n, new Date(began + i * 5000)))
    const findOn = openFindReceived(bench.world)
    const runs = []
    for (let run = 0; run < 200; run++) {
      const until = performance.now() + 100
      await findOn(bench.world.db, () => performance.now() < until)
      runs.push((await receivedScan(bench.world.db, 'simulated')).read_until)
      if (await balance(customer)) break
    }
    expect(await balance(customer)).toBe(1n)
    expect(runs.length).toBeGreaterThan(2)
    expect(runs).toEqual(runs.toSorted((a, b) => a.getTime() - b.getTime()))
    const { rows } = await bench.world.db.query('SELECT count(*)::integer AS count FROM pix_received')
    expect(rows[0].count).toBe(300)
  })

  test('that a notice names are asked about at once, and a notice that lies changes nothing', async () => {
    const at = provider()
    const { customer } = await open(at)
    const charge = await openCharge(customer)
    const real = payment(charge.txid)
    at.paid.push(real)
    const lie = payment(charge.txid).end_to_end_id
    const noticed = [real.end_to_end_id, lie, real.end_to_end_id].map((end_to_end_id) => ({ end_to_end_id }))
    await hurryReceived(bench.world, silent, [...noticed, { send_id: 'x', end_to_end_id: lie }])
    expect(await balance(customer)).toBe(AMOUNT)
    expect(await receivedById(bench.world.db, lie)).toBeUndefined()
  })

  test('of before the first start are none of ours, even if a notice of a return names them', async () => {
    const at = provider()
    await open(at)
    await find()
    const old = payment(undefined, 55n, new Date(Date.now() - 900_000))
    at.paid.push(old)
    await hurryReceived(bench.world, silent, [old])
    expect(await told('unknown_payment')).toEqual([])
    expect(await receivedById(bench.world.db, old.end_to_end_id)).toBeUndefined()
  })

  test('that the list shows hours late are found: the last day is read again', async () => {
    const at = provider()
    const { customer } = await open(at)
    await find()
    const charge = await openCharge(customer)
    const findAgain = openFindAgain(bench.world)
    const again = () => findAgain(bench.world.db, () => true)
    for (const hours of [3, 20])
      at.paid.push(payment(charge.txid, 10n, new Date(Date.now() - hours * 3_600_000)))
    await find()
    expect(await balance(customer)).toBe(0n)
    await again()
    expect(await balance(customer)).toBe(20n)
    const { length } = at.windows
    await again()
    expect(at.windows, 'a part that was read is left alone for hours').toHaveLength(length)
  })

  test('that name no charge are credited to nobody, and one of a restored database says so', async () => {
    const at = provider()
    const { customer } = await open(at)
    await find()
    const unknown = payment('TRILHO01kc3v4x9zq8rj5m2t7w6y0ahb', 77n)
    at.paid.push(payment(undefined, 55n), payment('OTHERSYSTEM123', 66n), unknown)
    await find()
    await find()
    const exceptions = await told('unknown_payment')
    expect(exceptions.map(({ details }) => details.amount).sort()).toEqual(['55', '66', '77'])
    const restored = exceptions.find(({ object_id }) => object_id === unknown.end_to_end_id)
    expect(restored?.details.problem).toContain('restored')
    expect(await balance(customer)).toBe(0n)
  })

  test('are found although the position is in the future, such as after a leap of the clock', async () => {
    const at = provider()
    const { customer } = await open(at)
    await find()
    const charge = await openCharge(customer)
    await bench.admin(`UPDATE pix_received_scan SET read_until = now() + interval '1 day'`)
    at.paid.push(payment(charge.txid))
    await until(() => Date.now() > at.paid[0]!.paid_at.getTime(), 20_000)
    await find()
    expect(await balance(customer)).toBe(AMOUNT)
    const { read_until } = await receivedScan(bench.world.db, 'simulated')
    expect(read_until.getTime()).toBeGreaterThan(Date.now() + 3_600_000)
  })

  test('of before the first start are not read', async () => {
    const at = provider()
    await open(at)
    at.paid.push(payment(undefined, 55n, new Date(Date.now() - 600_000)))
    await find()
    expect(await told('unknown_payment')).toEqual([])
  })

  test('that do not fit into the balance wait until there is room', async () => {
    const at = provider()
    const { customer } = await open(at)
    const { partner_id } = bench.actor
    const full = {
      partner_id,
      customer_id: customer,
      rail: 'sandbox',
      money: money('BRL', UNITS_MAX),
    } as const
    await find()
    const charge = await openCharge(customer)
    await bench.world.commit(deposit(bench.world, full))
    at.paid.push(payment(charge.txid))
    await find()
    await end()
    expect((await now(charge)).amount_received).toBe(0n)
    const { end_to_end_id } = at.paid[0]!
    expect(await receivedById(bench.world.db, end_to_end_id)).toMatchObject({
      deposit_id: null,
      charge_id: charge.id,
    })
    await bench.payout(customer)
    await bench.payout(customer)
    await bench.admin(
      'SET session_replication_role = replica',
      `DELETE FROM entries WHERE cause_id IN (SELECT id FROM deposits WHERE rail = 'sandbox') OR cause_id LIKE 'po_%'`,
      `DELETE FROM events WHERE object_id IN (SELECT id FROM deposits WHERE rail = 'sandbox') OR object_id LIKE 'po_%'`,
      `DELETE FROM deposits WHERE rail = 'sandbox'`,
      'DELETE FROM open_payouts',
      `DELETE FROM claims WHERE operation = 'pix.payout'`,
      'DELETE FROM payouts',
      `UPDATE balances SET balance = 0, in_transit = 0, seq = 0 WHERE customer_id = '${customer}' AND asset = 'BRL'`,
    )
    await end()
    expect(await now(charge)).toMatchObject({ status: 'paid', amount_received: AMOUNT })
    expect(await balance(customer)).toBe(AMOUNT)
  })
})

describe('a payment that waits for room', () => {
  async function openWaiting() {
    const at = provider()
    const { customer } = await open(at)
    const { partner_id } = bench.actor
    const full = { partner_id, customer_id: customer, money: money('BRL', UNITS_MAX) } as const
    await find()
    const charge = await openCharge(customer)
    await bench.world.commit(deposit(bench.world, { ...full, rail: 'sandbox' }))
    at.paid.push(payment(charge.txid))
    await find()
    const makeRoom = () =>
      bench.world.commit(debit(bench.world, { ...full, reason: 'room', reference: 'room' }))
    const change = (changes: Partial<ReceivedPix>) => at.paid.splice(0, 1, { ...at.paid[0]!, ...changes })
    return { at, customer, charge, makeRoom, change, first: at.paid[0]! }
  }

  test('is credited to nobody while the provider tells another charge or amount of it', async () => {
    const { customer, charge, makeRoom, change, first } = await openWaiting()
    const other = await bench.customer({})
    const others = await openCharge(other)
    change({ txid: others.txid })
    await end()
    expect(await balance(other)).toBe(0n)
    expect((await told('contradiction')).map(({ object_id }) => object_id)).toEqual([first.end_to_end_id])
    await makeRoom()
    change({ txid: first.txid!, amount: AMOUNT + 1n })
    await end()
    expect(await balance(customer)).toBe(0n)
    change(first)
    await end()
    expect(await balance(customer)).toBe(AMOUNT)
    expect(await statusOf(charge)).toBe('paid')
  })

  test('keeps no charge from ending while the provider does not answer about it', async () => {
    const { at } = await openWaiting()
    const ending = await openCharge(await bench.customer({}), 60)
    await inThePast(ending, '2 hours')
    const charges = { ...at.pix.charges!, payment: () => Promise.reject(new Error('cut')) }
    const silentNode = bench.openNode({ pix: { ...at.pix, charges } })
    await expect(endCharges(silentNode, silentNode.db)).rejects.toThrow('cut')
    expect(await statusOf(ending)).toBe('expired')
  })

  test('and is given back meanwhile is debited as soon as it is credited', async () => {
    const { customer, makeRoom, change } = await openWaiting()
    change({ returns: [{ id: 'D0000000020261115120000000000001', amount: AMOUNT, state: 'settled' }] })
    await find()
    await makeRoom()
    await end()
    expect(await balance(customer)).toBe(0n)
  })
})

describe('the end of a charge', () => {
  test('waits until all payments up to then were read', async () => {
    const at = provider()
    const { customer } = await open(at)
    await find()
    await bench.admin(
      `UPDATE pix_received_scan SET read_until = now() - interval '1 day', begun_at = now() - interval '1 day'`,
    )
    const charge = await openCharge(customer, 60)
    await inThePast(charge, '2 hours')
    await end()
    expect(await statusOf(charge)).toBe('open')
    at.paid.push(payment(charge.txid, 1000n, new Date(Date.now() - 7_199_000)))
    await find()
    await end()
    expect(await now(charge)).toMatchObject({ status: 'expired', amount_received: 1000n })
    at.paid.push(payment(charge.txid, 50n))
    await find()
    expect(await statusOf(charge)).toBe('paid')
  })

  test('comes in one run for all whose time is over, partners in turn', async () => {
    const { customer } = await open(provider())
    await find()
    const other = await bench.openActor()
    const their = await bench.customer({}, other)
    for (let i = 0; i < 6; i++) await Promise.all(Array.from({ length: 20 }, () => accept(customer, 60)))
    const theirs = requestOf(their, 60, 'theirs', other.key_id)
    const done = await bench.world.commit(acceptCharge(bench.world, other, theirs))
    if (done.kind !== 'made') throw new Error(done.kind)
    await bench.admin(
      'SET session_replication_role = replica',
      `UPDATE pix_charges SET created_at = created_at - interval '2 hours', expires_at = expires_at - interval '2 hours',
         next_attempt_at = now() + interval '1 hour'`,
      `UPDATE claims SET claimed_at = claimed_at - interval '2 hours', expires_at = expires_at - interval '2 hours'`,
    )
    // Of another partner, and the youngest.
    const [first, second] = await endingCharges(bench.world.db, undefined, 2)
    expect([first!.partner_id, second!.partner_id]).toContain(other.partner_id)
    await end()
    const { rows } = await bench.world.db.query(
      'SELECT status, count(*)::integer FROM pix_charges GROUP BY 1',
    )
    expect(rows).toEqual([{ status: 'failed', count: 121 }])
  })
})
