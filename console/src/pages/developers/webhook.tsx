import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { countText } from '../../format/amount.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { FilterSegments, useQueryString } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Crumbs, Empty, PageHead, Section } from '../../ui/page.tsx'
import { Glyph } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useSeen, useTrail } from '../../view.tsx'
import { CursorPager, eventObjectKinds, shortUrl, usePolling } from './common.tsx'
import { DeliveryPanel } from './delivery.tsx'
import { RedeliverRange, RotateSecret, WebhookForm, type WithSecret } from './webhook-forms.tsx'
import {
  AnswerOf,
  type DeliveryRow,
  DeliveryStatus,
  type Webhook,
  WebhookMeaning,
  WebhookState,
} from './webhook-state.tsx'
import { SecretShown } from './webhooks.tsx'
import './developers.css'

/** The dialog that is open. */
type DialogName = 'change' | 'redeliver' | 'rotate' | 'delete' | 'disable'

export function WebhookPage() {
  const { webhooks } = useText().developers
  const environment = useEnvironment()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const [open, setOpen] = useState<DialogName>()
  const [note, setNote] = useState<ReactNode>()
  const params = { environment, endpoint_id: id }
  const trail = useTrail('developers/webhooks', webhooks.title)
  const one = useSeen('console.webhooks.get', { params }, { live: eventObjectKinds })
  const webhook = one.data
  // The service records the recovery of an endpoint shortly after the delivery that succeeded.
  usePolling(
    one,
    webhook !== undefined && (webhook.waiting > 0 || webhook.failing_since !== undefined),
    3_000,
  )
  return (
    <>
      <Crumbs>{[...trail, <Id key="id" id={id} as="full" />]}</Crumbs>
      <PageHead
        title={webhook ? <span className="breaks">{shortUrl(webhook.url)}</span> : webhooks.endpoint}
        tab={webhooks.one}
        under={
          webhook && (
            <>
              <WebhookState of={webhook} large />
              <WebhookMeaning of={webhook} />
            </>
          )
        }
        actions={webhook && <Actions of={webhook} open={setOpen} onNote={setNote} />}
      />
      {note !== undefined && (
        <div className="sec tight" role="status">
          <Notice kind="calm">{note}</Notice>
        </div>
      )}
      {one.isError && webhook === undefined && (
        <Section>
          <Failure error={one.error} onAgain={() => void one.refetch()} reading />
        </Section>
      )}
      {webhook && <Deliveries of={webhook} />}
      {webhook && <Dialogs of={webhook} open={open} close={() => setOpen(undefined)} onNote={setNote} />}
    </>
  )
}

type ActionsProps = {
  readonly of: Webhook
  readonly open: (open: DialogName) => void
  readonly onNote: (note: ReactNode) => void
}

function Actions({ of, open, onNote }: ActionsProps) {
  const { webhooks } = useText().developers
  const environment = useEnvironment()
  const { may } = useSession()
  const params = { environment, endpoint_id: of.id }
  const stale = ['console.webhooks.', 'console.deliveries.']
  const test = useAct('console.webhooks.test', {
    stale,
    onSuccess: ({ event_id }) =>
      onNote(<TestResult key={event_id} endpoint_id={of.id} event_id={event_id} />),
  })
  const change = useAct('console.webhooks.change', { stale })
  if (!may('webhooks.write')) return null
  const enabled = of.status === 'enabled'
  const failed = test.error ?? change.error
  return (
    <>
      {enabled && (
        <>
          <Button busy={test.isPending && webhooks.test} onClick={() => test.mutate({ params })}>
            {webhooks.test}
          </Button>
          <Button onClick={() => open('redeliver')}>{webhooks.redeliver}</Button>
        </>
      )}
      {!enabled && (
        <Button
          kind="primary"
          busy={change.isPending && webhooks.enable}
          onClick={() => change.mutate({ params, body: { status: 'enabled' } })}
        >
          {webhooks.enable}
        </Button>
      )}
      {may('webhooks.secret') && <Button onClick={() => open('rotate')}>{webhooks.rotate_secret}</Button>}
      <Menu
        items={[
          { label: webhooks.change, onPick: () => open('change') },
          ...(enabled ? [{ label: webhooks.disable, onPick: () => open('disable') }] : []),
          ...(may('webhooks.secret')
            ? ['line' as const, { label: webhooks.delete, danger: true, onPick: () => open('delete') }]
            : []),
        ]}
      />
      {failed && <Failure error={failed} />}
    </>
  )
}

/** The result of the test event, once known. */
function TestResult(params: { readonly endpoint_id: string; readonly event_id: string }) {
  const { webhooks } = useText().developers
  const environment = useEnvironment()
  const one = useCall(
    'console.deliveries.get',
    { params: { environment, ...params } },
    { live: eventObjectKinds },
  )
  const { status, attempts = [] } = one.data?.delivery ?? {}
  const tried = status !== undefined && (status !== 'pending' || attempts.length > 0)
  usePolling(one, !tried, 1_000)
  if (!tried) return webhooks.test_sent
  return status === 'delivered' ? webhooks.test_told.delivered : webhooks.test_told.failed
}

type DialogsProps = {
  readonly of: Webhook
  readonly open: DialogName | undefined
  readonly close: () => void
  readonly onNote: (note: ReactNode) => void
}

