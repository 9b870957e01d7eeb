import type { ReactNode } from 'react'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { DialogFoot } from '../../ui/dialog.tsx'
import { FieldGroup } from '../../ui/field.tsx'
import { Segments } from '../../ui/segments.tsx'

const GRACES = ['0', '1', '24', '168'] as const
export type Grace = (typeof GRACES)[number]

type GraceProps = {
  readonly label: string
  readonly hint?: string
  readonly grace: Grace
  readonly onGrace: (grace: Grace) => void
}

/** For how many hours the old secret stays valid beside the new one. */
export function GraceField({ label, hint, grace, onGrace }: GraceProps) {
  const { keys } = useText().developers
  return (
    <FieldGroup label={label} hint={hint}>
      <div className="scroll-x">
        <Segments
          label={label}
          value={grace}
          onValue={onGrace}
          options={GRACES.map((value) => ({ value, label: keys.grace_of(Number(value)) }))}
        />
      </div>
    </FieldGroup>
  )
}

type FootProps = {
  /** The label of the button while the form is sent. */
  readonly busy: string | false
  readonly disabled?: boolean
  readonly onClose: () => void
  /** The label of the button. */
  readonly children: ReactNode
}

/** The cancel and submit buttons of a form. */
export function FormFoot({ busy, disabled = false, onClose, children }: FootProps) {
  const { ui } = useText()
  return (
    <DialogFoot>
      <Button wide onClick={onClose}>
        {ui.cancel}
      </Button>
      <Button kind="primary" wide type="submit" busy={busy} disabled={disabled}>
        {children}
      </Button>
    </DialogFoot>
  )
}
