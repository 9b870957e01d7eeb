import { Link } from '@tanstack/react-router'
import { type FormEvent, useRef, useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useFormId } from '../../api/form-id.ts'
import { useAct } from '../../api/queries.ts'
import type { Calls } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { useSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Checkbox, Field, FieldGroup, focusFirstMistake, Input } from '../../ui/field.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Segments } from '../../ui/segments.tsx'
import { AllowlistField, useAllowlist } from './allowlist.tsx'
import { FormFoot, type Grace, GraceField } from './form-parts.tsx'

export type Key = Reply<'console.keys.get'>['key']
export type ShownKey = Reply<'console.keys.create'>

type Scope = Calls['console.keys.create']['body']['scopes'][number]
/** A record, so that a missing scope does not compile. */
const everyScope: Record<Scope, true> = {
  read: true,
  customers: true,
  payouts: true,
  transfers: true,
  quotes: true,
  webhooks: true,
}
export const scopes = Object.keys(everyScope) as Scope[]

const DAY_MS = 24 * 3_600_000
type Ends = 'never' | 'in_90_days' | 'on_a_date'

/** The end of the chosen day in the person's time zone. */
function endOf(ends: Ends, day: string): Date | undefined {
  if (ends === 'in_90_days') return new Date(Date.now() + 90 * DAY_MS)
  if (ends !== 'on_a_date') return undefined
  return new Date(`${day}T23:59:59.000`)
}

/** Whether the form is blocked: a production key needs a second factor. */
function useFactorMissing(): boolean {
  const { factor } = useSession()
  return useEnvironment() === 'production' && !factor
}

/** Whether the service will ask for a code: in production, unless the person gave one recently. */
function useAsksCode(): boolean {
  const { proved_until } = useSession()
  const fresh = proved_until !== null && new Date(proved_until).getTime() > Date.now()
  return useEnvironment() === 'production' && !fresh
}

/** The notice on every form that changes a production key. */
function ProductionNotice() {
  const { keys } = useText().developers
  const environment = useEnvironment()
  const missing = useFactorMissing()
  const asks = useAsksCode()
  if (environment !== 'production') return null
  if (missing)
    return (
      <Notice kind="warn">
        {keys.needs_factor} <Link to="/me">{keys.enrol}</Link>
      </Notice>
    )
  if (!asks) return null
  return (
    <div className="note calm">
      <Icon name="lock" />
      <span>{keys.needs_code}</span>
    </div>
  )
}

type CreateProps = { readonly onMade: (made: ShownKey) => void; readonly onClose: () => void }

export function CreateKey({ onMade, onClose }: CreateProps) {
  const { keys } = useText().developers
  const environment = useEnvironment()
  const form_id = useFormId()
  const form = useRef<HTMLFormElement>(null)
  const create = useAct('console.keys.create', { stale: ['console.keys.'] })
  const list = useAllowlist(environment, [])
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<readonly Scope[]>(['read'])
  const [ends, setEnds] = useState<Ends>('never')
  const [day, setDay] = useState('')
  const [tried, setTried] = useState(false)
  const [working, setWorking] = useState(false)
  const [error, setError] = useState<unknown>()
  const missing = useFactorMissing()

  const end = endOf(ends, day)
  const wrong = {
    name:
      tried && name.trim() === '' ? keys.name_missing : isAbout(error, 'name') ? keys.name_taken : undefined,
    scopes: tried && chosen.length === 0 ? keys.scopes_missing : undefined,
    end: tried && end !== undefined && !(end.getTime() > Date.now()) ? keys.date_missing : undefined,
  }

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    setError(undefined)
    setWorking(true)
    try {
      const good = await list.check()
      const whole = name.trim() !== '' && chosen.length > 0 && (!end || end.getTime() > Date.now())
      if (!good || !whole) return void setTimeout(() => focusFirstMistake(form.current))
      const body = {
        form_id,
        name: name.trim(),
        scopes: scopes.filter((scope) => chosen.includes(scope)),
        ip_allowlist: [...list.ranges],
        ...(end ? { expires_at: end.toISOString() } : {}),
      }
      onMade(await create.mutateAsync({ params: { environment }, body }))
    } catch (failed) {
      setError(failed)
      setTimeout(() => focusFirstMistake(form.current))
    } finally {
      setWorking(false)
    }
  }

  return (
    <Dialog title={keys.create_title(environment)} onClose={onClose}>
      <form ref={form} onSubmit={submit} noValidate>
        <div className="b">
          <Field label={keys.name} hint={keys.name_hint} error={wrong.name}>
            <Input value={name} onValue={setName} maxLength={80} autoComplete="off" autoFocus />
          </Field>
          <ScopesField chosen={chosen} onChosen={setChosen} error={wrong.scopes} />
          <AllowlistField list={list} />
          <EndsField ends={ends} onEnds={setEnds} day={day} onDay={setDay} error={wrong.end} />
          <ProductionNotice />
          {error !== undefined && wrong.name === undefined && <FormFailure error={error} />}
        </div>
        <FormFoot busy={working && keys.creating} disabled={missing} onClose={onClose}>
          {environment === 'production' ? keys.go_on : keys.create}
        </FormFoot>
      </form>
    </Dialog>
  )
}

const isAbout = (error: unknown, param: string): boolean => error instanceof ApiError && error.param === param

