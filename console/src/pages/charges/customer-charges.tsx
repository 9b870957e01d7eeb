import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useSession } from '../../session.tsx'
import { useChargeText } from '../../text/charges/use-charge-text.ts'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { Status } from '../../ui/status.tsx'
import { useView } from '../../view.tsx'

/** The charge form is loaded when a person opens it: the customer page has a budget of bytes. */
const ChargeDialog = lazy(async () => ({ default: (await import('./charge-form.tsx')).ChargeDialog }))

type Props = {
  readonly customer: { readonly id: string; readonly name: string; readonly status: string }
}

/** The newest charges of a customer. Operators have no list of charges, so they see nothing here. */
export function CustomerCharges({ customer }: Props) {
  return useView() === undefined ? <Newest customer={customer} /> : null
}

const SHOWN = '5'

function Newest({ customer }: Props) {
  const words = useChargeText()
  const environment = useEnvironment()
  const { may } = useSession()
  const [creating, setCreating] = useState(false)
  const list = useCall(
    'console.charges.list',
    { params: { environment }, query: { customer_id: customer.id, limit: SHOWN } },
    { live: ['charge', 'deposit'] },
  )
  const creates = environment === 'sandbox' && may('sandbox.act') && customer.status === 'active'
  const rows = list.data?.data ?? []
  if (rows.length === 0 && !creates) return null
  return (
    <div className="aside-part">
      <div className="h">
        <h2>{words.several}</h2>
        {creates && (
          <Button small icon="plus" onClick={() => setCreating(true)}>
            {words.create.button}
          </Button>
        )}
      </div>
      {rows.length === 0 ? (
        <p className="quiet">{words.none}</p>
      ) : (
        <>
          <table className="t flat" aria-label={words.several}>
            <tbody>
              {rows.map(({ charge }) => (
                <tr key={charge.id}>
                  <td>
                    <div className="deposit-line">
                      <div className="two">
                        <Link
                          className="plain"
                          to="/$environment/charges/$id"
                          params={{ environment, id: charge.id }}
                        >
                          <bdi>{charge.description ?? words.one}</bdi>
                        </Link>
                        <small>
                          <Status state={charge.status}>{words.state[charge.status]}</Status>
                        </small>
                      </div>
                      <Amount units={charge.amount} asset="BRL" as="column" />
                    </div>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <Link
            className="small"
            to="/$environment/charges"
            params={{ environment }}
            search={{ customer_id: customer.id } as never}
          >
            {words.all_of_customer}
          </Link>
        </>
      )}
      {creating && (
        <Suspense fallback={null}>
          <ChargeDialog customer={customer} onClose={() => setCreating(false)} />
        </Suspense>
      )}
    </div>
  )
}
