import { Link, useParams } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { listTime } from '../../format/time.ts'
import { Ledger } from '../../object/ledger.tsx'
import { MadeBy } from '../../object/made-by.tsx'
import { ObjectEvents } from '../../object/object-events.tsx'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Id } from '../../ui/id.tsx'
import { Meter } from '../../ui/meter.tsx'
import { Crumbs, PageHead, Section } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Track } from '../../ui/track.tsx'
import { usePlace, useSeen, useTrail } from '../../view.tsx'
import { ConversionDetails, conversionSteps, HowMade, Opening, SidesTitle } from './conversion.tsx'
import { secondsOf, useOnExpiry, useTimeLeft } from './time-left.tsx'
import './conversions.css'

/** How long a quote is valid: the full length of the meter. */
const QUOTE_VALID_MS = 30_000

type Page = Reply<'console.quotes.get'>

export function QuotePage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const environment = useEnvironment()
  // Quotes have no hints of their own; the hint of the trade announces that the quote was executed.
  const page = useSeen('console.quotes.get', { params: { environment, quote_id: id } }, { live: ['trade'] })
  const { refetch } = page
  const onExpired = useCallback(() => void refetch(), [refetch])
  if (page.data === undefined) return <Opening id={id} list="quotes" query={page} />
  return <Shown page={page.data} answered_at={page.dataUpdatedAt} onExpired={onExpired} />
}

type ShownProps = { readonly page: Page; readonly answered_at: number; readonly onExpired: () => void }

function Shown({ page, answered_at, onExpired }: ShownProps) {
  const { conversions } = useText()
  const trail = useTrail('quotes', conversions.quotes)
  const { quote, trade, customer, pricing, movements, events, request } = page
  const left_ms = useTimeLeft(page.left_ms, answered_at)
  useOnExpiry(left_ms, onExpired)
  // Until the quote is read again, the page itself knows that the time is over.
  const status = quote.status === 'pending' && left_ms === 0 ? 'expired' : quote.status
  return (
    <>
      <Crumbs>{[...trail, <Id key="id" id={quote.id} as="full" />]}</Crumbs>
      <PageHead
        title={<SidesTitle of={quote} name={customer.name} />}
        tab={conversions.quote}
        under={<Under page={page} status={status} left_ms={left_ms} />}
        actions={status === 'pending' && <Expire id={quote.id} />}
      />
      <div className="cols c31">
        <div className="grow">
          <HowMade of={quote} pricing={pricing} />
          <Section title={conversions.timeline}>
            <Track steps={conversionSteps(conversions, { quote, trade, status })} />
          </Section>
          <Ledger movements={movements} customer={customer} />
          <ObjectEvents events={events} />
          <MadeBy request={request} partly />
        </div>
        <ConversionDetails
          page={{ customer, request }}
          rows={[
            [conversions.trade, trade && <TradeLink key="trade" id={trade.id} />],
            [conversions.expires, { at: quote.expires_at }],
          ]}
          of={quote}
        />
      </div>
    </>
  )
}

type UnderProps = {
  readonly page: Page
  readonly status: Page['quote']['status']
  readonly left_ms: number
}

/** The status, and the time left while the price is valid. */
function Under({ page: { quote, trade }, status, left_ms }: UnderProps) {
  const { conversions } = useText()
  const { language } = useLanguage()
  const until = listTime(quote.expires_at, { language })
  return (
    <>
      <Status state={status} large>
        {conversions.state[status]}
      </Status>
      {status === 'pending' && (
        <>
          <span className="left" role="timer">
            {conversions.seconds_left(secondsOf(left_ms))}
          </span>
          <Meter
            emptying
            used={String(Math.round(left_ms))}
            of={String(QUOTE_VALID_MS)}
            label={conversions.held_until(until)}
          />
        </>
      )}
      {status === 'expired' && <span className="quiet">{conversions.ran_out(until)}</span>}
      {trade !== null && <span className="quiet">{listTime(trade.created_at, { language })}</span>}
    </>
  )
}

/** Ends the quote now, to test what happens then; in the sandbox only. */
function Expire({ id }: { readonly id: string }) {
  const { conversions } = useText()
  const environment = useEnvironment()
  const { may } = useSession()
  const act = useAct('console.quotes.expire', { stale: ['console.quotes.'] })
  if (environment !== 'sandbox' || !may('sandbox.act')) return null
  return (
    <>
      <Button
        busy={act.isPending && conversions.expiring}
        onClick={() => act.mutate({ params: { environment, quote_id: id }, body: {} })}
      >
        {conversions.expire}
      </Button>
      {act.isError && <Failure error={act.error} />}
    </>
  )
}

function TradeLink({ id }: { readonly id: string }) {
  const place = usePlace()
  return (
    <Link to={place(`trades/${id}`)}>
      <Id id={id} bare />
    </Link>
  )
}
