import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { CallInput } from '../../api/client.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { LaterDayBars } from '../../charts/later-day-bars.tsx'
import { useEnvironment } from '../../environment.ts'
import { countText } from '../../format/amount.ts'
import { ListBar } from '../../lists/list-bar.tsx'
import { PeriodChip, rangeOf } from '../../lists/period.tsx'
import { TotalsLine, useTotals } from '../../lists/totals.tsx'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { FilterSegments, OLDEST, useQueryString } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Crumbs, Empty, PageHead, Section } from '../../ui/page.tsx'
import { Glyph } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useSeen, useTrail, useView } from '../../view.tsx'
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
type DialogName = 'change' | 'redeliver' | 'retry' | 'rotate' | 'delete' | 'disable'

export function WebhookPage() {
  const { webhooks } = useText().developers
  const environment = useEnvironment()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const [open, setOpen] = useState<DialogName>()
  const [note, setNote] = useState<ReactNode>()
  const params = { environment, endpoint_id: id }
  const view = useView()
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
      {webhook && view === undefined && <Health endpoint_id={webhook.id} />}
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
          {of.waiting > 0 && <Button onClick={() => open('retry')}>{webhooks.retry}</Button>}
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

const STALE = ['console.webhooks.', 'console.deliveries.']

type RetryProps = {
  readonly of: Webhook
  readonly onClose: () => void
  readonly onNote: (note: ReactNode) => void
}

function RetryWaiting({ of, onClose, onNote }: RetryProps) {
  const { webhooks } = useText().developers
  const environment = useEnvironment()
  const retry = useAct('console.webhooks.retry_waiting', { stale: STALE })
  return (
    <Confirm
      title={webhooks.retry_title(of.waiting)}
      verb={webhooks.retry_verb}
      busy={webhooks.retrying}
      follows={webhooks.retry_follows}
      onConfirm={async () => {
        const params = { environment, endpoint_id: of.id }
        const { retried, more } = await retry.mutateAsync({ params, body: {} })
        onNote(webhooks.retried(retried) + (more ? ` ${webhooks.retried_more}` : ''))
      }}
      onClose={onClose}
    />
  )
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
  const change = useAct('console.webhooks.change', { stale: STALE })
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
    case 'retry':
      return <RetryWaiting of={of} onClose={close} onNote={onNote} />
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

const VIEW_KEYS = ['status', 'created', 'order']

/** Deliveries per day, and how long the receiver took. */
function Health({ endpoint_id }: { readonly endpoint_id: string }) {
  const { lists } = useText()
  const environment = useEnvironment()
  const health = useCall(
    'console.webhooks.health',
    { params: { environment, endpoint_id } },
    { every: HEALTH_MS },
  )
  if (health.data === undefined) return null
  const { days, counted_most } = health.data
  return (
    <LaterDayBars
      title={lists.days.deliveries}
      about={lists.days.deliveries_about}
      empty={lists.days.deliveries_empty}
      label={lists.days.deliveries_label}
      names={{ completed: lists.days.delivered, failed: lists.days.missing }}
      days={days.map(({ delivered, failed, pending, ...day }) => ({
        ...day,
        good: delivered,
        bad: failed + pending,
      }))}
      counted_most={counted_most}
    />
  )
}

const HEALTH_MS = 60_000

function Deliveries({ of }: { readonly of: Webhook }) {
  const { webhooks } = useText().developers
  const environment = useEnvironment()
  const view = useView()
  const { query, set } = useQueryString()
  const params = { environment, endpoint_id: of.id }
  const filters = { status: query.status as DeliveryRow['status'] | undefined, ...rangeOf(query.created) }
  const order = query.order === OLDEST ? ({ order: 'oldest' } as const) : {}
  const list = useSeen(
    'console.deliveries.list',
    { params, query: { ...filters, ...order, cursor: query.after } },
    { live: eventObjectKinds, keep: true },
  )
  usePolling(list, of.waiting > 0, 3_000)
  const any = query.status !== undefined || query.created !== undefined
  const rows = list.data?.data
  const shown = query.event ?? rows?.[0]?.event_id
  return (
    <div className="cols c12 grow">
      <section className={query.event === undefined ? 'flat' : 'flat no-narrow'}>
        <StatusFilter of={of} />
        {view === undefined && <DeliveriesBar endpoint_id={of.id} filters={filters} />}
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
            <Empty title={any ? webhooks.deliveries_none : webhooks.deliveries_empty}>
              {!any && <p>{webhooks.deliveries_empty_about}</p>}
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

type BarProps = {
  readonly endpoint_id: string
  readonly filters: CallInput<'console.deliveries.totals'>['query']
}

/** Saved views and totals: the partner's own, so an operator has none. */
function DeliveriesBar({ endpoint_id, filters }: BarProps) {
  const { lists } = useText()
  const environment = useEnvironment()
  const totals = useTotals('console.deliveries.totals', {
    params: { environment, endpoint_id },
    query: filters,
  })
  return (
    <ListBar
      views={{ page: 'webhook', environment, keys: VIEW_KEYS }}
      totals={
        <TotalsLine
          of={totals}
          count={lists.totals.deliveries}
          parts={[
            {
              text: lists.totals.failed,
              has: ({ status }) => status === 'exhausted' || status === 'canceled',
            },
            { text: lists.totals.waiting, has: ({ status }) => status === 'pending' },
          ]}
        />
      }
    />
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
      <PeriodChip />
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
      sorts: true,
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
