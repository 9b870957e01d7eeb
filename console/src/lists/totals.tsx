import type { UseQueryResult } from '@tanstack/react-query'
import type { CallInput, Reply } from '../api/client.ts'
import { useCall } from '../api/queries.ts'
import { amountText, countText, sumUnits } from '../format/amount.ts'
import { useLanguage, useText } from '../text/text.tsx'
import './lists.css'

type Totals = Reply<'console.payouts.totals'>
type Group = Totals['groups'][number]

/** Calls that say what a filter matches in all. */
type TotalsName =
  | 'console.payouts.totals'
  | 'console.transfers.totals'
  | 'console.customers.totals'
  | 'console.charges.totals'
  | 'console.quotes.totals'
  | 'console.trades.totals'
  | 'console.events.totals'
  | 'console.requests.totals'
  | 'console.deliveries.totals'
  | 'console.acts.totals'

/** Reading it costs up to ten thousand rows, so hints do not make it stale. */
const EVERY_MS = 30_000

export const useTotals = <N extends TotalsName>(name: N, input: CallInput<N>): UseQueryResult<Totals> =>
  useCall(name, input, { every: EVERY_MS, keep: true }) as UseQueryResult<Totals>

type Props = {
  readonly of: UseQueryResult<Totals>
  /** Names a number of rows: `412 payouts`. */
  readonly count: (count: number) => string
  /** Counts to name beside the whole: how many failed, were refused, wait. */
  readonly parts?: readonly {
    readonly text: (count: number) => string
    readonly has: (group: Group) => boolean
  }[]
  /**
   * Adds amounts up, without those of failed rows. `returned`: what failed had been debited and was returned; it has a sum of its
   * own.
   */
  readonly money?: 'moved' | 'returned'
}

/** `412 payouts, R$ 81,233.10`: what the filters match in all, or among the rows that a total reads. */
export function TotalsLine({ of, count, parts = [], money }: Props) {
  const { lists } = useText()
  const { language } = useLanguage()
  const words = lists.totals
  const { data } = of
  if (data === undefined) return <p className="totals" aria-hidden="true" />
  const { groups, complete, rows_most } = data
  const all = countOf(groups)
  const failed = groups.filter(({ status }) => status === 'failed')
  const moved = groups.filter(({ status }) => status !== 'failed')
  const only_failed = money === 'returned' && moved.length === 0 && failed.length > 0
  const most = countText(rows_most, language)
  const whole = !complete && all >= rows_most ? words.more(count(rows_most)) : count(all)
  const said = [
    whole,
    ...(money === undefined ? [] : sumsOf(only_failed ? failed : moved, language)),
    ...(only_failed ? [words.all_returned] : []),
    ...(money === 'returned' && !only_failed && failed.length > 0
      ? [`${words.returned(countOf(failed))} ${sumsOf(failed, language).join(', ')}`.trim()]
      : []),
    ...parts.flatMap(({ text, has }) => {
      const some = countOf(groups.filter(has))
      return some === 0 ? [] : [text(some)]
    }),
  ]
  return (
    <p className={of.isPlaceholderData ? 'totals stale' : 'totals'} title={words.label} role="status">
      <b>{said[0]}</b>
      {said.slice(1).map((text) => (
        <span key={text}> · {text}</span>
      ))}
      {!complete && <span className="quiet"> ({words.among(most)})</span>}
    </p>
  )
}

const countOf = (groups: readonly Group[]): number => groups.reduce((sum, { count }) => sum + count, 0)

/** One sum per asset; of a conversion one per pair, with both sides. */
function sumsOf(groups: readonly Group[], language: Parameters<typeof countText>[1]): string[] {
  const keys = [...new Set(groups.map(({ asset, to_asset }) => `${asset}-${to_asset ?? ''}`))]
  return keys.map((key) => {
    const same = groups.filter(({ asset, to_asset }) => `${asset}-${to_asset ?? ''}` === key)
    const { asset, to_asset } = same[0]!
    const from = amountText(sumUnits(same.map(({ amount }) => amount ?? '0')), asset ?? '', { language })
    if (to_asset === null) return from
    const to = amountText(sumUnits(same.map(({ to_amount }) => to_amount ?? '0')), to_asset, { language })
    return `${from} › ${to}`
  })
}
