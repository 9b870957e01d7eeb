import { existsSync, readFileSync } from 'node:fs'
import type { measureDeposits } from '../parts/deposits.ts'
import type { measureExecutions } from '../parts/executions.ts'
import type { measureIdle } from '../parts/idle.ts'
import type { measureLists } from '../parts/lists.ts'
import type { measurePayouts } from '../parts/payouts.ts'
import type { measureTransfers } from '../parts/transfers.ts'
import type { measureWebhooks } from '../parts/webhooks.ts'
import { middle, QUIET_CORES, rounded, type Slice } from '../slices.ts'

type About = {
  readonly at: string
  readonly node: string
  readonly cores: number
  readonly settings: { seconds: number; rounds: number; small_entries: number; large_entries: number }
}
type Of<Part extends (...args: never[]) => Promise<unknown>> = (About & Awaited<ReturnType<Part>>) | undefined

/** The stored results of the last run; a part that never ran is missing. */
export type Results = {
  readonly payouts: Of<typeof measurePayouts>
  readonly lists: Of<typeof measureLists>
  readonly deposits: Of<typeof measureDeposits>
  readonly executions: Of<typeof measureExecutions>
  readonly transfers: Of<typeof measureTransfers>
  readonly webhooks: Of<typeof measureWebhooks>
  readonly idle: Of<typeof measureIdle>
}

export function readResults(folder: string): Results {
  const read = (name: string) =>
    existsSync(`${folder}/${name}.json`)
      ? JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8'))
      : undefined
  return {
    payouts: read('payouts'),
    lists: read('lists'),
    deposits: read('deposits'),
    executions: read('executions'),
    transfers: read('transfers'),
    webhooks: read('webhooks'),
    idle: read('idle'),
  }
}

export type Field = 'per_second' | 'p50' | 'p99' | 'server_ms' | 'database_ms'

/** Medians over the rounds. */
export const median = (slices: readonly Slice[], name: string, field: Field): number =>
  middle(slices.filter((slice) => slice.name === name).map((slice) => slice[field]))

export const ratio = (slices: readonly Slice[], a: string, b: string, field: Field): number =>
  rounded(median(slices, a, field) / median(slices, b, field), 2)

/** Slices in which other processes used too much CPU in every try. */
export const loud = (slices: readonly Slice[]): Slice[] => slices.filter(({ others }) => others > QUIET_CORES)
