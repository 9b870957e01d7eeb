import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { call } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { durationText } from '../../format/time.ts'
import { renewSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Failure, useSecondsLeft } from '../../ui/failure.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { useQueryString } from '../../ui/filters.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Rich } from '../../ui/rich.tsx'
import { Secret } from '../../ui/secret.tsx'
import { Gate } from './gate.tsx'

/** What the service asks for beside the password: a one-time code or an activation code. */
type SecondHalf = 'factor' | 'activation'

/** Asks for the password first, and for a code only when the service requires it. */
export function SignInPage() {
  const { people } = useText()
  const enterConsole = useEnterConsole()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [asked, setAsked] = useState<SecondHalf>()
  const [own, setOwn] = useState<string>()
  const [error, setError] = useState<unknown>()

  const enter = async (code?: string) => {
    setError(undefined)
    try {
      const body = code === undefined ? { email, password } : { email, password, code }
      const { new_password } = await call('console.session.sign_in', { body })
      setPassword('')
      if (new_password === undefined) await enterConsole()
      else setOwn(new_password)
    } catch (failed) {
      if (isCodeNeeded(failed)) setAsked(failed.details.of === 'activation' ? 'activation' : 'factor')
      else setError(failed)
    }
  }
  const begin = () => {
    setAsked(undefined)
    setPassword('')
    setError(undefined)
  }

  return (
    <Gate title={people.sign_in.title}>
      {asked === undefined ? (
        <PasswordForm {...{ email, setEmail, password, setPassword, error }} onEnter={() => enter()} />
      ) : (
        <CodeForm of={asked} error={error} onEnter={enter} onBack={begin} />
      )}
      {own !== undefined && (
        <Secret
          title={people.sign_in.own_password}
          about={<Rich>{people.sign_in.own_password_about}</Rich>}
          value={own}
          onDone={() => void enterConsole()}
        />
      )}
    </Gate>
  )
}

const isCodeNeeded = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'code_needed'

/** The page to return to after signing in, if it belongs to the console. */
export function useEnterConsole() {
  const navigate = useNavigate()
  const { next = '/' } = useQueryString().query
  return async () => {
    await renewSession()
    const [to = '/', query] = /^\/(?![/\\])/.test(next) ? next.split('?') : ['/']
    await navigate({ to, search: Object.fromEntries(new URLSearchParams(query)) as never })
  }
}

type PasswordProps = {
  readonly email: string
  readonly setEmail: (email: string) => void
  readonly password: string
  readonly setPassword: (password: string) => void
  readonly error: unknown
  readonly onEnter: () => Promise<void>
}

function PasswordForm({ email, setEmail, password, setPassword, error, onEnter }: PasswordProps) {
  const { people } = useText()
  const [forgot, setForgot] = useState(false)
  const { busy, submit } = useSubmit(onEnter)
  const aside = (
    <button type="button" className="linkish" onClick={() => setForgot(true)}>
      {people.sign_in.forgot}
    </button>
  )
  return (
    <form onSubmit={submit}>
      <h1>{people.sign_in.title}</h1>
      <p className="quiet">{people.sign_in.about}</p>
      <div className="stack stack-4">
        <Ended />
        <Field label={people.sign_in.email}>
          <Input
            value={email}
            onValue={setEmail}
            type="email"
            autoComplete="username"
            required
            autoFocus
            spellCheck={false}
          />
        </Field>
        <Field label={people.sign_in.password} aside={aside}>
          <Input
            value={password}
            onValue={setPassword}
            type="password"
            autoComplete="current-password"
            required
          />
        </Field>
        <Refused error={error} wrong={people.sign_in.wrong} />
        <Button kind="primary" type="submit" wide busy={busy && people.sign_in.going}>
          {people.sign_in.go}
        </Button>
        <p className="faint small">{people.sign_in.next}</p>
      </div>
      {forgot && <Forgot onClose={() => setForgot(false)} />}
    </form>
  )
}

/** Says why the session ended, and that the interrupted action was not carried out. */
function Ended() {
  const { people } = useText()
  const { ended } = useQueryString().query
  if (ended === undefined) return null
  const acting = ended === 'acting'
  return <Notice kind="warn">{acting ? people.sign_in.ended_acting : people.sign_in.ended}</Notice>
}

function Forgot({ onClose }: { readonly onClose: () => void }) {
  const { people, ui } = useText()
  return (
    <Dialog title={people.sign_in.forgot_title} onClose={onClose} size="narrow">
      <div className="b stack">
        <p>{people.sign_in.forgot_owner}</p>
        <p className="quiet">
          <Rich>{people.sign_in.forgot_operator}</Rich>
        </p>
      </div>
      <DialogFoot>
        <Button onClick={onClose}>{ui.close}</Button>
      </DialogFoot>
    </Dialog>
  )
}

type CodeProps = {
  readonly of: SecondHalf
  readonly error: unknown
  readonly onEnter: (code: string) => Promise<void>
  readonly onBack: () => void
}

function CodeForm({ of, error, onEnter, onBack }: CodeProps) {
  const { people } = useText()
  const [code, setCode] = useState('')
  const { busy, submit } = useSubmit(async () => {
    await onEnter(code.trim())
    setCode('')
  })
  const app = of === 'factor'
  return (
    <form onSubmit={submit}>
      <h1>{people.sign_in.code_title}</h1>
      <p className="quiet">{app ? people.sign_in.code_about : people.sign_in.activation_about}</p>
      <div className="stack stack-4">
        <Field
          label={app ? people.sign_in.code : people.sign_in.activation}
          hint={app ? people.sign_in.code_hint : undefined}
        >
          <Input
            value={code}
            onValue={setCode}
            autoComplete="one-time-code"
            inputMode={app ? 'numeric' : 'text'}
            spellCheck={false}
            mono
            required
            autoFocus
          />
        </Field>
        <Refused error={error} wrong={people.sign_in.wrong_code} />
        <Button kind="primary" type="submit" wide busy={busy && people.sign_in.going}>
          {people.sign_in.go}
        </Button>
        <p className="small">
          <button type="button" className="linkish" onClick={onBack}>
            {people.sign_in.another}
          </button>
        </p>
      </div>
    </form>
  )
}

/** The reason for the refusal, in the person's language. */
export function Refused({ error, wrong }: { readonly error: unknown; readonly wrong: string }) {
  const { people } = useText()
  const { language } = useLanguage()
  const left = useSecondsLeft(error instanceof ApiError ? error.retry_after : undefined)
  if (error === undefined) return null
  if (!(error instanceof ApiError)) return <Failure error={error} />
  if (error.code === 'wrong_credentials') return <Notice kind="bad">{wrong}</Notice>
  if (error.status === 429 && error.retry_after !== undefined)
    return (
      <Notice kind="bad">
        {left > 0 ? people.sign_in.too_many(durationText(left * 1_000, language)) : people.sign_in.try_now}
      </Notice>
    )
  return <Failure error={error} />
}

function useSubmit(work: () => Promise<void>) {
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    try {
      await work()
    } finally {
      setBusy(false)
    }
  }
  return { busy, submit }
}
