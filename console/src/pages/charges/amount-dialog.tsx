import { type ReactNode, useState } from 'react'
import { parseAmount, typedAmount } from '../../format/amount.ts'
import { amountError } from '../../text/amount-error.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Field, Input } from '../../ui/field.tsx'

type Props = {
  readonly title: string
  readonly words: {
    readonly about: string
    readonly amount: string
    readonly verb: string
    readonly busy: string
  }
  /** An amount of BRL for the error that explains how to write one. */
  readonly example: string
  /** The amount that the field begins with. Absent: the field is empty, and shows the example. */
  readonly start?: bigint | string
  readonly is_busy: boolean
  readonly failure?: unknown
  /** Called with an amount that can be read. */
  readonly onAmount: (amount: string) => unknown
  readonly onClose: () => void
  /** Further fields. */
  readonly children?: ReactNode
}

/** A dialog that asks for an amount of BRL. */
export function AmountDialog(props: Props) {
  const { title, words, example, start, is_busy, failure, onAmount, onClose, children } = props
  const { ui } = useText()
  const { language } = useLanguage()
  const [typed, setTyped] = useState(() => (start === undefined ? '' : typedAmount(start, 'BRL', language)))
  const [tried, setTried] = useState(false)
  const wrong = amountError(ui, { typed, asset: 'BRL', language, example })
  const submit = () => {
    const amount = parseAmount(typed, 'BRL', language)
    setTried(true)
    if (amount !== undefined && wrong === undefined) onAmount(amount)
  }
  return (
    <Dialog title={title} onClose={onClose} size="narrow">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
        noValidate
      >
        <div className="b">
          <p className="quiet">{words.about}</p>
          <Field label={words.amount} error={tried ? wrong : undefined}>
            <Input
              value={typed}
              onValue={(next) => {
                setTyped(next)
                setTried(false)
              }}
              inputMode="decimal"
              autoComplete="off"
              {...(start === undefined ? { placeholder: typedAmount(example, 'BRL', language) } : {})}
            />
          </Field>
          {children}
          {failure !== undefined && failure !== null && <Failure error={failure} />}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button kind="primary" type="submit" busy={is_busy && words.busy}>
            {words.verb}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}
