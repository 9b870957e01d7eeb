import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Asset } from '../../ui/asset.tsx'
import { Button } from '../../ui/button.tsx'
import { Details } from '../../ui/details.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Id } from '../../ui/id.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Crumbs, EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { ViewOfPartner } from '../../view.tsx'
import { Statement } from '../money/statement.tsx'
import { type Acted, ActedNote } from './acted.tsx'
import { Book, Reverse } from './booking.tsx'
import { EditLimits, MoneyLimits } from './limits.tsx'

type Seen = Reply<'console.operator.customers.get'>
type OpenAct = 'credit' | 'debit' | 'reverse' | 'block' | 'limits'
const stale = ['console.operator.']

/** The operator's page of a customer: balances, limits and actions. */
export function OperatorCustomerPage() {
  const { operator } = useText()
  const { customer_id = '' } = useParams({ strict: false }) as { customer_id?: string }
  const environment = useEnvironment()
  const seen = useCall(
    'console.operator.customers.get',
    { params: { environment, customer_id } },
    { live: ['customer', 'payout', 'transfer', 'deposit', 'trade'] },
  )
  const [doing, setDoing] = useState<OpenAct>()
  const [acted, setActed] = useState<Acted>()
  const { data } = seen
  return (
    <>
      <Crumbs>
        {[
          <Link key="all" to="/operator/$environment/partners" params={{ environment }}>
            {operator.partners.title}
          </Link>,
          data !== undefined && (
            <Link
              key="partner"
              to="/operator/$environment/partners/$partner_id"
              params={{ environment, partner_id: data.partner.id }}
            >
              {data.partner.name}
            </Link>
          ),
          <Id key="id" id={customer_id} />,
        ].filter((crumb) => crumb !== false)}
      </Crumbs>
      <PageHead
        title={data?.customer.name ?? operator.partner.customers}
        actions={
          data !== undefined && (
            <>
              <Link
                className="btn"
                to={`/operator/${environment}/partners/${data.partner.id}/customers/${customer_id}`}
              >
                {operator.view.as_partner}
              </Link>
              <Actions seen={data} onDo={setDoing} onActed={setActed} />
            </>
          )
        }
      />
      {seen.isError && <Failure error={seen.error} onAgain={() => void seen.refetch()} reading />}
      {acted !== undefined && (
        <Section tight>
          <ActedNote acted={acted} />
        </Section>
      )}
      {data !== undefined && <CustomerDetails seen={data} />}
      {data !== undefined && (
        <ViewOfPartner value={{ partner_id: data.partner.id, name: data.partner.name, trail: [] }}>
          <Statement customer_id={customer_id} />
        </ViewOfPartner>
      )}
      <EndMark />
      {data !== undefined && doing !== undefined && (
        <ActDialogs seen={data} doing={doing} onActed={setActed} onClose={() => setDoing(undefined)} />
      )}
    </>
  )
}

type ActionProps = {
  readonly seen: Seen
  readonly onDo: (what: OpenAct) => void
  readonly onActed: (acted: Acted) => void
}

function Actions({ seen: { customer }, onDo, onActed }: ActionProps) {
  const { operator } = useText()
  const { booking, customer: words } = operator
  const { may } = useSession()
  const environment = useEnvironment()
  const change = useAct('console.operator.customers.change', { stale, onSuccess: onActed })
  const allowed = customer.third_party_payouts === true
  return (
    <>
      {may('operator.decide') && (
        <>
          <Button onClick={() => onDo('credit')}>{booking.credit}</Button>
          <Button onClick={() => onDo('debit')}>{booking.debit}</Button>
        </>
      )}
      {may('operator.decide') && (
        <Menu
          items={[
            { label: booking.reverse, onPick: () => onDo('reverse') },
            ...(may('operator.rule')
              ? ([
                  { label: operator.partner.set_limits, onPick: () => onDo('limits') },
                  {
                    label: allowed ? words.forbid : words.allow,
                    onPick: () =>
                      change.mutate({
                        params: { environment, customer_id: customer.id },
                        body: { third_party_payouts: !allowed },
                      }),
                  },
                  'line',
                  {
                    label: customer.status === 'active' ? words.block : words.unblock,
                    danger: customer.status === 'active',
                    onPick: () => onDo('block'),
                  },
                ] as const)
              : []),
          ]}
        />
      )}
      {change.isError && <Failure error={change.error} />}
    </>
  )
}

