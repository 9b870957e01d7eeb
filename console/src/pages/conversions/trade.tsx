import { Link, useParams } from '@tanstack/react-router'
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
import { Notice } from '../../ui/notice.tsx'
import { Crumbs, PageHead, Section } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Track } from '../../ui/track.tsx'
import { usePlace, useSeen, useTrail } from '../../view.tsx'
import { ConversionDetails, conversionSteps, HowMade, Opening, SidesTitle } from './conversion.tsx'
import './conversions.css'

type Page = Reply<'console.trades.get'>

export function TradePage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const environment = useEnvironment()
  const page = useSeen(
    'console.trades.get',
    { params: { environment, trade_id: id } },
    // The page lists the deliveries of the trade's events, so a hint about an endpoint makes it stale too.
    { live: ['trade', 'webhook_endpoint'] },
  )
  if (page.data === undefined) return <Opening id={id} list="trades" query={page} />
  return <Shown page={page.data} />
}

function Shown({ page }: { readonly page: Page }) {
  const { conversions, money } = useText()
  const trail = useTrail('trades', conversions.trades)
  const { trade, quote, customer, pricing, movements, events, request } = page
  return (
    <>
      <Crumbs>{[...trail, <Id key="id" id={trade.id} as="full" />]}</Crumbs>
      <PageHead
        title={<SidesTitle of={trade} name={customer.name} />}
        tab={conversions.trade}
        under={<Under trade={trade} />}
        actions={events.length > 0 && <SendAgain id={trade.id} />}
      />
      <div className="cols c31">
        <div className="grow">
          {trade.failure !== null && (
            <Section>
              <Notice kind="bad">{money.details.failure_text(trade.failure)}</Notice>
            </Section>
          )}
          <HowMade of={trade} pricing={pricing} />
          {quote !== null && (
            <Section title={conversions.timeline}>
              <Track steps={conversionSteps(conversions, { quote, trade, status: 'executed' })} />
            </Section>
          )}
          <Ledger movements={movements} customer={customer} />
          <ObjectEvents events={events} />
          <MadeBy request={request} />
        </div>
        <ConversionDetails
          page={{ customer, request }}
          rows={[[conversions.quote, <QuoteLink key="quote" id={trade.quote_id} />]]}
          of={trade}
        />
      </div>
    </>
  )
}

function Under({ trade }: { readonly trade: Page['trade'] }) {
  const { conversions } = useText()
  const { language } = useLanguage()
  const { status, completed_at } = trade
  return (
    <>
      <Status state={status} large>
        {conversions.state[status]}
      </Status>
      <span className="quiet">
        {status === 'completed' ? listTime(completed_at, { language }) : conversions.nothing_moved}
      </span>
    </>
  )
}

/** Delivers the events of the trade to the webhook endpoints once more. */
function SendAgain({ id }: { readonly id: string }) {
  const { conversions } = useText()
  const environment = useEnvironment()
  const { may } = useSession()
  const act = useAct('console.trades.redeliver', { stale: ['console.trades.get'] })
  if (!may('webhooks.write')) return null
  return (
    <>
      {act.isSuccess && <span className="quiet small">{conversions.sent_again(act.data.redelivered)}</span>}
      <Button
        icon="webhooks"
        busy={act.isPending && conversions.sending_again}
        onClick={() => act.mutate({ params: { environment, trade_id: id }, body: {} })}
      >
        {conversions.send_again}
      </Button>
      {act.isError && <Failure error={act.error} />}
    </>
  )
}

function QuoteLink({ id }: { readonly id: string }) {
  const place = usePlace()
  return (
    <Link to={place(`quotes/${id}`)}>
      <Id id={id} bare />
    </Link>
  )
}
