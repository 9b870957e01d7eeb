import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useText } from '../text/text.tsx'
import { Button } from './button.tsx'
import { CopiedNote, useCopy } from './copy.tsx'
import { Dialog, DialogFoot } from './dialog.tsx'
import { Checkbox } from './field.tsx'

/** A value in a box, with its copy button. It lives in the state of the component that shows it, nowhere else. */
export function SecretValue({ value }: { readonly value: string }) {
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

/** While something is shown once, neither Back nor a reload throws it away unasked. */
export const useHeldPage = (): void =>
  useBlocker({ shouldBlockFn: ({ action }) => action !== 'PUSH' && action !== 'REPLACE' })

type Props = {
  readonly title: string
  readonly value: string
  /** Above the value: that this is the only time. */
  readonly about: ReactNode
  /** "I have stored the key in a safe place" */
  readonly stored?: string
  /** Left in the foot: "Written to the audit log; every owner sees it". */
  readonly foot?: ReactNode
  readonly onDone: () => void
  /** Below the value: what it is for. */
  readonly children?: ReactNode
}

/** Shown once. Neither Esc nor a cross: it ends when the person says that it is stored. */
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
