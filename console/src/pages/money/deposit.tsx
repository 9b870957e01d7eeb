import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { useFormId } from '../../api/form-id.ts'
import { useAct } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { parseAmount, typedAmount } from '../../format/amount.ts'
import { amountError } from '../../text/amount-error.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'

type AssetName = 'BRL' | 'USDT' | 'BTC'

const examples: Readonly<Record<AssetName, string>> = { BRL: '100000', USDT: '25000000', BTC: '5000000' }
const options = (Object.keys(examples) as AssetName[]).map((asset) => [asset, asset] as const)

type Props = {
  readonly customer_id: string
  /** The asset selected at first. */
  readonly asset?: AssetName
  readonly onClose: () => void
}

/** Credits test money to a sandbox customer. */
export function DepositDialog({ customer_id, asset: first = 'BRL', onClose }: Props) {
  const { money, ui } = useText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  const form_id = useFormId()
  const [asset, setAsset] = useState<AssetName>(first)
  const [typed, setTyped] = useState('')
  const [tried, setTried] = useState(false)
  const deposit = useAct('console.customers.deposit', {
    stale: ['console.customers.', 'console.playground.get'],
  })
  const wrong = amountError(ui, { typed, asset, language, example: examples[asset] })
  /** Clears the error when the person edits the amount. */
  const forget = () => {
    setTried(false)
    if (deposit.isError) deposit.reset()
  }

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const amount = parseAmount(typed, asset, language)
    setTried(true)
    if (deposit.isError) deposit.reset()
    if (amount === undefined || wrong !== undefined) return
    try {
      await deposit.mutateAsync({ params: { environment, customer_id }, body: { form_id, asset, amount } })
      onClose()
    } catch (error) {
      if (error instanceof ApiError && error.code === 'already_done') onClose()
    }
  }

  return (
    <Dialog title={money.deposit.title} onClose={onClose} size="narrow">
      <form onSubmit={(event) => void submit(event)} noValidate>
        <div className="b">
          <p className="quiet">{money.deposit.about}</p>
          <Field label={money.deposit.asset}>
            <Select
              value={asset}
              onValue={(value) => {
                setAsset(value as AssetName)
                forget()
              }}
              options={options}
            />
          </Field>
          <Field label={money.deposit.amount} error={tried ? wrong : undefined}>
            <Input
              value={typed}
              onValue={(next) => {
                setTyped(next)
                forget()
              }}
              inputMode="decimal"
              autoComplete="off"
              placeholder={typedAmount(examples[asset], asset, language)}
            />
          </Field>
          {deposit.isError && <Failure error={deposit.error} />}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button kind="primary" type="submit" busy={deposit.isPending && money.deposit.busy}>
            {money.deposit.verb}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}
