import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Clock } from '../core/clock.ts'
import { Refusal } from '../core/errors.ts'
import type { Hints } from '../db/hints.ts'
import { openPool, type Seat, WAIT_MS } from '../db/pool.ts'
import type { WindowState } from '../http/headers.ts'
import { HEIRS_WAIT_MS, openHeirs } from './heirs.ts'
import { type Membership, openMembership } from './membership.ts'
import { openSharedCount, type SharedCount, Uncounted } from './shared-count.ts'
import { countersOf } from './store.ts'
import { openTally, type Tally } from './tally.ts'
import {
  byKey,
  type Counted,
  counterKey,
  openCounter,
  type Request,
  type Verdict,
  type Want,
  windowOf,
} from './windows.ts'

/**
 * Counts requests exactly, however many nodes there are. A lone node counts in memory and saves what it counted (tally.ts);
 * as soon as a second one joins, both count in the database, where they lock, decide and write in batches
 * (shared-count.ts). Who is alone is settled in membership.ts. The rules are the same function either way (windows.ts).
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

export type LimiterOptions = {
  readonly seat: Seat
  readonly clock: Clock
  readonly hints: Hints
  readonly log: Logger
  /** How often a node that shares looks whether it is alone again. */
  readonly try_alone_ms?: number
  /** How long a request may wait while nobody can say who counts. */
  readonly wait_ms?: number
  /** How long this node waits for the counts of a lone node that lost its lock. */
  readonly heirs_wait_ms?: number
  /** Ends the waiting at the start. */
  readonly signal?: AbortSignal
}

const SAVE_MS = 1000
const FORGET_MS = 60_000
const TRY_ALONE_MS = 10_000
const STOP_MS = 3000
const SETTLE_MS = 50
/** However short `wait_ms` is, a request waits this long for a lone node to renew its lease: a round trip to the database. */
const RENEW_MS = 1000

/** A count may lose its last second in a crash; money never waits for it. */
const relaxed = {
  synchronous_commit: 'off',
  // A node waits for the lone one to share, but not for one whose machine is gone: that one's lock ends with its connection.
  statement_timeout: '3s',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '5s',
}

export async function openLimiter(options: LimiterOptions): Promise<Limiter> {
  const { seat, clock, hints, log, try_alone_ms = TRY_ALONE_MS, wait_ms = WAIT_MS } = options
  const pool = openPool({ ...seat, max: 2, wait_ms })
  const tally = openTally(pool)
  const heirs = openHeirs(pool, options.heirs_wait_ms ?? HEIRS_WAIT_MS)
  const count = openSharedCount(seat, relaxed, tally.counters, heirs)
  const membership = openMembership({
    seat,
    settings: relaxed,
    pool,
    hints,
    heirs,
    log,
    try_alone_ms,
    save: tally.save,
    saveSoon: () => tally.saveSoon(wait_ms),
    takeOver: tally.load,
    counted: count.idle,
  })
  await membership.enter(options.signal).catch(async (error: unknown) => {
    await membership.stop(0)
    await pool.end()
    throw error
  })
  const isAlone = () => membership.standing() === 'alone'
  const timers = [
    setInterval(() => void (isAlone() && tally.save().catch(() => {})), SAVE_MS),
    setInterval(() => tally.forgetClosed(clock.now()), FORGET_MS),
  ]
  for (const timer of timers) timer.unref()
  /** Requests that are being counted in the database. */
  let asked = 0

  async function stop(): Promise<void> {
    tally.stop()
    for (const timer of timers) clearInterval(timer)
    const until = performance.now() + STOP_MS
    await membership.stop(STOP_MS)
    while (asked > 0 && performance.now() < until) await sleep(5)
    // The lock goes last: whoever gets it finds everything that was counted here.
    await count.stop()
    await tally
      .save()
      .catch((error: unknown) => log.warn({ err: error }, 'limits: the last counts could not be saved'))
    await membership.leave()
    await pool.end()
  }

  return {
    async take(subject, wants, back) {
      const requestNow = () => ({ subject, wants, back, now: clock.now() })
      const parts = { membership, tally, count, until: performance.now() + Math.max(wait_ms, RENEW_MS) }
      // Between knowing that it is alone and counting, nothing may happen.
      while (!membership.countsAlone()) {
        asked++
        const verdict = await takeShared(parts, requestNow).finally(() => asked--)
        if (verdict) return verdict
      }
      return tally.count(requestNow())
    },
    windowOf: (subject, wants) => windowOf(tally.counters, { subject, wants, now: clock.now() }),
    async used(subject, wants) {
      const now = clock.now()
      const known = isAlone() ? tally.counters : byKey(await countersOf(pool, subject))
      return wants.map((want) => {
        const open = openCounter(subject, want, now)
        const counter = known.get(counterKey(subject, want.name))
        return counter?.starts_at === open.starts_at ? counter.count : 0
      })
    },
    stop,
  }
}

type Parts = {
  readonly membership: Membership
  readonly tally: Tally
  readonly count: SharedCount
  /** When the request has waited for long enough. */
  readonly until: number
}

/** Counts in the database; undefined when this node is, or has become, alone. */
async function takeShared(parts: Parts, request: () => Request): Promise<Verdict | undefined> {
  const { until } = parts
  for (let tries = 0; ; ) {
    if ((await settled(parts)) === 'alone') return undefined
    if (tries++ === 2) throw new Refusal('service_unavailable')
    try {
      const verdict = await parts.count.take(request())
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

/**
 * Until it is known who counts. Nobody counts on in the database while requests were counted here that it could not be told
 * of, or by a lone node that has lost its lock a moment ago. And nobody waits without bound: a database that is gone must
 * not make requests pile up.
 */
async function settled({ membership, tally, until }: Parts): Promise<'alone' | 'shared'> {
  for (;;) {
    const standing = membership.standing()
    if (standing === 'alone' && performance.now() < until) return standing
    if (standing === 'shared' && !tally.hasUnsaved()) return standing
    const left = until - performance.now()
    if (left <= 0) throw new Refusal('service_unavailable')
    await membership.settle(standing === 'changing' ? left : Math.min(left, SETTLE_MS))
  }
}
