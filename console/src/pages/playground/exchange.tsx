import { Link } from '@tanstack/react-router'
import { useCall } from '../../api/queries.ts'
import type { PublishedEvent } from '../../api/types.ts'
import { durationText } from '../../format/time.ts'
import { ObjectEvents } from '../../object/object-events.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Section } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { secondsOf, usePollingWhileVisible, useTimeLeft } from '../conversions/time-left.tsx'
import type { Made } from './playground.tsx'

const environment = 'sandbox'

type Props = {
  readonly made: Made
  readonly executing: boolean
  readonly onExecute: (quote_id: string) => unknown
}

/** The request, the response and the events it caused. */
export function ExchangePanel({ made, executing, onExecute }: Props) {
  const { playground } = useText()
  const { curl, path, exchange } = made
  return (
    <>
      <Section title={playground.request} about={<span className="mono">{`POST ${path}`}</span>}>
        <Code as="shell" title="curl">
          {curl}
        </Code>
      </Section>
      <Answer made={made} />
      {isQuote(exchange.body) && (
        <Execute key={exchange.request_id} made={made} executing={executing} onExecute={onExecute} />
      )}
      {exchange.object_id !== null && <ExchangeEvents object_id={exchange.object_id} />}
    </>
  )
}

function Answer({ made }: { readonly made: Made }) {
  const { playground } = useText()
  const { language } = useLanguage()
  const { status, headers, body, duration_ms, request_id } = made.exchange
  const good = status < 400
  return (
    <Section
      title={playground.answer}
      about={
        <span role="status">
          <Status state={good ? 'done' : 'failed'}>{status}</Status>{' '}
          {duration_ms > 0 && durationText(duration_ms, language)}
        </span>
      }
      actions={
        request_id !== '' && (
          <Link
            className="small"
            to="/$environment/developers/requests/$id"
            params={{ environment, id: request_id } as never}
          >
            {playground.open_log}
          </Link>
        )
      }
    >
      <div className="stack-4">
        <Code as="json" title={playground.answer}>
          {JSON.stringify(body)}
        </Code>
        <Code title={playground.headers}>
          {Object.entries(headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </Code>
      </div>
    </Section>
  )
}

type Quote = { readonly id: string; readonly created_at: string; readonly expires_at: string }

const isQuote = (body: unknown): body is Quote =>
  typeof body === 'object' && body !== null && 'expires_at' in body && !('error' in body)

/** The button to execute a quote, while its price is valid. */
function Execute({ made, executing, onExecute }: Props) {
  const { playground } = useText()
  const { id, created_at, expires_at } = made.exchange.body as Quote
  const left_ms = useTimeLeft(Date.parse(expires_at) - Date.parse(created_at), made.at)
  return (
    <Section>
      <div className="row gap-3 wrap">
        <Button
          kind="primary"
          busy={executing && playground.executing}
          disabled={left_ms === 0 && playground.run_out}
          onClick={() => void onExecute(id)}
        >
          {playground.execute}
        </Button>
        {left_ms > 0 && <span className="quiet">{playground.left(secondsOf(left_ms))}</span>}
      </div>
    </Section>
  )
}

const pages: Readonly<Record<string, string>> = {
  po: 'payouts',
  chg: 'charges',
  tr: 'transfers',
  qt: 'quotes',
  td: 'trades',
}

function ExchangeEvents({ object_id }: { readonly object_id: string }) {
  const { playground } = useText()
  const prefix = object_id.slice(0, object_id.indexOf('_'))
  const events = useEvents(prefix, object_id)
  const last = events.at(-1)
  return (
    <>
      <ObjectEvents events={events} />
      {last === undefined ? (
        <Section title={playground.told} about={playground.told_about}>
          <p className="quiet">{prefix === 'qt' ? playground.quote_tells : playground.waits}</p>
        </Section>
      ) : (
        <LastBody event_id={last.id} />
      )}
      <Section>
        <Link
          className="btn"
          to={`/$environment/${pages[prefix]}/$id`}
          params={{ environment, id: object_id } as never}
        >
          {playground.open[prefix]}
        </Link>
      </Section>
    </>
  )
}

const POLL_MS = 2_000

/** Hints announce events; deliveries are polled while one is in progress. */
function useEvents(prefix: string, id: string): readonly PublishedEvent[] {
  const payout = useCall(
    'console.payouts.get',
    { params: { environment, payout_id: id } },
    { live: ['payout'], when: prefix === 'po' },
  )
  const charge = useCall(
    'console.charges.get',
    { params: { environment, charge_id: id } },
    { live: ['charge'], when: prefix === 'chg' },
  )
  const transfer = useCall(
    'console.transfers.get',
    { params: { environment, transfer_id: id } },
    { live: ['transfer'], when: prefix === 'tr' },
  )
  const trade = useCall(
    'console.trades.get',
    { params: { environment, trade_id: id } },
    { live: ['trade'], when: prefix === 'td' },
  )
  const call = { po: payout, chg: charge, tr: transfer, td: trade }[prefix]
  const events = call?.data?.events ?? []
  const open = events.length === 0 || events.some(({ deliveries }) => deliveries.some(isUnderWay))
  usePollingWhileVisible(call?.refetch ?? (() => undefined), call !== undefined && open, POLL_MS)
  return events
}

const isUnderWay = ({ status }: PublishedEvent['deliveries'][number]): boolean => status === 'pending'

/** The newest event, as the body of a webhook. */
function LastBody({ event_id }: { readonly event_id: string }) {
  const event = useCall('console.events.get', { params: { environment, event_id } })
  if (event.data === undefined) return null
  return (
    <Section>
      <Code as="json" title={event.data.type}>
        {event.data.body}
      </Code>
    </Section>
  )
}
