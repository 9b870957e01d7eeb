import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { callAddress, type Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { PeriodChip } from '../../lists/period.tsx'
import { TotalsLine, useTotals } from '../../lists/totals.tsx'
import { useSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { FilterSegments, Filters, TextChip } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { CreateCustomer } from './customer-form.tsx'
import { curl, Nothing } from './list.tsx'
import { createdColumn, ListPage, useListQueries } from './list-page.tsx'
import './money.css'

type Row = Reply<'console.customers.list'>['data'][number]
type Query = { status?: 'active' | 'blocked' }

const KEYS = ['status', 'name', 'document', 'external_id', 'created'] as const

const VIEW_KEYS = [...KEYS, 'order']

export function CustomersPage() {
  const { money, lists } = useText()
  const { may } = useSession()
  const environment = useEnvironment()
  const navigate = useNavigate()
  const [creating, setCreating] = useState(false)
  const params = { environment }
  const { page, news, csv, totals, cursor } = useListQueries<Query>(KEYS)
  const list = useCall(
    'console.customers.list',
    { params, query: page },
    { live: ['customer', 'deposit', 'payout', 'transfer', 'trade'], keep: true },
  )
  const newer = useCall(
    'console.customers.list',
    { params, query: news },
    { live: ['customer'], when: !cursor.first },
  )
  const all = useTotals('console.customers.totals', { params, query: totals })
  const create = may('customers.write') && (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      {money.customers.create}
    </Button>
  )
  return (
    <>
      <ListPage
        title={money.customers.title}
        about={money.customers.about}
        action={create}
        filters={<CustomerFilters />}
        views={{ page: 'customers', environment, keys: VIEW_KEYS }}
        totals={
          <TotalsLine
            of={all}
            count={lists.totals.customers}
            parts={[{ text: lists.totals.blocked, has: ({ status }) => status === 'blocked' }]}
          />
        }
        cursor={cursor}
        list={list}
        news={newer}
        csv={callAddress('console.customers.csv', { params, query: csv })}
        columns={useColumns()}
        keyOf={keyOf}
        empty={<NoCustomers page={list.data} />}
        foot={(rows) => (
          <tr>
            <td />
            <td className="quiet m1 nowrap">{money.customers.on_page(rows.length)}</td>
            <td colSpan={6} />
          </tr>
        )}
      />
      {creating && (
        <CreateCustomer
          onClose={() => setCreating(false)}
          onMade={(id) => void navigate({ to: '/$environment/customers/$id', params: { environment, id } })}
        />
      )}
    </>
  )
}

function CustomerFilters() {
  const { money } = useText()
  return (
    <Filters keys={KEYS}>
      <FilterSegments
        label={money.status}
        of="status"
        options={[
          { value: '', label: money.customers.all },
          { value: 'active', label: money.state.active },
          { value: 'blocked', label: money.state.blocked },
        ]}
      />
      <PeriodChip label={money.created} />
      <TextChip label={money.customers.name} of="name" />
      <TextChip label={money.customers.document} of="document" placeholder="529.982.247-25" />
      <TextChip label={money.data.external_id} of="external_id" />
    </Filters>
  )
}

const keyOf = ({ customer }: Row) => customer.id

function useColumns(): readonly Column<Row>[] {
  const { money } = useText()
  const environment = useEnvironment()
  const balance = (asset: 'BRL' | 'USDT' | 'BTC'): Column<Row> => ({
    key: asset,
    head: asset,
    right: true,
    ...(asset === 'BRL' ? { fold: 'a1' as const } : {}),
    cell: ({ balances }) => {
      const units = balances.find((each) => each.asset === asset)?.available ?? '0'
      return (
        <>
          {asset === 'BRL' && (
            <span className="only-phone">
              <Amount units={units} asset={asset} />
            </span>
          )}
          <span className={units === '0' ? 'no-phone faint' : 'no-phone'}>
            <Amount units={units} asset={asset} as="bare" />
          </span>
        </>
      )
    },
  })
  return [
    createdColumn(money.created, ({ customer }) => customer.created_at),
    {
      key: 'name',
      head: money.customers.name,
      fold: 'm1',
      cell: ({ customer }) => (
        <Link className="plain" to="/$environment/customers/$id" params={{ environment, id: customer.id }}>
          <bdi title={customer.name}>{customer.name}</bdi>
        </Link>
      ),
    },
    {
      key: 'document',
      head: money.customers.document,
      fold: 'm2',
      className: 'quiet nowrap',
      cell: ({ customer }) => customer.document,
    },
    balance('BRL'),
    balance('USDT'),
    balance('BTC'),
    {
      key: 'status',
      head: money.status,
      fold: 'a2',
      cell: ({ customer }) => <Status state={customer.status}>{money.state[customer.status]}</Status>,
    },
    { key: 'id', head: money.id, cell: ({ customer }) => <Id id={customer.id} /> },
  ]
}

function NoCustomers({ page }: { readonly page: Reply<'console.customers.list'> | undefined }) {
  const { money } = useText()
  const call = curl('/v1/customers', { name: 'Ana Souza', document: '529.982.247-25' })
  return (
    <Nothing
      filters={KEYS}
      page={page}
      title={money.customers.empty}
      text={money.customers.empty_text}
      call={call}
    />
  )
}
