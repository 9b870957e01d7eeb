import { Link, useNavigate } from '@tanstack/react-router'
import { Fragment, type ReactNode, useEffect, useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useEnvironment } from '../../environment.ts'
import type { Language } from '../../format/amount.ts'
import { ageText, clockTime, durationText, listTime, longDay, zoneName } from '../../format/time.ts'
import { DownloadLink } from '../../lists/csv-link.tsx'
import { Ledger } from '../../object/ledger.tsx'
import { MadeBy } from '../../object/made-by.tsx'
import { ObjectEvents } from '../../object/object-events.tsx'
import { useSession } from '../../session.tsx'
import type { Texts } from '../../text/en/en.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Id } from '../../ui/id.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import { Notice } from '../../ui/notice.tsx'
import { EndMark, Section } from '../../ui/page.tsx'
import { useNow } from '../../ui/time.tsx'
import { Track } from '../../ui/track.tsx'
import { usePlace, useView } from '../../view.tsx'
import { endOf } from './order-duration.tsx'
import { trackSteps } from './track-steps.tsx'

/** Parts that the pages of a payout and of a transfer share. */
type Page = Omit<Reply<'console.payouts.get'>, 'payout' | 'send_id'>

type Order = {
  readonly status: string
  readonly customer_id: string
  readonly created_at: string
  readonly completed_at?: string | undefined
  readonly failed_at?: string | undefined
}

export const isOpen = ({ status }: Pick<Order, 'status'>): boolean =>
  status === 'pending' || status === 'processing'

type Words = Pick<Texts['money']['payouts'], 'ended' | 'accepted_for'>

/** When the order ended and how long it took, or how long it has been in progress. */
export function When({ order, words }: { readonly order: Order; readonly words: Words }): ReactNode {
  const { money } = useText()
  const { language } = useLanguage()
  const now = useNow()
  const end = endOf(order)
  const since = new Date(order.created_at).getTime()
  if (end === undefined) return words.accepted_for(ageText(now.getTime() - since))
  const shown = listTime(end, { language, now })
  const today = shown === clockTime(end, { language }).slice(0, 8)
  return words.ended(
    today ? money.today_at(shown) : shown,
    durationText(new Date(end).getTime() - since, language),
  )
}

const POLL_MS = 3_000

/** Polls while the order is in progress: status queries to a rail create no events. */
export function useOrderPolling(open: boolean, look: () => void): void {
  useEffect(() => {
    if (!open) return
    const timer = setInterval(() => {
      if (!document.hidden) look()
    }, POLL_MS)
    return () => clearInterval(timer)
  }, [open, look])
}

/** The language of a receipt, for the language of the console. */
export const receiptLanguage = (language: Language): 'en' | 'pt' => (language === 'en' ? 'en' : 'pt')

type ActionsProps = {
  readonly order: Order
  readonly redeliver: () => Promise<{ readonly redelivered: number }>
  /** Sandbox buttons that complete or fail the order. */
  readonly ends: readonly { readonly label: string; readonly run: () => Promise<unknown> }[]
  /** The address of the receipt, if the order has one. */
  readonly receipt: string | undefined
  /** A link to all orders of the customer. */
  readonly all: { readonly label: string; readonly to: string }
  readonly onSaid: (said: ReactNode) => void
  readonly onChanged: () => void
}

export function OrderActions({ order, redeliver, ends, receipt, all, onSaid, onChanged }: ActionsProps) {
  const { money } = useText()
  const { may } = useSession()
  const view = useView()
  const environment = useEnvironment()
  const navigate = useNavigate()
  const [busy, setBusy] = useState(false)

  const attempt = async (run: () => Promise<ReactNode>) => {
    setBusy(true)
    onSaid(undefined)
    try {
      onSaid(await run())
    } catch (error) {
      onSaid(<Failure error={error} />)
    } finally {
      setBusy(false)
    }
  }
  const end = (run: () => Promise<unknown>) =>
    attempt(async () => {
      await run()
      onChanged()
    })
  const again = () =>
    attempt(async () => {
      const { redelivered } = await redeliver()
      if (redelivered === 0) return <Notice>{money.again.none}</Notice>
      return <Notice kind="calm">{money.again.done(redelivered)}</Notice>
    })
  const items: MenuItem[] = [
    {
      label: all.label,
      onPick: () =>
        void navigate({ to: all.to, params: { environment }, search: { customer_id: order.customer_id } }),
    },
  ]
  return (
    <>
      {may('sandbox.act') &&
        environment === 'sandbox' &&
        isOpen(order) &&
        ends.map(({ label, run }) => (
          <Button key={label} disabled={busy} onClick={() => void end(run)}>
            {label}
          </Button>
        ))}
      {receipt !== undefined && (
        <DownloadLink href={receipt} hint={money.receipt_hint}>
          {money.receipt}
        </DownloadLink>
      )}
      {may('webhooks.write') && (
        <Button icon="webhooks" busy={busy && money.again.busy} onClick={() => void again()}>
          {money.again.button}
        </Button>
      )}
      {view === undefined && <Menu items={items} />}
    </>
  )
}

