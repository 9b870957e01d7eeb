import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { CrashPoint } from '../../src/core/crash-point.ts'
import { stepTransfer } from '../../src/money/onchain/settle.ts'
import { openTransferWorker } from '../../src/money/onchain/worker.ts'
import { openPayoutWorker } from '../../src/money/pix/worker.ts'
import { readConfig } from '../../src/node/config.ts'
import { openWorlds } from '../../src/node/worlds.ts'
import type { Api, Reply } from '../support/api.ts'
import { seatsAt } from '../support/database.ts'
import { startNode } from '../support/node.ts'
import { allFinal, balanceOf, expectOnce, payoutOrder, readJournal, transferOrder } from '../support/once.ts'
import { noteFact } from '../support/proof.ts'
import { isCut, retryUntilAnswered } from '../support/retry.ts'
import { size } from '../support/size.ts'
import { openStage, type Stage } from '../support/stage.ts'
import { until } from '../support/wait.ts'

/**
 * A process dies, or stands still until its lease has run out, at every named moment on the way of a payout and of a
 * transfer. Another one must bring the order to its end, once, and tell every caller the same.
 */
const manners = ['kill', 'pause'] as const

type Kind = {
  readonly path: string
  readonly asset: 'BRL' | 'USDT'
  readonly order: (customer_id: string) => { idempotency_key: string }
  readonly ends: 'completed' | 'confirmed' | 'failed'
  /** What the customer has less at the end, and where it went. */
  readonly places: Readonly<Record<string, bigint>>
}

const kinds = {
  payout: {
    path: '/v1/pix/payouts',
    asset: 'BRL',
    order: (id) => payoutOrder(id, 'ana@example.com', '1050'),
    ends: 'completed',
    places: { 'external:pix': 1050n },
  },
  'refused payout': {
    path: '/v1/pix/payouts',
    asset: 'BRL',
    order: (id) => payoutOrder(id, 'ac03@sandbox.test', '1050'),
    ends: 'failed',
    places: {},
  },
  'lost payout': {
    path: '/v1/pix/payouts',
    asset: 'BRL',
    order: (id) => payoutOrder(id, 'lost@sandbox.test', '1050'),
    ends: 'completed',
    places: { 'external:pix': 1050n },
  },
  transfer: {
    path: '/v1/onchain/transfers',
    asset: 'USDT',
    order: (id) => transferOrder(id, '25000000'),
    ends: 'confirmed',
    places: { 'external:polygon': 25_000_000n, network_fees: 1_000_000n },
  },
} satisfies Record<string, Kind>

type Case = {
  readonly kind: keyof typeof kinds
  readonly point: CrashPoint
  readonly manner: 'kill' | 'pause'
}

const casesOf = (kind: keyof typeof kinds, ...points: CrashPoint[]): Case[] =>
  points.flatMap((point) => manners.map((manner) => ({ kind, point, manner })))

const BALANCE = 100_000_000n
const FINAL_MS = 20_000
const TIMEOUT_MS = 300_000

const env = {
  LEASE_MS: '1000',
  PIX_WAIT_MS: '1000',
  SANDBOX_BROADCAST_MS: '300',
  SANDBOX_CONFIRM_MS: '900',
}

const crashAt = ({ point, manner }: Case) => ({ CRASH_AT: manner === 'pause' ? `${point}:pause` : point })

/** Nobody is at home in its event loop. */
const standsStill = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1500) }).then(
    () => false,
    () => true,
  )

type Node = Awaited<ReturnType<Stage['start']>>

const died = ({ process }: Node) => process.signalCode === 'SIGKILL'

/** It has stopped itself, and goes on when it gets SIGCONT. */
const isStopped = ({ process }: Node) =>
  execFileSync('ps', ['-o', 'stat=', '-p', `${process.pid}`], { encoding: 'utf8' }).startsWith('T')

/** The answer, or undefined when the connection broke. */
const answerOf = (asked: Promise<Reply>): Promise<Reply | undefined> =>
  asked.catch((error: unknown) => {
    if (!isCut(error)) throw error
    return undefined
  })

const survived: Case[] = []
afterAll(() => {
  const count = (manner: Case['manner']) => survived.filter((one) => one.manner === manner).length
  const points = new Set(survived.map(({ point }) => point)).size
  noteFact(
    `${count('kill')} × kill -9 and ${count('pause')} pauses longer than the lease, at ${points} named points on the way of payouts and transfers, both in the process that took the order and in the one that took it over: 1 payout or transfer each, 1 id at the rail, 1 body for every caller, the money in one place, audit clean`,
  )
})

