import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { countText } from '../../format/amount.ts'
import { useActText } from '../../text/acts/use-act-text.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Details } from '../../ui/details.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { FilterSegments, Filters, TextChip, useFilters, useQueryString } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Empty, EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Pager } from '../../ui/pager.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ProposalLink } from './acted.tsx'
import { OperatorId } from './object.tsx'
import './operator.css'

type Listed = Reply<'console.operator.acts.list'>
type Act = Listed['data'][number]
type Place = Act['place']
const keys = ['place', 'action', 'actor', 'object'] as const

/** The audit log: acts from production, sandbox and shared. */
export function OperatorAuditPage() {
  const { operator } = useText()
  const { audit } = operator
  const environment = useEnvironment()
  const { query, set } = useQueryString()
  const { values } = useFilters(keys)
  const filters = Object.fromEntries(
    keys.flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]])),
  ) as { place?: Place; action?: string; actor?: string; object?: string }
  const list = useCall(
    'console.operator.acts.list',
    {
      params: { environment },
      query: { ...filters, ...(query.after === undefined ? {} : { cursor: query.after }) },
    },
    { keep: true, live: ['proposals'] },
  )
  const [shown, setShown] = useState<Act>()
  return (
    <>
      <PageHead title={audit.title} about={audit.about} />
      <Filters keys={keys}>
        <FilterSegments
          label={audit.place}
          of="place"
          options={[
            { value: '', label: audit.all },
            { value: 'production', label: audit.production },
            { value: 'sandbox', label: audit.sandbox },
            { value: 'shared', label: audit.shared },
          ]}
        />
        <TextChip label={audit.actor} of="actor" icon="team" />
        <TextChip label={audit.action} of="action" />
        <TextChip label={audit.object} of="object" />
      </Filters>
      <Lines list={list} onShow={setShown} />
      <Pager
        newer={query.after ?? null}
        onNewer={() => set({ after: undefined })}
        older={list.data?.next_cursor ?? null}
        keys
      />
      {list.data !== undefined && <Verify heads={list.data.heads} />}
      <EndMark />
      {shown !== undefined && <Shown act={shown} onClose={() => setShown(undefined)} />}
    </>
  )
}

type LinesProps = {
  readonly list: ReturnType<typeof useCall<'console.operator.acts.list'>>
  readonly onShow: (act: Act) => void
}

function Lines({ list, onShow }: LinesProps) {
  const { operator } = useText()
  const actText = useActText()
  const { audit } = operator
  return (
    <Table<Act>
      label={audit.title}
      rows={list.data?.data}
      query={list}
      keyOf={({ place, seq }) => `${place} ${seq}`}
      keys
      empty={<Empty title={audit.empty} />}
      columns={[
        { key: 'when', head: audit.when, fold: 'm2', cell: ({ at }) => <Time at={at} /> },
        { key: 'who', head: audit.who, fold: 'm1', cell: (act) => <Who act={act} /> },
        { key: 'action', head: audit.what, fold: 'a1', cell: ({ action }) => actText(action) },
        {
          key: 'object',
          head: audit.object,
          cell: ({ object_id, place }) => object_id !== null && <ObjectOf id={object_id} place={place} />,
        },
        { key: 'place', head: audit.place, className: 'quiet', cell: ({ place }) => audit[place] },
        { key: 'line', head: audit.line, right: true, className: 'mono quiet', cell: ({ seq }) => seq },
        {
          key: 'show',
          head: '',
          right: true,
          fold: 'a2',
          cell: (act) => (
            <Button small kind="plain" onClick={() => onShow(act)}>
              {audit.show}
            </Button>
          ),
        },
      ]}
    />
  )
}

/** The object is in the environment of the line; lines of `shared` are about partners and people. */
function ObjectOf({ id, place, as = 'short' }: { id: string; place: Place; as?: 'short' | 'full' }) {
  return <OperatorId id={id} as={as} {...(place === 'shared' ? {} : { environment: place })} />
}

