import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Reply } from '../../api/client.ts'
import { useEnvironment } from '../../environment.ts'
import { durationText } from '../../format/time.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Id } from '../../ui/id.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ObjectLink } from './object-link.tsx'

type Row = Omit<Reply<'console.requests.list'>['data'][number], 'key_name' | 'key_last_four'> & {
  readonly key_name?: string | null
}

type Props = {
  readonly rows: readonly Row[] | undefined
  readonly query?: React.ComponentProps<typeof Table<Row>>['query']
  readonly empty?: ReactNode
  readonly keys?: boolean
  readonly without_key?: boolean
  /** The heading of the time turns the order around. */
  readonly sorts?: boolean
}

export function RequestTable({
  rows,
  query,
  empty,
  keys = false,
  without_key = false,
  sorts = false,
}: Props) {
  const { requests } = useText().developers
  const columns = useColumns(sorts).filter(({ key }) => !without_key || (key !== 'key' && key !== 'address'))
  return (
    <Table
      label={requests.title}
      columns={columns}
      rows={rows}
      keyOf={({ id }) => id}
      {...(query ? { query } : {})}
      empty={empty}
      keys={keys}
    />
  )
}

function useColumns(sorts: boolean): Column<Row>[] {
  const { requests } = useText().developers
  const environment = useEnvironment()
  const { language } = useLanguage()
  return [
    {
      key: 'time',
      head: requests.time,
      sorts,
      fold: 'm2',
      className: 'quiet nowrap',
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      key: 'call',
      head: requests.call,
      fold: 'm1',
      cell: (row) => (
        <Link
          className="plain mono"
          to="/$environment/developers/requests/$id"
          params={{ environment, id: row.id }}
        >
          {row.method} {row.route ?? requests.no_route}
        </Link>
      ),
    },
    { key: 'status', head: requests.status, fold: 'a1', cell: (row) => <HttpStatus of={row.status} /> },
    {
      key: 'code',
      head: requests.code,
      fold: 'a2',
      className: 'quiet',
      cell: ({ error_code }) => error_code !== undefined && <span className="mono">{error_code}</span>,
    },
    {
      key: 'key',
      head: requests.key,
      className: 'quiet',
      cell: ({ key_name, key_id }) => key_name ?? <Id id={key_id} bare />,
    },
    { key: 'address', head: requests.address, className: 'quiet', cell: ({ address }) => address },
    {
      key: 'object',
      head: requests.object,
      cell: ({ object_id }) => object_id !== undefined && <ObjectLink id={object_id} />,
    },
    {
      key: 'took',
      head: requests.took,
      right: true,
      className: 'quiet nowrap',
      cell: ({ duration_ms }) => durationText(duration_ms, language),
    },
  ]
}

function HttpStatus({ of }: { readonly of: number }) {
  return <span className={of >= 500 ? 'bad med' : of >= 400 ? 'bad' : 'quiet'}>{of}</span>
}
