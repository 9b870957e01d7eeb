import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { useFormId } from '../../api/form-id.ts'
import { useAct } from '../../api/queries.ts'
import { isolated } from '../../format/id.ts'
import { useChargeText } from '../../text/charges/use-charge-text.ts'
import { Field, Input, Select } from '../../ui/field.tsx'
import { usePlace } from '../../view.tsx'
import { AmountDialog } from './amount-dialog.tsx'

const environment = 'sandbox'
const EXAMPLE = '1050'
const HOUR = '3600'

type Props = {
  readonly customer: { readonly id: string; readonly name: string }
  readonly onClose: () => void
}

/** Creates a charge in the sandbox, under the key of the playground, and opens its page. The form's id is the idempotency key. */
export function ChargeDialog({ customer, onClose }: Props) {
  const { create: words, ...texts } = useChargeText()
  const navigate = useNavigate()
  const place = usePlace()
  const idempotency_key = `console-${useFormId()}`
  const [description, setDescription] = useState('')
  const [lasts, setLasts] = useState(HOUR)
  const [refusal, setRefusal] = useState<unknown>()
  const play = useAct('console.playground.charge', {
    stale: ['console.charges.', 'console.playground.get'],
  })

  const submit = async (amount: string) => {
    setRefusal(undefined)
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
    <AmountDialog
      title={words.title(isolated(customer.name))}
      words={words}
      example={EXAMPLE}
      is_busy={play.isPending}
      failure={refusal}
      onAmount={(amount) => void submit(amount)}
      onClose={onClose}
    >
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
    </AmountDialog>
  )
}

/** The playground shows the API's refusal as a response; here it is an error of the form. */
function refusalOf(told: { readonly status: number; readonly body: unknown }): ApiError {
  const { error } = told.body as { readonly error: ConstructorParameters<typeof ApiError>[0] }
  return new ApiError({ ...error, status: told.status })
}
