import { Link, useParams } from '@tanstack/react-router'
import type { Reply } from '../../api/client.ts'
import { useEnvironment } from '../../environment.ts'
import { isolated } from '../../format/id.ts'
import { Ledger } from '../../object/ledger.tsx'
import { ObjectEvents } from '../../object/object-events.tsx'
import { useChargeText } from '../../text/charges/use-charge-text.ts'
import { useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Details } from '../../ui/details.tsx'
import { Id } from '../../ui/id.tsx'
import { EndMark, PageHead } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { usePlace, useSeen } from '../../view.tsx'
import { ObjectPage } from './object-page.tsx'
import { CustomerDetail } from './order.tsx'
import './money.css'

type Page = Reply<'console.deposits.get'>

export function DepositPage() {
  const { money } = useText()
  const environment = useEnvironment()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const query = useSeen(
    'console.deposits.get',
    { params: { environment, deposit_id: id } },
    { live: ['deposit', 'webhook_endpoint'] },
  )
  return (
    <ObjectPage
      id={id}
      list="customers"
      words={{ title: money.customers.title, one: money.deposited.one }}
      query={query}
    >
      {(page) => <Deposit page={page} />}
    </ObjectPage>
  )
}

function Deposit({ page }: { readonly page: Page }) {
  const { money } = useText()
  const words = money.deposited
  const { one: charge } = useChargeText()
  const { deposit, rail, customer, movements, events } = page
  const { asset } = deposit
  return (
    <>
      <PageHead
        tab={words.one}
        title={
          <span className="value">
            <Amount units={deposit.amount} asset={asset} />{' '}
            <small className="quiet">{words.to_name(isolated(customer.name))}</small>
          </span>
        }
        under={
          <>
            <Status state={deposit.status} large>
              {deposit.below_minimum ? words.below_minimum : money.deposit_state[deposit.status]}
            </Status>
            <span className="quiet">
              <Time at={deposit.created_at} as="detail" />
            </span>
          </>
        }
      />
      <div className="cols c31">
        <div>
          <Ledger movements={movements} customer={customer} />
          <ObjectEvents events={events} />
        </div>
        <aside className="sec" aria-label={money.details.title}>
          <div className="h">
            <h2>{money.details.title}</h2>
          </div>
          <Details
            rows={[
              [money.customer, <CustomerDetail key="customer" customer={customer} />],
              [money.amount, <Amount key="amount" units={deposit.amount} asset={asset} />],
              [words.from, railName(rail, words.rail)],
              [charge, deposit.charge_id && <ChargeLink key="charge" id={deposit.charge_id} />],
              [
                money.end_to_end_id,
                deposit.end_to_end_id && <Id key="end" id={deposit.end_to_end_id} as="address" />,
              ],
              [words.address, deposit.address && <Id id={deposit.address} as="address" />],
              [money.tx_hash, deposit.tx_hash && <Id id={deposit.tx_hash} as="address" />],
              [
                words.confirmations,
                deposit.confirmations &&
                  words.confirmed(deposit.confirmations.seen, deposit.confirmations.needed),
              ],
              [money.created, <Time key="created" at={deposit.created_at} as="detail" />],
              [
                words.credited,
                deposit.completed_at && <Time key="credited" at={deposit.completed_at} as="detail" />,
              ],
            ]}
          />
        </aside>
      </div>
      <EndMark />
    </>
  )
}

const railName = (rail: Page['rail'], names: Readonly<Record<'sandbox' | 'operator', string>>): string =>
  rail === 'sandbox' || rail === 'operator' ? names[rail] : rail === 'pix' ? 'Pix' : rail

function ChargeLink({ id }: { readonly id: string }) {
  const place = usePlace()
  return (
    <Link to={place(`charges/${id}`)}>
      <Id id={id} bare />
    </Link>
  )
}