type WordsProps = {
  readonly page: Page
  /** The result of the last action on this page. */
  readonly said: ReactNode
  readonly since: string
  /** The text that says for how long the rail has not answered. */
  readonly silent: (age: string) => string
  readonly states: Readonly<Record<string, string>>
}

/** The notices at the top of the page. */
export function OrderWords({ page, said, since, silent, states }: WordsProps) {
  const { money } = useText()
  const { no_answer, held, resolution } = page
  if (said === undefined && !no_answer && !held && resolution === null) return null
  return (
    <div className="sec tight no-line stack">
      {said}
      {no_answer && <Silent since={since} silent={silent} />}
      {held && <Notice kind="calm">{money.held}</Notice>}
      {resolution !== null && (
        <Notice kind="calm">{money.resolved(states[resolution.outcome] ?? resolution.outcome)}</Notice>
      )}
    </div>
  )
}

function Silent({ since, silent }: Pick<WordsProps, 'since' | 'silent'>) {
  return <Notice>{silent(ageText(useNow().getTime() - new Date(since).getTime()))}</Notice>
}

type BodyProps = {
  readonly page: Page
  readonly order: Order & { readonly idempotency_key: string }
  /** `pix`, or the name of a network. */
  readonly rail: string
  readonly send_id?: string
  /** The details of the order. */
  readonly children: ReactNode
}

/** The timeline, ledger movements, events and API request of an order, with its details beside them. */
export function OrderBody({ page, order, rail, send_id, children }: BodyProps) {
  const { money, ui } = useText()
  const { language } = useLanguage()
  const { idempotency_key } = order
  const about = { idempotency_key, rail, open: isOpen(order), ...(send_id === undefined ? {} : { send_id }) }
  return (
    <>
      <div className="cols c31">
        <div>
          <Section
            title={money.track.title}
            about={`${longDay(order.created_at, { language })}, ${ui.zone(zoneName())}`}
          >
            <Track steps={trackSteps(page.track, about, { money, ui })} />
          </Section>
          <Ledger movements={page.movements} customer={page.customer} />
          <ObjectEvents events={page.events} />
          <MadeBy request={page.request} />
        </div>
        <aside className="sec" aria-label={money.details.title}>
          <div className="h">
            <h2>{money.details.title}</h2>
          </div>
          {children}
        </aside>
      </div>
      <EndMark />
    </>
  )
}

export function CustomerDetail({ customer }: Pick<Page, 'customer'>) {
  const place = usePlace()
  return (
    <>
      <Link to={place(`customers/${customer.id}`)}>
        <bdi>{customer.name}</bdi>
      </Link>
      <br />
      <Id id={customer.id} />
    </>
  )
}

/** The API key and the IP address of the request. */
export function KeyDetail({ request }: Pick<Page, 'request'>) {
  const { money } = useText()
  return (
    <>
      <bdi>{request.key.name}</bdi> <span className="faint mono">…{request.key.last_four}</span>
      {request.logged !== null && (
        <>
          <br />
          <span className="quiet">{money.details.from(request.logged.address)}</span>
        </>
      )}
    </>
  )
}

type Failed = Parameters<Texts['money']['details']['failure_text']>[0]

/** Why an order failed: the code, which may break after an underscore, the code of the network, and a sentence. */
export function FailureDetail({
  failure,
}: {
  readonly failure: Failed & { readonly rail_code?: string | undefined }
}) {
  const { money } = useText()
  const { code, rail_code } = failure
  return (
    <>
      <span className="mono">
        {code.split(/(?<=_)/).map((part) => (
          <Fragment key={part}>
            {part}
            <wbr />
          </Fragment>
        ))}
      </span>
      {rail_code !== undefined && rail_code !== code && (
        <>
          {' '}
          <span className="tag mono">{rail_code}</span>
        </>
      )}
      <br />
      {money.details.failure_text(failure)}
    </>
  )
}
