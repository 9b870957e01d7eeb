import { setTimeout as sleep } from 'node:timers/promises'
import type { Measure } from './load.ts'
import { isCounted, machineCpu, ownCpu } from './processes.ts'
import type { Stage } from './stage.ts'

/** One load, and the CPU use of every process meanwhile. */
export type Slice = Measure & {
  readonly name: string
  /** Cores used by processes other than servers, databases and the load. */
  readonly others: number
  /** CPU milliseconds per operation. */
  readonly server_ms: number
  readonly database_ms: number
  readonly load_ms: number
  readonly server_mb: number
  /** How many tries before were dropped because other processes used too much CPU. */
  readonly dropped: number
}

/** Above this CPU use of other processes, a slice is not reliable. */
export const QUIET_CORES = 0.3
const TRIES = 4
const PAUSE_MS = 2000

type Field = 'per_second' | 'p50' | 'p99' | 'server_ms' | 'database_ms'

export type Slices = {
  readonly all: Slice[]
  measure(name: string, work: () => Promise<Measure>): Promise<Slice>
  median(name: string, field: Field): number
  ratio(a: string, b: string, field: Field): number
}

type SliceOptions = {
  /** All running servers, none of which counts as another process. */
  readonly all?: readonly Stage[]
  readonly tries?: number
  /** Remaining repetitions of the whole run, so that it also ends on a machine that is never quiet. */
  readonly repeats?: { left: number }
  readonly log?: ((line: string) => void) | undefined
}

/** Repeats a slice that other processes disturbed; if no try is quiet, the quietest is kept. */
export function openSlices(stage: Stage, options: SliceOptions = {}): Slices {
  const { all: stages = [stage], tries = TRIES, log = console.log, repeats = { left: tries * 10 } } = options
  const all: Slice[] = []
  const median = (name: string, field: Field) =>
    middle(all.filter((each) => each.name === name).map((each) => each[field]))
  return {
    all,
    async measure(name, work) {
      let best: Slice | undefined
      for (let dropped = 0; dropped < tries; dropped++) {
        if (dropped > 0) {
          if (repeats.left-- <= 0) break
          await sleep(PAUSE_MS)
        }
        const slice = { ...(await observe(stage, stages, name, work)), dropped }
        log(lineOf(slice))
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
  stages: readonly Stage[],
  name: string,
  work: () => Promise<Measure>,
): Promise<Omit<Slice, 'dropped'>> {
  const read = () => {
    const served = stages
      .map((each) => each.usage())
      .reduce((sum, each) => sum + each.server_cpu + each.database_cpu, 0)
    return {
      ...stage.usage(),
      taken: machineCpu() - ownCpu() - served,
      own: ownCpu(),
      at: performance.now() / 1000,
    }
  }
  const before = read()
  const measure = await work()
  const after = read()
  const used = (field: keyof typeof before) => after[field] - before[field]
  const each = (cpu: number) => rounded((cpu * 1000) / Math.max(1, measure.count), 3)
  return {
    name,
    ...measure,
    others: isCounted ? rounded(Math.max(0, used('taken') / used('at')), 2) : 0,
    server_ms: each(used('server_cpu')),
    database_ms: each(used('database_cpu')),
    load_ms: each(used('own')),
    server_mb: after.server_mb,
  }
}

const lineOf = (slice: Slice) =>
  `${slice.name.padEnd(38)} ${String(slice.per_second).padStart(6)}/s  p50 ${slice.p50.toFixed(2)} ms  p99 ${slice.p99.toFixed(2)} ms  ` +
  `server ${slice.server_ms} ms  database ${slice.database_ms} ms  load ${slice.load_ms} ms  others ${slice.others} cores` +
  (slice.others > QUIET_CORES ? '  NOT QUIET' : '') +
  (slice.errors > 0 ? `  ${slice.errors} ERRORS` : '')

export function middle(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted.length === 0
    ? 0
    : rounded((sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2, 3)
}

export const rounded = (number: number, digits: number): number =>
  Math.round(number * 10 ** digits) / 10 ** digits
