import { Link } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { type Environment, useEnvironment } from '../../environment.ts'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Secret } from '../../ui/secret.tsx'

/** The result of an operator's act. */
export type Acted = Reply<'console.operator.customers.book'>

/** The result of the last decision on a page. Shown at `place` until the person moves on to another. */
export function useResult(place: string) {
  const [result, setResult] = useState<{ acted: Acted; words?: string | undefined; place: string }>()
  useEffect(() => setResult((last) => (last?.place === place ? last : undefined)), [place])
  return {
    result: result?.place === place ? result : undefined,
    show: (acted: Acted, words?: string, at = place) => setResult({ acted, words, place: at }),
  }
}

type NoteProps = {
  readonly acted: Acted
  /** What was decided, in words. */
  readonly words?: string | undefined
}

/** Says what was decided, and that it was done or proposed, with its line in the audit log. */
export function ActedNote({ acted, words }: NoteProps) {
  const { operator } = useText()
  const environment = useEnvironment()
  const { outcome, proposal_id, line } = acted
  return (
    <div role="status">
      <Notice
        kind="calm"
        action={
          outcome === 'proposed' && proposal_id !== null ? (
            <ProposalLink environment={environment} id={proposal_id}>
              {operator.acted.see}
            </ProposalLink>
          ) : undefined
        }
      >
        {words !== undefined && <b>{words} </b>}
        {outcome === 'proposed' ? operator.acted.proposed : words === undefined && operator.acted.done}
        {line !== null && (
          <div className="quiet small">{operator.acted.line(line.seq, operator.audit[line.place])}</div>
        )}
      </Notice>
    </div>
  )
}

type LinkProps = { readonly environment: Environment; readonly id: string; readonly children: ReactNode }

export const ProposalLink = ({ environment, id, children }: LinkProps) => (
  <Link
    className="plain"
    to="/operator/$environment/proposals"
    params={{ environment }}
    search={{ open: id } as never}
  >
    {children}
  </Link>
)

type ActDialogProps = {
  readonly title: string
  readonly verb: string
  readonly busy: string
  /** Whether the button is disabled, and why. */
  readonly blocked?: boolean
  readonly why?: ReactNode
  readonly onAct: () => Promise<Acted | undefined>
  readonly onActed: (acted: Acted) => void
  readonly onClose: () => void
  /** For an act that cannot be undone: the form is followed by a step that says in words what it will do. */
  readonly words?: ReactNode
  readonly children: ReactNode
}

/**
 * A form that performs an act. The caller supplies the fields; `onAct` returns undefined when the form shows a mistake instead.
 */
export function ActDialog(props: ActDialogProps) {
  const { title, verb, busy, blocked = false, why, onAct, onActed, onClose, words, children } = props
  const { ui, operator } = useText()
  const [checking, setChecking] = useState(false)
  const [working, setWorking] = useState(false)
  const [error, setError] = useState<unknown>()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (words !== undefined && !checking) return setChecking(true)
    setWorking(true)
    setError(undefined)
    try {
      const acted = await onAct()
      if (acted !== undefined) {
        onClose()
        onActed(acted)
      }
    } catch (failed) {
      setError(failed)
    } finally {
      setWorking(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <div className="b stack-4">
          {checking ? <p className="med">{words}</p> : children}
          {error !== undefined && <Failure error={error} />}
        </div>
        <DialogFoot why={why}>
          {checking ? (
            <Button onClick={() => setChecking(false)}>{operator.acted.back}</Button>
          ) : (
            <Button onClick={onClose}>{ui.cancel}</Button>
          )}
          <Button kind="primary" type="submit" busy={working && busy} disabled={blocked}>
            {words !== undefined && !checking ? operator.acted.next : verb}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}

type HalvesProps = {
  readonly acted: Acted
  /** The texts for a password that one operator alone created. */
  readonly alone?: { readonly title: string; readonly about: string }
  readonly onDone: () => void
}

/** Shows a password or an activation code once; renders nothing if the act made neither. */
export function ShownOnce({ acted, alone, onDone }: HalvesProps) {
  const { operator } = useText()
  const { proposals } = operator
  if (acted.link !== undefined && alone !== undefined)
    return <Secret title={alone.title} value={acted.link} about={alone.about} onDone={onDone} />
  if (acted.password !== undefined) {
    const { title, about } = alone ?? {
      title: proposals.password_title,
      about: proposals.password_about,
    }
    return <Secret title={title} value={acted.password} about={about} onDone={onDone} />
  }
  if (acted.activation_code !== undefined)
    return (
      <Secret
        title={proposals.code_title}
        value={acted.activation_code}
        about={proposals.code_about}
        onDone={onDone}
      />
    )
  return null
}

export const hasSecret = ({ password, activation_code }: Acted): boolean =>
  password !== undefined || activation_code !== undefined
