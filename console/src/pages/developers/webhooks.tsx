import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { countText } from '../../format/amount.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { useQueryString } from '../../ui/filters.tsx'
import { Empty, PageHead } from '../../ui/page.tsx'
import { Secret } from '../../ui/secret.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { CursorPager, shortUrl, useAgo, useMoment } from './common.tsx'
import { WebhookForm, type WithSecret } from './webhook-forms.tsx'
import { AnswerOf, DeliveryStatus, type Webhook, WebhookState } from './webhook-state.tsx'
import './developers.css'

export function WebhooksPage() {
  const { webhooks } = useText().developers
  const environment = useEnvironment()
  const { may } = useSession()
  const { query } = useQueryString()
  const [adding, setAdding] = useState(false)
  /** The secret exists only in the state of the page and is gone when the page is left. */
  const [made, setMade] = useState<WithSecret>()
  const list = useCall(
    'console.webhooks.list',
    { params: { environment }, query: { cursor: query.after } },
    { live: ['webhook_endpoint', 'payout', 'transfer', 'trade', 'deposit', 'customer'], keep: true },
  )
  const nothing = list.data?.data.length === 0 && query.after === undefined
  const add = may('webhooks.write') && (
    <Button kind="primary" wide icon="plus" onClick={() => setAdding(true)}>
      {webhooks.create}
    </Button>
  )
  return (
    <>
      <PageHead title={webhooks.title} about={webhooks.about} actions={(!nothing && add) || undefined} />
      <Table
        label={webhooks.title}
        columns={useColumns()}
        rows={list.data?.data}
        keyOf={({ id }) => id}
        query={list}
        keys
        empty={<NoWebhooks action={add || undefined} />}
      />
      <CursorPager page={list.data} keys />
      {adding && (
        <WebhookForm
          onClose={() => setAdding(false)}
          onMade={(next) => {
            setAdding(false)
            setMade(next)
          }}
        />
      )}
      {made && <SecretShown made={made} onDone={() => setMade(undefined)} />}
    </>
  )
}

export function SecretShown({ made, onDone }: { readonly made: WithSecret; readonly onDone: () => void }) {
  const { webhooks, keys } = useText().developers
  return (
    <Secret
      title={webhooks.secret_title}
      value={made.secret}
      about={webhooks.secret_about}
      stored={webhooks.secret_stored}
      foot={keys.audited}
      onDone={onDone}
    />
  )
}

function NoWebhooks({ action }: { readonly action: React.ReactNode }) {
  const { webhooks } = useText().developers
  return (
    <Empty title={webhooks.empty} action={action}>
      <Code title={webhooks.empty_about} as="shell">
        {`curl ${location.origin}/v1/webhook_endpoints \\
  -H "Authorization: Bearer $TRILHO_KEY" -H "Content-Type: application/json" \\
  -d '{"url": "https://example.com/webhooks/trilho", "events": ["*"]}'`}
      </Code>
    </Empty>
  )
}

function useColumns(): Column<Webhook>[] {
  const { webhooks } = useText().developers
  const environment = useEnvironment()
  const { language } = useLanguage()
  const ago = useAgo()
  const moment = useMoment()
  return [
    {
      key: 'endpoint',
      head: webhooks.endpoint,
      fold: 'm1',
      className: 'two',
      cell: ({ id, url, description }) => (
        <>
          <Link
            className="plain url"
            to="/$environment/developers/webhooks/$id"
            params={{ environment, id }}
            title={url}
          >
            {shortUrl(url)}
          </Link>
          {description !== undefined && <small>{description}</small>}
        </>
      ),
    },
    { key: 'state', head: webhooks.state, fold: 'a1', cell: (row) => <WebhookState of={row} /> },
    {
      key: 'events',
      head: webhooks.events,
      fold: 'm2',
      className: 'quiet',
      cell: ({ events }) => (
        <>
          <span className="only-phone">{webhooks.events}: </span>
          {events.includes('*') ? webhooks.every_event : webhooks.kinds(events.length)}
        </>
      ),
    },
    {
      key: 'waiting',
      head: webhooks.waiting,
      right: true,
      fold: 'a2',
      labelled: true,
      cell: ({ waiting }) => (waiting === 0 ? '' : countText(waiting, language)),
    },
    {
      key: 'next',
      head: webhooks.next,
      className: 'quiet nowrap',
      cell: ({ next_attempt_at }) => next_attempt_at !== null && moment(next_attempt_at),
    },
    {
      key: 'last',
      head: webhooks.last,
      className: 'nowrap',
      cell: ({ last }) =>
        last && (
          <span className="row gap-3">
            <DeliveryStatus of={last} /> <AnswerOf of={last} />
            <span className="faint">{ago(last.created_at)}</span>
          </span>
        ),
    },
  ]
}
