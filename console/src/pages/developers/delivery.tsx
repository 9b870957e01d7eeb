import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { durationText } from '../../format/time.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { coloured, setOut } from '../../ui/code.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Id } from '../../ui/id.tsx'
import { Glyph, type Shape } from '../../ui/status.tsx'
import { Time, useNow } from '../../ui/time.tsx'
import { usePlace, useSeen } from '../../view.tsx'
import { usePolling } from './common.tsx'

type Delivery = Reply<'console.deliveries.get'>['delivery']
type Attempt = Delivery['attempts'][number]

type Props = { readonly endpoint_id: string; readonly event_id: string; readonly enabled: boolean }

/** One delivery with all its attempts, each with request and response. */
export function DeliveryPanel({ endpoint_id, event_id, enabled }: Props) {
  const { developers, ui } = useText()
  const { webhooks } = developers
  const environment = useEnvironment()
  const place = usePlace()
  const one = useSeen('console.deliveries.get', { params: { environment, endpoint_id, event_id } })
  const delivery = one.data?.delivery
  usePolling(one, (one.data?.under_way ?? false) || isDue(delivery))
  const [chosen, setChosen] = useState<number>()
  if (one.isError && delivery === undefined)
    return <Failure error={one.error} onAgain={() => void one.refetch()} reading />
  if (delivery === undefined || one.data === undefined)
    return <div role="status" aria-busy="true" aria-label={ui.loading} />
  const shown = delivery.attempts.find(({ attempt }) => attempt === chosen) ?? delivery.attempts.at(-1)
  return (
    <>
      <div className="h flush">
        <h2 className="mono small-head">
          <Link className="plain" to={place(`developers/events/${delivery.event_id}`)}>
            {delivery.type}
          </Link>
        </h2>
        <Id id={delivery.event_id} />
        <span className="push" />
        <TryNow of={delivery} enabled={enabled} />
      </div>
      <Attempts of={one.data} shown={shown} onShow={setChosen} />
      {shown && <Sent attempt={shown} body={delivery.body ?? ''} />}
      {shown?.answer && <Answered attempt={shown} answer={shown.answer} />}
      {delivery.attempts.length >= KEPT_ALL && <p className="quiet small">{webhooks.attempts_shown}</p>}
    </>
  )
}

const KEPT_ALL = 4
const SOON_MS = 3_000

/** Whether the next attempt is due soon, so that the page polls: no hint announces its result. */
const isDue = (delivery: Delivery | undefined): boolean =>
  delivery?.status === 'pending' && new Date(delivery.next_attempt_at ?? 0).getTime() < Date.now() + SOON_MS

function TryNow({ of, enabled }: { readonly of: Delivery; readonly enabled: boolean }) {
  const { webhooks } = useText().developers
  const environment = useEnvironment()
  const { may } = useSession()
  const attempt = useAct('console.deliveries.try', { stale: ['console.deliveries.', 'console.webhooks.'] })
  if (!may('webhooks.write') || !enabled) return null
  const { endpoint_id, event_id } = of
  return (
    <>
      <Button
        small
        icon="again"
        busy={attempt.isPending && webhooks.trying}
        onClick={() => attempt.mutate({ params: { environment, endpoint_id, event_id } })}
      >
        {of.status === 'delivered' ? webhooks.send_again : webhooks.try_now}
      </Button>
      {attempt.isError && <Failure error={attempt.error} />}
    </>
  )
}

type AttemptsProps = {
  readonly of: Reply<'console.deliveries.get'>
  readonly shown: Attempt | undefined
  readonly onShow: (attempt: number) => void
}

function Attempts({ of: { delivery: of, ...ahead_of }, shown, onShow }: AttemptsProps) {
  const { language } = useLanguage()
  const ahead = of.status === 'pending'
  return (
    <ol className="track">
      {of.attempts.map((made, i) => (
        <li key={made.attempt} className={ahead && i === of.attempts.length - 1 ? 'ahead-next' : ''}>
          <Time at={made.started_at} as="clock" />
          <Stop shape={isTaken(made) ? 'done' : 'failed'} />
          <div className="what">
            <button
              type="button"
              className="attempt"
              aria-pressed={made.attempt === shown?.attempt}
              onClick={() => onShow(made.attempt)}
            >
              <AttemptTitle of={made} />
            </button>
          </div>
          <span className="dt">{durationText(made.duration_ms, language)}</span>
        </li>
      ))}
      {ahead && of.next_attempt_at !== undefined && (
        <Ahead number={(of.attempts.at(-1)?.attempt ?? 0) + 1} at={of.next_attempt_at} {...ahead_of} />
      )}
    </ol>
  )
}

