import { setTimeout as sleep } from 'node:timers/promises'
import { openBatching } from '../core/batching.ts'
import type { Pool } from '../db/pool.ts'
import { openCounters, saveCounters } from './store.ts'
import { type CountedRequest, type Counter, counterKey, judgeRequest, type Verdict } from './windows.ts'

/** The counters in this node's memory: its own counts in exclusive mode, the last state of the database in shared mode. */
export type Tally = {
  readonly counters: Map<string, Counter>
  /** Counts in memory only, until the next save. */
  count(request: CountedRequest): Verdict
  hasUnsaved(): boolean
  save(): Promise<void>
  /** After the connection was lost: retries for `within_ms`, so that the next node to count finds these counts. */
  saveSoon(within_ms: number): Promise<void>
  /** Loads the counts of other nodes. */
  load(): Promise<void>
  forgetClosed(now: number): void
  /** From now on a failed save is not retried. */
  stop(): void
}

const RETRY_MS = 20

export function openTally(pool: Pool): Tally {
  const counters = new Map<string, Counter>()
  /** Keys of the counters with unsaved counts. */
  const unsaved = new Set<string>()
  // Saves run one after the other: when one resolves, no earlier one is still under way.
  const saving = openBatching<undefined>({ run: saveNow })
  let stopped = false

  async function saveNow(): Promise<undefined> {
    const keys = [...unsaved]
    const known = keys.map((key) => counters.get(key)).filter((counter) => counter !== undefined)
    unsaved.clear()
    if (known.length === 0) return
    await saveCounters(pool, known).catch((error: unknown) => {
      for (const key of keys) unsaved.add(key)
      throw error
    })
  }

  const save = () => saving.add(undefined)

  return {
    counters,
    count(request) {
      const verdict = judgeRequest(counters, request)
      if (!verdict.refused)
        for (const { name } of request.window_limits) unsaved.add(counterKey(request.subject, name))
      return verdict
    },
    hasUnsaved: () => unsaved.size > 0,
    save,
    async saveSoon(within_ms) {
      const until = performance.now() + within_ms
      for (;;) {
        try {
          return await save()
        } catch (error) {
          if (stopped || performance.now() > until) throw error
          await sleep(RETRY_MS)
        }
      }
    },
    async load() {
      for (const counter of await openCounters(pool)) {
        const key = counterKey(counter.subject, counter.name)
        if (isAhead(counter, counters.get(key))) counters.set(key, counter)
      }
    },
    forgetClosed(now) {
      for (const [key, { ends_at }] of counters) if (ends_at <= now) counters.delete(key)
    },
    stop() {
      stopped = true
    },
  }
}

/** Whether `counter` is of a later window, or of the same window with a higher count. */
function isAhead(counter: Counter, known: Counter | undefined): boolean {
  if (!known || known.starts_at < counter.starts_at) return true
  return known.starts_at === counter.starts_at && known.count < counter.count
}
