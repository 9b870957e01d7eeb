import { crashPoint } from '../core/crash-point.ts'
import { parseDocument } from '../core/document.ts'
import { refuse } from '../core/errors.ts'
import { parseMoney } from '../core/money.ts'
import { findCustomer } from '../customers/customers.ts'
import { selectNewest } from '../db/newest.ts'
import { Answered } from '../http/answered.ts'
import { answerDryRun } from '../http/dry-run.ts'
import { type Handler, handle } from '../http/endpoint.ts'
import { filterOf, listOf, pageOf } from '../http/page.ts'
import type { Claimed } from '../ledger/command.ts'
import { claimOf, findClaimed } from '../ledger/once.ts'
import type { World } from '../world.ts'
import { awaitAnswer } from './answers.ts'
import * as contract from './contract.ts'
import { parsePixKey } from './key.ts'
import { findPayout, isAllowed, type PayoutOrder, preparePayout, tryPayout } from './payouts.ts'
import { OPERATION } from './settle.ts'
import { type Payout, payoutById, payoutList } from './store.ts'
import type { PayoutWorker } from './worker.ts'

const { renderCounterparty, renderPayout } = contract

export const pixRoutes = (worker: PayoutWorker): Handler[] => [
  handle(contract.createPayout, async ({ world, actor, countLookup, query, body, bodyOf }) => {
    const order: PayoutOrder = {
      customer_id: body.customer_id,
      amount: parseMoney('BRL', body.amount),
      to: readCounterparty(body.counterparty),
      description: body.description ?? null,
      idempotency_key: body.idempotency_key,
    }
    const claim = claimOf(actor.key_id, OPERATION, body)
    const request = { order, claim, bodyOf }

    if (query.dry_run === 'true') {
      await countLookup()
      const tried = await tryPayout(world, actor, request)
      if (tried.kind === 'refused') return new Answered(tried.answer, tried.replayed)
      const { payout, balance_after, would_replay } = tried
      const counterparty = renderCounterparty(payout.counterparty)
      return answerDryRun({ asset: 'BRL', fee: payout.fee, balance_after, would_replay }, { counterparty })
    }

    const claimed = await findClaimed(world, actor.partner_id, claim)
    if (claimed) return new Answered(await answerOf(world, worker, claimed), true)
    const { command, payable } = await preparePayout(world, actor, request)
    // A refusal tells whose key it is not: such answers are counted, so that nobody can scan with them.
    if (!payable) await countLookup()
    const since = performance.now()
    const done = await world.commit(command)
    switch (done.kind) {
      case 'refused':
        return new Answered(done.answer, false)
      case 'existing':
        return new Answered(await answerOf(world, worker, done.claimed), true)
      case 'made': {
        const watch = worker.watch(done.made.id)
        worker.send(done.made, since).catch(() => {}) // The lease brings back whatever went wrong here.
        const answer = await awaitAnswer(world, done.made, watch)
        crashPoint('before_answer')
        return new Answered(answer, false)
      }
    }
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
    const customer =
      query.customer_id === undefined
        ? undefined
        : await findCustomer(world, { partner_id: actor.partner_id, id: query.customer_id })
    const holder =
      (await world.pix.holder(key, customer && { name: customer.name, document: customer.document })) ??
      refuse('pix_key_not_found', { param: 'pix_key' })
    const { name, document } = renderCounterparty({ type: 'pix_key', pix_key: key, ...holder })
    const payable = customer && customer.status === 'active' && isAllowed(holder, customer, actor)
    return { type, pix_key: key, holder: { name, document }, ...(payable === undefined ? {} : { payable }) }
  }),
]

/** What the claim's first caller was, or will be, told. */
async function answerOf(world: World, worker: PayoutWorker, { answer, resource_id }: Claimed) {
  if (answer) return answer
  const payout = (resource_id && (await payoutById(world.db, resource_id))) || refuse('service_unavailable')
  return awaitAnswer(world, payout, worker.watch(payout.id))
}

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
