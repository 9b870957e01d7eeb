import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useAct, useCall } from '../../api/queries.ts'
import type { Exchange } from '../../api/types.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Empty, PageHead, Section } from '../../ui/page.tsx'
import { ExchangePanel } from './exchange.tsx'
import { OrderForm } from './form.tsx'
import { bodyOf, curlOf, type Draft, firstDraft, newKey, paths } from './orders.ts'
import './playground.css'

const environment = 'sandbox'

export type Known = Reply<'console.playground.get'>
/** A call that was sent, with its response. */
export type Made = {
  readonly curl: string
  readonly path: string
  readonly exchange: Exchange
  readonly at: number
}

export function PlaygroundPage() {
  const { playground } = useText()
  const known = useCall(
    'console.playground.get',
    { params: { environment } },
    { live: ['payout', 'transfer', 'trade', 'deposit', 'customer'] },
  )
  return (
    <>
      <PageHead title={playground.title} about={playground.about} />
      {known.data === undefined ? (
        <div aria-busy={known.isPending || undefined}>
          {known.isError && (
            <Section>
              <Failure error={known.error} reading onAgain={() => void known.refetch()} />
            </Section>
          )}
        </div>
      ) : known.data.customers.length === 0 ? (
        <NoCustomers />
      ) : (
        <Playing known={known.data} />
      )}
    </>
  )
}

function NoCustomers() {
  const { playground } = useText()
  return (
    <Empty
      title={playground.no_customers}
      action={
        <Link className="btn" to="/$environment/customers" params={{ environment } as never}>
          {playground.to_customers}
        </Link>
      }
    >
      <p className="quiet">{playground.no_customers_text}</p>
    </Empty>
  )
}

/** The newest customer with a BRL balance. */
const payerOf = ({ customers }: Known) =>
  customers.find(({ balances }) =>
    balances.some(({ asset, available }) => asset === 'BRL' && available !== '0'),
  ) ?? customers[0]!

function Playing({ known }: { readonly known: Known }) {
  const { playground } = useText()
  const { language } = useLanguage()
  const [draft, setDraft] = useState<Draft>(() => firstDraft(payerOf(known).id, language))
  const [made, setMade] = useState<Made>()
  const [sent_key, setSentKey] = useState<string>()
  const calls = useCalls()
  // An idempotency key stands for one body: an edit after it was sent is another order.
  const edit = (next: Draft) =>
    setDraft(next.idempotency_key === sent_key ? { ...next, idempotency_key: newKey() } : next)

  const send = async (name: keyof typeof calls, path: string, input: object, body: unknown) => {
    const exchange = await calls[name]
      .mutateAsync({ params: { environment }, body, ...input } as never)
      .catch(refused)
    if (exchange === undefined) return
    setMade({ curl: curlOf(known.url, path, body), path, exchange, at: Date.now() })
  }
  const sendDraft = () => {
    const body = bodyOf(draft, language)
    if (body !== undefined) setSentKey(draft.idempotency_key)
    return body === undefined ? undefined : send(draft.kind, paths[draft.kind], {}, body)
  }
  const execute = (quote_id: string) =>
    send(
      'execute',
      `/v1/quotes/${quote_id}/execute`,
      { params: { environment, quote_id }, body: {} },
      undefined,
    )

  const failed = calls[draft.kind].error ?? calls.execute.error
  return (
    <div className="cols play">
      <Section title={playground.what}>
        <OrderForm
          known={known}
          draft={draft}
          onDraft={edit}
          sending={calls[draft.kind].isPending}
          onSend={sendDraft}
        />
        {failed !== null && !(failed instanceof ApiError && isShown(failed)) && <Failure error={failed} />}
      </Section>
      <div className="grow">
        {made === undefined ? (
          <Empty title={playground.nothing_yet}>
            <p className="quiet">{playground.nothing_yet_text}</p>
          </Empty>
        ) : (
          <ExchangePanel made={made} executing={calls.execute.isPending} onExecute={execute} />
        )}
      </div>
    </div>
  )
}

function useCalls() {
  const stale = ['console.playground.get']
  return {
    payout: useAct('console.playground.payout', { stale }),
    charge: useAct('console.playground.charge', { stale }),
    transfer: useAct('console.playground.transfer', { stale }),
    quote: useAct('console.playground.quote', { stale }),
    execute: useAct('console.playground.execute', { stale }),
  }
}

/** Whether a refusal is shown as a response of the API: a 400 means that the body is malformed. */
const isShown = ({ status }: ApiError): boolean => status === 400

function refused(error: unknown): Exchange | undefined {
  if (!(error instanceof ApiError) || !isShown(error)) return undefined
  const { code, message, param, request_id = '' } = error
  return {
    request_id,
    status: error.status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': request_id },
    body: { error: { type: 'invalid_request_error', code, message, param, request_id } },
    duration_ms: 0,
    object_id: null,
  }
}
