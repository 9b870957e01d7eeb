import { Link } from '@tanstack/react-router'
import { callAddress, type Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { CsvLink } from '../../lists/csv-link.tsx'
import { ListBar } from '../../lists/list-bar.tsx'
import { PeriodChip, rangeOf } from '../../lists/period.tsx'
import { TotalsLine, useTotals } from '../../lists/totals.tsx'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Chip, Filters, OLDEST, TextChip, useFilters, useQueryString } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Empty, PageHead } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ToPlayground } from '../playground/to-playground.tsx'
import { CursorPager, eventObjectKinds } from './common.tsx'
import { ObjectLink } from './object-link.tsx'
import { kinds } from './webhook-forms.tsx'
import './developers.css'

type Row = Reply<'console.events.list'>['data'][number]
const FILTERS = ['type', 'object_id', 'created'] as const
const VIEW_KEYS = [...FILTERS, 'order']

export function EventsPage() {
  const { developers, lists } = useText()
  const { events } = developers
  const { language } = useLanguage()
  const { may } = useSession()
  const environment = useEnvironment()
  const { query } = useQueryString()
  const { any, values } = useFilters(FILTERS)
  const params = { environment }
  const filters = {
    type: values.type as Row['type'] | undefined,
    object_id: values.object_id,
    ...rangeOf(values.created),
  }
  const oldest = query.order === OLDEST
  const order = oldest ? ({ order: 'oldest' } as const) : {}
  const list = useCall(
    'console.events.list',
    { params, query: { ...filters, ...order, cursor: query.after } },
    { live: eventObjectKinds, keep: true },
  )
  const totals = useTotals('console.events.totals', { params, query: filters })
  const csv = callAddress('console.events.csv', { params, query: { ...filters, ...order, language } })
  return (
    <>
      <PageHead title={events.title} about={events.about} actions={may('export') && <CsvLink href={csv} />} />
      <Filters keys={FILTERS}>
        <KindChip />
        <TextChip label={events.object_chip} of="object_id" hint={events.object_hint} read={readId} />
        <PeriodChip />
      </Filters>
      <ListBar
        views={{ page: 'events', environment, keys: VIEW_KEYS }}
        totals={<TotalsLine of={totals} count={lists.totals.events} />}
      />
      <Table
        label={events.title}
        columns={useColumns()}
        rows={list.data?.data}
        keyOf={({ id }) => id}
        query={list}
        keys
        slide={query.after === undefined && !oldest}
        empty={any ? <Empty title={events.none}>{events.none_about}</Empty> : <NoEvents />}
      />
      <CursorPager page={list.data} keys end />
    </>
  )
}

const readId = (typed: string) => (/^[a-z]{1,8}_[0-9a-z]{1,64}$/.test(typed) ? typed : undefined)

function KindChip() {
  const { events } = useText().developers
  const { values, set } = useFilters(['type'])
  return (
    <Chip
      label={events.type}
      value={values.type && <span className="mono">{values.type}</span>}
      onClear={() => set('type', undefined)}
    >
      {(close) => (
        <div className="pop kinds">
          {kinds.map((kind) => (
            <Button
              key={kind}
              kind="plain"
              small
              onClick={() => {
                close()
                set('type', kind)
              }}
            >
              <span className="mono">{kind}</span>
            </Button>
          ))}
        </div>
      )}
    </Chip>
  )
}

function NoEvents() {
  const { events } = useText().developers
  return (
    <Empty title={events.empty} action={<ToPlayground />}>
      <Code title={events.empty_about} as="shell">
        {`curl ${location.origin}/v1/events \\\n  -H "Authorization: Bearer $TRILHO_KEY"`}
      </Code>
    </Empty>
  )
}

function useColumns(): Column<Row>[] {
  const { events } = useText().developers
  const environment = useEnvironment()
  return [
    {
      key: 'time',
      head: events.time,
      sorts: true,
      fold: 'm2',
      className: 'quiet nowrap',
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      key: 'type',
      head: events.type,
      fold: 'm1',
      cell: ({ id, type }) => (
        <Link className="plain mono" to="/$environment/developers/events/$id" params={{ environment, id }}>
          {type}
        </Link>
      ),
    },
    {
      key: 'object',
      head: events.object,
      fold: 'a2',
      cell: ({ object_id }) => <ObjectLink id={object_id} />,
    },
    { key: 'deliveries', head: events.deliveries, fold: 'a1', cell: (row) => <Told of={row.deliveries} /> },
    { key: 'id', head: events.id, cell: ({ id }) => <Id id={id} /> },
  ]
}

/** Shows the worst state among the deliveries of an event: it is what people look for. */
function Told({ of }: { readonly of: Row['deliveries'] }) {
  const { events } = useText().developers
  const count = (...states: Row['deliveries'][number]['status'][]) =>
    of.filter(({ status }) => states.includes(status)).length
  const [failed, waiting, delivered] = [count('exhausted', 'canceled'), count('pending'), count('delivered')]
  if (failed > 0) return <Status state="exhausted">{events.failed_for(failed)}</Status>
  if (waiting > 0) return <Status state="waiting">{events.waiting_for(waiting)}</Status>
  if (delivered > 0) return <Status state="delivered">{events.delivered_to(delivered)}</Status>
  return <span className="faint">{events.nobody}</span>
}
