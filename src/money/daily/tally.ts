/** Numbers and sums of what ended. */
export type EndedCounts = {
  readonly completed: bigint
  readonly failed: bigint
  readonly completed_sum: bigint
  readonly failed_sum: bigint
  readonly fee_sum: bigint
  readonly times: readonly bigint[]
}

export const noCounts: EndedCounts = {
  completed: 0n,
  failed: 0n,
  completed_sum: 0n,
  failed_sum: 0n,
  fee_sum: 0n,
  times: [],
}

export const addCounts = (a: EndedCounts, b: EndedCounts): EndedCounts => ({
  completed: a.completed + b.completed,
  failed: a.failed + b.failed,
  completed_sum: a.completed_sum + b.completed_sum,
  failed_sum: a.failed_sum + b.failed_sum,
  fee_sum: a.fee_sum + b.fee_sum,
  times: Array.from(
    { length: Math.max(a.times.length, b.times.length) },
    (_, i) => (a.times[i] ?? 0n) + (b.times[i] ?? 0n),
  ),
})

/** Four histogram steps per doubling: few enough to store, fine enough to tell 58 s from 70 s. */
const STEPS_PER_DOUBLING = 4
const LAST_STEP = 127

/** Start of each step but the first, in milliseconds. */
export const scale: readonly number[] = Array.from(
  { length: LAST_STEP },
  (_, i) => 2 ** ((i + 1) / STEPS_PER_DOUBLING),
)

/** The middle of the step with the median, in milliseconds; null if there are no times. */
export function medianOf(times: readonly bigint[]): number | null {
  const all = times.reduce((sum, count) => sum + count, 0n)
  if (all === 0n) return null
  let below = 0n
  const step = times.findIndex((count) => {
    below += count
    return below * 2n >= all
  })
  return Math.round(2 ** ((step + 0.5) / STEPS_PER_DOUBLING))
}

const inSaoPaulo = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Sao_Paulo', dateStyle: 'short' })

const HOUR_MS = 3_600_000
let last = { hour: Number.NaN, day: '' }

/** The day in São Paulo, as 2026-11-15. An hour never spans two days, so the day is cached per hour. */
export function dayOf(at: Date): string {
  const hour = Math.floor(at.getTime() / HOUR_MS)
  if (hour !== last.hour) last = { hour, day: inSaoPaulo.format(at) }
  return last.day
}

export const hourOf = (at: Date): string =>
  new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS).toISOString()
