import { Link } from '@tanstack/react-router'
import { useEnvironment } from '../../environment.ts'
import { useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Section } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import type { Overview } from './overview.tsx'

type Row = Overview['latest'][number]

/** The newest orders and deposits. */
export function Latest({ of: { latest } }: { readonly of: Overview }) {
  const { overview, money, ui } = useText()
  const environment = useEnvironment()
  const words = overview.latest
  const stateOf = ({ kind, status }: Row): string | undefined => {
    if (kind === 'deposit') return money.deposit_state[status]
    if (kind === 'trade' && status === 'completed') return words.trade_completed
    return ui.state[status as keyof typeof ui.state]
  }
  const columns: readonly Column<Row>[] = [
    { key: 'time', head: words.time, cell: (row) => <Time at={row.created_at} />, className: 'quiet' },
    { key: 'what', head: words.what, cell: (row) => nameOf(row, words), fold: 'm2' },
    { key: 'customer', head: words.customer, cell: (row) => <Customer row={row} />, fold: 'm1' },
    {
      key: 'amount',
      head: words.amount,
      cell: (row) => <Amount units={row.amount} asset={row.asset} as="column" change />,
      right: true,
      fold: 'a1',
    },
    {
      key: 'status',
      head: words.status,
      cell: (row) => <Status state={row.status}>{stateOf(row) ?? row.status}</Status>,
      fold: 'a2',
    },
  ]
  return (
    <Section
      title={words.title}
      actions={
        <Link to="/$environment/developers/events" params={{ environment }}>
          {words.all}
        </Link>
      }
    >
      <Table
        label={words.title}
        columns={columns}
        rows={latest}
        keyOf={(row) => row.id}
        look="plain"
        snug
        slide
        empty={<p className="quiet">{words.none}</p>}
      />
    </Section>
  )
}

const pages = {
  payout: '/$environment/payouts/$id',
  transfer: '/$environment/transfers/$id',
  trade: '/$environment/trades/$id',
  deposit: '/$environment/customers/$id',
} as const

type Words = ReturnType<typeof useText>['overview']['latest']

const nameOf = ({ kind, network }: Row, words: Words): string =>
  kind === 'transfer' ? words.transfer(network ?? '') : words[kind]

/** Links to the object; a deposit links to its customer. */
function Customer({ row }: { readonly row: Row }) {
  const environment = useEnvironment()
  const id = row.kind === 'deposit' ? row.customer.id : row.id
  return (
    <Link className="plain" to={pages[row.kind]} params={{ environment, id } as never}>
      <bdi title={row.customer.name}>{row.customer.name}</bdi>
    </Link>
  )
}
