import type { Logger } from 'pino'
import { openBell } from '../core/loop.ts'
import type { Quiet, Rest } from '../core/quiet.ts'
import { openSlots, type Place, type Room, type SlotLimits } from './slots.ts'

/**
 * Work that is rows of a table: taken with a lease, done, and taken again by anybody when the lease ends. Any number of
 * processes may run it. It looks again and again, the more slowly the longer there was nothing; at once when it is woken;
 * and, while there is more than it has slots for, whenever a slot becomes free.
 */
export type Worker = { wake(): void; stop(): Promise<void> }

export type WorkerOptions<Row> = {
  readonly name: string
  readonly log: Logger
  /** Between two looks, by how quiet it is in its world. */
  readonly rest: Rest
  readonly quiet: Quiet
  /** The rails that the rows are for: each has slots of its own. */
  readonly rails: readonly string[]
  readonly slots: SlotLimits
  readonly placeOf: (row: Row) => Place
  /** Takes rows that are due, as many as there is room for. */
  readonly take: (room: Room) => Promise<Row[]>
  /** Does one of them. What it throws is logged; the lease brings the row back. */
  readonly work: (row: Row) => Promise<void>
  /** A stop waits so long for what is under way, and no longer. */
  readonly stop_ms: number
}

export function openWorker<Row>(options: WorkerOptions<Row>): Worker {
  const { name, log, rest, quiet, placeOf, stop_ms } = options
  const slots = openSlots(options.rails, options.slots)
  const running = new Set<Promise<void>>()
  const bell = openBell()
  let stopped = false
  let found_at = 0

  const failed =
    <T>(instead: T) =>
    (error: unknown): T => {
      log.warn({ err: error, worker: name }, 'worker')
      return instead
    }

  function begin(row: Row): void {
    const place = placeOf(row)
    slots.occupy(place)
    const job = options
      .work(row)
      .catch(failed(undefined))
      .finally(() => {
        running.delete(job)
        slots.release(place)
        if (slots.isShort(place)) bell.ring()
      })
    running.add(job)
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      const room = slots.room()
      if (room.rails.length > 0) {
        const rows = await options.take(room).catch(failed<Row[]>([]))
        slots.note(room, rows.map(placeOf))
        for (const row of rows) begin(row)
        if (rows.length > 0) found_at = performance.now()
      }
      if (stopped || slots.hasRoomAgain()) continue
      await bell.wait(quiet.rest(rest, found_at))
      // Slots that become free in one go are filled with one question.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  quiet.onStir(bell.ring)
  const ended = loop()
  return {
    wake: bell.ring,
    async stop() {
      stopped = true
      bell.ring()
      await Promise.race([ended.then(() => Promise.all(running)), sleep(stop_ms)])
    },
  }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
