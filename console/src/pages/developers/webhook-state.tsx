import type { Reply } from '../../api/client.ts'
import { countText } from '../../format/amount.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Status } from '../../ui/status.tsx'
import { useMoment } from './common.tsx'

export type Webhook = Reply<'console.webhooks.get'>
export type DeliveryRow = Reply<'console.deliveries.list'>['data'][number]

export function WebhookState({ of, large = false }: { readonly of: Webhook; readonly large?: boolean }) {
  const { webhooks } = useText().developers
  const moment = useMoment()
  if (of.status === 'disabled')
    return (
      <Status state="disabled" large={large}>
        {webhooks.disabled}
      </Status>
    )
  if (of.failing_since !== undefined)
    return (
      <Status state="attention" large={large}>
        {webhooks.failing_since(moment(of.failing_since))}
      </Status>
    )
  if (of.last === null)
    return (
      <Status state="waiting" large={large}>
        {webhooks.fresh}
      </Status>
    )
  return (
    <Status state="active" large={large}>
      {webhooks.working}
    </Status>
  )
}

/** Explains the state of an endpoint and how many deliveries wait. */
export function WebhookMeaning({ of }: { readonly of: Webhook }) {
  const { webhooks } = useText().developers
  const { language } = useLanguage()
  const moment = useMoment()
  const parts = [
    of.waiting > 0 && webhooks.wait(countText(of.waiting, language), of.waiting === 1),
    of.status === 'disabled' && webhooks.disabled_why[of.disabled_reason ?? 'by_request'],
    of.failing_since !== undefined && of.status === 'enabled' && webhooks.ends_by_itself,
    of.previous_secret_until !== undefined && webhooks.two_secrets(moment(of.previous_secret_until)),
  ]
  const said = parts.filter((part) => part !== false).join(' ')
  return <span className="quiet">{said || webhooks.nothing_waits}</span>
}

const shapes: Readonly<Record<DeliveryRow['status'], string>> = {
  pending: 'waiting',
  delivered: 'delivered',
  exhausted: 'exhausted',
  canceled: 'disabled',
}

export function DeliveryStatus({ of }: { readonly of: Pick<DeliveryRow, 'status' | 'attempts'> }) {
  const { webhooks } = useText().developers
  const word = webhooks.status[of.status]
  const tried = of.status === 'pending' && of.attempts > 0
  return (
    <Status state={shapes[of.status]}>
      <span>
        {word}
        {tried && <span className="no-phone">, {webhooks.tried(of.attempts)}</span>}
      </span>
    </Status>
  )
}

export function AnswerOf({ of }: { readonly of: Pick<DeliveryRow, 'answer_status' | 'error'> }) {
  const { webhooks } = useText().developers
  if (of.error !== null)
    return (
      <span className="bad" title={of.error}>
        {/^no answer within/.test(of.error) ? webhooks.time_out : webhooks.no_answer}
      </span>
    )
  if (of.answer_status === null) return null
  return <span className={of.answer_status >= 300 ? 'bad' : 'quiet'}>{of.answer_status}</span>
}
