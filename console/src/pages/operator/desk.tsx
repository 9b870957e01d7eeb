import { Link } from '@tanstack/react-router'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { saidText } from '../../text/said-text.ts'
import { useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { useQueryString } from '../../ui/filters.tsx'
import { Empty, EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Segments } from '../../ui/segments.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time, useAge } from '../../ui/time.tsx'
import { useResult } from './acted.tsx'
import { Decided } from './decide.tsx'
import { DeskBody, type OnDecided, type OpenItem } from './desk-item.tsx'
import { Exceptions } from './exceptions.tsx'
import { OperatorId } from './object.tsx'
import { railName } from './rail-names.ts'
import './operator.css'

const LATE_MS = 3_600_000

/** Payouts and transfers whose outcome the rail has not reported. */
export function DeskPage() {
  const { operator } = useText()
  const { desk } = operator
  const environment = useEnvironment()
  const { query, set } = useQueryString()
  const tab = query.tab ?? 'open'
  const list = useCall(
    'console.operator.desk.list',
    { params: { environment } },
    { live: ['exceptions', 'proposals', 'payout', 'transfer'] },
  )
  const open = list.data?.open
  // Nothing is preselected: nobody decides on a payment that they did not choose.
  const chosen = open?.find(({ id }) => id === query.open)
  const { result, show } = useResult(`${environment} ${tab} ${query.open ?? ''}`)
  const onDecided: OnDecided = (acted, words) => {
    show(acted, words, `${environment} ${tab} `)
    set({ open: undefined })
  }
  return (
    <>
      <PageHead
        title={desk.title}
        about={desk.about}
        actions={
          <Segments
            label={desk.title}
            value={tab}
            onValue={(value) => set({ tab: value === 'open' ? undefined : value, open: undefined })}
            options={[
              {
                value: 'open',
                label: (
                  <>
                    {desk.open} <span className="faint">{open?.length ?? ''}</span>
                  </>
                ),
              },
              { value: 'resolved', label: desk.resolved },
              { value: 'exceptions', label: desk.exceptions },
            ]}
          />
        }
      />
      {result !== undefined && (
        <Section tight>
          <Decided acted={result.acted} words={result.words} />
        </Section>
      )}
      {tab === 'resolved' && <Resolved list={list} />}
      {tab === 'exceptions' && <Exceptions onClosed={show} />}
      {tab === 'open' && (
        <>
          <OpenTable list={list} chosen={chosen?.id} />
          {open !== undefined && open.length > 0 && (
            <DeskBody
              key={chosen?.id}
              item={chosen}
              waiting={open.filter(hasProposal)}
              onDecided={onDecided}
            />
          )}
          {chosen === undefined && <EndMark />}
        </>
      )}
    </>
  )
}

const hasProposal = ({ proposal }: OpenItem) => proposal !== null

type DeskList = ReturnType<typeof useCall<'console.operator.desk.list'>>

function Since({ at, rail }: { readonly at: string; readonly rail: string }) {
  const age = useAge(at)
  const late = Date.now() - new Date(at).getTime() > LATE_MS
  return (
    <span className={late ? 'warn med nowrap' : 'nowrap'}>
      {age}
      <span className="only-phone"> · {rail}</span>
    </span>
  )
}

function OpenTable({ list, chosen }: { readonly list: DeskList; readonly chosen: string | undefined }) {
  const { operator, ui } = useText()
  const { desk } = operator
  const environment = useEnvironment()
  return (
    <Table<OpenItem>
      label={desk.title}
      rows={list.data?.open}
      query={list}
      keyOf={({ id }) => id}
      open={chosen}
      keys
      empty={<NothingLate list={list} />}
      columns={[
        {
          key: 'since',
          head: desk.since,
          fold: 'm2',
          cell: ({ created_at, rail }) => <Since at={created_at} rail={railName(rail)} />,
        },
        { key: 'rail', head: desk.rail, cell: ({ rail }) => railName(rail) },
        { key: 'partner', head: desk.partner, className: 'quiet', cell: ({ partner }) => partner.name },
        {
          key: 'customer',
          head: desk.customer,
          fold: 'm1',
          cell: ({ customer, id }) => (
            <Link
              className="plain"
              to="/operator/$environment/desk"
              params={{ environment }}
              search={{ open: id } as never}
            >
              {customer.name}
            </Link>
          ),
        },
        {
          key: 'in_transit',
          head: desk.in_transit,
          right: true,
          fold: 'a1',
          className: 'med',
          cell: ({ in_transit, asset }) => <Amount units={in_transit} asset={asset} as="column" />,
        },
        {
          key: 'word',
          head: desk.last_word,
          className: 'quiet',
          cell: ({ last_word }) => (last_word === null ? desk.nothing_said : saidText(ui, last_word)),
        },
        {
          key: 'state',
          head: desk.state,
          fold: 'a2',
          cell: ({ proposal, last_word }) =>
            proposal === null ? (
              <Status state="unknown">{last_word === null ? desk.no_answer : desk.no_outcome}</Status>
            ) : (
              <Status state="waiting">{desk.waits}</Status>
            ),
        },
        { key: 'id', head: desk.id, cell: ({ id }) => <OperatorId id={id} /> },
      ]}
    />
  )
}

/** Nothing waits for a person. Payments that are still on their way are counted, so that nobody takes them for ended. */
function NothingLate({ list }: { readonly list: DeskList }) {
  const { operator } = useText()
  const { desk } = operator
  const under_way = list.data?.under_way ?? []
  const count = under_way.reduce((sum, one) => sum + one.count, 0)
  const rails = under_way.map((one) => `${railName(one.rail)} ${one.count}`).join(', ')
  return (
    <Empty title={count === 0 ? desk.empty : desk.none_late}>
      <p className="quiet">{count === 0 ? desk.empty_about : desk.under_way(count, rails)}</p>
    </Empty>
  )
}

function Resolved({ list }: { readonly list: DeskList }) {
  const { operator } = useText()
  const { desk } = operator
  return (
    <>
      <Table
        label={desk.resolved}
        rows={list.data?.resolved}
        query={list}
        keyOf={({ id }) => id}
        keys
        empty={<Empty title={desk.resolved_empty} />}
        columns={[
          {
            key: 'when',
            head: desk.when,
            fold: 'm2',
            cell: ({ resolved_at }) => <Time at={resolved_at} />,
          },
          {
            key: 'state',
            head: desk.state,
            fold: 'a2',
            cell: ({ outcome }) => <Status state={outcome}>{desk.outcome[outcome] ?? outcome}</Status>,
          },
          { key: 'evidence', head: desk.evidence, fold: 'm1', cell: ({ evidence }) => evidence },
          {
            key: 'by',
            head: desk.by,
            fold: 'named',
            className: 'quiet',
            cell: ({ resolved_by }) => resolved_by,
          },
          { key: 'id', head: desk.id, fold: 'a1', cell: ({ id }) => <OperatorId id={id} /> },
        ]}
      />
      <EndMark />
    </>
  )
}
