import { setImmediate } from 'node:timers/promises'
import { openBatching } from '../core/batching.ts'
import { Refusal } from '../core/errors.ts'
import { Crowded } from '../core/turns.ts'
import { isPassing, sqlState } from '../db/failure.ts'
import { type Client, openClient, type Seat } from '../db/pool.ts'
import type { Heirs } from './heirs.ts'
import { lockCounters, writeCounters } from './store.ts'
import {
  byKey,
  type Counter,
  counterKey,
  decide,
  openBack,
  openCounter,
  type Request,
  type Verdict,
} from './windows.ts'

/** Counts in the database, together with other nodes: many requests, one transaction. */
export type SharedCount = {
  /**
   * Undefined when a lone node counts: this one, or another that must be told to share. Rejects with `Uncounted` when
   * nothing was counted, so that it may be asked again.
   */
  take(request: Request): Promise<Verdict | undefined>
  idle(): Promise<void>
  stop(): Promise<void>
}

/** The database could not be asked, or not yet, and has counted nothing. */
export class Uncounted extends Error {}

const LOCK_NOT_AVAILABLE = '55P03'

/** What it saw last stays in `counters`, where the headers of other answers look. */
export function openSharedCount(
  seat: Seat,
  settings: Record<string, string>,
  counters: Map<string, Counter>,
  heirs: Heirs,
): SharedCount {
  let client: Client | undefined
  /** Whether the running batch may have been stored. */
  let writing = false
  // Whatever comes in one turn of the event loop goes together.
  const batching = openBatching<Request, Verdict | undefined>({ run: judge, gather: () => setImmediate() })

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

  async function unsavedBy(node: string): Promise<Uncounted> {
    await heirs.meet(node)
    return new Uncounted('a lone node has not saved what it counted')
  }

  async function judge(asked: readonly Request[]): Promise<readonly Verdict[] | undefined> {
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

  async function countAll(db: Client, asked: readonly Request[]): Promise<Verdict[] | undefined> {
    // One instant for the whole batch: a window must not change under it.
    const now = Math.max(...asked.map((request) => request.now))
    const requests = asked.map((request) => ({ ...request, now }))
    const found = await lockCounters(db, placesOf(requests, now))
    if ('alone' in found) return undefined
    if ('marked' in found) throw await unsavedBy(found.marked)
    const locked = byKey(found.counters)
    const before = new Map([...locked].map(([key, counter]) => [key, counter.count]))
    const verdicts = requests.map((request) => decide(locked, request))
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
        throw error instanceof Crowded ? new Refusal('service_unavailable') : error
      }),
    idle: batching.idle,
    async stop() {
      await batching.stop()
      await client?.end().catch(() => {})
    },
  }
}

/** Every window that the requests are counted in, or taken back from. */
function placesOf(requests: readonly Request[], now: number): Counter[] {
  const places = new Map<string, Counter>()
  for (const request of requests) {
    const { subject, wants } = request
    const counted = openBack(request, now).map((place) => ({ ...place, subject, count: 0 }))
    for (const counter of [...wants.map((want) => openCounter(subject, want, now)), ...counted])
      places.set(`${counterKey(subject, counter.name)} ${counter.starts_at}`, counter)
  }
  return [...places.values()]
}
