import { type FormEvent, useRef, useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useFormId } from '../../api/form-id.ts'
import { useAct } from '../../api/queries.ts'
import type { Calls } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { listTime } from '../../format/time.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Checkbox, Field, FieldGroup, focusFirstMistake, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Rich } from '../../ui/rich.tsx'
import { Segments } from '../../ui/segments.tsx'
import { FormFoot, type Grace, GraceField } from './form-parts.tsx'
import type { Webhook } from './webhook-state.tsx'
import { wrongPartOf } from './webhook-url.ts'

type Kind = Calls['console.webhooks.create']['body']['events'][number]
/** A record, so that a missing event type does not compile. */
const everyKind: Record<Exclude<Kind, '*'>, true> = {
  'customer.created': true,
  'customer.updated': true,
  'customer.blocked': true,
  'customer.unblocked': true,
  'deposit.pending': true,
  'deposit.completed': true,
  'deposit.dropped': true,
  'deposit.returned': true,
  'pix.payout.created': true,
  'pix.payout.processing': true,
  'pix.payout.completed': true,
  'pix.payout.failed': true,
  'pix.payout.returned': true,
  'pix.charge.open': true,
  'pix.charge.paid': true,
  'pix.charge.expired': true,
  'pix.charge.failed': true,
  'onchain.transfer.created': true,
  'onchain.transfer.processing': true,
  'onchain.transfer.confirmed': true,
  'onchain.transfer.failed': true,
  'trade.completed': true,
  'trade.failed': true,
  'fee_payout.completed': true,
  'api_key.created': true,
  'api_key.rotated': true,
  'api_key.revoked': true,
  'webhook_endpoint.disabled': true,
}
export const kinds = Object.keys(everyKind) as Exclude<Kind, '*'>[]

export type WithSecret = Reply<'console.webhooks.create'>

type FormProps = {
  /** The endpoint to edit; a new one is created when left out. */
  readonly of?: Webhook
  readonly onMade?: (made: WithSecret) => void
  readonly onClose: () => void
}

/** Creates an endpoint, or changes the address and the event types of an existing one. */
export function WebhookForm({ of, onMade, onClose }: FormProps) {
  const { ui, developers } = useText()
  const { webhooks } = developers
  const environment = useEnvironment()
  const form_id = useFormId()
  const form = useRef<HTMLFormElement>(null)
  const create = useAct('console.webhooks.create', { stale: ['console.webhooks.'] })
  const change = useAct('console.webhooks.change', { stale: ['console.webhooks.'] })
  const [url, setUrl] = useState(of?.url ?? '')
  const [about, setAbout] = useState(of?.description ?? '')
  const [chosen, setChosen] = useState<readonly Kind[]>(of?.events ?? ['*'])
  const [tried, setTried] = useState(false)
  const [error, setError] = useState<unknown>()
  // The error is about the address that was sent; it disappears when the address is edited.
  const of_url = error instanceof ApiError && error.param === 'url' && (
    <Rich>{webhooks.url_wrong[wrongPartOf(url.trim(), environment)]}</Rich>
  )

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    setError(undefined)
    if (url.trim() === '' || chosen.length === 0)
      return void setTimeout(() => focusFirstMistake(form.current))
    const said = about.trim()
    const body = { url: url.trim(), events: [...chosen] }
    try {
      if (of !== undefined) {
        const params = { environment, endpoint_id: of.id }
        await change.mutateAsync({ params, body: { ...body, description: said === '' ? null : said } })
        onClose()
      } else {
        const more = said === '' ? {} : { description: said }
        onMade?.(await create.mutateAsync({ params: { environment }, body: { form_id, ...body, ...more } }))
      }
    } catch (failed) {
      setError(failed)
      setTimeout(() => focusFirstMistake(form.current))
    }
  }

  return (
    <Dialog title={of ? webhooks.change_title : webhooks.create_title} onClose={onClose}>
      <form ref={form} onSubmit={submit} noValidate>
        <div className="b">
          <Field
            label={webhooks.url}
            hint={<Rich>{environment === 'sandbox' ? webhooks.url_hint_sandbox : webhooks.url_hint}</Rich>}
            error={of_url || (tried && url.trim() === '' ? webhooks.url_missing : undefined)}
          >
            <Input
              mono
              type="url"
              value={url}
              onValue={(next) => {
                setUrl(next)
                if (of_url) setError(undefined)
              }}
              placeholder="https://"
              autoComplete="off"
              autoFocus
            />
          </Field>
          <KindsField
            chosen={chosen}
            onChosen={setChosen}
            error={tried && chosen.length === 0 ? webhooks.events_missing : undefined}
          />
          <Field label={webhooks.description} hint={webhooks.description_hint}>
            <Input value={about} onValue={setAbout} maxLength={200} autoComplete="off" />
          </Field>
          {error !== undefined && !of_url && <WebhookFailure error={error} />}
        </div>
        <FormFoot
          busy={(create.isPending && webhooks.creating) || (change.isPending && webhooks.saving)}
          onClose={onClose}
        >
          {of ? ui.save : webhooks.create}
        </FormFoot>
      </form>
    </Dialog>
  )
}

