import type { Reply } from '../../api/client.ts'
import { sourceText } from '../../format/source.ts'
import { ageText } from '../../format/time.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { priceText } from '../conversions/price.ts'

type Market = Reply<'console.operator.rails.get'>['markets'][number]
type Source = Market['sources'][number] & { readonly pair: string }

/** What each exchange says, and why it is left out. */
export function PriceSources({ markets }: { readonly markets: readonly Market[] }) {
  const { operator, ui } = useText()
  const { rails } = operator
  const { language } = useLanguage()
  const refused = markets.filter(({ state }) => state !== 'good')
  return (
    <>
      {refused.map(({ pair, state }) => (
        <p key={pair}>
          <Status state="attention">{rails.market_refused(pair, rails.source_states[state] ?? state)}</Status>
        </p>
      ))}
      <Table<Source>
        label={rails.sources}
        rows={markets.flatMap(({ pair, sources }) => sources.map((source) => ({ pair, ...source })))}
        keyOf={({ pair, source }) => `${pair} ${source}`}
        look="plain"
        columns={[
          { key: 'pair', head: rails.pair, fold: 'm1', className: 'med', cell: ({ pair }) => pair },
          {
            key: 'source',
            head: rails.source,
            fold: 'named',
            cell: ({ source }) => sourceText(ui.sources, source),
          },
          {
            key: 'price',
            head: rails.price,
            right: true,
            fold: 'a1',
            className: 'mono',
            cell: ({ price }) => (price === null ? null : priceText(price, language)),
          },
          {
            key: 'age',
            head: rails.age,
            right: true,
            fold: 'named',
            cell: ({ age_seconds }) => (age_seconds === null ? null : ageText(age_seconds * 1000)),
          },
          {
            key: 'state',
            head: rails.state,
            fold: 'named',
            cell: ({ state, problem }) => (
              <span title={problem ?? ''}>
                <Status state={state === 'good' ? 'done' : 'attention'}>
                  {rails.source_states[state] ?? state}
                </Status>
              </span>
            ),
          },
        ]}
      />
    </>
  )
}
