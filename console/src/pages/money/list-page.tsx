import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { CsvLink } from '../../lists/csv-link.tsx'
import { ListBar } from '../../lists/list-bar.tsx'
import { rangeOf } from '../../lists/period.tsx'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { OLDEST, useFilters, useQueryString } from '../../ui/filters.tsx'
import { PageHead } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ListPager, NewRows, type Page, useCursor, useLeftTop } from './list.tsx'

/**
 * The queries of a list, built from the filters and the order in the URL: the page, the rows created since the person left page
 * one, the CSV export, and the totals. `Query` holds the parameters that the service takes.
 */
export function useListQueries<Query extends object>(keys: readonly string[]) {
  const { language } = useLanguage()
  const cursor = useCursor()
  const created_after = useLeftTop(cursor.first)
  const { created, ...plain } = useFilters(keys).values
  const oldest = useQueryString().query.order === OLDEST
  const query = { ...plain, ...rangeOf(created) } as Query
  const order = oldest ? ({ order: 'oldest' } as const) : {}
  return {
    cursor: { ...cursor, oldest },
    page: { ...query, ...order, cursor: cursor.cursor },
    news: { ...query, created_after },
    csv: { ...query, ...order, language },
    totals: query,
  }
}

type Props<Row> = {
  readonly title: string
  readonly about: string
  /** A button beside the export. */
  readonly action?: ReactNode
  readonly filters: ReactNode
  /** The saved views, and what the filters match in all. */
  readonly views: Parameters<typeof ListBar>[0]['views']
  readonly totals: ReactNode
  readonly cursor: ReturnType<typeof useCursor> & { readonly oldest: boolean }
  readonly list: UseQueryResult<Page<Row>>
  /** The newest rows, read while the person is on a later page. */
  readonly news: UseQueryResult<Page<Row>>
  /** The address of the CSV file. */
  readonly csv: string
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly empty: ReactNode
  readonly foot: (rows: readonly Row[]) => ReactNode
}

/** The page of a list: title and export, filters, the notice about new rows, the rows, and the pager. */
export function ListPage<Row>(props: Props<Row>) {
  const { title, action, cursor, list, news, keyOf } = props
  const { money } = useText()
  const { may } = useSession()
  const rows = list.data?.data
  const csvFor = (where: 'no-phone' | 'only-phone') =>
    may('export') && (
      <span className={where}>
        <CsvLink href={props.csv} />
      </span>
    )
  return (
    <>
      <PageHead
        title={title}
        about={props.about}
        bare={action === undefined}
        actions={
          <>
            {csvFor('no-phone')}
            {action}
          </>
        }
      />
      {props.filters}
      <ListBar views={props.views} totals={props.totals} />
      {!cursor.first && !cursor.oldest && (
        <NewRows waiting={news.data?.data.length ?? 0} onShow={cursor.top} />
      )}
      <Table
        label={title}
        columns={props.columns}
        rows={rows}
        keyOf={keyOf}
        query={list}
        keys
        slide={cursor.first && !cursor.oldest}
        empty={props.empty}
        foot={rows !== undefined && rows.length > 0 && props.foot(rows)}
      />
      {(rows?.length !== 0 || !cursor.first || list.data?.has_more) && (
        <ListPager page={list.data} cursor={cursor}>
          {!cursor.oldest && <span className="no-phone">{money.live_note}</span>}
          {csvFor('only-phone')}
        </ListPager>
      )}
    </>
  )
}

/** An amount of BRL: with its currency on a phone, bare beside the others. */
export const brlAmountColumn = <Row,>(head: string, units: (row: Row) => string): Column<Row> => ({
  key: 'amount',
  head,
  right: true,
  fold: 'a1',
  className: 'med',
  cell: (row) => (
    <>
      <span className="only-phone">
        <Amount units={units(row)} asset="BRL" />
      </span>
      <span className="no-phone">
        <Amount units={units(row)} asset="BRL" as="bare" />
      </span>
    </>
  ),
})

/** The creation time, by which the list is sorted. */
export const createdColumn = <Row,>(head: string, at: (row: Row) => string): Column<Row> => ({
  key: 'created',
  head,
  sorts: true,
  className: 'quiet nowrap',
  cell: (row) => <Time at={at(row)} />,
})