/** The form was received twice and one key was created: says where it is, and why its secret is not shown. */
function FormFailure({ error }: { readonly error: unknown }) {
  const { keys } = useText().developers
  const environment = useEnvironment()
  // Cancelling the proof is not an error: the form stays as it was.
  if (error instanceof ApiError && error.code === 'proof_needed') return null
  if (!(error instanceof ApiError) || error.code !== 'already_done') return <Failure error={error} />
  return (
    <Notice kind="warn">
      {keys.already}{' '}
      <Link to="/$environment/developers/keys/$id" params={{ environment, id: String(error.details.id) }}>
        {keys.already_open}
      </Link>
    </Notice>
  )
}

type ScopesProps = {
  readonly chosen: readonly Scope[]
  readonly onChosen: (chosen: readonly Scope[]) => void
  readonly error: string | undefined
}

function ScopesField({ chosen, onChosen, error }: ScopesProps) {
  const { keys } = useText().developers
  return (
    <FieldGroup label={keys.scopes} error={error}>
      <div className="choices">
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            mono
            label={scope}
            hint={keys.scope[scope]}
            checked={chosen.includes(scope)}
            onChecked={(on) => onChosen(on ? [...chosen, scope] : chosen.filter((one) => one !== scope))}
          />
        ))}
      </div>
    </FieldGroup>
  )
}

type EndsProps = {
  readonly ends: Ends
  readonly onEnds: (ends: Ends) => void
  readonly day: string
  readonly onDay: (day: string) => void
  readonly error: string | undefined
}

function EndsField({ ends, onEnds, day, onDay, error }: EndsProps) {
  const { keys } = useText().developers
  return (
    <FieldGroup label={keys.ends}>
      <Segments
        label={keys.ends}
        value={ends}
        onValue={onEnds}
        options={(['never', 'in_90_days', 'on_a_date'] as const).map((value) => ({
          value,
          label: keys[value],
        }))}
      />
      {ends === 'on_a_date' && (
        <Field label={keys.date} error={error}>
          <Input type="date" value={day} onValue={onDay} />
        </Field>
      )}
    </FieldGroup>
  )
}

type RotateProps = {
  readonly for_key: Pick<Key, 'id' | 'name'>
  readonly onRotated: (made: ShownKey) => void
  readonly onClose: () => void
}

export function RotateKey({ for_key: { id, name }, onRotated, onClose }: RotateProps) {
  const { keys } = useText().developers
  const environment = useEnvironment()
  const form_id = useFormId()
  const rotate = useAct('console.keys.rotate', { stale: ['console.keys.'] })
  const [grace, setGrace] = useState<Grace>('24')
  const [error, setError] = useState<unknown>()
  const missing = useFactorMissing()

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setError(undefined)
    try {
      const body = { form_id, grace_hours: Number(grace) }
      onRotated(await rotate.mutateAsync({ params: { environment, key_id: id }, body }))
    } catch (failed) {
      setError(failed)
    }
  }

  return (
    <Dialog title={keys.rotate_title(name)} onClose={onClose}>
      <form onSubmit={submit}>
        <div className="b">
          <p>{keys.rotate_about}</p>
          <GraceField label={keys.grace} hint={keys.grace_hint} grace={grace} onGrace={setGrace} />
          <ProductionNotice />
          {error !== undefined && <FormFailure error={error} />}
        </div>
        <FormFoot busy={rotate.isPending && keys.rotating} disabled={missing} onClose={onClose}>
          {keys.rotate_verb}
        </FormFoot>
      </form>
    </Dialog>
  )
}

type ChangeProps = { readonly of: Key; readonly onClose: () => void }

export function ChangeKey({ of, onClose }: ChangeProps) {
  const { ui, developers } = useText()
  const { keys } = developers
  const environment = useEnvironment()
  const form = useRef<HTMLFormElement>(null)
  const change = useAct('console.keys.change', { stale: ['console.keys.'] })
  const list = useAllowlist(environment, of.ip_allowlist, of.id)
  const [name, setName] = useState(of.name)
  const [working, setWorking] = useState(false)
  const [error, setError] = useState<unknown>()
  const missing = useFactorMissing()

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setError(undefined)
    setWorking(true)
    try {
      if (!(await list.check())) return void setTimeout(() => focusFirstMistake(form.current))
      const body = { name: name.trim(), ip_allowlist: [...list.ranges] }
      await change.mutateAsync({ params: { environment, key_id: of.id }, body })
      onClose()
    } catch (failed) {
      setError(failed)
    } finally {
      setWorking(false)
    }
  }

  return (
    <Dialog title={keys.change_title(of.name)} onClose={onClose}>
      <form ref={form} onSubmit={submit} noValidate>
        <div className="b">
          <Field
            label={keys.name}
            hint={keys.name_hint}
            error={isAbout(error, 'name') ? keys.name_taken : undefined}
          >
            <Input value={name} onValue={setName} maxLength={80} autoComplete="off" />
          </Field>
          <AllowlistField list={list} />
          <ProductionNotice />
          {error !== undefined && !isAbout(error, 'name') && <FormFailure error={error} />}
        </div>
        <FormFoot busy={working && keys.changing} disabled={missing || name.trim() === ''} onClose={onClose}>
          {ui.save}
        </FormFoot>
      </form>
    </Dialog>
  )
}
