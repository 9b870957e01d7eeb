import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { useFormId } from '../../api/form-id.ts'
import { useAct } from '../../api/queries.ts'
import type { PixCharge } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { parseAmount, typedAmount } from '../../format/amount.ts'
import { amountError } from '../../text/amount-error.ts'
import { useChargeText } from '../../text/charges/use-charge-text.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Field, Input } from '../../ui/field.tsx'

type Props = { readonly charge: PixCharge; readonly onClose: () => void }

/** Pays a charge of the sandbox: what is missing, or the whole amount once more, unless the person writes another amount. */
export function PayDialog({ charge, onClose }: Props) {
  const { ui } = useText()
  const { pay: words } = useChargeText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  const form_id = useFormId()
  const missing = BigInt(charge.amount) - BigInt(charge.amount_received)
  const [typed, setTyped] = useState(() =>
    typedAmount(missing > 0n ? missing : charge.amount, 'BRL', language),
  )
  const [tried, setTried] = useState(false)
  const pay = useAct('console.charges.pay', { stale: ['console.charges.', 'console.customers.'] })
  const wrong = amountError(ui, { typed, asset: 'BRL', language, example: charge.amount })

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const amount = parseAmount(typed, 'BRL', language)
    setTried(true)
    if (amount === undefined || wrong !== undefined) return
    try {
      await pay.mutateAsync({
        params: { environment, charge_id: charge.id },
        body: { form_id, amount },
      })
      onClose()
    } catch (error) {
      if (error instanceof ApiError && error.code === 'already_done') onClose()
    }
  }

  return (
    <Dialog title={words.title} onClose={onClose} size="narrow">
      <form onSubmit={(event) => void submit(event)} noValidate>
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
            />
          </Field>
          {pay.isError && <Failure error={pay.error} />}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button kind="primary" type="submit" busy={pay.isPending && words.busy}>
            {words.verb}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}
