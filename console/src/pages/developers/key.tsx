import { Link, useParams } from '@tanstack/react-router'
import type { Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { LaterDayBars } from '../../charts/later-day-bars.tsx'
import { useEnvironment } from '../../environment.ts'
import { countText } from '../../format/amount.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Details } from '../../ui/details.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Id } from '../../ui/id.tsx'
import { Meter } from '../../ui/meter.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Crumbs, PageHead, Section } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { useMoment } from './common.tsx'
import { Addresses, type KeyDialog, KeyDialogs, Scopes, useKeyDialogs } from './key-dialogs.tsx'
import type { Key } from './key-forms.tsx'
import { LastUse, State, StateNote } from './keys.tsx'
import { RequestTable } from './request-table.tsx'
import './developers.css'

export function KeyPage() {
  const { developers } = useText()
  const { keys } = developers
  const environment = useEnvironment()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const dialogs = useKeyDialogs()
  const one = useCall('console.keys.get', { params: { environment, key_id: id } }, { live: ['key'] })
  const key = one.data?.key
  return (
    <>
      <Crumbs>
        {[
          <Link key="all" to="/$environment/developers/keys" params={{ environment }}>
            {keys.title}
          </Link>,
          <Id key="id" id={id} as="full" />,
        ]}
      </Crumbs>
      <PageHead
        title={key?.name ?? keys.key}
        under={
          key && (
            <>
              <State of={key} large />
              <StateNote of={key} />
            </>
          )
        }
        actions={key && key.state !== 'revoked' && <Actions of={key} open={dialogs.open} />}
      />
      {one.isError && one.data === undefined && (
        <Section>
          <Failure error={one.error} onAgain={() => void one.refetch()} reading />
        </Section>
      )}
      {one.data && <Body of={one.data} />}
      <KeyDialogs {...dialogs} />
    </>
  )
}

function Actions({ of, open }: { readonly of: Key; readonly open: (dialog: KeyDialog) => void }) {
  const { keys } = useText().developers
  const { may } = useSession()
  const write = may('keys.write') && !of.playground
  return (
    <>
      {write && <Button onClick={() => open({ kind: 'change', key: of })}>{keys.change}</Button>}
      {write && <Button onClick={() => open({ kind: 'rotate', key: of })}>{keys.rotate}</Button>}
      {may('keys.revoke') && <Button onClick={() => open({ kind: 'revoke', key: of })}>{keys.revoke}</Button>}
    </>
  )
}

function Body({ of: { key: of, usage, requests, old_calls } }: { readonly of: Reply<'console.keys.get'> }) {
  const { keys } = useText().developers
  const environment = useEnvironment()
  return (
    <div className="cols c21 grow">
      <section>
        <div className="lead row">
          <h2>{keys.recent}</h2>
          {requests.length > 0 && (
            <span className="push small">
              <Link
                to="/$environment/developers/requests"
                params={{ environment }}
                search={{ key_id: of.id } as never}
              >
                {keys.all_calls}
              </Link>
            </span>
          )}
        </div>
        {requests.length === 0 ? (
          <p className="sec quiet no-line">{keys.recent_empty}</p>
        ) : (
          <RequestTable rows={requests} without_key />
        )}
        <CallsPerDay key_id={of.id} />
      </section>
      <div>
        <KeyDetails of={of} old_calls={old_calls} />
        {of.state !== 'revoked' && <Limits of={usage} />}
      </div>
    </div>
  )
}

function CallsPerDay({ key_id }: { readonly key_id: string }) {
  const { lists } = useText()
  const environment = useEnvironment()
  const calls = useCall('console.keys.calls', { params: { environment, key_id } })
  if (calls.data === undefined) return null
  const { days, counted_most } = calls.data
  return (
    <LaterDayBars
      title={lists.days.calls}
      about={lists.days.calls_about}
      empty={lists.days.calls_empty}
      label={lists.days.calls_label}
      names={{ completed: lists.days.answered, failed: lists.days.refused }}
      days={days.map(({ calls: made, refused, ...day }) => ({ ...day, good: made - refused, bad: refused }))}
      counted_most={counted_most}
    />
  )
}

type DetailsProps = { readonly of: Key; readonly old_calls: Reply<'console.keys.get'>['old_calls'] }

function KeyDetails({ of, old_calls }: DetailsProps) {
  const { keys } = useText().developers
  const moment = useMoment()
  const environment = useEnvironment()
  const prefix = environment === 'production' ? 'svc_live_sk_' : 'svc_test_sk_'
  return (
    <Section title={keys.details}>
      {of.playground && <Notice kind="calm">{keys.playground_about}</Notice>}
      <Details
        rows={[
          [
            keys.key,
            <span key="value" className="id">
              {prefix}…<b>{of.last_four}</b>
            </span>,
          ],
          ...of.old_values.map(
            ({ last_four, valid_until }) =>
              [
                keys.old_value(last_four),
                `${keys.works_until(moment(valid_until))}, ${keys.old_calls(old_calls.find((one) => one.last_four === last_four)?.in_last_hour ?? 0)}`,
              ] as const,
          ),
          [keys.scopes, <Scopes key="scopes" of={of} />],
          [keys.addresses, <Addresses key="addresses" of={of} />],
          [keys.last_used, <LastUse key="used" of={of} />],
          [keys.ends, of.expires_at === null ? keys.never : <Time key="ends" at={of.expires_at} />],
          [keys.created, <Time key="created" at={of.created_at} as="detail" />],
          [keys.revoked_on, of.revoked_at !== null && <Time key="revoked" at={of.revoked_at} as="detail" />],
        ]}
      />
    </Section>
  )
}

function Limits({ of }: { readonly of: Reply<'console.keys.get'>['usage'] }) {
  const { keys } = useText().developers
  const { language } = useLanguage()
  const windows = [
    [keys.per_minute, of.minute],
    [keys.per_day, of.day],
    ...of.endpoints
      .filter(({ used }) => used > 0)
      .map(({ endpoint, ...window }) => [endpoint, window] as const),
    [keys.lookups, of.lookups],
  ] as const
  return (
    <Section title={keys.used_now}>
      <div className="stack-4">
        {windows.map(([name, { used, limit }]) => (
          <div key={name} className="window">
            <span className="row small">
              <span className="quiet">{name}</span>
              <span className="push">
                {keys.used_of(countText(used, language), countText(limit, language))}
              </span>
            </span>
            <Meter used={String(used)} of={String(limit)} label={name} />
          </div>
        ))}
      </div>
    </Section>
  )
}
