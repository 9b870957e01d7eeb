import { makeHistory } from './history.ts'
import { openRows, type Rows } from './rows.ts'
import { openSlices, type Slices } from './slices.ts'
import { openStage, type Stage } from './stage.ts'

/** What the parts of one run share: servers with a small and a large history, and the baseline rows they are compared with. */
export type Bench = {
  readonly settings: Settings
  /** Opened on first use. */
  small(): Promise<Stage>
  large(): Promise<Stage>
  yardstick(): Promise<Rows>
  rows(): Promise<Rows>
  slices(stage: Stage, log?: (line: string) => void): Slices
  close(): Promise<void>
}

type Settings = {
  readonly seconds: number
  readonly rounds: number
  readonly small_entries: number
  readonly large_entries: number
  readonly soak_seconds: number
}

const CUSTOMERS = 200
/** Number of customers with a history: few, so that each has more than one page of everything. */
const WITH_HISTORY = 20
const BALANCE = '100000000000'
const REPEATS = 60

export function openBench(settings: Settings): Bench {
  const stages: Stage[] = []
  const repeats = { left: REPEATS }
  const closing: (() => Promise<void>)[] = []
  const once = <T>(open: () => Promise<T>) => {
    let opened: Promise<T> | undefined
    return () => (opened ??= open())
  }
  const stageOf = (entries: number) =>
    once(async () => {
      const env = { WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_PER_SECOND: '1000000' }
      const stage = await openStage({ customers: CUSTOMERS, balance: '0', env })
      stages.push(stage)
      closing.push(stage.stop)
      const started = performance.now()
      await makeHistory(stage, entries, stage.customers.slice(0, WITH_HISTORY))
      await stage.credit(BALANCE)
      console.log(`${entries} entries of history in ${Math.round((performance.now() - started) / 1000)} s`)
      return stage
    })
  const small = stageOf(settings.small_entries)
  const rowsOf = (kind: 'yardstick' | 'rows') =>
    once(async () => {
      const rows = await openRows(await small(), kind, CUSTOMERS)
      closing.push(rows.close)
      return rows
    })
  return {
    settings,
    small,
    large: stageOf(settings.large_entries),
    yardstick: rowsOf('yardstick'),
    rows: rowsOf('rows'),
    slices: (stage, log) => openSlices(stage, { all: stages, log, repeats }),
    async close() {
      for (const close of closing.reverse()) await close()
    },
  }
}
