import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { currentSession, renewSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Field, focusFirstMistake, Input } from '../../ui/field.tsx'
import { Rich } from '../../ui/rich.tsx'
import { Gate } from './gate.tsx'

type Seen = Reply<'console.links.look'>

/**
 * The page of an invitation or password reset link. The token moves from the URL into the request body, and is sent nowhere
 * else.
 */
export function LinkPage() {
  const { people } = useText()
  const { token = '' } = useParams({ strict: false }) as { token?: string }
  const [seen, setSeen] = useState<Seen>()
  const [error, setError] = useState<unknown>()

  useEffect(() => {
    // If a person is signed in in this browser, the request needs the CSRF token of that session.
    currentSession()
      .then(() => call('console.links.look', { body: { token } }))
      .then(setSeen, setError)
  }, [token])

  if (isGone(error)) return <Gone />
  return (
    <Gate title={seen?.kind === 'invitation' ? people.link.invitation(seen.partner) : people.link.reset}>
      {error === undefined ? (
        seen && <ChooseForm seen={seen} token={token} onGone={setError} />
      ) : (
        <div className="own-form">
          <Failure error={error} reading />
        </div>
      )}
    </Gate>
  )
}

const isGone = (error: unknown): boolean => error instanceof ApiError && error.code === 'link_not_valid'

function Gone() {
  const { people } = useText()
  return (
    <Gate title={people.link.gone}>
      <form>
        <h1>{people.link.gone}</h1>
        <p className="quiet">{people.link.gone_about}</p>
        <p className="stack-4">
          <Link to="/sign-in">{people.link.to_sign_in}</Link>
        </p>
      </form>
    </Gate>
  )
}

type ChooseProps = {
  readonly seen: Seen
  readonly token: string
  readonly onGone: (error: unknown) => void
}

function ChooseForm({ seen, token, onGone }: ChooseProps) {
  const { people } = useText()
  const navigate = useNavigate()
  const form = useRef<HTMLFormElement>(null)
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const [wrong, setWrong] = useState<{ password?: string; again?: string }>({})
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const { email, partner, role } = seen
  const invited = seen.kind === 'invitation'

  useEffect(() => {
    if (Object.keys(wrong).length > 0) focusFirstMistake(form.current)
  }, [wrong])

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const mistakes = mistakesOf(password, again, people.link)
    setWrong(mistakes)
    setError(undefined)
    if (mistakes.password !== undefined || mistakes.again !== undefined) return
    setBusy(true)
    try {
      await call('console.links.use', { body: { token, password } })
      await enter(email, password)
      await navigate({ to: '/' })
    } catch (failed) {
      if (isGone(failed)) onGone(failed)
      else if (failed instanceof ApiError && failed.param === 'password')
        setWrong({ password: people.link.guessed })
      else setError(failed)
      setBusy(false)
    }
  }

  return (
    <form onSubmit={submit} ref={form} noValidate>
      <h1>{invited ? people.link.invitation(partner) : people.link.reset}</h1>
      <p className="quiet">
        <Rich>
          {invited
            ? people.link.invitation_about(email, people.roles[role ?? 'viewer'])
            : people.link.reset_about(email)}
        </Rich>
      </p>
      <div className="stack stack-4">
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <NewPassword {...{ password, setPassword, again, setAgain, wrong }} />
        {error !== undefined && <Failure error={error} />}
        <Button kind="primary" type="submit" wide busy={busy && people.link.going}>
          {people.link.go}
        </Button>
      </div>
    </form>
  )
}

/** Signs in with the new password; a person with a second factor is asked for the code on the sign-in page. */
async function enter(email: string, password: string): Promise<void> {
  await call('console.session.sign_in', { body: { email, password } }).catch(() => undefined)
  await renewSession()
}

type Mistakes = { readonly password?: string; readonly again?: string }

export function mistakesOf(
  password: string,
  again: string,
  words: { readonly short: string; readonly different: string },
): Mistakes {
  const length = [...password].length
  if (length < 12 || length > 128) return { password: words.short }
  return password === again ? {} : { again: words.different }
}

type NewPasswordProps = {
  readonly password: string
  readonly setPassword: (password: string) => void
  readonly again: string
  readonly setAgain: (again: string) => void
  readonly wrong: Mistakes
}

/** The password is typed twice, because it is not shown. */
export function NewPassword({ password, setPassword, again, setAgain, wrong }: NewPasswordProps) {
  const { people } = useText()
  return (
    <>
      <Field label={people.link.password} hint={people.link.hint} error={wrong.password}>
        <Input value={password} onValue={setPassword} type="password" autoComplete="new-password" required />
      </Field>
      <Field label={people.link.again} error={wrong.again}>
        <Input value={again} onValue={setAgain} type="password" autoComplete="new-password" required />
      </Field>
    </>
  )
}
