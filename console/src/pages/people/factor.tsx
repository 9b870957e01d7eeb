import { type FormEvent, useEffect, useRef, useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useAct } from '../../api/queries.ts'
import { renewSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { CopiedNote, CopyButton, useCopy } from '../../ui/copy.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Checkbox, Field, Input } from '../../ui/field.tsx'
import { Qr } from '../../ui/qr.tsx'
import { Rich } from '../../ui/rich.tsx'
import { useHeldPage } from '../../ui/secret.tsx'

type Seed = Reply<'console.me.begin_factor'>

/** The TOTP secret is requested when the form opens and exists only in its state. */
export function useEnrolment(onCodes: (codes: readonly string[]) => void) {
  const { people } = useText()
  const [seed, setSeed] = useState<Seed>()
  const [code, setCode] = useState('')
  const [error, setError] = useState<unknown>()
  const confirm = useAct('console.me.confirm_factor', { stale: ['console.me.'] })
  const wrong = error instanceof ApiError && error.param === 'code' ? people.me.not_its_code : undefined
  const begun = useRef(false)

  useEffect(() => {
    if (begun.current) return
    begun.current = true
    call('console.me.begin_factor').then(setSeed, setError)
  }, [])

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setError(undefined)
    try {
      const { recovery_codes } = await confirm.mutateAsync({ body: { code: code.trim() } })
      await renewSession()
      onCodes(recovery_codes)
    } catch (failed) {
      setError(failed)
      setCode('')
    }
  }
  return { seed, code, setCode, error, wrong, busy: confirm.isPending, submit }
}

type Enrolment = ReturnType<typeof useEnrolment>

/** The key as a QR code and in letters, and the field for its first code. */
export function EnrolFields({ of: { seed, code, setCode, error, wrong } }: { readonly of: Enrolment }) {
  const { people } = useText()
  return (
    <>
      {seed && (
        <div className="enrol">
          <Qr text={seed.uri} name={people.me.enrol_qr} />
          <div className="stack">
            <p>{people.me.enrol_scan}</p>
            <p className="enrol-key">
              <span className="quiet small">{people.me.enrol_key}</span>
              <br />
              <code className="mono">{seed.secret.match(/.{1,4}/g)?.join(' ')}</code>{' '}
              <CopyButton value={seed.secret} label={people.me.enrol_key} />
            </p>
            <Field label={people.me.enrol_code} hint={people.me.enrol_hint} error={wrong}>
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
          </div>
        </div>
      )}
      {error !== undefined && wrong === undefined && <Failure error={error} />}
    </>
  )
}

export function Enrol({
  onClose,
  onCodes,
}: {
  readonly onClose: () => void
  readonly onCodes: (codes: readonly string[]) => void
}) {
  const { people, ui } = useText()
  const enrolment = useEnrolment(onCodes)
  return (
    <Dialog title={people.me.enrol_title} onClose={onClose}>
      <form onSubmit={enrolment.submit}>
        <div className="b">
          <EnrolFields of={enrolment} />
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button
            kind="primary"
            type="submit"
            disabled={enrolment.seed === undefined}
            busy={enrolment.busy && people.me.confirming}
          >
            {people.me.confirm}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}

/** Recovery codes are shown once, so neither Esc nor a close button dismisses them. */
export function RecoveryCodes({
  codes,
  onDone,
}: {
  readonly codes: readonly string[]
  readonly onDone: () => void
}) {
  const { people, ui } = useText()
  const [stored, setStored] = useState(false)
  useHeldPage()
  const { copied, copy } = useCopy()
  return (
    <Dialog title={people.me.codes_title} onClose={onDone} held>
      <div className="b">
        <p>
          <Rich>{people.me.codes_about}</Rich>
        </p>
        <ul className="codes">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <div className="row gap-3">
          <Button kind={stored ? 'normal' : 'primary'} icon="copy" onClick={() => copy(codes.join('\n'))}>
            {ui.copy}
          </Button>
          <CopiedNote copied={copied} />
        </div>
        <Checkbox checked={stored} onChecked={setStored} label={people.me.codes_stored} />
      </div>
      <DialogFoot>
        <Button
          onClick={onDone}
          kind={stored ? 'primary' : 'normal'}
          disabled={!stored}
          title={stored ? '' : ui.stored_first}
        >
          {ui.done}
        </Button>
      </DialogFoot>
    </Dialog>
  )
}
