import type { Db } from '../../db/pool.ts'
import { balancesSince, type DayBalance, type HeldInAsset, heldNow, sumsSince } from './store.ts'
import { addCounts, dayOf, type EndedCounts, hourOf, medianOf, noCounts } from './tally.ts'

/** Length of each period, and the table with its steps. */
export const periods = {
  '24h': { table: 'hourly', steps: 24 },
  '7d': { table: 'daily', steps: 7 },
  '30d': { table: 'daily', steps: 30 },
  '90d': { table: 'daily', steps: 90 },
} as const
type Period = keyof typeof periods

const HOUR_MS = 3_600_000
const A_DAY_MS = 24 * HOUR_MS

/** Starts of the last days or hours, the current one last. Days are calendar days. */
export function startsOf(period: Period, now: Date): string[] {
  const { table, steps } = periods[period]
  const back = Array.from({ length: steps }, (_, i) => steps - 1 - i)
  if (table === 'hourly') return back.map((hours) => hourOf(new Date(now.getTime() - hours * HOUR_MS)))
  const today = Date.parse(dayOf(now))
  return back.map((days) => new Date(today - days * A_DAY_MS).toISOString().slice(0, 10))
}

export type Series = EndedCounts & {
  readonly kind: string
  readonly asset: string
  readonly to_asset: string
  readonly median_ms: number | null
  /** One entry per start. */
  readonly each: readonly EndedCounts[]
}

type Found = Pick<Series, 'kind' | 'asset' | 'to_asset'> & { all: EndedCounts; readonly each: EndedCounts[] }

/** Counts of what ended in a period, per kind and assets. */
export async function seriesOf(
  db: Db,
  { partner_id, period, now }: { partner_id: string; period: Period; now: Date },
): Promise<{ starts: string[]; series: Series[] }> {
  const starts = startsOf(period, now)
  const sums = await sumsSince(db, periods[period].table, { partner_id, start: starts[0]! })
  const places = new Map(starts.map((start, i) => [start, i]))
  const found = new Map<string, Found>()
  for (const { kind, asset, to_asset, start, ...counts } of sums) {
    const at = places.get(start)
    // A sum may be newer than `now`, which another clock gave.
    if (at === undefined) continue
    const key = `${kind} ${asset} ${to_asset}`
    const one = found.get(key) ?? { kind, asset, to_asset, all: noCounts, each: starts.map(() => noCounts) }
    one.all = addCounts(one.all, counts)
    // There is one row per start, kind and assets.
    one.each[at] = counts
    found.set(key, one)
  }
  const series = [...found.values()].map(({ all, ...one }) => ({
    ...one,
    ...all,
    median_ms: medianOf(all.times),
  }))
  return { starts, series }
}

export type HeldSeries = HeldInAsset & {
  /** The amount held at the end of each day; null before the first one. */
  readonly days: readonly { readonly day: string; readonly held: bigint | null }[]
}

/** Up to this many customers are added up per request; with more, the last stored sum is used. */
const CUSTOMERS_MAX = 10_000

/** What a partner's customers hold per asset, now and on the last thirty days. */
export async function heldOf(
  db: Db,
  { partner_id, now, most = CUSTOMERS_MAX }: { partner_id: string; now: Date; most?: number },
): Promise<{ readonly is_of_now: boolean; readonly assets: ReadonlyMap<string, HeldSeries> }> {
  const days = startsOf('30d', now)
  const [held, rows] = await Promise.all([
    heldNow(db, { partner_id, most }),
    balancesSince(db, { partner_id, day: days[0]! }),
  ])
  const last = held ?? [...new Map(rows.map(({ day: _, ...row }) => [row.asset, row])).values()]
  const assets = last.map((one) => {
    const before = rows.filter(({ asset }) => asset === one.asset)
    return [one.asset, { ...one, days: heldOn(days, before, one) }] as const
  })
  return { is_of_now: held !== undefined, assets: new Map(assets) }
}

/** A day without a stored sum repeats the day before; the last day is the current amount. */
function heldOn(days: readonly string[], rows: readonly DayBalance[], last: HeldInAsset): HeldSeries['days'] {
  const sum = ({ available, in_transit }: HeldInAsset) => available + in_transit
  const byDay = new Map(rows.map((row) => [row.day, sum(row)]))
  byDay.set(days.at(-1)!, sum(last))
  let held: bigint | null = null
  return days.map((day) => ({ day, held: (held = byDay.get(day) ?? held) }))
}
