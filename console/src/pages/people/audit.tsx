import { Link, useRouter } from '@tanstack/react-router'
import { callAddress, type Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { CsvLink } from '../../lists/csv-link.tsx'
import { ListBar } from '../../lists/list-bar.tsx'
import { PeriodChip, rangeOf } from '../../lists/period.tsx'
import { TotalsLine, useTotals } from '../../lists/totals.tsx'
import { useActText } from '../../text/acts/use-act-text.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Details } from '../../ui/details.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Filters, OLDEST, useQueryString } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Crumbs, Empty, EndMark, PageHead } from '../../ui/page.tsx'
import { Pager } from '../../ui/pager.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

type Line = Reply<'console.acts.list'>['data'][number]

const FILTERS = ['created'] as const
const VIEW_KEYS = [...FILTERS, 'order']

const keyOf = ({ place, seq }: Line): string => `${place}-${seq}`

/** The audit log of the team. */
export function AuditPage() {
  const { people, lists } = useText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  const router = useRouter()
  const { query, set } = useQueryString()
  const { after, line } = query
  const period = rangeOf(query.created)
  const order = query.order === OLDEST ? ({ order: 'oldest' } as const) : {}
  const lines = useCall(
    'console.acts.list',
    { query: { limit: '50', ...period, ...order, ...(after === undefined ? {} : { cursor: after }) } },
    { keep: true },
  )
  const totals = useTotals('console.acts.totals', { query: period })
  const open = lines.data?.data.find((one) => keyOf(one) === line)
  return (
    <>
      <Crumbs>
        {[
          <Link key="team" to="/$environment/team" params={{ environment }}>
            {people.team.title}
          </Link>,
          people.audit.title,
        ]}
      </Crumbs>
      <PageHead
        title={people.audit.title}
        about={people.audit.about}
        actions={
          <CsvLink href={callAddress('console.acts.csv', { query: { ...period, ...order, language } })} />
        }
      />
      <Filters keys={FILTERS}>
        <PeriodChip />
      </Filters>
      <ListBar
        views={{ page: 'audit', environment: null, keys: VIEW_KEYS }}
        totals={<TotalsLine of={totals} count={lists.totals.lines} />}
      />
      <Lines query={lines} open={line} />
      {lines.data && lines.data.data.length > 0 && !lines.data.has_more && <EndMark />}
      {lines.data && lines.data.data.length > 0 && (
        <Pager
          newer={after === undefined ? null : ''}
          onNewer={() => router.history.back()}
          older={lines.data.next_cursor}
          keys
        />
      )}
      {open && <OneLine line={open} onClose={() => set({ line: undefined })} />}
    </>
  )
}

type LinesProps = {
  readonly query: ReturnType<typeof useCall<'console.acts.list'>>
  readonly open: string | undefined
}

function Lines({ query, open }: LinesProps) {
  const { people } = useText()
  const actText = useActText()
  return (
    <Table<Line>
      label={people.audit.label}
      rows={query.data?.data}
      keyOf={keyOf}
      idOf={({ object_id }) => object_id ?? ''}
      query={query}
      open={open}
      keys
      empty={
        <Empty title={people.audit.empty}>
          <p className="quiet">{people.audit.empty_about}</p>
        </Empty>
      }
      columns={[
        {
          key: 'at',
          head: people.audit.at,
          sorts: true,
          fold: 'a2',
          className: 'nowrap',
          cell: ({ at }) => <Time at={at} />,
        },
        { key: 'who', head: people.audit.who, fold: 'm1', cell: ({ actor }) => actor.email },
        {
          key: 'what',
          head: people.audit.what,
          fold: 'm2',
          cell: (one) => (
            <Link
              className="plain"
              to="."
              search={((old: Record<string, string>) => ({ ...old, line: keyOf(one) })) as never}
            >
              {actText(one.action)}
            </Link>
          ),
        },
        {
          key: 'object',
          head: people.audit.object,
          cell: ({ object_id }) => object_id !== null && <Id id={object_id} bare />,
        },
        {
          key: 'where',
          head: people.audit.where,
          fold: 'a1',
          cell: ({ place }) => people.audit.places[place],
        },
        {
          key: 'address',
          head: people.audit.address,
          cell: ({ address }) => <span className="mono quiet">{address}</span>,
        },
      ]}
    />
  )
}

function OneLine({ line, onClose }: { readonly line: Line; readonly onClose: () => void }) {
  const { people, ui } = useText()
  const actText = useActText()
  const { before, after } = line
  return (
    <Dialog title={actText(line.action)} onClose={onClose} size="wide">
      <div className="b stack">
        <Details
          rows={[
            [people.audit.at, <Time key="at" at={line.at} as="detail" />],
            [people.audit.who, line.actor.email],
            [
              people.audit.action,
              <span key="action" className="mono">
                {line.action}
              </span>,
            ],
            [
              people.audit.object,
              line.object_id !== null && <Id key="object" id={line.object_id} as="full" />,
            ],
            [people.audit.address, line.address !== null && <span className="mono">{line.address}</span>],
            [people.audit.session, line.session_id !== null && <Id key="session" id={line.session_id} />],
            [people.audit.line, `${people.audit.places[line.place]} ${line.seq}`],
            [people.audit.hash, <Id key="hash" id={line.hash} as="address" />],
          ]}
        />
        {before !== null && (
          <Code title={people.audit.before} as="json">
            {JSON.stringify(before)}
          </Code>
        )}
        {after !== null && (
          <Code title={people.audit.after} as="json">
            {JSON.stringify(after)}
          </Code>
        )}
      </div>
      <DialogFoot>
        <Button onClick={onClose}>{ui.close}</Button>
      </DialogFoot>
    </Dialog>
  )
}
