import { DayMarks } from '../../charts/day-marks.tsx'
import { countText, percentText, shareBps } from '../../format/amount.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Section } from '../../ui/page.tsx'
import { medianText } from './median.ts'
import type { Overview } from './overview.tsx'

type Row = {
  readonly kind: string
  readonly completed: number
  readonly failed: number
  readonly median_ms: number | null
  readonly each: readonly { readonly completed: number; readonly failed: number }[]
}

const order = ['pix', 'tron', 'polygon', 'ethereum', 'arbitrum', 'optimism', 'bitcoin', 'conversions']

/** One row per rail; conversions of all pairs share one row. */
function rowsOf({ series, starts }: Overview): Row[] {
  return order.flatMap((kind) => {
    const own = series.filter((one) => one.kind === kind)
    if (own.length === 0) return []
    const sum = (of: (one: (typeof own)[number]) => number) => own.reduce((all, one) => all + of(one), 0)
    return {
      kind,
      completed: sum(({ completed }) => completed),
      failed: sum(({ failed }) => failed),
      median_ms: own.length === 1 ? own[0]!.median_ms : null,
      each: starts.map((_, i) => ({
        completed: sum(({ each }) => each[i]!.completed),
        failed: sum(({ each }) => each[i]!.failed),
      })),
    }
  })
}

/** A day with less than 99 % success is marked. */
const markOf = ({ completed, failed }: Row['each'][number]) => {
  if (completed + failed === 0) return 'none'
  return failed * 100 > completed + failed ? 'bad' : 'good'
}

/** Success is completed ÷ ended. */
export function Rails({ of }: { readonly of: Overview }) {
  const { overview } = useText()
  const words = overview.rails
  const rows = rowsOf(of)
  return (
    <Section title={words.title} actions={<span className="quiet small">{overview.periods[of.period]}</span>}>
      {rows.length === 0 ? (
        <p className="quiet">{words.none}</p>
      ) : (
        <table className="t flat snug">
          <thead>
            <tr>
              <th scope="col">{words.rail}</th>
              <th scope="col" className="r">
                {words.ended}
              </th>
              <th scope="col" className="r">
                {words.success}
              </th>
              <th scope="col" className="r">
                {words.median}
              </th>
              <th scope="col" className="r no-phone marks">
                {of.period === '24h' ? words.each_hour : words.each_day}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Rail key={row.kind} row={row} />
            ))}
          </tbody>
        </table>
      )}
    </Section>
  )
}

function Rail({ row }: { readonly row: Row }) {
  const { kind, completed, failed, each } = row
  const words = useText().overview.rails
  const { language } = useLanguage()
  const ended = completed + failed
  const marks = each.map(markOf)
  const bad = marks.filter((mark) => mark === 'bad').length
  const name = kind === 'conversions' ? words.conversions : kind[0]!.toUpperCase() + kind.slice(1)
  return (
    <tr>
      <td className="med">{name}</td>
      <td className="r">{countText(ended, language)}</td>
      <td className="r">{percentText(shareBps(BigInt(completed), BigInt(ended)), language)}</td>
      <td className="r quiet">{medianText(row, words.at_once, language)}</td>
      <td className="r no-phone marks">
        <DayMarks marks={marks} label={words.bad(bad, marks.length)} />
      </td>
    </tr>
  )
}
