import { ApiError } from '../../api/errors.ts'
import { useFormId } from '../../api/form-id.ts'
import { useAct } from '../../api/queries.ts'
import type { PixCharge } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { useChargeText } from '../../text/charges/use-charge-text.ts'
import { AmountDialog } from './amount-dialog.tsx'

type Props = { readonly charge: PixCharge; readonly onClose: () => void }

/** The form that pays a charge of the sandbox. The amount is filled in: the part that is not paid yet, or the whole amount if the charge is paid. */
export function PayDialog({ charge, onClose }: Props) {
  const { pay: words } = useChargeText()
  const environment = useEnvironment()
  const form_id = useFormId()
  const missing = BigInt(charge.amount) - BigInt(charge.amount_received)
  const pay = useAct('console.charges.pay', { stale: ['console.charges.', 'console.customers.'] })

  const submit = async (amount: string) => {
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
    <AmountDialog
      title={words.title}
      words={words}
      example={charge.amount}
      start={missing > 0n ? missing : charge.amount}
      is_busy={pay.isPending}
      failure={pay.error}
      onAmount={(amount) => void submit(amount)}
      onClose={onClose}
    />
  )
}