function WebhookFailure({ error }: { readonly error: unknown }) {
  const { webhooks } = useText().developers
  // Cancelling the proof is not an error: the form stays as it was.
  if (error instanceof ApiError && error.code === 'proof_needed') return null
  if (error instanceof ApiError && error.code === 'already_done')
    return <Notice kind="warn">{webhooks.already}</Notice>
  return <Failure error={error} />
}

type KindsProps = {
  readonly chosen: readonly Kind[]
  readonly onChosen: (chosen: readonly Kind[]) => void
  readonly error: string | undefined
}

function KindsField({ chosen, onChosen, error }: KindsProps) {
  const { webhooks } = useText().developers
  const all = chosen.includes('*')
  return (
    <FieldGroup label={webhooks.which_events} error={error}>
      <Segments
        label={webhooks.which_events}
        value={all ? 'all' : 'some'}
        onValue={(value) => onChosen(value === 'all' ? ['*'] : [])}
        options={[
          { value: 'all', label: webhooks.all_events },
          { value: 'some', label: webhooks.some_events },
        ]}
      />
      {!all && (
        <div className="choices kinds">
          {kinds.map((kind) => (
            <Checkbox
              key={kind}
              mono
              label={kind}
              checked={chosen.includes(kind)}
              onChecked={(on) => onChosen(on ? [...chosen, kind] : chosen.filter((one) => one !== kind))}
            />
          ))}
        </div>
      )}
    </FieldGroup>
  )
}

type RotateProps = {
  readonly of: Webhook
  readonly onRotated: (made: WithSecret) => void
  readonly onClose: () => void
}

export function RotateSecret({ of, onRotated, onClose }: RotateProps) {
  const { webhooks } = useText().developers
  const environment = useEnvironment()
  const form_id = useFormId()
  const rotate = useAct('console.webhooks.rotate_secret', { stale: ['console.webhooks.'] })
  const [grace, setGrace] = useState<Grace>('24')
  const [error, setError] = useState<unknown>()

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setError(undefined)
    try {
      const params = { environment, endpoint_id: of.id }
      onRotated(await rotate.mutateAsync({ params, body: { form_id, grace_hours: Number(grace) } }))
    } catch (failed) {
      setError(failed)
    }
  }

  return (
    <Dialog title={webhooks.rotate_title} onClose={onClose}>
      <form onSubmit={submit}>
        <div className="b">
          <p>{webhooks.rotate_about}</p>
          <GraceField label={webhooks.grace} grace={grace} onGrace={setGrace} />
          {error !== undefined && <WebhookFailure error={error} />}
        </div>
        <FormFoot busy={rotate.isPending && webhooks.rotating} onClose={onClose}>
          {webhooks.rotate_verb}
        </FormFoot>
      </form>
    </Dialog>
  )
}

/** The format of `<input type="datetime-local">`, in the person's time zone. */
const localText = (at: Date): string =>
  new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)

const HOUR_MS = 3_600_000

type RangeProps = {
  readonly of: Webhook
  readonly onSent: (text: string) => void
  readonly onClose: () => void
}

export function RedeliverRange({ of, onSent, onClose }: RangeProps) {
  const { ui, developers } = useText()
  const { webhooks } = developers
  const environment = useEnvironment()
  const { language } = useLanguage()
  const redeliver = useAct('console.webhooks.redeliver', {
    stale: ['console.webhooks.', 'console.deliveries.'],
  })
  const [from, setFrom] = useState(() => localText(new Date(of.failing_since ?? Date.now() - HOUR_MS)))
  const [to, setTo] = useState(() => localText(new Date(Date.now() + 60_000)))
  const [only_failed, setOnlyFailed] = useState(false)
  const [error, setError] = useState<unknown>()
  const good = from !== '' && to !== '' && new Date(from) < new Date(to)

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!good) return
    setError(undefined)
    try {
      const { redelivered, next_from } = await redeliver.mutateAsync({
        params: { environment, endpoint_id: of.id },
        body: { from: new Date(from).toISOString(), to: new Date(to).toISOString(), only_failed },
      })
      const more =
        next_from === undefined ? '' : ` ${webhooks.redelivered_more(listTime(next_from, { language }))}`
      onSent((only_failed ? webhooks.redelivered_failed : webhooks.redelivered)(redelivered) + more)
    } catch (failed) {
      setError(failed)
    }
  }

  return (
    <Dialog title={webhooks.redeliver_title} onClose={onClose} size="narrow">
      <form onSubmit={submit}>
        <div className="b">
          <p>
            <Rich>{only_failed ? webhooks.redeliver_failed_about : webhooks.redeliver_about}</Rich>
          </p>
          <Field label={webhooks.from}>
            <Input type="datetime-local" value={from} onValue={setFrom} />
          </Field>
          <Field label={webhooks.to} error={good ? undefined : webhooks.range_missing}>
            <Input type="datetime-local" value={to} onValue={setTo} />
          </Field>
          <Checkbox label={webhooks.only_failed} checked={only_failed} onChecked={setOnlyFailed} />
          {error !== undefined && <Failure error={error} />}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button
            kind="primary"
            type="submit"
            busy={redeliver.isPending && webhooks.redelivering}
            disabled={!good}
          >
            {webhooks.redeliver_verb}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}
