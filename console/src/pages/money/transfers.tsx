import { Link } from '@tanstack/react-router'
import { callAddress, type Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import type { OnchainTransfer } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { sumUnits } from '../../format/amount.ts'
import { shortAddress } from '../../format/id.ts'
import { minuteTime } from '../../format/time.ts'
import { PeriodChip } from '../../lists/period.tsx'
import { TotalsLine, useTotals } from '../../lists/totals.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Filters, TextChip, useFilters } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { AmountChip, CustomerChip, KeyChip, PickChip, StateSegments } from './chips.tsx'
import { curl, Nothing, summedOnPage } from './list.tsx'
import { createdColumn, ListPage, useListQueries } from './list-page.tsx'
import { OrderDuration } from './order-duration.tsx'
import './money.css'

type Row = Reply<'console.transfers.list'>['data'][number]
type Query = { status?: 'pending' | 'processing' | 'confirmed' | 'failed' | 'open' | 'no_answer' }

const KEYS = [
  'status',
  'asset',
  'network',
  'created',
  'amount_min',
  'amount_max',
  'customer_id',
  'api_key_id',
  'idempotency_key',
  'tx_hash',
] as const

const VIEW_KEYS = [...KEYS, 'order']

const networks: readonly OnchainTransfer['network'][] = [
  'polygon',
  'arbitrum',
  'optimism',
  'tron',
  'ethereum',
  'bitcoin',
]

export function TransfersPage() {
  const { money, lists } = useText()
  const environment = useEnvironment()
  const params = { environment }
  const { page, news, csv, totals, cursor } = useListQueries<Query>(KEYS)
  const live = ['transfer']
  const list = useCall('console.transfers.list', { params, query: page }, { live, keep: true })
  const newer = useCall('console.transfers.list', { params, query: news }, { live, when: !cursor.first })
  return (
    <ListPage
      title={money.transfers.title}
      about={money.transfers.about}
      filters={<TransferFilters open={list.data?.open} />}
      views={{ page: 'transfers', environment, keys: VIEW_KEYS }}
      totals={
        <TotalsLine
          of={useTotals('console.transfers.totals', { params, query: totals })}
          count={lists.totals.transfers}
          money="returned"
        />
      }
      cursor={cursor}
      list={list}
      news={newer}
      csv={callAddress('console.transfers.csv', { params, query: csv })}
      columns={useColumns()}
      keyOf={keyOf}
      empty={<NoTransfers page={list.data} />}
      foot={(rows) => <Foot rows={rows} />}
    />
  )
}

const keyOf = ({ transfer }: Row) => transfer.id

function TransferFilters({ open }: { readonly open: Reply<'console.transfers.list'>['open'] | undefined }) {
  const { money } = useText()
  const { values } = useFilters(['asset'])
  return (
    <Filters keys={KEYS}>
      <StateSegments open={open} words={money.transfer_state} done="confirmed" all={money.transfers.all} />
      <PickChip label={money.asset} of="asset" options={['USDT', 'BTC']} />
      <PickChip label={money.network} of="network" options={networks} />
      <PeriodChip label={money.transfers.created} />
      {values.asset !== undefined && <AmountChip asset={values.asset} />}
      <CustomerChip />
      <KeyChip />
      <TextChip label={money.idempotency_key} of="idempotency_key" />
      <TextChip label={money.tx_hash} of="tx_hash" show={shortAddress} />
    </Filters>
  )
}

function useColumns(): readonly Column<Row>[] {
  const { money } = useText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  return [
    createdColumn(money.transfers.created, ({ transfer }) => transfer.created_at),
    {
      key: 'customer',
      head: money.customer,
      fold: 'm1',
      cell: ({ transfer, customer }) => (
        <Link className="plain" to="/$environment/transfers/$id" params={{ environment, id: transfer.id }}>
          <bdi title={customer.name}>{customer.name}</bdi>
        </Link>
      ),
    },
    {
      key: 'to',
      head: money.to,
      fold: 'm2',
      className: 'nowrap',
      cell: ({ transfer }) => (
        <>
          <span className="no-phone">
            <Id id={transfer.destination_address} as="address" bare />{' '}
            <span className="faint beside">{transfer.network}</span>
          </span>
          <span className="only-phone">
            {minuteTime(transfer.created_at, { language })} · {transfer.network}
          </span>
        </>
      ),
    },
    {
      key: 'amount',
      head: money.amount,
      right: true,
      fold: 'a1',
      className: 'med',
      cell: ({ transfer }) => <Amount units={transfer.amount_net} asset={transfer.asset} as="column" />,
    },
    {
      key: 'status',
      head: money.status,
      fold: 'a2',
      cell: ({ transfer, no_answer }) => {
        const state = no_answer ? 'no_answer' : transfer.status
        return <Status state={state}>{money.transfer_state[state]}</Status>
      },
    },
    {
      key: 'took',
      head: money.took,
      right: true,
      className: 'quiet nowrap',
      cell: ({ transfer, no_answer }) => <OrderDuration order={transfer} no_answer={no_answer} />,
    },
    { key: 'id', head: money.transfers.one, cell: ({ transfer }) => <Id id={transfer.id} /> },
  ]
}

/** One sum per asset on the page: amounts of different assets are never added. */
function Foot({ rows }: { readonly rows: readonly Row[] }) {
  const { money } = useText()
  const { summed, note } = summedOnPage(rows, ({ transfer }) => transfer.status === 'failed')
  const assets = [...new Set(rows.map(({ transfer }) => transfer.asset))].toSorted()
  return assets.map((asset, i) => (
    <tr key={asset}>
      <td />
      <td className="quiet m1 nowrap" colSpan={2}>
        {i === 0 && money.transfers.on_page(rows.length)}
        {i === 0 && note !== undefined && `, ${money[note]}`}
      </td>
      <td className="r a1 med">
        <Amount
          units={sumUnits(
            summed.flatMap(({ transfer }) => (transfer.asset === asset ? [transfer.amount_net] : [])),
          )}
          asset={asset}
          as="column"
          total
        />
      </td>
      <td colSpan={3} />
    </tr>
  ))
}

function NoTransfers({ page }: { readonly page: Reply<'console.transfers.list'> | undefined }) {
  const { money } = useText()
  const environment = useEnvironment()
  const call = curl('/v1/onchain/transfers', {
    customer_id: 'cus_…',
    asset: 'USDT',
    network: 'polygon',
    amount: '25000000',
    destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    idempotency_key: 'withdrawal-77',
  })
  return (
    <Nothing
      filters={KEYS}
      page={page}
      title={money.transfers.empty}
      text={environment === 'sandbox' ? money.transfers.empty_text : money.transfers.empty_live}
      call={call}
    />
  )
}