function Who({ act: { actor_kind, actor_email } }: { readonly act: Act }) {
  const { operator } = useText()
  const { audit } = operator
  if (actor_email !== null) return actor_email
  return <span className="quiet">{actor_kind === 'service' ? audit.service : audit.shell}</span>
}

function Shown({ act, onClose }: { readonly act: Act; readonly onClose: () => void }) {
  const { operator } = useText()
  const { audit } = operator
  const actText = useActText()
  const environment = useEnvironment()
  return (
    <Dialog title={actText(act.action)} onClose={onClose} size="wide">
      <div className="b stack-4">
        <Details
          rows={[
            [audit.when, <Time key="at" at={act.at} as="detail" />],
            [audit.who, <Who key="who" act={act} />],
            // As stored: the filter takes this name.
            [
              audit.action,
              <span key="action" className="mono">
                {act.action}
              </span>,
            ],
            [
              audit.object,
              act.object_id !== null && <ObjectOf id={act.object_id} place={act.place} as="full" />,
            ],
            [
              audit.proposal,
              act.proposal_id !== null && (
                <ProposalLink environment={environment} id={act.proposal_id}>
                  <Id id={act.proposal_id} />
                </ProposalLink>
              ),
            ],
            [audit.session, act.session_id !== null && <Id id={act.session_id} />],
            [audit.line, `${audit[act.place]} ${act.seq}`],
            [audit.hash, <Id key="hash" id={act.hash} as="address" />],
          ]}
        />
        {act.before !== null && (
          <Code title={audit.before} as="json">
            {act.before}
          </Code>
        )}
        {act.after !== null && (
          <Code title={audit.after} as="json">
            {act.after}
          </Code>
        )}
      </div>
    </Dialog>
  )
}

/** Verifies the hash chain on demand, and shows the newest line of each log to note down elsewhere. */
function Verify({ heads }: { readonly heads: Listed['heads'] }) {
  const { operator } = useText()
  const { audit } = operator
  const environment = useEnvironment()
  const verify = useAct('console.operator.acts.verify')
  const [typed, setTyped] = useState('')
  const anchors = typed
    .split(/\s+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return (
    <div className="cols c21">
      <Section title={audit.anchors} about={audit.anchors_about}>
        <ul className="checks">
          {heads
            .filter(({ seq }) => seq !== '0')
            .map(({ place, seq, hash }) => {
              const anchor = `${place}:${seq}:${hash}`
              return (
                <li key={place}>
                  <span className="mono small clip">{anchor}</span>
                  <CopyButton value={anchor} />
                </li>
              )
            })}
        </ul>
      </Section>
      <Section title={audit.verify}>
        <form
          className="stack-4"
          onSubmit={(event) => {
            event.preventDefault()
            verify.mutate({
              params: { environment },
              body: anchors.length === 0 ? {} : { anchors },
            })
          }}
        >
          <Field label={audit.check_label} hint={audit.check_hint}>
            <TextArea value={typed} onValue={setTyped} rows={2} mono spellCheck={false} />
          </Field>
          <div className="row">
            <Button kind="primary" type="submit" busy={verify.isPending && audit.verifying}>
              {audit.verify}
            </Button>
          </div>
          {verify.isError && <Failure error={verify.error} reading />}
          {verify.data !== undefined && <Verdicts logs={verify.data.logs} />}
        </form>
      </Section>
    </div>
  )
}

function Verdicts({ logs }: { readonly logs: Reply<'console.operator.acts.verify'>['logs'] }) {
  const { operator } = useText()
  const { audit } = operator
  const { language } = useLanguage()
  return (
    <ul className="checks" aria-live="polite">
      {logs.map(({ place, lines, broken }) => (
        <li key={place} className="wrap">
          <Status state={broken.length === 0 ? 'done' : 'failed'}>
            {audit[place]}:{' '}
            {broken.length === 0
              ? audit.unbroken(countText(Number(lines), language))
              : audit.broken(broken.length)}
          </Status>
          {broken.map(({ object_id, wrong }) => (
            <span key={object_id + wrong} className="small">
              <span className="mono">{object_id}</span>: {wrong}
            </span>
          ))}
        </li>
      ))}
    </ul>
  )
}
