import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Clock } from '../core/clock.ts'
import { Refusal } from '../core/errors.ts'
import type { Hints } from '../db/hints.ts'
import { openPool, type Seat, WAIT_MS } from '../db/pool.ts'
import type { WindowState } from '../http/headers.ts'
import { type Membership, openMembership } from './membership.ts'
import { openSharedCount, type SharedCount, Uncounted } from './shared-count.ts'
import { MARK_WAIT_MS, openStaleMarks } from './stale-marks.ts'
import { countersOf } from './store.ts'
import { openTally, type Tally } from './tally.ts'
import {
  byKey,
  type Counted,
  type CountedRequest,
  counterKey,
  openCounter,
  type Verdict,
  type WindowLimit,
  windowOf,
} from './windows.ts'

/**
 * Counts requests exactly, however many nodes there are. A single node counts in memory and saves its counts (tally.ts). As
 * soon as a second node joins, both count in the database, in batches that lock, decide and write (shared-count.ts).
 * membership.ts decides between the two modes; the rules are the same function in both (windows.ts).
 */
export type Limiter = {
  /** Counts in all windows or in none. A refusal also takes back `back`, the earlier counts of the same request. */
  take(subject: string, window_limits: readonly WindowLimit[], back?: readonly Counted[]): Promise<Verdict>
  /** The window for the headers, without counting. */
  windowOf(subject: string, window_limits: readonly WindowLimit[]): WindowState
  /** How much of each window is used. */
  used(subject: string, window_limits: readonly WindowLimit[]): Promise<number[]>
  stop(): Promise<void>
}

type LimiterOptions = {
  readonly seat: Seat
  readonly clock: Clock
  readonly hints: Hints
  readonly log: Logger
  /** How often a node in shared mode tries to become exclusive. */
  readonly try_exclusive_ms?: number
  /** How long a request may wait while the mode is unknown or switching. */
  readonly wait_ms?: number
  /** How long this node waits for the counts of an exclusive node that lost its lock. */
  readonly mark_wait_ms?: number
  /** Aborts the start. */
  readonly signal?: AbortSignal
}

const SAVE_MS = 1000
const FORGET_MS = 60_000
const TRY_EXCLUSIVE_MS = 10_000
const STOP_MS = 3000
const SETTLE_MS = 50
/** However short `wait_ms` is, a request waits this long for the lease to be renewed: a round trip to the database. */
const RENEW_MS = 1000

/** Settings for counts, which may lose their last second in a crash. */
const relaxed = {
  synchronous_commit: 'off',
  // A node waits this long for an exclusive node to share. The lock of a dead node ends with its connection.
  statement_timeout: '3s',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '5s',
}

export async function openLimiter(options: LimiterOptions): Promise<Limiter> {
  const { seat, clock, hints, log, try_exclusive_ms = TRY_EXCLUSIVE_MS, wait_ms = WAIT_MS } = options
  const pool = openPool({ ...seat, max: 2, wait_ms })
  // Reads for display wait for a connection of their own: joining, taking over and saving counts never wait behind them.
  const display_pool = openPool({ ...seat, max: 1, wait_ms })
  const endPools = () => Promise.all([pool.end(), display_pool.end()])
  const tally = openTally(pool)
  const stale_marks = openStaleMarks(pool, options.mark_wait_ms ?? MARK_WAIT_MS)
  const count = openSharedCount(seat, relaxed, tally.counters, stale_marks)
  const membership = openMembership({
    seat,
    settings: relaxed,
    pool,
    hints,
    stale_marks,
    log,
    try_exclusive_ms,
    save: tally.save,
    saveSoon: () => tally.saveSoon(wait_ms),
    takeOver: tally.load,
    counted: count.idle,
  })
  await membership.enter(options.signal).catch(async (error: unknown) => {
    await membership.stop(0)
    await endPools()
    throw error
  })
  const isExclusive = () => membership.mode() === 'exclusive'
  const timers = [
    setInterval(() => void (isExclusive() && tally.save().catch(() => {})), SAVE_MS),
    setInterval(() => tally.forgetClosed(clock.now()), FORGET_MS),
  ]
  for (const timer of timers) timer.unref()
  /** Number of requests that are being counted in the database. */
  let asked = 0

  async function stop(): Promise<void> {
    tally.stop()
    for (const timer of timers) clearInterval(timer)
    const until = performance.now() + STOP_MS
    await membership.stop(STOP_MS)
    while (asked > 0 && performance.now() < until) await sleep(5)
    // The lock is released last: the node that gets it next finds all counts of this one.
    await count.stop()
    await tally
      .save()
      .catch((error: unknown) =>
        log.warn({ err: error }, 'limits: cannot save the last counts; trying once more'),
      )
    await membership.leave()
    await endPools()
  }

  return {
    async take(subject, window_limits, back) {
      const requestNow = () => ({ subject, window_limits, back, now: clock.now() })
      const parts = { membership, tally, count, until: performance.now() + Math.max(wait_ms, RENEW_MS) }
      // No await between the check of the lease and the count.
      while (!membership.holdsLease()) {
        asked++
        const verdict = await takeShared(parts, requestNow).finally(() => asked--)
        if (verdict) return verdict
      }
      return tally.count(requestNow())
    },
    windowOf: (subject, window_limits) =>
      windowOf(tally.counters, { subject, window_limits, now: clock.now() }),
    async used(subject, window_limits) {
      const now = clock.now()
      const known = isExclusive() ? tally.counters : byKey(await countersOf(display_pool, subject))
      return window_limits.map((window_limit) => {
        const open = openCounter(subject, window_limit, now)
        const counter = known.get(counterKey(subject, window_limit.name))
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
  /** When the request stops waiting. */
  readonly until: number
}

/** Counts in the database; undefined if this node is, or has become, exclusive. */
async function takeShared(parts: Parts, request: () => CountedRequest): Promise<Verdict | undefined> {
  const { until } = parts
  for (let tries = 0; ; ) {
    if ((await settled(parts)) === 'exclusive') return undefined
    if (tries++ === 2) throw new Refusal('service_unavailable')
    try {
      const verdict = await parts.count.take(request())
      if (verdict) return verdict
    } catch (error) {
      // The request was certainly not counted, so it is safe to try again.
      if (!(error instanceof Uncounted)) throw error
      if (performance.now() > until) throw new Refusal('service_unavailable')
      tries = 0
      await sleep(SETTLE_MS)
    }
  }
}

/**
 * Waits until the mode is known. A node with unsaved counts does not count in the database: its own counts are missing there.
 * The wait ends at `until`, so that requests do not pile up while the database is unreachable.
 */
async function settled({ membership, tally, until }: Parts): Promise<'exclusive' | 'shared'> {
  for (;;) {
    const mode = membership.mode()
    if (mode === 'exclusive' && performance.now() < until) return mode
    if (mode === 'shared' && !tally.hasUnsaved()) return mode
    const left = until - performance.now()
    if (left <= 0) throw new Refusal('service_unavailable')
    await membership.settle(mode === 'switching' ? left : Math.min(left, SETTLE_MS))
  }
}
