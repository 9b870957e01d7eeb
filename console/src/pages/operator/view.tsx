import { Link, Outlet, useParams } from '@tanstack/react-router'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useText } from '../../text/text.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Section } from '../../ui/page.tsx'
import { ViewOfPartner } from '../../view.tsx'
import { TransferTransactions } from './transactions.tsx'
import './operator.css'

/** The pages of the partner in the address, as the partner sees them. Operators have no permit of a partner, so no buttons. */
export function PartnerView() {
  const { operator } = useText()
  const environment = useEnvironment()
  const { partner_id = '' } = useParams({ strict: false }) as { partner_id?: string }
  const named = useCall('console.operator.partners.name', { params: { environment, partner_id } })
  if (named.data === undefined)
    return named.isError ? (
      <Section>
        <Failure error={named.error} onAgain={() => void named.refetch()} reading />
      </Section>
    ) : null
  const { name } = named.data
  const trail = [
    <Link key="partners" to="/operator/$environment/partners" params={{ environment }}>
      {operator.partners.title}
    </Link>,
    <Link key="partner" to="/operator/$environment/partners/$partner_id" params={{ environment, partner_id }}>
      {name}
    </Link>,
  ]
  const customerActions = (customer_id: string) => (
    <Link
      className="btn"
      to="/operator/$environment/customers/$customer_id"
      params={{ environment, customer_id }}
    >
      {operator.view.act_on_customer}
    </Link>
  )
  const transferParts = (transfer_id: string) => <TransferTransactions id={transfer_id} />
  return (
    <ViewOfPartner value={{ partner_id, name, trail, customerActions, transferParts }}>
      <div className="sec tight no-line view-strip">
        <Notice kind="calm">
          <b>{name}</b> · {operator.view.strip}
        </Notice>
      </div>
      <Outlet />
    </ViewOfPartner>
  )
}
