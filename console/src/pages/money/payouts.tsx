import { Link } from '@tanstack/react-router'
import { callAddress, type Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import type { PixPayout } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { sumUnits } from '../../format/amount.ts'
import { shortAddress } from '../../format/id.ts'
import { minuteTime } from '../../format/time.ts'
import { PeriodChip } from '../../lists/period.tsx'
import { TotalsLine, useTotals } from '../../lists/totals.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Filters, TextChip } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { AmountChip, CustomerChip, KeyChip, PickChip, StateSegments } from './chips.tsx'
import { destinationText } from './destination.ts'
import { curl, Nothing, summedOnPage } from './list.tsx'
import { brlAmountColumn, createdColumn, ListPage, useListQueries } from './list-page.tsx'
import { OrderDuration } from './order-duration.tsx'
import './money.css'

type Row = Reply<'console.payouts.list'>['data'][number]
type Query = { status?: 'pending' | 'processing' | 'completed' | 'failed' | 'open' | 'no_answer' }

const KEYS = [
  'status',
  'created',
  'amount_min',
  'amount_max',
  'customer_id',
  'api_key_id',
  'failure_code',
  'idempotency_key',
  'end_to_end_id',
] as const

const VIEW_KEYS = [...KEYS, 'order']

type FailureCode = NonNullable<PixPayout['failure']>['code']

/** Every failure code of the API: a missing or unknown one does not compile. */
const failures: Readonly<Record<FailureCode, true>> = {
  recipient_account_invalid: true,
  recipient_account_blocked: true,
  recipient_account_closed: true,
  recipient_document_mismatch: true,
  recipient_key_not_found: true,
  recipient_limit_exceeded: true,
  payment_not_supported: true,
  rejected_by_recipient_bank: true,
  suspected_fraud: true,
  regulatory_block: true,
  network_timeout: true,
  never_sent: true,
  provider_error: true,
  resolved_by_operator: true,
}

export function PayoutsPage() {
  const { money, lists } = useText()
  const environment = useEnvironment()
  const params = { environment }
  const { page, news, csv, totals, cursor } = useListQueries<Query>(KEYS)
  const live = ['payout']
  const list = useCall('console.payouts.list', { params, query: page }, { live, keep: true })
  const newer = useCall('console.payouts.list', { params, query: news }, { live, when: !cursor.first })
  return (
    <ListPage
      title={money.payouts.title}
      about={money.payouts.about}
      filters={<PayoutFilters open={list.data?.open} />}
      views={{ page: 'payouts', environment, keys: VIEW_KEYS }}
      totals={
        <TotalsLine
          of={useTotals('console.payouts.totals', { params, query: totals })}
          count={lists.totals.payouts}
          money="returned"
        />
      }
      cursor={cursor}
      list={list}
      news={newer}
      csv={callAddress('console.payouts.csv', { params, query: csv })}
      columns={useColumns()}
      keyOf={keyOf}
      empty={<NoPayouts page={list.data} />}
      foot={(rows) => <Foot rows={rows} />}
    />
  )
}

const keyOf = ({ payout }: Row) => payout.id

function PayoutFilters({ open }: { readonly open: Reply<'console.payouts.list'>['open'] | undefined }) {
  const { money, ui } = useText()
  return (
    <Filters keys={KEYS}>
      <StateSegments open={open} words={money.state} done="completed" all={ui.all} />
      <PeriodChip label={money.created} />
      <AmountChip asset="BRL" />
      <CustomerChip />
      <KeyChip />
      <PickChip label={money.failure_filter} of="failure_code" options={Object.keys(failures)} />
      <TextChip label={money.idempotency_key} of="idempotency_key" />
      <TextChip label={money.end_to_end_id} of="end_to_end_id" show={shortAddress} />
    </Filters>
  )
}

function useColumns(): readonly Column<Row>[] {
  const { money } = useText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  return [
    createdColumn(money.created, ({ payout }) => payout.created_at),
    {
      key: 'customer',
      head: money.customer,
      fold: 'm1',
      cell: ({ payout, customer }) => (
        <Link className="plain" to="/$environment/payouts/$id" params={{ environment, id: payout.id }}>
          <bdi title={customer.name}>{customer.name}</bdi>
        </Link>
      ),
    },
    {
      key: 'to',
      head: money.to,
      fold: 'm2',
      className: 'nowrap',
      cell: ({ payout }) => (
        <>
          <span className="no-phone">
            {destinationText(payout.counterparty)}{' '}
            <span className="faint beside">{payout.counterparty.document}</span>
          </span>
          <span className="only-phone">
            {minuteTime(payout.created_at, { language })} · {destinationText(payout.counterparty)}
          </span>
        </>
      ),
    },
    brlAmountColumn(money.amount_in('BRL'), ({ payout }) => payout.amount),
    {
      key: 'status',
      head: money.status,
      fold: 'a2',
      className: 'nowrap',
      cell: (row) => <PayoutStatus {...row} />,
    },
    {
      key: 'took',
      head: money.took,
      right: true,
      className: 'quiet nowrap',
      cell: ({ payout, no_answer }) => <OrderDuration order={payout} no_answer={no_answer} />,
    },
    { key: 'id', head: money.payouts.one, cell: ({ payout }) => <Id id={payout.id} /> },
  ]
}

function PayoutStatus({ payout, no_answer }: Pick<Row, 'payout' | 'no_answer'>) {
  const { money } = useText()
  const state = no_answer ? 'no_answer' : payout.status
  return (
    <>
      <Status state={state}>{money.state[state]}</Status>
      {payout.failure?.rail_code !== undefined && (
        <span className="tag mono no-phone beside">{payout.failure.rail_code}</span>
      )}
    </>
  )
}

function Foot({ rows }: { readonly rows: readonly Row[] }) {
  const { money } = useText()
  const { summed, note } = summedOnPage(rows, ({ payout }) => payout.status === 'failed')
  return (
    <tr>
      <td />
      <td className="quiet m1 nowrap" colSpan={2}>
        {money.payouts.on_page(rows.length)}
        {note !== undefined && `, ${money[note]}`}
      </td>
      <td className="r a1 med">
        <Amount units={sumUnits(summed.map(({ payout }) => payout.amount))} asset="BRL" as="bare" total />
      </td>
      <td colSpan={3} />
    </tr>
  )
}

function NoPayouts({ page }: { readonly page: Reply<'console.payouts.list'> | undefined }) {
  const { money } = useText()
  const environment = useEnvironment()
  const call = curl('/v1/pix/payouts', {
    customer_id: 'cus_…',
    amount: '1050',
    counterparty: { type: 'pix_key', pix_key: '52998224725' },
    idempotency_key: 'invoice-1042',
  })
  return (
    <Nothing
      filters={KEYS}
      page={page}
      title={money.payouts.empty}
      text={environment === 'sandbox' ? money.payouts.empty_text : money.payouts.empty_live}
      call={call}
    />
  )
}
