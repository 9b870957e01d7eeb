import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Clock } from '../core/clock.ts'
import { Refusal } from '../core/errors.ts'
import { type Channel, type Hints, sendHint } from '../db/hints.ts'
import {
  type Client,
  isAnswer,
  isPassing,
  openClient,
  openPool,
  type Seat,
  sqlState,
  WAIT_MS,
} from '../db/pool.ts'
import type { WindowState } from '../http/headers.ts'
import {
  ALONE_LOCK,
  type Backend,
  countersOf,
  endBackend,
  findBackend,
  lockCounters,
  openCounters,
  saveCounters,
  writeCounters,
} from './store.ts'
import {
  type Counted,
  type Counter,
  counterKey,
  decide,
  openBack,
  openCounter,
  type Request,
  type Verdict,
  type Want,
  windowOf,
} from './windows.ts'

/**
 * Counts requests exactly, however many nodes there are. A lone node counts in memory and saves what it counted; as soon
 * as a second one joins, both count in the database, where they lock, decide and write in batches. The rules are the same
 * function either way (windows.ts).
 *
 * Who is alone is settled by one advisory lock: a lone node holds it for itself, several hold it together.
 */
export type Limiter = {
  /** Counts in all windows or in none. Refused, it also takes back where the same request was counted before. */
  take(subject: string, wants: readonly Want[], back?: readonly Counted[]): Promise<Verdict>
  /** What the headers would tell, without counting anything. */
  windowOf(subject: string, wants: readonly Want[]): WindowState
  /** How much of each window is used. */
  used(subject: string, wants: readonly Want[]): Promise<number[]>
  stop(): Promise<void>
}

const SHARED: Channel = 'windows_shared'
const SAVE_MS = 1000
const TRY_ALONE_MS = 10_000
/** Long enough for a lone node that lost its lock to save what it counted. */
const REJOIN_MS = 300
const LOCK_NOT_AVAILABLE = '55P03'
const QUERY_CANCELED = '57014'
/** A node waits for the lone one to share, but not for one whose machine is gone: that one's lock ends with its connection. */
const LOCK_WAIT = '3s'
const MEMBER_QUERY_MS = 5000
const STOP_MS = 3000
const SETTLE_MS = 50

