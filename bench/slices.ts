import { setTimeout as sleep } from 'node:timers/promises'
import type { Measure } from './load.ts'
import { isCounted, machineCpu, ownCpu } from './processes.ts'
import type { Stage } from './stage.ts'

/** One load, and what everybody took of the machine meanwhile. */
export type Slice = Measure & {
  readonly name: string
  /** Cores that others took: whoever is neither the server, nor its database, nor the load. */
  readonly others: number
  /** CPU milliseconds for each thing done. */
  readonly server_ms: number
  readonly database_ms: number
  readonly load_ms: number
  readonly server_mb: number
  /** How many slices before it were dropped, for others took too much. */
  readonly dropped: number
}

/** Above this a slice says more about others than about what it measures. */
export const QUIET_CORES = 0.3
const TRIES = 4
const PAUSE_MS = 2000

export type Slices = {
  readonly all: Slice[]
  measure(name: string, work: () => Promise<Measure>): Promise<Slice>
  median(name: string, field: 'per_second' | 'p50' | 'p99' | 'server_ms' | 'database_ms'): number
  ratio(a: string, b: string, field: 'per_second' | 'p50' | 'p99'): number
}

/** A slice that others disturbed is dropped and repeated; if it never gets quiet, the quietest is kept. */
export function openSlices(stage: Stage, tries = TRIES): Slices {
  const all: Slice[] = []
  const median = (name: string, field: keyof Slice) =>
    middle(all.filter((each) => each.name === name).map((each) => each[field] as number))
  return {
    all,
    async measure(name, work) {
      let best: Slice | undefined
      for (let dropped = 0; dropped < tries; dropped++) {
        if (dropped > 0) await sleep(PAUSE_MS)
        const slice = await observe(stage, name, work, dropped)
        console.log(lineOf(slice))
        if (best === undefined || slice.others < best.others) best = slice
        if (slice.others <= QUIET_CORES) break
      }
      all.push(best!)
      return best!
    },
    median,
    ratio: (a, b, field) => rounded(median(a, field) / median(b, field), 2),
  }
}

async function observe(
  stage: Stage,
  name: string,
  work: () => Promise<Measure>,
  dropped: number,
): Promise<Slice> {
  const read = () => ({
    ...stage.usage(),
    machine: machineCpu(),
    own: ownCpu(),
    at: performance.now() / 1000,
  })
  const before = read()
  const measure = await work()
  const after = read()
  const used = (field: keyof typeof before) => after[field] - before[field]
  const others = used('machine') - used('server_cpu') - used('database_cpu') - used('own')
  const each = (cpu: number) => rounded((cpu * 1000) / Math.max(1, measure.count), 3)
  return {
    name,
    ...measure,
    others: isCounted ? rounded(Math.max(0, others / used('at')), 2) : 0,
    server_ms: each(used('server_cpu')),
    database_ms: each(used('database_cpu')),
    load_ms: each(used('own')),
    server_mb: after.server_mb,
    dropped,
  }
}

const lineOf = (slice: Slice) =>
  `${slice.name.padEnd(34)} ${String(slice.per_second).padStart(6)}/s  p50 ${slice.p50.toFixed(2)} ms  p99 ${slice.p99.toFixed(2)} ms  ` +
  `server ${slice.server_ms} ms  database ${slice.database_ms} ms  load ${slice.load_ms} ms  others ${slice.others} cores` +
  (slice.others > QUIET_CORES ? '  NOT QUIET' : '') +
  (slice.errors > 0 ? `  ${slice.errors} ERRORS` : '')

export function middle(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted.length === 0 ? 0 : (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}

export const rounded = (number: number, digits: number): number =>
  Math.round(number * 10 ** digits) / 10 ** digits
