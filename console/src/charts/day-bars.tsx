import type { ReactNode } from 'react'
import { countText } from '../format/amount.ts'
import { durationText } from '../format/time.ts'
import { useLanguage, useText } from '../text/text.tsx'
import { Section } from '../ui/page.tsx'
import { Bars } from './bars.tsx'

export type Day = {
  readonly day: string
  /** What went well, and what did not. */
  readonly good: number
  readonly bad: number
  readonly median_ms: number | null
  readonly complete: boolean
}

type Props = {
  readonly title: string
  readonly about: string
  readonly empty: string
  readonly label: (good: string, bad: string) => string
  readonly names: { readonly completed: string; readonly failed: string }
  readonly days: readonly Day[]
  /** Rows that are counted per day. */
  readonly counted_most: number
}

/** Counts per day as bars, with the median time of each day in the table. */
export function DayBars({ title, about, empty, label, names, days, counted_most }: Props): ReactNode {
  const { lists } = useText()
  const { language } = useLanguage()
  const sum = (of: (day: Day) => number) =>
    countText(
      days.reduce((all, day) => all + of(day), 0),
      language,
    )
  const last = days.findLast(({ median_ms }) => median_ms !== null)
  const nothing = days.every(({ good, bad }) => good + bad === 0)
  return (
    <Section title={title} about={about}>
      {nothing ? (
        <p className="quiet">{empty}</p>
      ) : (
        <div className="day-bars">
          <Bars
            label={label(
              sum(({ good }) => good),
              sum(({ bad }) => bad),
            )}
            bars={days.map(({ day, good, bad }) => ({
              start: day,
              completed: BigInt(good),
              failed: BigInt(bad),
            }))}
            decimals={0}
            figure={(value) => countText(Number(value), language)}
            look="count"
            names={names}
            more={{
              head: lists.days.median,
              cells: days.map(({ median_ms }) =>
                median_ms === null ? '' : durationText(median_ms, language),
              ),
            }}
          />
          {last !== undefined && (
            <p className="quiet small">
              {lists.days.median_today(durationText(last.median_ms ?? 0, language))}
            </p>
          )}
          {days.some(({ complete }) => !complete) && (
            <p className="quiet small">{lists.days.cut(countText(counted_most, language))}</p>
          )}
        </div>
      )}
    </Section>
  )
}