async function expectOneEnd(
  stage: Stage,
  one: Case,
  customer_id: string,
  answers: readonly Reply[],
): Promise<void> {
  const { asset, ends, places }: Kind = kinds[one.kind]
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)

  const { payouts, transfers, told } = await expectOnce(stage)
  const orders = [...payouts, ...transfers]
  expect(orders.map(({ id, status }) => [id, status])).toEqual([[answers[0]!.json.id, ends]])
  const gone = Object.values(places).reduce((total, units) => total + units, 0n)
  expect(await balanceOf(stage, customer_id, asset)).toEqual({ balance: BALANCE - gone, in_transit: 0n })
  const { rows } = await stage.worlds.sandbox.db.query(
    `SELECT account, sum(amount) AS units FROM entries WHERE cause_id = $1 AND account <> 'customer' GROUP BY account HAVING sum(amount) <> 0`,
    [answers[0]!.json.id],
  )
  expect(Object.fromEntries(rows.map(({ account, units }) => [account, units]))).toEqual(places)

  // Whoever was killed after it broadcast, and before it could say so, left no trace of it: the same bytes go out again. So they
  // do where a carrier was slower than its lease, as on a busy machine. A payout never goes out again unasked.
  const rebroadcast = one.manner === 'kill' && one.point === 'after_broadcast'
  if (one.manner === 'kill' && one.kind !== 'transfer') expect(told).toHaveLength(1)
  expect(told.length).toBeGreaterThanOrEqual(rebroadcast ? 2 : 1)
  expect(new Set(told.map(({ id }) => id)).size).toBe(1)
}

/** Moments of the carrier, which any process may be the one to reach. */
const ofTransferWorker: readonly CrashPoint[] = [
  'after_reserve',
  'after_sign',
  'before_broadcast',
  'after_broadcast',
]

/** The process that takes the order is the one that crashes. */
async function crashFirst(one: Case): Promise<void> {
  const { path, asset, order }: Kind = kinds[one.kind]
  const stage = await openStage({ nodes: 0, env })
  const stopping: (() => Promise<void>)[] = [stage.stop]
  try {
    const customer_id = await stage.customer({ [asset]: BALANCE })
    const body = order(customer_id)
    const startClean = async (): Promise<Api> => {
      const clean = await startNode(stage.database.url, stage.env)
      stopping.push(clean.stop)
      return stage.client(clean.url)
    }
    const paused = one.manner === 'pause'
    // Whoever is to answer while the other stands still is there before it does.
    const beside = paused && !ofTransferWorker.includes(one.point) ? await startClean() : undefined
    const crashing = await stage.start(crashAt(one))
    const first = answerOf(stage.client(crashing.url).post(path, body))
    let is_answered = false
    void first.then(
      () => {
        is_answered = true
      },
      () => {},
    )
    // On a busy machine its pause may be over before anybody looks, and it went on.
    const hasPaused = async () =>
      (await standsStill(crashing.url)) || (is_answered && (await allFinal(stage)))
    await until(() => (paused ? hasPaused() : died(crashing)), FINAL_MS)
    if (paused && !beside) stopping.push(lookAfterAll(stage))

    const clean = beside ?? (await startClean())
    const retried = await retryUntilAnswered(() => clean.post(path, body), { cut: 0, unavailable: 0 })
    await until(() => allFinal(stage), FINAL_MS)
    const answered = await first
    if (paused) await endGently(crashing)
    if (paused) expect(answered).toBeDefined()
    const again = await clean.post(path, body)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const told = answered && answered.status !== 503 ? [answered] : []
    await expectOneEnd(stage, one, customer_id, [retried, again, ...told])
    survived.push(one)
  } finally {
    for (const stop of stopping.reverse()) await stop()
  }
}

/** The order was taken and answered by a process that is gone; the one that takes it over is the one that crashes. */
async function crashSecond(one: Case): Promise<void> {
  const { path, asset, order }: Kind = kinds[one.kind]
  const stage = await openStage({
    nodes: 0,
    env: { ...env, SANDBOX_BROADCAST_MS: '2000', SANDBOX_CONFIRM_MS: '2500' },
  })
  const stopping: (() => Promise<void>)[] = [stage.stop]
  try {
    const customer_id = await stage.customer({ [asset]: BALANCE })
    const body = order(customer_id)
    const first = await startNode(stage.database.url, stage.env)
    const answered = await stage.client(first.url).post(path, body)
    await first.stop()

    const crashing = await stage.startDoomed(crashAt(one))
    const isDoneFor = (node: Node) => (one.manner === 'pause' ? standsStill(node.url) : died(node))
    // It begins to work before it says that it is ready: where that takes long, its pause is over by then, and it went on.
    if (crashing) await until(async () => (await isDoneFor(crashing)) || (await allFinal(stage)), FINAL_MS)
    stopping.push(lookAfterAll(stage))
    await until(() => allFinal(stage), FINAL_MS)
    if (crashing && one.manner === 'pause') await endGently(crashing)
    const clean = await startNode(stage.database.url, stage.env)
    stopping.push(clean.stop)
    const again = await stage.client(clean.url).post(path, body)
    await expectOneEnd(stage, one, customer_id, [answered, again])
    survived.push(one)
  } finally {
    for (const stop of stopping.reverse()) await stop()
  }
}

