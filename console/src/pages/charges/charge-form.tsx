import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { useFormId } from '../../api/form-id.ts'
import { useAct } from '../../api/queries.ts'
import { parseAmount, typedAmount } from '../../format/amount.ts'
import { isolated } from '../../format/id.ts'
import { amountError } from '../../text/amount-error.ts'
import { useChargeText } from '../../text/charges/use-charge-text.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { usePlace } from '../../view.tsx'

const environment = 'sandbox'
const EXAMPLE = '1050'
const HOUR = '3600'

type Props = {
  readonly customer: { readonly id: string; readonly name: string }
  readonly onClose: () => void
}

/** Creates a charge in the sandbox, under the key of the playground, and opens its page. The form's id is the idempotency key. */
export function ChargeDialog({ customer, onClose }: Props) {
  const { ui } = useText()
  const { create: words, ...texts } = useChargeText()
  const { language } = useLanguage()
  const navigate = useNavigate()
  const place = usePlace()
  const idempotency_key = `console-${useFormId()}`
  const [typed, setTyped] = useState('')
  const [description, setDescription] = useState('')
  const [lasts, setLasts] = useState(HOUR)
  const [tried, setTried] = useState(false)
  const [refusal, setRefusal] = useState<unknown>()
  const play = useAct('console.playground.charge', {
    stale: ['console.charges.', 'console.playground.get'],
  })
  const wrong = amountError(ui, { typed, asset: 'BRL', language, example: EXAMPLE })

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const amount = parseAmount(typed, 'BRL', language)
    setTried(true)
    setRefusal(undefined)
    if (amount === undefined || wrong !== undefined) return
    const order = {
      customer_id: customer.id,
      amount,
      expires_in_seconds: Number(lasts),
      ...(description.trim() === '' ? {} : { description: description.trim() }),
      idempotency_key,
    }
    try {
      const told = await play.mutateAsync({ params: { environment }, body: order })
      if (told.status !== 201 || told.object_id === null) throw refusalOf(told)
      onClose()
      void navigate({ to: place(`charges/${told.object_id}`) })
    } catch (error) {
      setRefusal(error)
    }
  }

  return (
    <Dialog title={words.title(isolated(customer.name))} onClose={onClose} size="narrow">
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
              placeholder={typedAmount(EXAMPLE, 'BRL', language)}
            />
          </Field>
          <Field label={texts.description} hint={texts.description_hint}>
            <Input value={description} onValue={setDescription} maxLength={140} autoComplete="off" />
          </Field>
          <Field label={words.expires}>
            <Select
              value={lasts}
              onValue={setLasts}
              options={Object.entries(words.lasts).toSorted(([one], [other]) => Number(one) - Number(other))}
            />
          </Field>
          <p className="quiet small">{words.key}</p>
          {refusal !== undefined && <Failure error={refusal} />}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button kind="primary" type="submit" busy={play.isPending && words.busy}>
            {words.verb}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}

/** The playground shows the API's refusal as a response; here it is an error of the form. */
function refusalOf(told: { readonly status: number; readonly body: unknown }): ApiError {
  const { error } = told.body as { readonly error: ConstructorParameters<typeof ApiError>[0] }
  return new ApiError({ ...error, status: told.status })
}