export async function openLimiter(options: {
  seat: Seat
  clock: Clock
  hints: Hints
  log: Logger
  /** How often a node that shares looks whether it is alone again. */
  try_alone_ms?: number
  /** How long a request may wait while nobody can say who counts. */
  wait_ms?: number
  /** Ends the waiting at the start. */
  signal?: AbortSignal
}): Promise<Limiter> {
  const { seat, clock, hints, log, try_alone_ms = TRY_ALONE_MS, wait_ms = WAIT_MS, signal } = options
  // A count may lose its last second in a crash; money never waits for it.
  const relaxed = {
    synchronous_commit: 'off',
    statement_timeout: LOCK_WAIT,
    lock_timeout: '0',
    idle_in_transaction_session_timeout: '5s',
  }
  const self = randomUUID()
  const pool = openPool({ ...seat, max: 2, wait_ms })
  const counters = new Map<string, Counter>()
  /** Keys of the counters that the database does not know yet. */
  const dirty = new Set<string>()
  const timers: NodeJS.Timeout[] = []
  let member: Client | undefined
  const ghosts = new Set<Backend>()
  const batcher = openBatcher(seat, relaxed, counters)
  let mode: 'alone' | 'shared' = 'shared'
  let changing: Promise<void> = Promise.resolve()
  /** Changes that are under way. */
  let changes = 0
  /** Requests that are being counted in the database. */
  let asked = 0
  let saving: Promise<void> = Promise.resolve()
  let rejoining: NodeJS.Timeout | undefined
  let stopped = false

  /** Changes of mode happen one after the other. */
  const change = (work: () => Promise<void>): Promise<void> => {
    changes++
    changing = changing
      .then(work)
      .catch((error: unknown) => log.warn({ err: error }, 'limits: cannot change mode'))
      .finally(() => changes--)
    return changing
  }

  /**
   * Until no change is under way and this node knows who counts. Nobody waits here without bound: a database that is
   * gone must not make requests pile up.
   */
  async function settled(until: number): Promise<void> {
    while (changes > 0 || (mode === 'shared' && (dirty.size > 0 || !member))) {
      const left = until - performance.now()
      if (left <= 0) throw new Refusal('service_unavailable')
      const timer = new AbortController()
      const pause = changes > 0 ? left : Math.min(left, SETTLE_MS)
      await Promise.race([
        ...(changes > 0 ? [changing] : []),
        sleep(pause, undefined, { signal: timer.signal }).catch(() => {}),
      ])
      timer.abort()
    }
  }

  /** One after the other: whoever waits for a save knows that no earlier one is still on its way. */
  function save(): Promise<void> {
    saving = saving.catch(() => {}).then(saveNow)
    return saving
  }

  async function saveNow(): Promise<void> {
    const keys = [...dirty]
    const unsaved = keys.map((key) => counters.get(key)).filter((counter) => counter !== undefined)
    dirty.clear()
    if (unsaved.length === 0) return
    await saveCounters(pool, unsaved).catch((error: unknown) => {
      for (const key of keys) dirty.add(key)
      throw error
    })
  }

  /** For a connection that has just been lost: whoever counts next should find what was counted here. */
  async function saveSoon(): Promise<void> {
    const until = performance.now() + wait_ms
    for (;;) {
      try {
        return await save()
      } catch (error) {
        if (stopped || performance.now() > until) throw error
        await sleep(20)
      }
    }
  }

  async function beAlone(client: Client): Promise<void> {
    await client.query('SELECT pg_advisory_unlock_shared($1)', [ALONE_LOCK])
    for (const counter of await openCounters(pool)) {
      const key = counterKey(counter.subject, counter.name)
      const known = counters.get(key)
      if (!known || known.starts_at < counter.starts_at) counters.set(key, counter)
      else if (known.starts_at === counter.starts_at && known.count < counter.count)
        counters.set(key, counter)
    }
    if (member === client) mode = 'alone'
  }

  async function share(): Promise<void> {
    const client = member
    if (mode === 'shared' || !client) return
    mode = 'shared'
    try {
      await save()
      await client.query('SELECT pg_advisory_lock_shared($1)', [ALONE_LOCK])
      await client.query('SELECT pg_advisory_unlock($1)', [ALONE_LOCK])
    } catch (error) {
      // The lock is still held, unless the connection went with it: the next hint tries again.
      if (!isAnswer(error)) client.end().catch(() => {})
      else if (member === client) mode = 'alone'
      throw error
    }
    log.info('limits: another node joined, counting in the database')
  }

  async function tryAlone(): Promise<boolean> {
    const client = member
    if (!client || mode === 'alone') return mode === 'alone'
    // What is being counted in the database holds the lock too, and must be in there before it is read.
    await batcher.idle()
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS won', [ALONE_LOCK])
    if (!rows[0].won) return false
    try {
      await beAlone(client)
    } catch (error) {
      // A lock is counted: taken once more at the next try, it could not be given back in one go.
      client.end().catch(() => {})
      throw error
    }
    return true
  }

  /** A connection that was lost without a word is still open at the server, and holds its lock there. */
  async function releaseGhosts(): Promise<void> {
    if (ghosts.size === 0) return
    // A role may end what came in as itself.
    const client = await openClient(seat)
    try {
      for (const ghost of ghosts) {
        await endBackend(client, ghost)
        ghosts.delete(ghost)
      }
    } finally {
      client.end().catch(() => {})
    }
  }

  /** Alone if nobody else is there; otherwise the lone node is told, and this one waits until it shares. */
  async function join(): Promise<void> {
    if (member) return
    await save()
    await releaseGhosts()
    const client = await openClient(seat, { settings: relaxed, query_timeout_ms: MEMBER_QUERY_MS })
    const backend = await findBackend(client).catch((error: unknown) => {
      client.end().catch(() => {})
      throw error
    })
    client.once('end', () => {
      ghosts.add(backend)
      if (stopped || member !== client) return
      member = undefined
      // Whoever lost the lock cannot know who counts now.
      mode = 'shared'
      void change(saveSoon)
      rejoin()
    })
    member = client
    const asking = setInterval(() => sendHint(pool, SHARED, self).catch(() => {}), 100)
    try {
      if (await tryAlone()) return
      await sendHint(pool, SHARED, self)
      await client.query('SELECT pg_advisory_lock_shared($1)', [ALONE_LOCK])
    } catch (error) {
      if (member === client) member = undefined
      client.end().catch(() => {})
      throw error
    } finally {
      clearInterval(asking)
    }
  }

  function rejoin(): void {
    clearTimeout(rejoining)
    if (stopped) return
    rejoining = setTimeout(() => change(join).then(() => member ?? rejoin()), REJOIN_MS)
    rejoining.unref()
  }

  /** A start waits for the database, and for a lone node that does not share yet. */
  async function joinFirst(): Promise<void> {
    for (;;) {
      try {
        return await join()
      } catch (error) {
        signal?.throwIfAborted()
        if (!isPassing(error) && sqlState(error) !== QUERY_CANCELED) throw error
        log.warn({ err: error }, 'limits: cannot join the other nodes yet; trying again')
        await sleep(REJOIN_MS)
      }
    }
  }

  // A node that takes its time to join hears itself ask.
  hints.on(SHARED, (from) => void (from !== self && change(share)))
  await joinFirst().catch(async (error: unknown) => {
    await pool.end()
    throw error
  })
  timers.push(setInterval(() => void (mode === 'alone' && save().catch(() => {})), SAVE_MS))
  timers.push(
    setInterval(() => void (mode === 'shared' && change(async () => void (await tryAlone()))), try_alone_ms),
  )
  timers.push(setInterval(() => forgetClosed(counters, clock.now()), 60_000))
  for (const timer of timers) timer.unref()

  const requestOf = (subject: string, wants: readonly Want[], back?: readonly Counted[]): Request => ({
    subject,
    wants,
    back,
    now: clock.now(),
  })

  /** Counts in the database; undefined when this node is, or has become, alone. */
  async function takeShared(request: () => Request): Promise<Verdict | undefined> {
    const until = performance.now() + wait_ms
    for (let tries = 0; ; ) {
      // Requests were counted here that the database could not be told of, or by a lone node that has lost its lock a
      // moment ago: nobody must count on without them.
      await settled(until)
      if (mode !== 'shared') return undefined
      if (tries++ === 2) throw new Refusal('service_unavailable')
      try {
        const verdict = await batcher.take(request())
        if (verdict) return verdict
      } catch (error) {
        // What was certainly not counted is counted again, as long as there is time.
        if (!(error instanceof Uncounted)) throw error
        if (performance.now() > until) throw new Refusal('service_unavailable')
        tries = 0
        await sleep(SETTLE_MS)
      }
    }
  }

  return {
    async take(subject, wants, back) {
      if (mode === 'shared') {
        asked++
        const verdict = await takeShared(() => requestOf(subject, wants, back)).finally(() => asked--)
        if (verdict) return verdict
      }
      const verdict = decide(counters, requestOf(subject, wants, back))
      if (!verdict.refused) for (const { name } of wants) dirty.add(counterKey(subject, name))
      return verdict
    },
    windowOf: (subject, wants) => windowOf(counters, requestOf(subject, wants)),
    async used(subject, wants) {
      const now = clock.now()
      const known = mode === 'shared' ? byKey(await countersOf(pool, subject)) : counters
      return wants.map((want) => {
        const open = openCounter(subject, want, now)
        const counter = known.get(counterKey(subject, want.name))
        return counter?.starts_at === open.starts_at ? counter.count : 0
      })
    },
    async stop() {
      stopped = true
      clearTimeout(rejoining)
      for (const timer of timers) clearInterval(timer)
      const until = performance.now() + STOP_MS
      await Promise.race([changing, sleep(STOP_MS, undefined, { ref: false })])
      while (asked > 0 && performance.now() < until) await sleep(5)
      // The lock goes last: whoever gets it finds everything that was counted here.
      await batcher.stop()
      await save().catch((error: unknown) =>
        log.warn({ err: error }, 'limits: the last counts could not be saved'),
      )
      await member?.end().catch(() => {})
      await pool.end()
    },
  }
}

