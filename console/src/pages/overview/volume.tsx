import { useState } from 'react'
import { type Bar, Bars } from '../../charts/bars.tsx'
import { amountText, countText, decimalsOf, sumUnits } from '../../format/amount.ts'
import { ownZone, zoneName } from '../../format/time.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Section } from '../../ui/page.tsx'
import { Segments } from '../../ui/segments.tsx'
import type { Overview } from './overview.tsx'

type Shown = 'pix' | 'usdt' | 'btc' | 'conversions'
type Series = Overview['series'][number]

const kinds: readonly Shown[] = ['pix', 'usdt', 'btc', 'conversions']

/** The asset of each tab: amounts of different assets are never added, so conversions are counted. */
const assetOf = { pix: 'BRL', usdt: 'USDT', btc: 'BTC', conversions: undefined } as const

const belongs = (shown: Shown, { kind, asset }: Series): boolean =>
  shown === 'conversions' || shown === 'pix'
    ? kind === shown
    : kind !== 'pix' && kind !== 'conversions' && asset === assetOf[shown]

/** The service sums by days of São Paulo, wherever the reader is. */
const DAYS_OF = 'America/Sao_Paulo'

/** The outgoing volume per day. */
export function Volume({ of: { series, starts } }: { readonly of: Overview }) {
  const { volume } = useText().overview
  const [shown, setShown] = useState<Shown>('pix')
  const chosen = series.filter((one) => belongs(shown, one))
  const per_hour = starts[0]?.includes('T') ?? false
  return (
    <Section
      title={volume[shown].title}
      actions={
        <Segments
          small
          label={volume.show}
          value={shown}
          onValue={setShown}
          options={kinds.map((value) => ({ value, label: volume[value].tab }))}
        />
      }
    >
      <Sum shown={shown} series={chosen} />
      <Drawn
        shown={shown}
        series={chosen}
        starts={starts}
        label={volume.label(volume[shown].title, per_hour)}
      />
      {!per_hour && ownZone() !== DAYS_OF && (
        <p className="faint small">{volume.days_of(zoneName(DAYS_OF))}</p>
      )}
    </Section>
  )
}

type Part = { readonly shown: Shown; readonly series: readonly Series[] }

function Sum({ shown, series }: Part) {
  const { volume, charts } = useText().overview
  const asset = assetOf[shown]
  const count = series.reduce((sum, { completed }) => sum + completed, 0)
  const counted = { pix: volume.payouts, usdt: volume.transfers, btc: volume.transfers } as const
  return (
    <div className="row wrap volume-sum">
      {asset === undefined ? (
        <span className="sum">{volume.trades(count)}</span>
      ) : (
        <>
          <span className="sum">
            <Amount units={sumUnits(series.map(({ completed_sum }) => completed_sum))} asset={asset} />
          </span>
          <span className="quiet">{counted[shown as keyof typeof counted](count)}</span>
        </>
      )}
      <span className="push row small quiet">
        <span>
          <i className={`key ${shown === 'pix' ? 'brl' : shown}`} />
          {charts.completed}
        </span>
        <span>
          <i className="key lost" />
          {charts.failed}
        </span>
      </span>
    </div>
  )
}

function Drawn({
  shown,
  series,
  starts,
  label,
}: Part & { readonly starts: readonly string[]; readonly label: string }) {
  const { volume } = useText().overview
  const { language } = useLanguage()
  if (series.length === 0) return <p className="quiet">{volume.none}</p>
  const asset = assetOf[shown]
  const add = (i: number, of: (each: Series['each'][number]) => string | number) =>
    series.reduce((sum, { each }) => sum + BigInt(of(each[i]!)), 0n)
  const bars: Bar[] = starts.map((start, i) => ({
    start,
    completed: add(i, (each) => (asset ? each.completed_sum : each.completed)),
    failed: add(i, (each) => (asset ? each.failed_sum : each.failed)),
  }))
  return (
    <Bars
      label={label}
      bars={bars}
      decimals={asset ? decimalsOf(asset) : 0}
      figure={(value) =>
        asset ? amountText(value, asset, { language }) : countText(Number(value), language)
      }
      look={shown === 'pix' ? 'brl' : shown === 'conversions' ? 'count' : shown}
    />
  )
}
