import { Link } from '@tanstack/react-router'
import type { Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { dayText } from '../../format/time.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { useQueryString } from '../../ui/filters.tsx'
import { Empty, PageHead } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { CursorPager, useAgo, useMoment } from './common.tsx'
import { type KeyDialog, KeyDialogs, Scopes, useKeyDialogs } from './key-dialogs.tsx'
import type { Key } from './key-forms.tsx'
import './developers.css'

type Row = Reply<'console.keys.list'>['data'][number]

export function KeysPage() {
  const { developers, shell } = useText()
  const { keys } = developers
  const environment = useEnvironment()
  const { may } = useSession()
  const { query } = useQueryString()
  const dialogs = useKeyDialogs()
  const list = useCall(
    'console.keys.list',
    { params: { environment }, query: { cursor: query.after } },
    { live: ['key'], keep: true },
  )
  const nothing = list.data?.data.length === 0 && query.after === undefined
  const create = may('keys.write') && (
    <Button kind="primary" wide icon="plus" onClick={() => dialogs.open({ kind: 'create' })}>
      {keys.create}
    </Button>
  )
  return (
    <>
      <PageHead
        title={keys.title}
        about={keys.about(shell[environment])}
        actions={(!nothing && create) || undefined}
      />
      <Table
        label={keys.title}
        columns={useColumns(dialogs.open)}
        rows={list.data?.data}
        keyOf={({ id }) => id}
        query={list}
        keys
        empty={<NoKeys action={create || undefined} />}
      />
      <CursorPager page={list.data} keys />
      <Hints />
      <KeyDialogs {...dialogs} />
    </>
  )
}

function NoKeys({ action }: { readonly action: React.ReactNode }) {
  const { keys } = useText().developers
  return (
    <Empty title={keys.empty} action={action}>
      <p>{keys.empty_about}</p>
      <Code title={keys.empty_call} as="shell">
        {`curl ${location.origin}/v1/account \\\n  -H "Authorization: Bearer $TRILHO_KEY"`}
      </Code>
    </Empty>
  )
}

function useColumns(open: (dialog: KeyDialog) => void): Column<Row>[] {
  const { keys } = useText().developers
  const environment = useEnvironment()
  const { may } = useSession()
  const prefix = environment === 'production' ? 'svc_live_sk_' : 'svc_test_sk_'
  return [
    {
      key: 'name',
      head: keys.name,
      fold: 'm1',
      className: 'two key-name',
      cell: (row) => (
        <Link className="plain" to="/$environment/developers/keys/$id" params={{ environment, id: row.id }}>
          <bdi title={row.name}>{row.name}</bdi>
        </Link>
      ),
    },
    {
      key: 'key',
      head: keys.key,
      fold: 'm2',
      cell: ({ last_four }) => (
        <span className="id">
          {prefix}…<b>{last_four}</b>
        </span>
      ),
    },
    { key: 'state', head: keys.state, fold: 'a1', className: 'nowrap', cell: (row) => <State of={row} /> },
    { key: 'scopes', head: keys.scopes, className: 'quiet', cell: (row) => <Scopes of={row} /> },
    { key: 'addresses', head: keys.addresses, className: 'quiet nowrap', cell: (row) => <Count of={row} /> },
    {
      key: 'used',
      head: keys.last_used,
      fold: 'a2',
      className: 'quiet',
      cell: (row) => (
        <>
          <span className="only-phone">{keys.last_used}: </span>
          <LastUse of={row} />
        </>
      ),
    },
    {
      key: 'created',
      head: keys.created,
      className: 'quiet nowrap',
      cell: ({ created_at }) => <Time at={created_at} as="day" />,
    },
    {
      key: 'acts',
      head: '',
      right: true,
      className: 'nowrap',
      cell: (row) =>
        row.state !== 'revoked' && (
          <>
            {may('keys.write') && !row.playground && (
              <Button kind="plain" small onClick={() => open({ kind: 'rotate', key: row })}>
                {keys.rotate}
                <span className="vh"> {row.name}</span>
              </Button>
            )}
            {may('keys.revoke') && (
              <Button kind="plain" small onClick={() => open({ kind: 'revoke', key: row })}>
                {keys.revoke}
                <span className="vh"> {row.name}</span>
              </Button>
            )}
          </>
        ),
    },
  ]
}

const shapes = { active: 'active', rotating: 'rotated', expired: 'expired', revoked: 'revoked' } as const
const DAY_MS = 24 * 3_600_000
const UNUSED_DAYS = 90

export function State({ of, large = false }: { readonly of: Key; readonly large?: boolean }) {
  const { keys } = useText().developers
  return (
    <>
      <Status state={shapes[of.state]} large={large}>
        {keys.states[of.state]}
      </Status>
      {!large && <StateNote of={of} />}
    </>
  )
}

/** Details beside the state of a key, such as when it expires. */
export function StateNote({ of }: { readonly of: Key }) {
  const { keys } = useText().developers
  const { language } = useLanguage()
  const moment = useMoment()
  const [old] = of.old_values
  const idle = Math.floor((Date.now() - new Date(of.last_used_at ?? of.created_at).getTime()) / DAY_MS)
  const note = of.playground
    ? keys.playground
    : old
      ? keys.old_until(moment(old.valid_until))
      : of.state === 'active' && of.expires_at
        ? keys.expires(dayText(of.expires_at, { language }))
        : undefined
  if (note !== undefined) return <span className="no-phone small quiet state-note">{note}</span>
  if (of.state !== 'active' || idle < UNUSED_DAYS) return null
  return <span className="no-phone small warn state-note">{keys.unused(idle)}</span>
}

function Count({ of: { ip_allowlist } }: { readonly of: Key }) {
  const { keys } = useText().developers
  if (ip_allowlist.length === 0) return keys.any_address
  // A range that allows every address makes the other ranges meaningless.
  const any = ip_allowlist.flatMap((range) => keys.any_of[range] ?? [])
  if (any.length > 0) return <span className="warn">{any.join(', ')}</span>
  const ranges = ip_allowlist.some((range) => range.includes('/'))
  return (ranges ? keys.count_of_ranges : keys.count_of_addresses)(ip_allowlist.length)
}

export function LastUse({ of }: { readonly of: Key }) {
  const { keys } = useText().developers
  const ago = useAgo()
  if (of.last_used_at === null) return keys.never_used
  return (
    <>
      {ago(of.last_used_at)} <span className="faint no-phone">{of.last_used_address}</span>
    </>
  )
}

function Hints() {
  const { keys } = useText().developers
  return (
    <div className="cols c3 hints">
      {keys.hints.map(([title, text]) => (
        <div key={title} className="sec">
          <h2 className="sm">{title}</h2>
          <p className="quiet">{text}</p>
        </div>
      ))}
    </div>
  )
}
