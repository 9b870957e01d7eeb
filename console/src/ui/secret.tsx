import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useText } from '../text/text.tsx'
import { Button } from './button.tsx'
import { CopiedNote, useCopy } from './copy.tsx'
import { Dialog, DialogFoot } from './dialog.tsx'
import { Checkbox } from './field.tsx'

/** A secret value with its copy button. The value exists only in the state of the component that shows it. */
function SecretValue({ value }: { readonly value: string }) {
  const { ui } = useText()
  const { copied, copy } = useCopy()
  return (
    <div className="secret">
      <code>{value}</code>
      <span className="push row">
        <CopiedNote copied={copied} />
        <Button kind="primary" icon="copy" onClick={() => copy(value)}>
          {ui.copy}
        </Button>
      </span>
    </div>
  )
}

/** Blocks Back and a reload while a value is shown once, so that it is not lost by accident. */
export const useHeldPage = (): void =>
  useBlocker({ shouldBlockFn: ({ action }) => action !== 'PUSH' && action !== 'REPLACE' })

type Props = {
  readonly title: string
  readonly value: string
  /** Text above the value, saying that it is shown only once. */
  readonly about: ReactNode
  /** "I have stored the key in a safe place" */
  readonly stored?: string
  /** Text at the left of the footer: "Written to the audit log; every owner sees it". */
  readonly foot?: ReactNode
  readonly onDone: () => void
  /** Text below the value, saying what it is for. */
  readonly children?: ReactNode
}

/** Shows a secret once. Neither Esc nor a close button: the dialog ends when the person confirms that the secret is stored. */
export function Secret({ title, value, about, stored, foot, onDone, children }: Props) {
  const { ui } = useText()
  const [kept, setKept] = useState(false)
  useHeldPage()
  return (
    <Dialog title={title} onClose={onDone} held>
      <div className="b">
        <p>{about}</p>
        <SecretValue value={value} />
        {children}
        <Checkbox checked={kept} onChecked={setKept} label={stored ?? ui.stored_it} />
      </div>
      <DialogFoot why={foot}>
        <Button
          onClick={onDone}
          kind={kept ? 'primary' : 'normal'}
          disabled={!kept}
          title={kept ? '' : ui.stored_first}
        >
          {ui.done}
        </Button>
      </DialogFoot>
    </Dialog>
  )
}
