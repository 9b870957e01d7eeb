import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { amountText } from '../../format/amount.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Id } from '../../ui/id.tsx'
import { Qr } from '../../ui/qr.tsx'
import { Status } from '../../ui/status.tsx'
import { usePlace } from '../../view.tsx'

type Page = Reply<'console.customers.get'>
type Address = Page['deposit_addresses'][number]
type Network = Address['network']

const networks: readonly Network[] = ['polygon', 'arbitrum', 'optimism', 'tron', 'ethereum', 'bitcoin']

/** The deposit addresses of the customer, with a button for the networks that have none. */
export function DepositAddresses({ page }: { readonly page: Page }) {
  const { money } = useText()
  const { may } = useSession()
  const [shown, setShown] = useState<Address>()
  const [asking, setAsking] = useState(false)
  const words = money.addresses
  const { customer, deposit_addresses: addresses } = page
  const missing = networks.filter((network) => !addresses.some((made) => made.network === network))
  const offers = missing.length > 0 && customer.status === 'active' && may('customers.write')
  return (
    <div className="aside-part">
      <div className="h">
        <h2>{words.title}</h2>
        {offers && (
          <Button small icon="plus" onClick={() => setAsking(true)}>
            {words.add}
          </Button>
        )}
      </div>
      {addresses.length === 0 ? (
        <p className="quiet">{words.none}</p>
      ) : (
        <ul className="addresses">
          {addresses.map((made) => (
            <li key={made.id}>
              <div className="top">
                <b className="strong">{made.network}</b> <span className="quiet">{made.asset}</span>
                <Button small onClick={() => setShown(made)}>
                  {words.qr}
                </Button>
              </div>
              <Id id={made.address} as="address" />
            </li>
          ))}
        </ul>
      )}
      {shown && <AddressDialog address={shown} onClose={() => setShown(undefined)} />}
      {asking && (
        <NewAddress
          customer_id={customer.id}
          missing={missing}
          onClose={(made) => {
            setAsking(false)
            if (made) setShown(made)
          }}
        />
      )}
    </div>
  )
}

function AddressDialog({ address, onClose }: { readonly address: Address; readonly onClose: () => void }) {
  const { money, ui } = useText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  const words = money.addresses
  const { network, asset, minimum_amount, confirmations_needed } = address
  return (
    <Dialog title={words.on(network)} onClose={onClose} size="narrow">
      <div className="b address-shown">
        <Qr text={address.address} name={words.qr_of(network)} />
        <span className="wrap-any">
          <Id id={address.address} as="full" />
        </span>
        <p>{words.only(asset, network)}</p>
        {environment === 'sandbox' && <p>{words.sandbox}</p>}
        <p className="quiet">
          {words.terms(amountText(minimum_amount, asset, { language }), confirmations_needed)}
        </p>
      </div>
      <DialogFoot>
        <Button onClick={onClose}>{ui.close}</Button>
      </DialogFoot>
    </Dialog>
  )
}

type NewProps = {
  readonly customer_id: string
  readonly missing: readonly Network[]
  readonly onClose: (made?: Address) => void
}

function NewAddress({ customer_id, missing, onClose }: NewProps) {
  const { money, ui } = useText()
  const environment = useEnvironment()
  const words = money.addresses
  const [network, setNetwork] = useState<Network>(missing[0]!)
  const create = useAct('console.customers.create_deposit_address', { stale: ['console.customers.'] })
  const submit = async () => {
    const made = await create
      .mutateAsync({ params: { environment, customer_id }, body: { network } })
      .catch(() => undefined)
    if (made) onClose(made)
  }
  return (
    <Dialog title={words.add} onClose={() => onClose()} size="narrow">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <div className="b">
          <p className="quiet">{words.about}</p>
          <Field label={money.network}>
            <Select
              value={network}
              onValue={(value) => setNetwork(value as Network)}
              options={missing.map((name) => [name, name] as const)}
            />
          </Field>
          {create.isError && <Failure error={create.error} />}
        </div>
        <DialogFoot>
          <Button onClick={() => onClose()}>{ui.cancel}</Button>
          <Button kind="primary" type="submit" busy={create.isPending && words.busy}>
            {words.verb}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}

/** The newest deposits, in any state: the statement has the credited ones only. */
export function Deposits({ page }: { readonly page: Page }) {
  const { money } = useText()
  const place = usePlace()
  const { deposits } = page
  if (deposits.length === 0) return null
  return (
    <div className="aside-part">
      <div className="h">
        <h2>{money.deposited.several}</h2>
      </div>
      <table className="t flat" aria-label={money.deposited.several}>
        <tbody>
          {deposits.map(({ id, status, network, end_to_end_id, asset, amount, below_minimum }) => (
            <tr key={id}>
              <td>
                <div className="deposit-line">
                  <div className="two">
                    <Link className="plain" to={place(`deposits/${id}`)}>
                      {network ?? (end_to_end_id === undefined ? money.deposited.one : 'Pix')}
                    </Link>
                    <small>
                      <Status state={status}>
                        {below_minimum ? money.deposited.below_minimum : money.deposit_state[status]}
                      </Status>
                    </small>
                  </div>
                  <Amount units={amount} asset={asset} as="column" />
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
