import { type FormEvent, useState } from 'react'
import { call } from './api/client.ts'
import { ApiError } from './api/errors.ts'
import { useText } from './text/text.tsx'
import { Button } from './ui/button.tsx'
import { Dialog, DialogFoot } from './ui/dialog.tsx'
import { Failure } from './ui/failure.tsx'
import { Field, Input } from './ui/field.tsx'

type Props = { readonly email: string; readonly given: () => void; readonly refused: () => void }

/** Shown when the session ends while a form is open: the same person signs in, and the form is kept. */
export function SignInDialog({ email, given, refused }: Props) {
  const { ui } = useText()
  const [password, setPassword] = useState('')
  const [code, setCode] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      const body = code === undefined ? { email, password } : { email, password, code: code.trim() }
      await call('console.session.sign_in', { body })
      given()
    } catch (failed) {
      const code_needed = failed instanceof ApiError && failed.code === 'code_needed'
      if (code_needed && failed.details.of !== 'activation') setCode('')
      else setError(failed)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Dialog title={ui.again.title} onClose={refused} size="narrow">
      <form onSubmit={submit}>
        <div className="b">
          <p className="quiet">{ui.again.about}</p>
          <Field label={ui.again.email}>
            <Input value={email} onValue={() => {}} type="email" autoComplete="username" disabled />
          </Field>
          <Field label={ui.proof.password}>
            <Input
              value={password}
              onValue={setPassword}
              type="password"
              autoComplete="current-password"
              required
            />
          </Field>
          {code !== undefined && (
            <Field label={ui.proof.code} hint={ui.proof.code_hint}>
              <Input
                value={code}
                onValue={setCode}
                autoComplete="one-time-code"
                inputMode="numeric"
                mono
                required
                autoFocus
              />
            </Field>
          )}
          {error !== undefined && <Failure error={error} />}
        </div>
        <DialogFoot>
          <Button onClick={refused}>{ui.cancel}</Button>
          <Button kind="primary" type="submit" busy={busy && ui.proof.going}>
            {ui.again.go}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}
