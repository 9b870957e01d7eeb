import { useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { callAddress, type Reply } from '../../api/client.ts'
import { useAct } from '../../api/queries.ts'
import type { PixPayout } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { isolated } from '../../format/id.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Details, metadataRows } from '../../ui/details.tsx'
import { Id } from '../../ui/id.tsx'
import { PageHead } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { useSeen } from '../../view.tsx'
import { destinationText } from './destination.ts'
import { ObjectPage } from './object-page.tsx'
import {
  CustomerDetail,
  FailureDetail,
  isOpen,
  KeyDetail,
  OrderActions,
  OrderBody,
  OrderWords,
  receiptLanguage,
  useOrderPolling,
  When,
} from './order.tsx'
import './money.css'

type Page = Reply<'console.payouts.get'>

export function PayoutPage() {
  const { money } = useText()
  const environment = useEnvironment()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const query = useSeen(
    'console.payouts.get',
    { params: { environment, payout_id: id } },
    { live: ['payout', 'webhook_endpoint'] },
  )
  useOrderPolling(query.data !== undefined && isOpen(query.data.payout), query.refetch)
  return (
    <ObjectPage id={id} list="payouts" words={money.payouts} query={query}>
      {(page) => <Payout page={page} onChanged={() => void query.refetch()} />}
    </ObjectPage>
  )
}

function Payout({ page, onChanged }: { readonly page: Page; readonly onChanged: () => void }) {
  const { money } = useText()
  const { payout } = page
  const [said, setSaid] = useState<ReactNode>()
  const state = page.no_answer ? 'no_answer' : payout.status
  return (
    <>
      <PageHead
        tab={money.payouts.one}
        title={
          <span className="value">
            <Amount units={payout.amount} asset="BRL" />{' '}
            <small className="quiet">{money.payouts.to_name(isolated(payout.counterparty.name))}</small>
          </span>
        }
        under={
          <>
            <Status state={state} large>
              {money.state[state]}
            </Status>
            <span className="quiet">
              <When order={payout} words={money.payouts} />
            </span>
          </>
        }
        actions={<Actions payout={payout} onSaid={setSaid} onChanged={onChanged} />}
      />
      <OrderWords
        page={page}
        said={said}
        since={payout.created_at}
        silent={money.silent.pix}
        states={money.state}
      />
      <OrderBody page={page} order={payout} rail="pix" send_id={page.send_id}>
        <PayoutDetails page={page} />
      </OrderBody>
    </>
  )
}

type ActionProps = {
  readonly payout: PixPayout
  readonly onSaid: (said: ReactNode) => void
  readonly onChanged: () => void
}

function Actions({ payout, ...rest }: ActionProps) {
  const { money } = useText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  const input = { params: { environment, payout_id: payout.id }, body: {} }
  const stale = ['console.payouts.', 'console.customers.']
  const complete = useAct('console.payouts.complete', { stale })
  const fail = useAct('console.payouts.fail', { stale })
  const redeliver = useAct('console.payouts.redeliver', { stale })
  return (
    <OrderActions
      order={payout}
      redeliver={() => redeliver.mutateAsync(input)}
      ends={[
        { label: money.sandbox.complete, run: () => complete.mutateAsync(input) },
        { label: money.sandbox.fail, run: () => fail.mutateAsync(input) },
      ]}
      receipt={
        payout.status === 'completed'
          ? callAddress('console.payouts.receipt', {
              params: input.params,
              query: { lang: receiptLanguage(language) },
            })
          : undefined
      }
      all={{ label: money.payouts.of_customer, to: '/$environment/payouts' }}
      {...rest}
    />
  )
}

function PayoutDetails({ page }: { readonly page: Page }) {
  const { money } = useText()
  const { payout, customer, request } = page
  return (
    <Details
      rows={[
        [money.customer, <CustomerDetail key="customer" customer={customer} />],
        [money.to, <To key="to" to={payout.counterparty} />],
        [money.amount, <Amount key="amount" units={payout.amount} asset="BRL" />],
        [money.fee, <Amount key="fee" units={payout.fee} asset="BRL" />],
        [
          money.details.amount_returned,
          payout.amount_returned !== undefined && <Amount units={payout.amount_returned} asset="BRL" />,
        ],
        [money.details.description, payout.description],
        [money.details.failure, payout.failure && <FailureDetail failure={payout.failure} />],
        [money.end_to_end_id, payout.end_to_end_id && <Id id={payout.end_to_end_id} as="address" />],
        [money.details.send_id, <Id key="send" id={page.send_id} as="address" />],
        ...metadataRows(payout.metadata),
        [money.details.request, request.id !== null && <Id id={request.id} />],
        [money.details.key, <KeyDetail key="key" request={request} />],
        [money.created, <Time key="created" at={payout.created_at} as="detail" />],
        [money.details.completed, payout.completed_at && <Time at={payout.completed_at} as="detail" />],
        [money.details.failed, payout.failed_at && <Time at={payout.failed_at} as="detail" />],
      ]}
    />
  )
}

function To({ to }: { readonly to: PixPayout['counterparty'] }) {
  const { money } = useText()
  return (
    <>
      <bdi>{to.name}</bdi>
      <br />
      <span className="quiet">{to.document}</span>
      <br />
      <span className="quiet">
        {to.pix_key === null ? money.details.account(to.ispb ?? '') : <PixKeyKind pix_key={to.pix_key} />}
      </span>{' '}
      <span className="wrap-any">{to.pix_key ?? destinationText(to)}</span>
    </>
  )
}

function PixKeyKind({ pix_key }: { readonly pix_key: string }): ReactNode {
  const { money } = useText()
  const { details } = money
  if (pix_key.includes('@')) return details.pix_key(details.email)
  if (pix_key.startsWith('+')) return details.pix_key(details.phone)
  if (/^\d{11}$/.test(pix_key)) return details.pix_key('CPF')
  if (/^[0-9A-Z]{14}$/.test(pix_key)) return details.pix_key('CNPJ')
  return details.pix_key(details.random)
}
