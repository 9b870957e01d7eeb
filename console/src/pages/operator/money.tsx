import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { type Bar, Bars } from '../../charts/bars.tsx'
import { amountText, countText, decimalsOf, sumUnits } from '../../format/amount.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Section } from '../../ui/page.tsx'
import { Segments } from '../../ui/segments.tsx'
import { Table } from '../../ui/table.tsx'
import { Time, useAge } from '../../ui/time.tsx'
import { Holdings } from './holdings.tsx'
import { OperatorId } from './object.tsx'
import { railName, railNames } from './rail-names.ts'

type Money = Reply<'console.operator.overview.get'>['money']

/** Where the money of all partners is. */
export function MoneySections({ money }: { readonly money: Money }) {
  const { operator } = useText()
  const words = operator.overview
  return (
    <>
      <Section
        title={words.held}
        about={
          money.proved_at === null ? (
            words.not_proved
          ) : (
            <>
              {words.proved} <Time at={money.proved_at} />
            </>
          )
        }
      >
        {money.holdings.length > 0 && <Holdings holdings={money.holdings} />}
      </Section>
      <div className="cols c21">
        <PaidOut days={money.paid_out} />
        <InTransit money={money} />
      </div>
    </>
  )
}

function InTransit({ money: { in_transit, oldest } }: { readonly money: Money }) {
  const { operator } = useText()
  const words = operator.overview
  const { language } = useLanguage()
  return (
    <Section title={words.in_transit}>
      {in_transit.length === 0 ? (
        <p className="quiet">{words.nothing_in_transit}</p>
      ) : (
        <Table
          label={words.in_transit}
          rows={in_transit}
          keyOf={({ rail, asset }) => `${rail} ${asset}`}
          look="plain"
          columns={[
            { key: 'rail', head: operator.rails.rail, fold: 'm1', cell: ({ rail }) => railName(rail) },
            {
              key: 'amount',
              head: operator.proposals.amount,
              right: true,
              fold: 'a1',
              cell: ({ amount, asset }) => <Amount units={amount} asset={asset} as="column" />,
            },
            {
              key: 'count',
              head: words.open,
              right: true,
              fold: 'a2',
              labelled: true,
              cell: ({ count }) => countText(count, language),
            },
          ]}
        />
      )}
      {oldest !== null && <Oldest oldest={oldest} />}
    </Section>
  )
}

function Oldest({ oldest }: { readonly oldest: NonNullable<Money['oldest']> }) {
  const { operator } = useText()
  const age = useAge(oldest.created_at)
  return (
    <p className="small about">
      {operator.overview.oldest(railName(oldest.rail), oldest.partner.name, age)}{' '}
      <OperatorId id={oldest.id} />
    </p>
  )
}

type Day = Money['paid_out'][number]

const DAYS = 14
const A_DAY_MS = 24 * 3_600_000
/** The service sums by days of São Paulo, wherever the reader is. */
const dayOf = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Sao_Paulo' })
const lastDays = () =>
  Array.from({ length: DAYS }, (_, i) => dayOf.format(new Date(Date.now() - (DAYS - 1 - i) * A_DAY_MS)))

/** What left per day, one rail at a time: amounts of different assets are never added. */
function PaidOut({ days }: { readonly days: readonly Day[] }) {
  const { operator } = useText()
  const words = operator.overview
  const { language } = useLanguage()
  const seen = new Set(days.map(({ rail }) => rail))
  const rails = Object.keys(railNames).filter((rail) => seen.has(rail))
  const [chosen, setChosen] = useState('pix')
  const rail = rails.includes(chosen) ? chosen : (rails[0] ?? 'pix')
  const own = days.filter((day) => day.rail === rail)
  const asset = own[0]?.asset ?? 'BRL'
  const bars: Bar[] = lastDays().map((start) => ({
    start,
    completed: BigInt(own.find(({ day }) => day === start)?.amount ?? '0'),
    failed: 0n,
  }))
  const count = (of: 'completed' | 'failed') => own.reduce((sum, day) => sum + day[of], 0)
  return (
    <Section
      title={words.paid_out}
      actions={
        rails.length > 1 && (
          <Segments
            small
            label={operator.rails.rail}
            value={rail}
            onValue={setChosen}
            options={rails.map((value) => ({ value, label: railName(value) }))}
          />
        )
      }
    >
      {own.length === 0 ? (
        <p className="quiet">{words.nothing_paid_out}</p>
      ) : (
        <>
          <p className="paid-out">
            <b>
              <Amount units={sumUnits(own.map(({ amount }) => amount))} asset={asset} />
            </b>
            <span className="quiet">
              {words.ended(countText(count('completed'), language), countText(count('failed'), language))}
            </span>
          </p>
          <Bars
            label={words.paid_out_label(railName(rail))}
            bars={bars}
            decimals={decimalsOf(asset)}
            figure={(value) => amountText(value, asset, { language })}
            look={asset === 'USDT' ? 'usdt' : asset === 'BTC' ? 'btc' : 'brl'}
          />
        </>
      )}
    </Section>
  )
}