const isTaken = ({ answer, error }: Attempt): boolean =>
  error === undefined && answer !== undefined && answer.status >= 200 && answer.status < 300

const Stop = ({ shape }: { readonly shape: Shape }) => (
  <span className={`stop ${shape}`}>
    <Glyph shape={shape} size={16} />
  </span>
)

function AttemptTitle({ of }: { readonly of: Attempt }) {
  const { webhooks } = useText().developers
  const came = of.answer && of.error === undefined ? webhooks.answered(of.answer.status) : of.error
  const tone = isTaken(of) ? 'quiet' : 'bad'
  return (
    <>
      <b>{webhooks.attempt(of.attempt)}</b> <span className={tone}>{came}</span>
    </>
  )
}

type AheadProps = {
  readonly number: number
  readonly at: string
  readonly under_way: boolean
  readonly then_after_ms: readonly number[]
}

function Ahead({ number, at, under_way, then_after_ms }: AheadProps) {
  const { webhooks } = useText().developers
  const { language } = useLanguage()
  const left = new Date(at).getTime() - useNow().getTime()
  const then = then_after_ms.map((ms) => roundText(ms, language)).join(', ')
  return (
    <li className="ahead">
      {under_way ? <span /> : <Time at={at} />}
      <Stop shape={under_way ? 'going' : 'waiting'} />
      <div className="what">
        <b>{webhooks.attempt(number)}</b>
        <p>
          {under_way
            ? webhooks.under_way
            : left > 0
              ? webhooks.in_time(durationText(Math.max(1_000, left), language))
              : webhooks.due}
          {!under_way && then !== '' && webhooks.then_after(then)}
        </p>
      </div>
      <span className="dt" />
    </li>
  )
}

/** Retry delays are whole hours or minutes: `30 min`, `2 h`. */
function roundText(ms: number, language: 'en' | 'pt-BR'): string {
  if (ms >= 3_600_000 && ms % 3_600_000 === 0) return `${ms / 3_600_000} h`
  if (ms >= 60_000 && ms % 60_000 === 0) return `${ms / 60_000} min`
  return durationText(ms, language)
}

function Sent({ attempt, body }: { readonly attempt: Attempt; readonly body: string }) {
  const { webhooks } = useText().developers
  const { url, headers } = attempt.request
  return (
    <Exchange
      title={webhooks.request}
      aside={<span className="faint breaks">POST {url}</span>}
      headers={headers}
      body={setOut(body)}
      json
    />
  )
}

type AnsweredProps = { readonly attempt: Attempt; readonly answer: NonNullable<Attempt['answer']> }

function Answered({ attempt, answer }: AnsweredProps) {
  const { webhooks } = useText().developers
  const { language } = useLanguage()
  return (
    <Exchange
      title={webhooks.answer}
      aside={
        <>
          <span className={answer.status < 300 ? 'tag' : 'tag bad'}>{answer.status}</span>
          <span className="faint">
            {webhooks.answer_as_text(durationText(attempt.duration_ms, language))}
          </span>
        </>
      }
      headers={answer.headers ?? {}}
      body={answer.body === undefined || answer.body === '' ? webhooks.no_body : answer.body}
    />
  )
}

type ExchangeProps = {
  readonly title: string
  readonly aside: React.ReactNode
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly json?: boolean
}

/** Headers, an empty line and the body as sent over the wire, always shown as text. */
function Exchange({ title, aside, headers, body, json = false }: ExchangeProps) {
  const lines = Object.entries(headers)
  const whole = [...lines.map(([name, value]) => `${name}: ${value}`), '', body].join('\n')
  return (
    <div className="code">
      <div className="top">
        <span>{title}</span> {aside}
        <span className="push">
          <CopyButton value={whole} label={title} />
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        {lines.map(([name, value]) => (
          <span key={name}>
            <span className="k">{name}</span>: {value}
            {'\n'}
          </span>
        ))}
        {lines.length > 0 && '\n'}
        {json ? coloured(body, 'json') : body}
      </pre>
    </div>
  )
}
