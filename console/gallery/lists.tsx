import { Link } from '@tanstack/react-router'
import { ApiError } from '../src/api/errors.ts'
import { Amount } from '../src/ui/amount.tsx'
import { Button } from '../src/ui/button.tsx'
import { Code } from '../src/ui/code.tsx'
import { FilterSegments, Filters, TextChip, useQueryString } from '../src/ui/filters.tsx'
import { Id } from '../src/ui/id.tsx'
import { Empty, EndMark, Section } from '../src/ui/page.tsx'
import { Pager } from '../src/ui/pager.tsx'
import { Glyph, Status } from '../src/ui/status.tsx'
import { type Column, Table } from '../src/ui/table.tsx'
import { Time } from '../src/ui/time.tsx'

type Row = {
  readonly id: string
  readonly who: string
  readonly amount: string
  readonly state: string
  readonly word: string
}

const rows: readonly Row[] = [
  {
    id: 'po_01m7e0svhcehj34h3txt8xzbnr',
    who: 'Ana Souza',
    amount: '482000',
    state: 'completed',
    word: 'Completed',
  },
  {
    id: 'po_01m7ez0vgjg2s99rzpf5m1ejc2',
    who: 'Ivone Barros',
    amount: '246525',
    state: 'processing',
    word: 'Processing',
  },
  {
    id: 'po_01m7eamj729ggkdpm2sy58vtv9',
    who: 'Carla Mendes Ltda',
    amount: '1890040',
    state: 'no_answer',
    word: 'No answer',
  },
]

const columns: readonly Column<Row>[] = [
  { key: 'at', head: 'Created', className: 'quiet nowrap', cell: () => <Time at="2026-11-14T20:02:59Z" /> },
  {
    key: 'who',
    head: 'Customer',
    fold: 'm1',
    cell: ({ id, who }) => (
      <Link className="plain" to="." search={{ open: id } as never}>
        {who}
      </Link>
    ),
  },
  { key: 'to', head: 'To', fold: 'm2', cell: () => <span className="nowrap">52998224725</span> },
  {
    key: 'amount',
    head: 'Amount, BRL',
    right: true,
    fold: 'a1',
    className: 'med',
    cell: ({ amount }) => <Amount units={amount} asset="BRL" as="bare" />,
  },
  {
    key: 'state',
    head: 'Status',
    fold: 'a2',
    cell: ({ state, word }) => <Status state={state}>{word}</Status>,
  },
  { key: 'id', head: 'Payout', cell: ({ id }) => <Id id={id} /> },
]

const failure = new ApiError({
  code: 'internal_error',
  message: 'Something went wrong on our side.',
  status: 500,
})
const common = {
  isPending: false,
  isError: false,
  error: null,
  isPlaceholderData: false,
  refetch: (async () => {}) as never,
}

export function Lists() {
  const { query } = useQueryString()
  return (
    <>
      <Section title="List">
        <p className="quiet">With filters in the query</p>
      </Section>
      <Filters keys={['status', 'customer']}>
        <FilterSegments
          label="Status"
          of="status"
          options={[
            { value: '', label: 'All' },
            {
              value: 'processing',
              label: (
                <>
                  <Glyph shape="going" />
                  On the way <span className="faint">6</span>
                </>
              ),
            },
            {
              value: 'failed',
              label: (
                <>
                  <Glyph shape="failed" />
                  Failed
                </>
              ),
            },
          ]}
        />
        <TextChip label="Customer" of="customer" hint="A name or an id" />
      </Filters>
      <Table
        label="Payouts"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        open={query.open}
        keys
        foot={
          <tr>
            <td />
            <td className="m1 quiet">3 payouts on this page</td>
            <td />
            <td className="r a1">
              <Amount units="2618565" asset="BRL" as="bare" total />
            </td>
            <td colSpan={2} />
          </tr>
        }
      />
      <EndMark />
      <Pager newer={null} older="next" keys>
        New ones appear by themselves
      </Pager>
      <Section title="Loading, failed, old">
        <Table label="Loading" look="plain" columns={columns} rows={undefined} keyOf={({ id }) => id} />
      </Section>
      <Table
        label="Failed"
        columns={columns}
        rows={undefined}
        keyOf={({ id }) => id}
        query={{ ...common, isError: true, error: failure }}
      />
      <Table
        label="Old"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        query={{ ...common, isError: true, error: failure }}
      />
      <Table
        label="Empty"
        columns={columns}
        rows={[]}
        keyOf={({ id }) => id}
        empty={
          <Empty
            title="Payouts will appear here"
            action={<Button kind="primary">Open the playground</Button>}
          >
            <p className="quiet">One call makes the first:</p>
            <Code title="Create a payout" as="shell">
              {'curl https://api.lumen.example/v1/pix/payouts -H "Authorization: Bearer $TRILHO_KEY"'}
            </Code>
          </Empty>
        }
      />
    </>
  )
}
