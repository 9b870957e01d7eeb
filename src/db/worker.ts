import type { Logger } from 'pino'
import type { Activity, PollRange } from '../core/activity.ts'
import { openWakeSignal } from '../core/loop.ts'
import { type FreeSlots, openSlots, type SlotKey, type SlotLimits } from './slots.ts'

/**
 * Works on rows of a table: takes a row with a lease and works on it; when the lease ends, any worker may take the row
 * again. Any number of processes may run the same worker. It polls with a back-off while it finds nothing, polls at once when
 * it is woken, and, while more rows are due than it has slots, whenever a slot becomes free.
 */
export type Worker = { wake(): void; stop(): Promise<void> }

type WorkerOptions<Row> = {
  readonly name: string
  readonly log: Logger
  /** Interval between two polls; how far it backs off depends on the activity of the world. */
  readonly poll_interval: PollRange
  readonly activity: Activity
  /** The rails that the rows are for: each has slots of its own. */
  readonly rails: readonly string[]
  readonly slots: SlotLimits
  readonly slotOf: (row: Row) => SlotKey
  /** Takes rows that are due, as many as there are free slots. */
  readonly take: (free: FreeSlots) => Promise<Row[]>
  /** Works on one row. An error is logged; the row is taken again when its lease ends. */
  readonly work: (row: Row) => Promise<void>
  /** How long a stop waits for the rows under way. */
  readonly stop_ms: number
}

export function openWorker<Row>(options: WorkerOptions<Row>): Worker {
  const { name, log, poll_interval, activity, slotOf, stop_ms } = options
  const slots = openSlots(options.rails, options.slots)
  const running = new Set<Promise<void>>()
  const wake_up = openWakeSignal()
  let stopped = false
  let found_at = 0

  const failed =
    <T>(instead: T) =>
    (error: unknown): T => {
      log.warn(
        { err: error, worker: name },
        `${name}: a row could not be taken or worked on; it is tried again`,
      )
      return instead
    }

  function begin(row: Row): void {
    const slot = slotOf(row)
    slots.occupy(slot)
    const job = options
      .work(row)
      .catch(failed(undefined))
      .finally(() => {
        running.delete(job)
        slots.release(slot)
        if (slots.isShort(slot)) wake_up.notify()
      })
    running.add(job)
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      const free = slots.freeSlots()
      if (free.rails.length > 0) {
        const rows = await options.take(free).catch(failed<Row[]>([]))
        slots.note(free, rows.map(slotOf))
        for (const row of rows) begin(row)
        if (rows.length > 0) found_at = performance.now()
      }
      if (stopped || slots.hasFreedSlot()) continue
      await wake_up.wait(activity.pollInterval(poll_interval, found_at))
      // One query fills all slots that become free in the same tick.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  activity.onActive(wake_up.notify)
  const ended = loop()
  return {
    wake: wake_up.notify,
    async stop() {
      stopped = true
      wake_up.notify()
      await Promise.race([ended.then(() => Promise.all(running)), sleep(stop_ms)])
    },
  }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