const byKey = (counters: readonly Counter[]) =>
  new Map(counters.map((c) => [counterKey(c.subject, c.name), c]))

function forgetClosed(counters: Map<string, Counter>, now: number): void {
  for (const [key, { ends_at }] of counters) if (ends_at <= now) counters.delete(key)
}

/** The database could not be asked, and has counted nothing. */
class Uncounted extends Error {}

type Waiting = {
  readonly request: Request
  resolve(verdict: Verdict | undefined): void
  reject(error: unknown): void
}

/** Many requests, one transaction. What it saw last stays in `counters`, where the headers of other answers look. */
function openBatcher(seat: Seat, settings: Record<string, string>, counters: Map<string, Counter>) {
  let waiting: Waiting[] = []
  let running: Promise<void> | undefined
  let client: Client | undefined
  /** Whether the running batch may have been stored. */
  let writing = false

  async function connected(): Promise<Client> {
    if (client) return client
    const opened = await openClient(seat, {
      pipeline: true,
      // What several nodes count is on the standby's disk before a request is let in: a fail-over forgets none of it.
      settings: { ...settings, synchronous_commit: 'on', lock_timeout: '2s', statement_timeout: '5s' },
    })
    opened.once('end', () => {
      if (client === opened) client = undefined
    })
    client = opened
    return opened
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      writing = false
      try {
        const verdicts = await judge(
          await connected(),
          batch.map(({ request }) => request),
        )
        for (const [i, { resolve }] of batch.entries()) resolve(verdicts?.[i])
      } catch (error) {
        client?.end().catch(() => {})
        client = undefined
        const failure = failureOf(error)
        for (const { reject } of batch) reject(failure)
      }
    }
    running = undefined
  }

  function failureOf(error: unknown): unknown {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) return new Refusal('service_unavailable')
    return !writing && isPassing(error) ? new Uncounted('nothing was counted', { cause: error }) : error
  }

  async function judge(db: Client, asked: readonly Request[]): Promise<Verdict[] | undefined> {
    // One instant for the whole batch: a window must not change under it.
    const now = Math.max(...asked.map((request) => request.now))
    const requests = asked.map((request) => ({ ...request, now }))
    const places = new Map<string, Counter>()
    for (const request of requests) {
      const { subject, wants } = request
      const counted = openBack(request, now).map((place) => ({ ...place, subject, count: 0 }))
      for (const counter of [...wants.map((want) => openCounter(subject, want, now)), ...counted])
        places.set(`${counterKey(subject, counter.name)} ${counter.starts_at}`, counter)
    }
    const found = await lockCounters(db, [...places.values()])
    if (!found) return undefined
    const locked = byKey(found)
    const before = new Map([...locked].map(([key, counter]) => [key, counter.count]))
    const verdicts = requests.map((request) => decide(locked, request))
    writing = true
    await writeCounters(
      db,
      [...locked].filter(([key, { count }]) => before.get(key) !== count).map(([, counter]) => counter),
    )
    for (const [key, counter] of locked) counters.set(key, counter)
    return verdicts
  }

  return {
    /** Undefined when a lone node counts: this one, or another that must be told to share. */
    take(request: Request): Promise<Verdict | undefined> {
      return new Promise((resolve, reject) => {
        waiting.push({ request, resolve, reject })
        running ??= new Promise((done) => setImmediate(() => drain().then(done)))
      })
    },
    async idle() {
      await running
    },
    async stop() {
      await running
      await client?.end().catch(() => {})
    },
  }
}