function CustomerDetails({ seen }: { readonly seen: Seen }) {
  const { operator } = useText()
  const words = operator.customer
  const { customer, balances } = seen
  return (
    <>
      <div className="cols c21">
        <Section title={words.balances}>
          <Table
            label={words.balances}
            rows={balances}
            keyOf={({ asset }) => asset}
            look="plain"
            columns={[
              {
                key: 'asset',
                head: operator.booking.asset,
                fold: 'm1',
                cell: ({ asset }) => <Asset asset={asset} />,
              },
              {
                key: 'available',
                head: operator.partner.available,
                right: true,
                fold: 'a1',
                labelled: true,
                className: 'med',
                cell: ({ asset, available }) => <Amount units={available} asset={asset} as="bare" />,
              },
              {
                key: 'in_transit',
                head: operator.partner.in_transit,
                right: true,
                fold: 'a2',
                labelled: true,
                cell: ({ asset, in_transit }) => <Amount units={in_transit} asset={asset} as="bare" />,
              },
            ]}
          />
        </Section>
        <Section title={operator.partner.terms}>
          <Details
            rows={[
              [
                words.status,
                <Status key="status" state={customer.status}>
                  {words.state[customer.status]}
                </Status>,
              ],
              [words.document, customer.document],
              [operator.people.email, customer.email],
              [words.third_party, customer.third_party_payouts ? words.allowed : words.own_only],
            ]}
          />
        </Section>
      </div>
      <div className="cols c21">
        <Section title={operator.partner.money_limits} about={words.in_force}>
          <MoneyLimits limits={seen.in_force} used={seen.used} />
        </Section>
        <Section title={words.own}>
          <MoneyLimits limits={seen.money_limits} />
        </Section>
      </div>
    </>
  )
}

type DoingProps = {
  readonly seen: Seen
  readonly doing: OpenAct
  readonly onActed: (acted: Acted) => void
  readonly onClose: () => void
}

function ActDialogs({ seen, doing, onActed, onClose }: DoingProps) {
  const { operator } = useText()
  const words = operator.customer
  const environment = useEnvironment()
  const change = useAct('console.operator.customers.change', { stale })
  const limit = useAct('console.operator.customers.limit_money', { stale })
  const { customer } = seen
  const params = { environment, customer_id: customer.id }
  if (doing === 'reverse')
    return <Reverse partner_id={seen.partner.id} customer={customer} onActed={onActed} onClose={onClose} />
  if (doing === 'limits')
    return (
      <EditLimits
        name={customer.name}
        hint={operator.partner.limit_follows}
        limits={seen.money_limits}
        onSave={(body) => limit.mutateAsync({ params, body })}
        onActed={onActed}
        onClose={onClose}
      />
    )
  if (doing === 'block') {
    const blocks = customer.status === 'active'
    return (
      <Confirm
        title={blocks ? words.block_title(customer.name) : words.unblock_title(customer.name)}
        follows={blocks ? words.blocks : words.unblocks}
        verb={blocks ? words.block_verb : words.unblock_verb}
        busy={words.working}
        typed={blocks && environment === 'production' ? customer.name : undefined}
        onConfirm={async () =>
          onActed(await change.mutateAsync({ params, body: { status: blocks ? 'blocked' : 'active' } }))
        }
        onClose={onClose}
      />
    )
  }
  return <Book kind={doing} customer={customer} onActed={onActed} onClose={onClose} />
}
