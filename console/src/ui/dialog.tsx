import {
  type FormEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useText } from '../text/text.tsx'
import { Button, EnclosingWork, type Work } from './button.tsx'
import { Failure } from './failure.tsx'
import { Field, Input } from './field.tsx'
import { Icon } from './icons.tsx'

type Props = {
  /** Write a question; the buttons are verbs. */
  readonly title: ReactNode
  readonly onClose: () => void
  /** `finder` is near the top of the page and does not move when it grows. */
  readonly size?: 'narrow' | 'normal' | 'wide' | 'finder'
  /** No close button and no Esc: a value that is shown once must be acknowledged. */
  readonly held?: boolean
  readonly children: ReactNode
}

/** The native dialog element, which traps the focus and restores it. Open while it is rendered. */
export function Dialog({ title, onClose, size = 'normal', held = false, children }: Props) {
  const { ui } = useText()
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  const work = useWork()

  useEffect(() => {
    const dialog = ref.current
    const opener = document.activeElement
    if (dialog !== null && !dialog.open) {
      dialog.showModal()
      // The browser would focus the close button first.
      dialog.querySelector<HTMLElement>('.b :is(input, textarea, select):not(:disabled)')?.focus()
    }
    return () => {
      dialog?.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])

  return (
    <dialog
      ref={ref}
      className={size === 'normal' ? 'dlg' : `dlg ${size}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        if (!held && !work.busy && event.target === ref.current) onClose()
      }}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {!held && (
          <button
            type="button"
            className="btn plain push"
            aria-label={ui.close}
            disabled={work.busy}
            onClick={onClose}
          >
            <Icon name="close" />
          </button>
        )}
      </header>
      <EnclosingWork value={work}>{children}</EnclosingWork>
    </dialog>
  )
}

/** A running action cannot be cancelled: the dialog stays open until there is a response. */
function useWork(): Work {
  const [count, setCount] = useState(0)
  const begin = useCallback(() => {
    setCount((before) => before + 1)
    return () => setCount((before) => before - 1)
  }, [])
  return useMemo(() => ({ busy: count > 0, begin }), [count, begin])
}

/** Cancel at the left, the action at the right; on a phone both are fixed at the bottom. */
export function DialogFoot({ why, children }: { readonly why?: ReactNode; readonly children: ReactNode }) {
  return (
    <footer>
      {why !== undefined && <span className="why">{why}</span>}
      {children}
    </footer>
  )
}

type ConfirmProps = {
  /** "Revoke checkout?" */
  readonly title: string
  /** The consequences, one per line. */
  readonly follows: readonly ReactNode[]
  /** "Revoke checkout" */
  readonly verb: string
  /** "Revoking…" */
  readonly busy: string
  /** A name to type as confirmation, for irreversible actions in production. */
  readonly typed?: string | undefined
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
  readonly children?: ReactNode
}

/** Confirms an irreversible action: lists the consequences, and asks for the name if `typed` is given. */
export function Confirm({ title, follows, verb, busy, typed, onConfirm, onClose, children }: ConfirmProps) {
  const { ui } = useText()
  const [name, setName] = useState('')
  const [working, setWorking] = useState(false)
  const [error, setError] = useState<unknown>()

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setWorking(true)
    setError(undefined)
    try {
      await onConfirm()
      onClose()
    } catch (failed) {
      setError(failed)
      setWorking(false)
    }
  }

  return (
    <Dialog title={title} onClose={onClose} size="narrow">
      <form onSubmit={submit}>
        <div className="b">
          <ul className="follows" aria-label={ui.what_follows}>
            {follows.map((line, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one question do not move
              <li key={i}>
                <span>{line}</span>
              </li>
            ))}
          </ul>
          {children}
          {typed !== undefined && (
            <Field label={ui.type_name(typed)}>
              <Input value={name} onValue={setName} autoComplete="off" spellCheck={false} />
            </Field>
          )}
          {error !== undefined && <Failure error={error} />}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button
            kind="danger"
            filled
            type="submit"
            busy={working && busy}
            disabled={typed !== undefined && name.trim() !== typed}
          >
            {verb}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}
