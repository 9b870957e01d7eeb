import { Link } from '@tanstack/react-router'
import type { Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useText } from '../../text/text.tsx'
import { Id } from '../../ui/id.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ListEmpty, sideColumns } from './columns.tsx'
import { ListFoot, ListHead, useListQuery } from './lists.tsx'
import { secondsOf, useOnExpiry, usePollingWhileVisible, useTimeLeft } from './time-left.tsx'

type Row = Reply<'console.quotes.list'>['data'][number]

export function QuotesPage() {
  const { conversions } = useText()
  const environment = useEnvironment()
  const { filters, order, status, cursor, at_top, filtered } = useListQuery()
  const query = { limit: '50', ...filters, ...order, status, cursor } as never
  const list = useCall(
    'console.quotes.list',
    { params: { environment }, query },
    { live: ['trade'], keep: true },
  )
  usePollingWhileVisible(list.refetch, at_top)
  const columns: readonly Column<Row>[] = [
    ...sideColumns<Row>({
      words: conversions,
      sidesOf: ({ quote }) => quote,
      link: (row) => <CustomerLink row={row} />,
    }),
    {
      key: 'status',
      head: <StatusHead />,
      fold: 'a2',
      cell: (row) => <QuoteStatus row={row} answered_at={list.dataUpdatedAt} onExpired={list.refetch} />,
    },
    { key: 'id', head: conversions.quote, cell: ({ quote }) => <Id id={quote.id} /> },
  ]
  const rows = list.data?.data
  return (
    <>
      <ListHead list="quotes" states={['pending', 'executed', 'expired']} />
      <Table
        label={conversions.quotes}
        columns={columns}
        rows={rows}
        keyOf={({ quote }) => quote.id}
        query={list}
        keys
        slide={at_top}
        empty={<ListEmpty list="quotes" filtered={filtered} />}
        foot={
          <tr>
            <td className="m2 quiet" colSpan={columns.length}>
              {conversions.quotes_here(rows?.length ?? 0)}
            </td>
          </tr>
        }
      />
      <ListFoot list="quotes" page={list.data} />
    </>
  )
}

const StatusHead = () => useText().ui.status

function CustomerLink({ row }: { readonly row: Row }) {
  const environment = useEnvironment()
  return (
    <Link className="plain" to="/$environment/quotes/$id" params={{ environment, id: row.quote.id } as never}>
      <bdi>{row.customer.name}</bdi>
    </Link>
  )
}

type StatusProps = { readonly row: Row; readonly answered_at: number; readonly onExpired: () => unknown }

/** Counts down, and reads the quote again when it expires. */
function QuoteStatus({ row, answered_at, onExpired }: StatusProps) {
  const { conversions } = useText()
  const left_ms = useTimeLeft(row.left_ms, answered_at)
  useOnExpiry(left_ms, () => void onExpired())
  const { status } = row.quote
  const shown = status === 'pending' && left_ms === 0 ? 'expired' : status
  return (
    <>
      <Status state={shown}>{conversions.state[shown]}</Status>
      {shown === 'pending' && <span className="quiet"> {conversions.short_left(secondsOf(left_ms))}</span>}
    </>
  )
}
