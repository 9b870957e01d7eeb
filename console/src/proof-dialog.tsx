import { type FormEvent, useState } from 'react'
import { call } from './api/client.ts'
import type { ApiError } from './api/errors.ts'
import { useText } from './text/text.tsx'
import { Button } from './ui/button.tsx'
import { Dialog, DialogFoot } from './ui/dialog.tsx'
import { Failure } from './ui/failure.tsx'
import { Field, Input } from './ui/field.tsx'

type Props = { readonly needed: ApiError; readonly given: () => void; readonly refused: () => void }

/** Asks for a one-time code, or the password if the service requires it, and then repeats the call. */
export function ProofDialog({ needed, given, refused }: Props) {
  const { ui } = useText()
  const [value, setValue] = useState('')
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const by = needed.details.with === 'password' ? 'password' : 'code'

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await call('console.session.prove', {
        body: by === 'code' ? { code: value.trim() } : { password: value },
      })
      given()
    } catch (failed) {
      setError(failed)
      setValue('')
    } finally {
      setBusy(false)
    }
  }

  return (
    <Dialog title={ui.proof.title} onClose={refused} size="narrow">
      <form onSubmit={submit}>
        <div className="b">
          <p className="quiet">{ui.proof.about}</p>
          <Field
            label={by === 'code' ? ui.proof.code : ui.proof.password}
            hint={by === 'code' ? ui.proof.code_hint : undefined}
          >
            <Input
              value={value}
              onValue={setValue}
              type={by === 'code' ? 'text' : 'password'}
              autoComplete={by === 'code' ? 'one-time-code' : 'current-password'}
              inputMode={by === 'code' ? 'numeric' : 'text'}
              mono={by === 'code'}
              required
            />
          </Field>
          {error !== undefined && <Failure error={error} />}
        </div>
        <DialogFoot>
          <Button onClick={refused}>{ui.cancel}</Button>
          <Button kind="primary" type="submit" busy={busy && ui.proof.going}>
            {ui.proof.go}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}
