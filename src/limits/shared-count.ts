import { setImmediate } from 'node:timers/promises'
import { openBatching } from '../core/batching.ts'
import { Refusal } from '../core/errors.ts'
import { QueueFull } from '../core/fair-semaphore.ts'
import { isPassing, sqlState } from '../db/failure.ts'
import { type Client, openClient, type Seat } from '../db/pool.ts'
import type { StaleMarks } from './stale-marks.ts'
import { lockCounters, writeCounters } from './store.ts'
import {
  byKey,
  type CountedRequest,
  type Counter,
  counterKey,
  judgeRequest,
  openBack,
  openCounter,
  type Verdict,
} from './windows.ts'

/** Counts in the database, together with other nodes: one transaction for many requests. */
export type SharedCount = {
  /**
   * Undefined if a node holds the exclusive lock: this node, or another one that must be asked to share. Rejects with
   * `Uncounted` if nothing was counted, so that the caller may try again.
   */
  take(request: CountedRequest): Promise<Verdict | undefined>
  idle(): Promise<void>
  stop(): Promise<void>
}

/** The request was certainly not counted: the database was unreachable, or another node's counts are not saved yet. */
export class Uncounted extends Error {}

const LOCK_NOT_AVAILABLE = '55P03'

/** Writes the latest counts into `counters`, from which the headers of other responses are made. */
export function openSharedCount(
  seat: Seat,
  settings: Record<string, string>,
  counters: Map<string, Counter>,
  stale_marks: StaleMarks,
): SharedCount {
  let client: Client | undefined
  /** Whether the running batch may have been committed. */
  let writing = false
  // Requests of one turn of the event loop form a batch.
  const batching = openBatching<CountedRequest, Verdict | undefined>({
    run: judge,
    gather: () => setImmediate(),
  })

  async function connected(): Promise<Client> {
    if (client) return client
    const opened = await openClient(seat, {
      pipeline: true,
      // Shared counts reach the standby's disk before a request is admitted, so a fail-over loses none.
      settings: { ...settings, synchronous_commit: 'on', lock_timeout: '2s', statement_timeout: '5s' },
    })
    opened.once('end', () => {
      if (client === opened) client = undefined
    })
    client = opened
    return opened
  }

  async function unsavedBy(mark: string): Promise<Uncounted> {
    await stale_marks.found(mark)
    return new Uncounted('another node has not saved its counts')
  }

  async function judge(asked: readonly CountedRequest[]): Promise<readonly Verdict[] | undefined> {
    writing = false
    try {
      return await countAll(await connected(), asked)
    } catch (error) {
      if (error instanceof Uncounted) throw error
      client?.end().catch(() => {})
      client = undefined
      throw failureOf(error)
    }
  }

  async function countAll(db: Client, asked: readonly CountedRequest[]): Promise<Verdict[] | undefined> {
    // One time for the whole batch, so that all its requests fall into the same windows.
    const now = Math.max(...asked.map((request) => request.now))
    const requests = asked.map((request) => ({ ...request, now }))
    const found = await lockCounters(db, placesOf(requests, now))
    if ('exclusive' in found) return undefined
    if ('marked' in found) throw await unsavedBy(found.marked)
    const locked = byKey(found.counters)
    const before = new Map([...locked].map(([key, counter]) => [key, counter.count]))
    const verdicts = requests.map((request) => judgeRequest(locked, request))
    writing = true
    const changed = [...locked].filter(([key, { count }]) => before.get(key) !== count)
    await writeCounters(
      db,
      changed.map(([, counter]) => counter),
    )
    for (const [key, counter] of locked) counters.set(key, counter)
    return verdicts
  }

  function failureOf(error: unknown): unknown {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) return new Refusal('service_unavailable')
    return !writing && isPassing(error) ? new Uncounted('nothing was counted', { cause: error }) : error
  }

  return {
    take: (request) =>
      batching.add(request).catch((error: unknown) => {
        throw error instanceof QueueFull ? new Refusal('service_unavailable') : error
      }),
    idle: batching.idle,
    async stop() {
      await batching.stop()
      await client?.end().catch(() => {})
    },
  }
}

/** All windows that the requests are counted in or taken back from. */
function placesOf(requests: readonly CountedRequest[], now: number): Counter[] {
  const places = new Map<string, Counter>()
  for (const request of requests) {
    const { subject, window_limits } = request
    const counted = openBack(request, now).map((place) => ({ ...place, subject, count: 0 }))
    for (const counter of [
      ...window_limits.map((window_limit) => openCounter(subject, window_limit, now)),
      ...counted,
    ])
      places.set(`${counterKey(subject, counter.name)} ${counter.starts_at}`, counter)
  }
  return [...places.values()]
}
