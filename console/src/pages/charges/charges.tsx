import { Link } from '@tanstack/react-router'
import { callAddress, type Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import type { PixCharge } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { sumUnits } from '../../format/amount.ts'
import { minuteTime } from '../../format/time.ts'
import { PeriodChip } from '../../lists/period.tsx'
import { TotalsLine, useTotals } from '../../lists/totals.tsx'
import { useChargeText } from '../../text/charges/use-charge-text.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { FilterSegments, Filters, TextChip } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Glyph, Status, shapeOf } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { AmountChip, CustomerChip } from '../money/chips.tsx'
import { curl, Nothing, summedOnPage } from '../money/list.tsx'
import { brlAmountColumn, createdColumn, ListPage, useListQueries } from '../money/list-page.tsx'
import '../money/money.css'

type Row = Reply<'console.charges.list'>['data'][number]
type ChargeStatus = PixCharge['status']
type Query = { status?: ChargeStatus }

const KEYS = ['status', 'created', 'amount_min', 'amount_max', 'customer_id', 'idempotency_key'] as const
const VIEW_KEYS = [...KEYS, 'order']

export function ChargesPage() {
  const words = useChargeText()
  const environment = useEnvironment()
  const params = { environment }
  const { page, news, csv, totals, cursor } = useListQueries<Query>(KEYS)
  // A part that is paid changes no state: only its deposit has an event.
  const live = ['charge', 'deposit']
  const list = useCall('console.charges.list', { params, query: page }, { live, keep: true })
  const newer = useCall('console.charges.list', { params, query: news }, { live, when: !cursor.first })
  return (
    <ListPage
      title={words.title}
      about={words.about}
      filters={<ChargeFilters />}
      views={{ page: 'charges', environment, keys: VIEW_KEYS }}
      totals={
        <TotalsLine
          of={useTotals('console.charges.totals', { params, query: totals })}
          count={words.count}
          parts={[{ text: words.expired_count, has: ({ status }) => status === 'expired' }]}
          money="moved"
        />
      }
      cursor={cursor}
      list={list}
      news={newer}
      csv={callAddress('console.charges.csv', { params, query: csv })}
      columns={useColumns()}
      keyOf={keyOf}
      empty={<NoCharges page={list.data} />}
      foot={(rows) => <Foot rows={rows} />}
    />
  )
}

const keyOf = ({ charge }: Row) => charge.id

const filtered: readonly ChargeStatus[] = ['open', 'paid', 'expired', 'failed']

function ChargeFilters() {
  const { money } = useText()
  const words = useChargeText()
  return (
    <Filters keys={KEYS}>
      <FilterSegments
        label={money.status}
        of="status"
        options={[
          { value: '', label: words.all },
          ...filtered.map((state) => ({
            value: state,
            label: (
              <>
                <Glyph shape={shapeOf[state] ?? 'waiting'} />
                {words.state[state]}
              </>
            ),
          })),
        ]}
      />
      <PeriodChip label={words.created} />
      <AmountChip asset="BRL" />
      <CustomerChip />
      <TextChip label={money.idempotency_key} of="idempotency_key" />
    </Filters>
  )
}

function useColumns(): readonly Column<Row>[] {
  const { money } = useText()
  const words = useChargeText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  return [
    createdColumn(words.created, ({ charge }) => charge.created_at),
    {
      key: 'customer',
      head: money.customer,
      fold: 'm1',
      cell: ({ charge, customer }) => (
        <Link className="plain" to="/$environment/charges/$id" params={{ environment, id: charge.id }}>
          <bdi title={customer.name}>{customer.name}</bdi>
        </Link>
      ),
    },
    {
      key: 'description',
      head: words.description,
      fold: 'm2',
      className: 'clip',
      cell: ({ charge }) => (
        <>
          <span className="only-phone">
            {minuteTime(charge.created_at, { language })}
            {charge.description !== undefined && ' · '}
          </span>
          <bdi>{charge.description}</bdi>
        </>
      ),
    },
    brlAmountColumn(money.amount_in('BRL'), ({ charge }) => charge.amount),
    {
      key: 'received',
      head: words.received,
      right: true,
      kept: true,
      cell: ({ charge }) => (
        <span className={charge.amount_received === '0' ? 'faint' : undefined}>
          <Amount units={charge.amount_received} asset="BRL" as="bare" />
        </span>
      ),
    },
    {
      key: 'status',
      head: money.status,
      fold: 'a2',
      className: 'nowrap',
      cell: ({ charge }) => <Status state={charge.status}>{words.state[charge.status]}</Status>,
    },
    {
      key: 'expires',
      head: words.expires,
      className: 'quiet nowrap',
      cell: ({ charge }) => <Time at={charge.expires_at} />,
    },
    { key: 'id', head: words.one, cell: ({ charge }) => <Id id={charge.id} /> },
  ]
}

function Foot({ rows }: { readonly rows: readonly Row[] }) {
  const { money } = useText()
  const words = useChargeText()
  const { summed, note } = summedOnPage(rows, ({ charge }) => charge.status === 'failed')
  const sum = (of: 'amount' | 'amount_received') => (
    <Amount units={sumUnits(summed.map(({ charge }) => charge[of]))} asset="BRL" as="bare" total />
  )
  return (
    <tr>
      <td />
      <td className="quiet m1 nowrap" colSpan={2}>
        {words.on_page(rows.length)}
        {note === 'without_failed' && `, ${money.without_failed}`}
      </td>
      <td className="r a1 med">{sum('amount')}</td>
      <td className="r">{sum('amount_received')}</td>
      <td colSpan={3} />
    </tr>
  )
}

function NoCharges({ page }: { readonly page: Reply<'console.charges.list'> | undefined }) {
  const words = useChargeText()
  const environment = useEnvironment()
  const call = curl('/v1/pix/charges', {
    customer_id: 'cus_…',
    amount: '1050',
    description: 'Order 1042',
    idempotency_key: 'order-1042',
  })
  return (
    <Nothing
      filters={KEYS}
      page={page}
      title={words.empty}
      text={environment === 'sandbox' ? words.empty_text : words.empty_live}
      call={call}
    />
  )
}
