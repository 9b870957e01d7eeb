import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Reply } from '../../api/client.ts'
import { useEnvironment } from '../../environment.ts'
import { listTime } from '../../format/time.ts'
import { PeriodChip, rangeOf } from '../../lists/period.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { FilterSegments, useFilters } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Empty, EndMark } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { usePlace, useSeen } from '../../view.tsx'
import { ListPager, useCursor } from './list.tsx'

type Row = Reply<'console.customers.statement'>['data'][number]

const assets = ['BRL', 'USDT', 'BTC'] as const

/** Every change of the customer's balances, newest first. */
export function Statement({ customer_id }: { readonly customer_id: string }) {
  const { money } = useText()
  const environment = useEnvironment()
  const cursor = useCursor()
  const { values } = useFilters(['asset', 'created'])
  const asset = assets.find((each) => each === values.asset)
  const query = {
    ...(asset ? { asset } : {}),
    ...rangeOf(values.created),
    ...(cursor.cursor ? { cursor: cursor.cursor } : {}),
  }
  const page = useSeen(
    'console.customers.statement',
    { params: { environment, customer_id }, query },
    { live: ['deposit', 'payout', 'transfer', 'trade'], keep: true },
  )
  const columns = useColumns()
  const rows = page.data?.data
  const ends = page.data !== undefined && !page.data.has_more
  return (
    <section className="statement" aria-label={money.statement.title}>
      <search className="sec tight filters scroll-x" data-filters aria-label={money.statement.title}>
        <h2>{money.statement.title}</h2>
        <span className="push no-phone" />
        <FilterSegments
          label={money.asset}
          of="asset"
          small
          options={[
            { value: '', label: money.customers.all },
            ...assets.map((each) => ({ value: each, label: each })),
          ]}
        />
        <PeriodChip />
      </search>
      <Table
        label={money.statement.title}
        columns={columns}
        rows={rows}
        keyOf={({ line }) => line.id}
        idOf={({ line }) => line.cause.id}
        query={page}
        keys
        slide={cursor.first}
        empty={
          <Empty title={money.statement.empty}>
            <p>{money.statement.empty_text}</p>
          </Empty>
        }
      />
      {ends && rows !== undefined && rows.length > 0 && <EndMark />}
      {ends && cursor.first ? (
        rows !== undefined && rows.length > 0 && <div className="pager">{money.statement.start}</div>
      ) : (
        <ListPager page={page.data} cursor={cursor} keys={false}>
          {ends && money.statement.start}
        </ListPager>
      )}
    </section>
  )
}

function useColumns(): readonly Column<Row>[] {
  const { money } = useText()
  const { language } = useLanguage()
  return [
    {
      key: 'when',
      head: money.statement.when,
      className: 'quiet nowrap',
      cell: ({ line }) => <Time at={line.created_at} />,
    },
    { key: 'what', head: money.statement.what, fold: 'm1', cell: (row) => <Origin row={row} /> },
    {
      key: 'origin',
      head: money.statement.origin,
      fold: 'm2',
      cell: ({ line }) => (
        <>
          <span className="no-phone">
            <Id id={line.cause.id} />
          </span>
          <span className="only-phone">{listTime(line.created_at, { language })}</span>
        </>
      ),
    },
    {
      key: 'amount',
      head: money.statement.amount,
      right: true,
      fold: 'a1',
      cell: ({ line }) => (
        <span className={line.amount.startsWith('-') ? undefined : 'med'}>
          <Amount units={line.amount} asset={line.asset} as="column" change />
        </span>
      ),
    },
    {
      key: 'after',
      head: money.statement.after,
      right: true,
      fold: 'a2',
      labelled: true,
      className: 'quiet',
      cell: ({ line }) => <Amount units={line.balance_after} asset={line.asset} as="column" />,
    },
  ]
}

const places: Readonly<Record<string, string>> = {
  po: 'payouts',
  tr: 'transfers',
  td: 'trades',
  dep: 'deposits',
}

/** The cause of a line, linked to its page if it has one. */
function Origin({ row }: { readonly row: Row }): ReactNode {
  const place = usePlace()
  const { cause } = row.line
  const id = cause.of ?? cause.id
  const list = places[id.split('_')[0] ?? '']
  const what = <What row={row} />
  if (list === undefined) return <span className="med">{what}</span>
  return (
    <Link className="plain" to={place(`${list}/${id}`)}>
      {what}
    </Link>
  )
}

function What({ row: { line, about } }: { readonly row: Row }): ReactNode {
  const { money } = useText()
  const words = money.statement.what_of
  const network = about !== null && 'network' in about ? about.network : ''
  switch (line.cause.type) {
    case 'payout':
      return words.payout
    case 'transfer':
      return words.transfer(network)
    case 'trade':
      return about !== null && 'from_asset' in about
        ? words.trade(about.from_asset, about.to_asset)
        : words.trade_plain
    case 'deposit':
      return words.deposit
    case 'adjustment':
      return words.adjustment
    case 'return':
      return line.cause.of?.startsWith('dep_') ? words.given_back : words.came_back
    case 'reversal':
      if (line.cause.id.startsWith('po_')) return words.returned_payout
      return line.cause.id.startsWith('tr_') ? words.returned_transfer(network) : words.reversal
  }
}