/** It wakes up, finds what happened meanwhile, does what it still wants to do, and leaves. */
async function endGently(node: Node): Promise<void> {
  await until(async () => !(await standsStill(node.url)), FINAL_MS)
  await sleep(300)
  await node.kill('SIGTERM')
}

/** What a server does with open orders, without the rest of it. */
function lookAfterAll(stage: Stage): () => Promise<void> {
  const log = pino({ level: 'silent' })
  const { worlds, stop } = openWorlds({
    seats: seatsAt(stage.database.url),
    clock: systemClock(),
    log,
    config: readConfig(stage.env),
    logKey: async () => Buffer.alloc(32),
    pool: 2,
  })
  const workers = [openPayoutWorker(worlds.sandbox, log), openTransferWorker(worlds.sandbox, log)]
  return async () => {
    await Promise.all(workers.map((worker) => worker.stop()))
    await stop()
  }
}

type Named = [string, Case]
const named = (one: Case): Named => [`${one.kind}, ${one.point}: ${one.manner}`, one]
/** In the small size: one point of three, by turns in one manner and in the other. */
const byTurns = (cases: readonly Case[]): Named[] =>
  cases.filter((_, i) => (i % 2 === Math.floor(i / 2) % 2 && i % 3 === 0) || size(1, 0)).map(named)
/** In the small size: one of them. */
const oneOf = (cases: readonly Case[]): Named[] => cases.slice(0, size(cases.length, 1)).map(named)

describe('the process that takes the order', () => {
  const points = {
    payout: casesOf(
      'payout',
      'after_lock',
      'before_commit',
      'after_commit',
      'before_answer',
      'before_send',
      'after_send',
      'before_settle',
    ),
    refused: casesOf('refused payout', 'before_settle', 'after_send'),
    transfer: casesOf(
      'transfer',
      'after_lock',
      'before_commit',
      'after_commit',
      'after_reserve',
      'after_sign',
      'before_broadcast',
      'after_broadcast',
    ),
  }
  test.concurrent.each([...byTurns(points.payout), ...oneOf(points.refused), ...byTurns(points.transfer)])(
    '%s',
    (_, one) => crashFirst(one),
    TIMEOUT_MS,
  )
})

describe('the process that takes it over, in its first transaction', () => {
  const payout = casesOf('lost payout', 'before_commit', 'after_lock', 'after_commit')
  const transfer = casesOf('transfer', 'after_commit', 'after_lock', 'before_commit')
  test.concurrent.each([...oneOf(payout), ...oneOf(transfer)])('%s', (_, one) => crashSecond(one), TIMEOUT_MS)
})

test(
  'a transfer whose carrier stands still between signing and storing does not fail, and is paid once',
  async () => {
    const stage = await openStage({ nodes: 0, env: { ...env, LEASE_MS: '60000' } })
    try {
      const customer_id = await stage.customer({ USDT: BALANCE })
      const crashing = await stage.start({ CRASH_AT: 'after_sign:stop' })
      const api = stage.client(crashing.url)
      const asked = answerOf(api.post('/v1/onchain/transfers', transferOrder(customer_id)))
      await until(() => isStopped(crashing), FINAL_MS)
      const world = stage.worlds.sandbox
      const { rows } = await world.db.query('SELECT * FROM transfers')
      const refused = await world.commit(
        stepTransfer(
          world,
          rows[0],
          { kind: 'refused', rail_code: 'refused_before_broadcast' },
          { by: 'caller' },
        ),
      )
      expect(refused).toMatchObject({
        changed: false,
        transfer: { status: 'pending', nonce: 0n, tx_hash: null },
      })
      expect(readJournal(stage.journal)).toEqual([])
      crashing.process.kill('SIGCONT')
      await until(() => allFinal(stage), FINAL_MS)
      const { json } = (await asked)!
      await endGently(crashing)
      expect(new Set(readJournal(stage.journal).map(({ id }) => id)).size).toBe(1)
      const gone = BigInt(json.amount_gross)
      expect(await balanceOf(stage, customer_id, 'USDT')).toEqual({ balance: BALANCE - gone, in_transit: 0n })
      expect((await stage.audit()).sandbox.findings).toEqual([])
    } finally {
      await stage.stop()
    }
  },
  TIMEOUT_MS,
)
