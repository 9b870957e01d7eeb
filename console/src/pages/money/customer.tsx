import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { callAddress, type Reply } from '../../api/client.ts'
import type { Balance, Customer as CustomerData } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { amountText, isLong } from '../../format/amount.ts'
import { listTime, longDay } from '../../format/time.ts'
import { CsvLink } from '../../lists/csv-link.tsx'
import { rangeOf } from '../../lists/period.tsx'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Coin } from '../../ui/asset.tsx'
import { Button } from '../../ui/button.tsx'
import { Details, metadataRows } from '../../ui/details.tsx'
import { useFilters } from '../../ui/filters.tsx'
import { Meter } from '../../ui/meter.tsx'
import { PageHead } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { usePlace, useSeen, useView } from '../../view.tsx'
import { CustomerCharges } from '../charges/customer-charges.tsx'
import { DepositAddresses, Deposits } from './customer-deposits.tsx'
import { EditCustomer } from './customer-form.tsx'
import { DepositDialog } from './deposit.tsx'
import { ObjectPage } from './object-page.tsx'
import { Statement } from './statement.tsx'
import './money.css'

type Page = Reply<'console.customers.get'>

export function CustomerPage() {
  const { money } = useText()
  const environment = useEnvironment()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const query = useSeen(
    'console.customers.get',
    { params: { environment, customer_id: id } },
    { live: ['customer', 'deposit', 'payout', 'transfer', 'trade'] },
  )
  return (
    <ObjectPage id={id} list="customers" words={money.customers} query={query}>
      {(page) => <Customer page={page} />}
    </ObjectPage>
  )
}

function Customer({ page }: { readonly page: Page }) {
  const { money } = useText()
  const { language } = useLanguage()
  const { customer, balances } = page
  return (
    <>
      <PageHead
        title={<bdi>{customer.name}</bdi>}
        tab={customer.name}
        under={
          <>
            <Status state={customer.status} large>
              {money.state[customer.status]}
            </Status>
            <span className="quiet">
              {customer.document_type.toUpperCase()} {customer.document}
            </span>
            <span className="quiet">{money.customers.since(longDay(customer.created_at, { language }))}</span>
          </>
        }
        actions={<Actions customer={customer} />}
      />
      <div className="cols c3">
        {balances.map((balance) => (
          <Holding key={balance.asset} balance={balance} />
        ))}
      </div>
      <div className="cols c31 grow">
        <Statement customer_id={customer.id} />
        <aside className="sec" aria-label={money.data.title}>
          <Data customer={customer} />
          <CustomerCharges customer={customer} />
          <DepositAddresses page={page} />
          <OnItsWay page={page} />
          <Deposits page={page} />
          <Limits page={page} />
        </aside>
      </div>
    </>
  )
}

function Actions({ customer }: { readonly customer: CustomerData }) {
  const { money } = useText()
  const { language } = useLanguage()
  const { may } = useSession()
  const environment = useEnvironment()
  const view = useView()
  const { values } = useFilters(['asset', 'created'])
  const [open, setOpen] = useState<'edit' | 'deposit'>()
  const asset = values.asset as 'BRL' | 'USDT' | 'BTC' | undefined
  const csv = callAddress('console.customers.statement_csv', {
    params: { environment, customer_id: customer.id },
    query: { ...(asset ? { asset } : {}), ...rangeOf(values.created), language },
  })
  return (
    <>
      {environment === 'sandbox' && may('sandbox.act') && (
        <Button icon="plus" onClick={() => setOpen('deposit')}>
          {money.deposit.button}
        </Button>
      )}
      {may('export') && <CsvLink href={csv}>{money.statement.csv}</CsvLink>}
      {may('customers.write') && <Button onClick={() => setOpen('edit')}>{money.form.edit}</Button>}
      {view?.customerActions?.(customer.id)}
      {open === 'edit' && <EditCustomer customer={customer} onClose={() => setOpen(undefined)} />}
      {open === 'deposit' && <DepositDialog customer_id={customer.id} onClose={() => setOpen(undefined)} />}
    </>
  )
}

function Holding({ balance }: { readonly balance: Balance }) {
  const { money } = useText()
  const { asset, available, in_transit, total } = balance
  return (
    <div className="bal">
      <div className="top">
        <Coin asset={asset} big />
        <b className="strong">{asset}</b>
      </div>
      <div className={isLong(available) ? 'v long' : 'v'}>
        <Amount units={available} asset={asset} />
      </div>
      <dl className="split">
        <dt>{money.balances.in_transit}</dt>
        <dd>
          <Amount units={in_transit} asset={asset} as="bare" />
        </dd>
        <dt>{money.balances.total}</dt>
        <dd>
          <Amount units={total} asset={asset} as="bare" />
        </dd>
      </dl>
    </div>
  )
}

function Data({ customer }: { readonly customer: CustomerData }) {
  const { money } = useText()
  return (
    <>
      <div className="h">
        <h2>{money.data.title}</h2>
      </div>
      <Details
        rows={[
          [money.data.name, customer.name],
          [
            money.data.document,
            <>
              {customer.document} <span className="tag">{customer.document_type.toUpperCase()}</span>
            </>,
          ],
          [money.data.email, customer.email && <span className="wrap-any">{customer.email}</span>],
          [
            money.data.external_id,
            customer.external_id && <span className="mono">{customer.external_id}</span>,
          ],
          ...metadataRows(customer.metadata),
          [money.data.third_party, customer.third_party_payouts && money.data.third_party_yes],
          [money.data.created, <Time key="created" at={customer.created_at} as="detail" />],
        ]}
      />
    </>
  )
}

function OnItsWay({ page }: { readonly page: Page }) {
  const { money } = useText()
  const place = usePlace()
  return (
    <div className="aside-part">
      <div className="h">
        <h2>{money.way.title}</h2>
      </div>
      {page.on_its_way.length === 0 ? (
        <p className="quiet">{money.way.none}</p>
      ) : (
        <table className="t flat" aria-label={money.way.title}>
          <tbody>
            {page.on_its_way.map(({ id, kind, asset, network, amount, status, no_answer }) => (
              <tr key={id}>
                <td className="two">
                  <Link className="plain" to={place(`${kind}s/${id}`)}>
                    {kind === 'payout' ? money.way.payout : money.way.transfer(network ?? '')}
                  </Link>
                  <small>{no_answer ? money.state.no_answer : money.state[status]}</small>
                </td>
                <td className="r">
                  <Amount units={amount} asset={asset} as="column" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}

function Limits({ page }: { readonly page: Page }) {
  const { money } = useText()
  const { language } = useLanguage()
  if (page.limits.length === 0) return null
  return (
    <div className="aside-part">
      <div className="h">
        <h2>{money.limits.title}</h2>
      </div>
      <Details
        rows={page.limits.map(({ name, asset, allowed, used, resets_at }) => {
          const text = (units: string) => amountText(units, asset, { language })
          return [
            money.limits.names[name] ?? name,
            <>
              {used === null ? (
                text(allowed)
              ) : (
                <>
                  {money.limits.used(text(used), text(allowed))}
                  <Meter used={used} of={allowed} label={money.limits.names[name] ?? name} />
                </>
              )}
              {resets_at !== null && (
                <span className="quiet small"> {money.limits.resets(listTime(resets_at, { language }))}</span>
              )}
            </>,
          ] as const
        })}
      />
    </div>
  )
}
