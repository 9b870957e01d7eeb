import type { Static } from 'typebox'
import { maskDocument, parseDocument } from '../../core/document.ts'
import { refuse } from '../../core/errors.ts'
import { parseMoney } from '../../core/money.ts'
import { selectNewest } from '../../db/newest.ts'
import { replyToTried } from '../../http/dry-run.ts'
import { type Handler, handle } from '../../http/endpoint.ts'
import { filterOf, listOf, pageOf } from '../../http/page.ts'
import { StoredReply } from '../../http/stored-reply.ts'
import { claimOf } from '../../ledger/once.ts'
import * as contract from './contract.ts'
import { parsePixKey } from './key.ts'
import { lookUpKey } from './lookup.ts'
import { createPayout, findPayout, type PayoutOrder, tryPayout } from './payouts.ts'
import { PAYOUT_OPERATION } from './settle.ts'
import { type Payout, payoutList } from './store.ts'
import type { PayoutWorker } from './worker.ts'

const { renderCounterparty, renderPayout } = contract

export const pixRoutes = (worker: PayoutWorker): Handler[] => [
  handle(contract.createPayout, async (call) => {
    const { world, actor, countLookup, query, body, bodyOf, request_id } = call
    const claim = claimOf(actor.key_id, PAYOUT_OPERATION, body)
    const request = { order: readOrder(body), claim, bodyOf, request_id }
    if (query.dry_run === 'true') {
      await countLookup()
      return replyToTried(await tryPayout(world, actor, request), ({ counterparty }) => ({
        asset: 'BRL',
        more: { counterparty: renderCounterparty(counterparty) },
      }))
    }
    const { response, replayed } = await createPayout(world, actor, request, { worker, countLookup })
    return new StoredReply(response, replayed)
  }),

  handle(contract.listPayouts, async (call) => {
    const { customer_id, status, idempotency_key, end_to_end_id } = call.query
    const list = listOf(contract.listPayouts, call)
    const payouts = await selectNewest<Payout>(call.world.db, payoutList, {
      partner_id: call.actor.partner_id,
      filters: { customer_id, status, idempotency_key, end_to_end_id },
      ...filterOf(list, 'po'),
    })
    return pageOf(list, payouts, renderPayout)
  }),

  handle(contract.getPayout, async ({ world, actor, params }) =>
    renderPayout(await findPayout(world, actor, params.payout_id)),
  ),

  handle(contract.getPixKey, async ({ world, actor, params, query }) => {
    const { type, key } = readPixKey(params.pix_key, 'pix_key')
    const { holder, payable } = await lookUpKey(world, actor, {
      pix_key: key,
      customer_id: query.customer_id,
    })
    const shown = holder && { name: holder.name, document: maskDocument(holder.document) }
    return {
      ...{ type, pix_key: key },
      ...(shown === undefined ? {} : { holder: shown }),
      ...(payable === undefined ? {} : { payable }),
    }
  }),
]

const readOrder = (body: Static<typeof contract.createPayout.body>): PayoutOrder => ({
  customer_id: body.customer_id,
  amount: parseMoney('BRL', body.amount),
  to: readCounterparty(body.counterparty),
  description: body.description ?? null,
  idempotency_key: body.idempotency_key,
  metadata: body.metadata ?? {},
})

function readPixKey(text: string, param: string) {
  return parsePixKey(text) ?? refuse('invalid_pix_key', { param })
}

function readCounterparty(sent: contract.CounterpartyRequest): PayoutOrder['to'] {
  if (sent.type === 'bank_account') return { bank_account: { ...sent, document: readHolder(sent.document) } }
  const pix_key = readPixKey(sent.pix_key, 'counterparty.pix_key').key
  return sent.document === undefined ? { pix_key } : { pix_key, document: readHolder(sent.document) }
}

function readHolder(text: string): string {
  const document =
    parseDocument(text) ??
    refuse('invalid_request', {
      param: 'counterparty.document',
      message:
        'counterparty.document must be a CPF or CNPJ with right check digits, bare or fully punctuated.',
    })
  return document.value
}
