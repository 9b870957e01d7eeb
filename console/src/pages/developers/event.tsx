import { Link, useParams } from '@tanstack/react-router'
import type { Reply } from '../../api/client.ts'
import { useAct } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Details } from '../../ui/details.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Id } from '../../ui/id.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Crumbs, PageHead, Section } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { usePlace, useSeen, useTrail } from '../../view.tsx'
import { shortUrl, usePolling } from './common.tsx'
import { ObjectLink } from './object-link.tsx'
import { AnswerOf, DeliveryStatus } from './webhook-state.tsx'
import './developers.css'

type Event = Reply<'console.events.get'>
type Line = Event['deliveries'][number]

export function EventPage() {
  const { events } = useText().developers
  const environment = useEnvironment()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const trail = useTrail('developers/events', events.title)
  const one = useSeen('console.events.get', { params: { environment, event_id: id } })
  const event = one.data
  usePolling(one, event?.deliveries.some(({ status }) => status === 'pending') ?? false, 2_000)
  const redeliver = useAct('console.events.redeliver', { stale: ['console.events.', 'console.deliveries.'] })
  const { may } = useSession()
  return (
    <>
      <Crumbs>{[...trail, <Id key="id" id={id} as="full" />]}</Crumbs>
      <PageHead
        title={<span className="mono">{event?.type ?? id}</span>}
        tab={event?.type ?? events.title}
        under={event && <Time at={event.created_at} as="detail" />}
        actions={
          event &&
          may('webhooks.write') && (
            <Button
              icon="again"
              busy={redeliver.isPending && events.redelivering}
              onClick={() => redeliver.mutate({ params: { environment, event_id: id }, body: {} })}
            >
              {events.redeliver}
            </Button>
          )
        }
      />
      {redeliver.isError && (
        <Section>
          <Failure error={redeliver.error} />
        </Section>
      )}
      {redeliver.data && (
        <div className="sec tight" role="status">
          <Notice kind="calm">
            {redeliver.data.redelivered === 0
              ? events.redelivered_none
              : events.redelivered(redeliver.data.redelivered)}
          </Notice>
        </div>
      )}
      {one.isError && event === undefined && (
        <Section>
          <Failure error={one.error} onAgain={() => void one.refetch()} reading />
        </Section>
      )}
      {event && <Body of={event} />}
    </>
  )
}

function Body({ of }: { readonly of: Event }) {
  const { events } = useText().developers
  const columns = useColumns(of.id)
  return (
    <div className="cols c21 grow">
      <section className="sec flat">
        <Code title={events.body} as="json" copy={of.body}>
          {of.body}
        </Code>
      </section>
      <div>
        <Section>
          <Details
            rows={[
              [events.object, <ObjectLink key="object" id={of.object_id} full />],
              [events.sequence, of.sequence],
            ]}
          />
        </Section>
        <Section title={events.went_to}>
          {of.deliveries.length === 0 ? (
            <p className="quiet">{events.went_nowhere}</p>
          ) : (
            <Table
              label={events.went_to}
              look="plain"
              columns={columns}
              rows={of.deliveries}
              keyOf={({ endpoint_id }) => endpoint_id}
            />
          )}
        </Section>
      </div>
    </div>
  )
}

function useColumns(event_id: string): Column<Line>[] {
  const { webhooks } = useText().developers
  const place = usePlace()
  return [
    {
      key: 'endpoint',
      head: webhooks.endpoint,
      fold: 'm1',
      cell: ({ endpoint_id, url }) => (
        <Link
          className="plain breaks"
          to={place(`developers/webhooks/${endpoint_id}`)}
          search={{ event: event_id } as never}
        >
          {shortUrl(url)}
        </Link>
      ),
    },
    {
      key: 'delivery',
      head: webhooks.delivery,
      fold: 'a1',
      className: 'nowrap',
      cell: (row) => <DeliveryStatus of={row} />,
    },
    { key: 'answer', head: webhooks.answer, fold: 'a2', right: true, cell: (row) => <AnswerOf of={row} /> },
  ]
}
