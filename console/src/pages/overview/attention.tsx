import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAct } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { amountText } from '../../format/amount.ts'
import { ageText, listTime, minuteTime } from '../../format/time.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'
import { Rich } from '../../ui/rich.tsx'
import { Glyph, type Shape } from '../../ui/status.tsx'
import type { Overview } from './overview.tsx'

type Seen = Overview['attention']

/** Problems, the gravest first, each with a link to the page that fixes it. */
export function Attention({ of: { attention, now } }: { readonly of: Overview }) {
  const { overview } = useText()
  const words = overview.attention
  const lines = [
    ...attention.unanswered.map((one) => <Unanswered key={`${one.rail} ${one.asset}`} one={one} />),
    ...attention.webhooks.map((one) => <Webhook key={one.id} one={one} />),
    ...attention.old_values.map((one) => <OldValue key={one.last_four} one={one} now={now} />),
    ...attention.acts.slice(0, ACTS).map((one) => <Act key={one.seq} one={one} />),
    ...(attention.acts.length > ACTS ? [<MoreActs key="more" count={attention.acts.length - ACTS} />] : []),
  ]
  return (
    <Section title={words.title} tight>
      {lines.length > 0 ? (
        <ul className="att">{lines}</ul>
      ) : (
        <p className="quiet row">
          <Glyph shape="done" className="good" />
          {words.nothing}
        </p>
      )}
    </Section>
  )
}

const ACTS = 5

/** As in lists, without seconds: `09:26`, `14 Nov 17:02`. */
const toMinute = (at: string, language: Language) =>
  listTime(at, { language }).replace(/^(\d\d:\d\d):\d\d$/, '$1')

type LineProps = {
  readonly shape: Shape
  readonly tone: 'warn' | 'quiet'
  readonly text: string
  readonly since: ReactNode
  readonly link: ReactNode
}

const Line = ({ shape, tone, text, since, link }: LineProps) => (
  <li>
    <Glyph shape={shape} className={tone} />
    <span>
      <Rich>{text}</Rich>
    </span>
    <span className="quiet since">{since}</span>
    {link}
  </li>
)

function Unanswered({ one }: { readonly one: Seen['unanswered'][number] }) {
  const { overview, ui } = useText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  const amount = amountText(one.amount, one.asset, { language })
  const { payouts, transfers, show } = overview.attention
  const to = one.rail === 'pix' ? '/$environment/payouts' : '/$environment/transfers'
  return (
    <Line
      shape="unknown"
      tone="warn"
      text={one.rail === 'pix' ? payouts(one.count, amount) : transfers(one.rail, one.count, amount)}
      since={ui.since(toMinute(one.since, language))}
      link={
        <Link to={to} params={{ environment }} search={{ status: 'no_answer' } as never}>
          {show}
        </Link>
      }
    />
  )
}

function Webhook({ one }: { readonly one: Seen['webhooks'][number] }) {
  const { overview, ui } = useText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  const words = overview.attention
  const since = one.since && ui.since(toMinute(one.since, language))
  return (
    <Line
      shape="attention"
      tone="warn"
      text={saidOf(one, words, language)}
      since={since}
      link={
        <Link to="/$environment/developers/webhooks/$id" params={{ environment, id: one.id } as never}>
          {words.open}
        </Link>
      }
    />
  )
}

type Words = ReturnType<typeof useText>['overview']['attention']
type Language = ReturnType<typeof useLanguage>['language']

function saidOf(one: Seen['webhooks'][number], words: Words, language: Language): string {
  const url = one.url.replace(/^https?:\/\//, '')
  const wait = one.waiting > 0 ? words.wait(one.waiting) : ''
  const next =
    one.status === 'enabled' && one.next_attempt_at !== null
      ? `, ${words.next(minuteTime(one.next_attempt_at, { language }))}`
      : ''
  const waiting = wait === '' ? '' : ` ${wait}${next}.`
  if (one.status === 'disabled') return words.webhook_off(url) + waiting
  if (one.since === null) return words.webhook_given_up(url, one.exhausted) + waiting
  const fails = one.answered === null ? words.webhook_silent(url) : words.webhook_answers(url, one.answered)
  return fails + waiting
}

function OldValue({ one, now }: { readonly one: Seen['old_values'][number]; readonly now: string }) {
  const { overview } = useText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  const words = overview.attention
  const until = toMinute(one.valid_until, language)
  const left = new Date(one.valid_until).getTime() - new Date(now).getTime()
  return (
    <Line
      shape="going"
      tone="quiet"
      text={words.old_value(one.name, one.last_four, until)}
      since={words.left(ageText(left))}
      link={
        <Link to="/$environment/developers/keys/$id" params={{ environment, id: one.id } as never}>
          {words.key}
        </Link>
      }
    />
  )
}

function Act({ one }: { readonly one: Seen['acts'][number] }) {
  const { overview } = useText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  const words = overview.attention
  const dismiss = useAct('console.overview.dismiss', { stale: ['console.overview.'] })
  const who =
    one.actor_kind === 'person'
      ? (one.actor_email ?? words.somebody)
      : one.actor_email === null
        ? words.operator
        : words.operator_named(one.actor_email)
  const whom = one.object_email ?? words.somebody
  return (
    <Line
      shape="attention"
      tone="quiet"
      text={words.acts[one.action]?.(who, whom) ?? words.act(who, one.action, whom)}
      since={toMinute(one.at, language)}
      link={
        <span className="row">
          <Link to="/$environment/team" params={{ environment }}>
            {words.team}
          </Link>
          <Button
            small
            kind="plain"
            busy={dismiss.isPending && words.dismissing}
            onClick={() => dismiss.mutate({ params: { seq: one.seq } })}
          >
            {words.dismiss}
          </Button>
        </span>
      }
    />
  )
}

function MoreActs({ count }: { readonly count: number }) {
  const environment = useEnvironment()
  const words = useText().overview.attention
  return (
    <Line
      shape="attention"
      tone="quiet"
      text={words.more_acts(count)}
      since={null}
      link={
        <Link to="/$environment/team/audit" params={{ environment }}>
          {words.audit}
        </Link>
      }
    />
  )
}
