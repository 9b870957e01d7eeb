import { Link } from '@tanstack/react-router'
import type { Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Id } from '../../ui/id.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ListEmpty, sideColumns } from './columns.tsx'
import { ListFoot, ListHead, useListQuery } from './lists.tsx'

type Row = Reply<'console.trades.list'>['data'][number]

export function TradesPage() {
  const { conversions, ui } = useText()
  const environment = useEnvironment()
  const { filters, order, status, cursor, at_top, filtered } = useListQuery()
  const query = { limit: '50', ...filters, ...order, status, cursor } as never
  const list = useCall(
    'console.trades.list',
    { params: { environment }, query },
    { live: ['trade'], keep: true },
  )
  const columns: readonly Column<Row>[] = [
    ...sideColumns<Row>({
      words: conversions,
      sidesOf: ({ trade }) => trade,
      link: (row) => <CustomerLink row={row} />,
    }),
    {
      key: 'fee',
      head: conversions.fee,
      right: true,
      cell: ({ trade }) => <Amount units={trade.fees.total} asset={trade.from_asset} as="column" />,
    },
    {
      key: 'status',
      head: ui.status,
      fold: 'a2',
      cell: ({ trade }) => <Status state={trade.status}>{conversions.state[trade.status]}</Status>,
    },
    { key: 'id', head: conversions.trade, cell: ({ trade }) => <Id id={trade.id} /> },
  ]
  const rows = list.data?.data
  return (
    <>
      <ListHead list="trades" states={['completed', 'failed']} />
      <Table
        label={conversions.trades}
        columns={columns}
        rows={rows}
        keyOf={({ trade }) => trade.id}
        query={list}
        keys
        slide={at_top}
        empty={<ListEmpty list="trades" filtered={filtered} />}
        foot={
          <tr>
            <td className="m2 quiet" colSpan={columns.length}>
              {conversions.trades_here(rows?.length ?? 0)}
            </td>
          </tr>
        }
      />
      <ListFoot list="trades" page={list.data} />
    </>
  )
}

function CustomerLink({ row }: { readonly row: Row }) {
  const environment = useEnvironment()
  return (
    <Link className="plain" to="/$environment/trades/$id" params={{ environment, id: row.trade.id } as never}>
      <bdi title={row.customer.name}>{row.customer.name}</bdi>
    </Link>
  )
}
