import type { Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { offsetText, zoneName } from '../../format/time.ts'
import { useText } from '../../text/text.tsx'
import { Failure } from '../../ui/failure.tsx'
import { useQueryString } from '../../ui/filters.tsx'
import { EndMark, PageHead } from '../../ui/page.tsx'
import { Segments } from '../../ui/segments.tsx'
import './overview.css'
import { Attention } from './attention.tsx'
import { Balances } from './balances.tsx'
import { Latest } from './latest.tsx'
import { Prices, RateLimits } from './limits.tsx'
import { NextStep } from './next-step.tsx'
import { Rails } from './rails.tsx'
import { Start } from './start.tsx'
import { Volume } from './volume.tsx'

export type Overview = Reply<'console.overview.get'>
type Period = Overview['period']

const periods: readonly Period[] = ['24h', '7d', '30d', '90d']

/** Kinds of hints that change the overview. */
const LIVE = ['payout', 'transfer', 'trade', 'deposit', 'customer', 'key', 'webhook_endpoint'] as const

/** A hint arrives with the event; the daily sums are updated a few seconds later. */
const UNSETTLED_MS = 4_000

export function OverviewPage() {
  const { overview, ui } = useText()
  const environment = useEnvironment()
  const { query, set } = useQueryString()
  const period = periods.find((one) => one === query.period) ?? '30d'
  const seen = useCall(
    'console.overview.get',
    { params: { environment }, query: { period } },
    { live: LIVE, keep: true, every: (seen) => seen?.settled === false && UNSETTLED_MS },
  )
  const { data } = seen
  const choice = (
    <Segments
      label={overview.period}
      value={period}
      onValue={(value) => set({ period: value === '30d' ? undefined : value })}
      options={periods.map((value) => ({ value, label: overview.periods[value] }))}
    />
  )
  const started = data?.is_new !== true
  return (
    <>
      <PageHead
        title={overview.title}
        about={`${ui.zone(zoneName())}, ${offsetText()}`}
        {...(started ? { actions: choice } : {})}
      />
      {seen.isError && (
        <div className="t-note">
          <Failure error={seen.error} onAgain={() => void seen.refetch()} reading />
        </div>
      )}
      {data === undefined ? (
        !seen.isError && <Waiting />
      ) : started ? (
        <Sheet data={data} stale={seen.isPlaceholderData} />
      ) : (
        <Start of={data} attention={<Attention of={data} />} />
      )}
      <EndMark />
    </>
  )
}

function Sheet({ data, stale }: { readonly data: Overview; readonly stale: boolean }) {
  return (
    <div className={stale ? 'overview stale' : 'overview'}>
      <Attention of={data} />
      <NextStep of={data} />
      <Balances of={data} />
      <div className="cols c21">
        <Volume of={data} />
        <Rails of={data} />
      </div>
      <div className="cols c21">
        <div className="latest">
          <Latest of={data} />
        </div>
        <div className="overview-side">
          <RateLimits of={data} />
          <Prices of={data} />
        </div>
      </div>
    </div>
  )
}

/** A placeholder as high as the content, so that the page does not jump. */
function Waiting() {
  const { ui } = useText()
  return (
    <div className="overview-bones" role="status" aria-busy="true" aria-label={ui.loading}>
      <div className="bone" />
      <div className="bone" />
      <div className="bone tall" />
      <div className="bone tall" />
    </div>
  )
}
