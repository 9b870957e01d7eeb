import { Link } from '@tanstack/react-router'
import type { PublishedEvent } from '../api/types.ts'
import { durationText } from '../format/time.ts'
import { useLanguage, useText } from '../text/text.tsx'
import { Section } from '../ui/page.tsx'
import { Status } from '../ui/status.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { usePlace } from '../view.tsx'

type Delivery = PublishedEvent['deliveries'][number]
type Row = { readonly event: PublishedEvent; readonly delivery: Delivery | undefined }

/** The events of an object, and their delivery to each webhook endpoint. */
export function ObjectEvents({ events }: { readonly events: readonly PublishedEvent[] }) {
  const { object } = useText()
  const columns = useColumns()
  if (events.length === 0) return null
  const rows = events.flatMap<Row>((event) =>
    event.deliveries.length === 0
      ? [{ event, delivery: undefined }]
      : inOrder(event.deliveries).map((delivery) => ({ event, delivery })),
  )
  return (
    <Section title={object.events}>
      <Table
        label={object.events}
        columns={columns}
        rows={rows}
        keyOf={({ event, delivery }) => `${event.id} ${delivery?.endpoint_id}`}
        look="plain"
      />
    </Section>
  )
}

/** The endpoints stand in the same order under every event, whichever was served first: their ids begin with a time. */
const inOrder = (deliveries: readonly Delivery[]): readonly Delivery[] =>
  [...deliveries].sort((a, b) => (a.endpoint_id < b.endpoint_id ? -1 : 1))

function useColumns(): readonly Column<Row>[] {
  const { object } = useText()
  const place = usePlace()
  return [
    { key: 'sequence', head: '#', className: 'faint', cell: ({ event }) => event.sequence },
    {
      key: 'event',
      head: object.event,
      fold: 'm1',
      cell: ({ event }) => (
        <Link className="mono" to={place(`developers/events/${event.id}`)}>
          {event.type}
        </Link>
      ),
    },
    {
      key: 'time',
      head: object.time,
      fold: 'm2',
      className: 'quiet',
      cell: ({ event }) => <Time at={event.created_at} as="clock" />,
    },
    {
      key: 'to',
      head: object.to,
      className: 'quiet clip',
      cell: ({ delivery }) => (delivery === undefined ? object.nobody : withoutScheme(delivery.url)),
    },
    {
      key: 'delivery',
      head: object.delivery,
      fold: 'a1',
      cell: ({ delivery }) =>
        delivery !== undefined && (
          <Status state={delivery.status === 'canceled' ? 'off' : delivery.status}>
            {object.delivery_state[delivery.status]}
          </Status>
        ),
    },
    {
      key: 'answer',
      head: object.answer,
      right: true,
      fold: 'a2',
      className: 'quiet',
      cell: ({ delivery }) => delivery !== undefined && <Answer delivery={delivery} />,
    },
  ]
}

const withoutScheme = (url: string): string => url.replace(/^https?:\/\//, '')

function Answer({ delivery }: { readonly delivery: Delivery }) {
  const { object } = useText()
  const { language } = useLanguage()
  const { attempts, answer_status, error, duration_ms } = delivery
  if (attempts === 0) return null
  const said = answer_status === null ? (error ?? '') : `${answer_status}`
  return (
    <>
      <span className={answer_status !== null && answer_status < 300 ? undefined : 'bad'}>
        {attempts > 1 ? object.on_attempt(said, attempts) : said}
      </span>{' '}
      {duration_ms !== null && <span className="faint">{durationText(duration_ms, language)}</span>}
    </>
  )
}