function Dialogs({ of, open, close, onNote }: DialogsProps): ReactNode {
  const { webhooks } = useText().developers
  const environment = useEnvironment()
  const navigate = useNavigate()
  /** The secret exists only in the state of the page and is gone when the page is left. */
  const [made, setMade] = useState<WithSecret>()
  const remove = useAct('console.webhooks.delete', { stale: ['console.webhooks.list'] })
  const change = useAct('console.webhooks.change', { stale: ['console.webhooks.', 'console.deliveries.'] })
  const params = { environment, endpoint_id: of.id }
  const url = shortUrl(of.url)
  if (made) return <SecretShown made={made} onDone={() => setMade(undefined)} />
  switch (open) {
    case 'change':
      return <WebhookForm of={of} onClose={close} />
    case 'rotate':
      return (
        <RotateSecret
          of={of}
          onClose={close}
          onRotated={(next) => {
            close()
            setMade(next)
          }}
        />
      )
    case 'redeliver':
      return (
        <RedeliverRange
          of={of}
          onClose={close}
          onSent={(text) => {
            close()
            onNote(text)
          }}
        />
      )
    case 'disable':
      return (
        <Confirm
          title={webhooks.disable_title(url)}
          verb={webhooks.disable_verb}
          busy={webhooks.disabling}
          follows={webhooks.disable_follows}
          onConfirm={() => change.mutateAsync({ params, body: { status: 'disabled' } })}
          onClose={close}
        />
      )
    case 'delete':
      return (
        <Confirm
          title={webhooks.delete_title(url)}
          verb={webhooks.delete_verb}
          busy={webhooks.deleting}
          follows={webhooks.delete_follows}
          typed={environment === 'production' ? url : undefined}
          onConfirm={async () => {
            await remove.mutateAsync({ params })
            await navigate({ to: '/$environment/developers/webhooks', params: { environment } })
          }}
          onClose={close}
        />
      )
    default:
      return null
  }
}

function Deliveries({ of }: { readonly of: Webhook }) {
  const { webhooks } = useText().developers
  const environment = useEnvironment()
  const { query, set } = useQueryString()
  const list = useSeen(
    'console.deliveries.list',
    {
      params: { environment, endpoint_id: of.id },
      query: { cursor: query.after, status: query.status as DeliveryRow['status'] | undefined },
    },
    { live: eventObjectKinds, keep: true },
  )
  usePolling(list, of.waiting > 0, 3_000)
  const rows = list.data?.data
  const shown = query.event ?? rows?.[0]?.event_id
  return (
    <div className="cols c12 grow">
      <section className={query.event === undefined ? 'flat' : 'flat no-narrow'}>
        <StatusFilter of={of} />
        <Table
          label={webhooks.deliveries}
          columns={useColumns()}
          rows={rows}
          keyOf={({ event_id }) => event_id}
          open={shown}
          query={list}
          keys
          snug
          empty={
            <Empty title={query.status === undefined ? webhooks.deliveries_empty : webhooks.deliveries_none}>
              {query.status === undefined && <p>{webhooks.deliveries_empty_about}</p>}
            </Empty>
          }
        />
        <CursorPager page={list.data} end />
      </section>
      <section className={query.event === undefined ? 'no-narrow' : undefined}>
        <div className="sec stack-4 panel">
          <button type="button" className="link only-narrow" onClick={() => set({ event: undefined })}>
            {webhooks.back_to_list}
          </button>
          {shown === undefined ? (
            <p className="quiet">{rows?.length === 0 ? '' : webhooks.choose}</p>
          ) : (
            <DeliveryPanel
              key={shown}
              endpoint_id={of.id}
              event_id={shown}
              enabled={of.status === 'enabled'}
            />
          )}
        </div>
      </section>
    </div>
  )
}

function StatusFilter({ of }: { readonly of: Webhook }) {
  const { webhooks } = useText().developers
  const { language } = useLanguage()
  return (
    <div className="lead row scroll-x" data-filters>
      <FilterSegments
        small
        label={webhooks.delivery}
        of="status"
        options={[
          { value: '', label: webhooks.all },
          {
            value: 'pending',
            label: (
              <>
                <Glyph shape="waiting" />
                {webhooks.status.pending}{' '}
                {of.waiting > 0 && <span className="faint">{countText(of.waiting, language)}</span>}
              </>
            ),
          },
          {
            value: 'delivered',
            label: (
              <>
                <Glyph shape="done" />
                {webhooks.status.delivered}
              </>
            ),
          },
          {
            value: 'exhausted',
            label: (
              <>
                <Glyph shape="failed" />
                {webhooks.status.exhausted}
              </>
            ),
          },
        ]}
      />
    </div>
  )
}

function useColumns(): Column<DeliveryRow>[] {
  const { webhooks } = useText().developers
  const { query } = useQueryString()
  return [
    {
      key: 'event',
      head: webhooks.event,
      fold: 'm1',
      cell: ({ event_id, type }) => (
        <Link className="plain mono" to="." search={{ ...query, event: event_id } as never}>
          {type}
        </Link>
      ),
    },
    {
      key: 'time',
      head: webhooks.time,
      fold: 'm2',
      className: 'quiet nowrap',
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      key: 'delivery',
      head: webhooks.delivery,
      fold: 'a1',
      className: 'nowrap',
      cell: (row) => <DeliveryStatus of={row} />,
    },
    {
      key: 'answer',
      head: webhooks.answer,
      fold: 'a2',
      right: true,
      className: 'nowrap',
      cell: (row) => <AnswerOf of={row} />,
    },
  ]
}
