import { useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { callAddress, type Reply } from '../../api/client.ts'
import { useAct } from '../../api/queries.ts'
import type { OnchainTransfer } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { shortAddress } from '../../format/id.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Details, metadataRows } from '../../ui/details.tsx'
import { Id } from '../../ui/id.tsx'
import { PageHead } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { useSeen, useView } from '../../view.tsx'
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

type Page = Reply<'console.transfers.get'>

export function TransferPage() {
  const { money } = useText()
  const environment = useEnvironment()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const query = useSeen(
    'console.transfers.get',
    { params: { environment, transfer_id: id } },
    { live: ['transfer', 'webhook_endpoint'] },
  )
  useOrderPolling(query.data !== undefined && isOpen(query.data.transfer), query.refetch)
  return (
    <ObjectPage id={id} list="transfers" words={money.transfers} query={query}>
      {(page) => <Transfer page={page} onChanged={() => void query.refetch()} />}
    </ObjectPage>
  )
}

function Transfer({ page, onChanged }: { readonly page: Page; readonly onChanged: () => void }) {
  const { money } = useText()
  const { transfer } = page
  const view = useView()
  const [said, setSaid] = useState<ReactNode>()
  const state = page.no_answer ? 'no_answer' : transfer.status
  return (
    <>
      <PageHead
        tab={money.transfers.one}
        title={
          <span className="value">
            <Amount units={transfer.amount_net} asset={transfer.asset} />{' '}
            <small className="quiet nowrap">
              {money.transfers.to_address(shortAddress(transfer.destination_address))}
            </small>
          </span>
        }
        under={
          <>
            <Status state={state} large>
              {money.transfer_state[state]}
            </Status>
            <span className="quiet">{transfer.network}</span>
            <span className="quiet">
              <When order={transfer} words={money.transfers} />
            </span>
          </>
        }
        actions={<Actions transfer={transfer} onSaid={setSaid} onChanged={onChanged} />}
      />
      <OrderWords
        page={page}
        said={said}
        since={transfer.created_at}
        silent={(age) => money.silent.chain(transfer.network, age)}
        states={money.transfer_state}
      />
      {view?.transferParts?.(transfer.id)}
      <OrderBody page={page} order={transfer} rail={transfer.network}>
        <TransferDetails page={page} />
      </OrderBody>
    </>
  )
}

type ActionProps = {
  readonly transfer: OnchainTransfer
  readonly onSaid: (said: ReactNode) => void
  readonly onChanged: () => void
}

function Actions({ transfer, ...rest }: ActionProps) {
  const { money } = useText()
  const { language } = useLanguage()
  const environment = useEnvironment()
  const input = { params: { environment, transfer_id: transfer.id }, body: {} }
  const stale = ['console.transfers.', 'console.customers.']
  const confirm = useAct('console.transfers.confirm', { stale })
  const fail = useAct('console.transfers.fail', { stale })
  const redeliver = useAct('console.transfers.redeliver', { stale })
  return (
    <OrderActions
      order={transfer}
      redeliver={() => redeliver.mutateAsync(input)}
      ends={[
        { label: money.sandbox.confirm, run: () => confirm.mutateAsync(input) },
        { label: money.sandbox.fail, run: () => fail.mutateAsync(input) },
      ]}
      receipt={
        transfer.status === 'confirmed'
          ? callAddress('console.transfers.receipt', {
              params: input.params,
              query: { lang: receiptLanguage(language) },
            })
          : undefined
      }
      all={{ label: money.transfers.of_customer, to: '/$environment/transfers' }}
      {...rest}
    />
  )
}

function TransferDetails({ page }: { readonly page: Page }) {
  const { money } = useText()
  const { transfer, customer, request } = page
  const { asset } = transfer
  return (
    <Details
      rows={[
        [money.customer, <CustomerDetail key="customer" customer={customer} />],
        [money.details.destination, <Id key="to" id={transfer.destination_address} as="address" />],
        [money.network, transfer.network],
        [money.amount, <Amount key="net" units={transfer.amount_net} asset={asset} />],
        [money.fee, <Amount key="fee" units={transfer.fee} asset={asset} />],
        [money.details.gross, <Amount key="gross" units={transfer.amount_gross} asset={asset} />],
        [money.details.failure, transfer.failure && <FailureDetail failure={transfer.failure} />],
        [money.tx_hash, transfer.tx_hash && <Id id={transfer.tx_hash} as="address" />],
        ...metadataRows(transfer.metadata),
        [money.details.request, request.id !== null && <Id id={request.id} />],
        [money.details.key, <KeyDetail key="key" request={request} />],
        [money.transfers.created, <Time key="created" at={transfer.created_at} as="detail" />],
        [money.details.confirmed, transfer.completed_at && <Time at={transfer.completed_at} as="detail" />],
        [money.details.failed, transfer.failed_at && <Time at={transfer.failed_at} as="detail" />],
      ]}
    />
  )
}
