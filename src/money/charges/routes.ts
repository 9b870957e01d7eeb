import type { Static } from 'typebox'
import { parseMoney } from '../../core/money.ts'
import { selectNewest } from '../../db/newest.ts'
import { type Handler, handle } from '../../http/endpoint.ts'
import { filterOf, listOf, pageOf } from '../../http/page.ts'
import { StoredReply } from '../../http/stored-reply.ts'
import { claimOf } from '../../ledger/once.ts'
import { type ChargeOrder, createCharge, findCharge } from './charges.ts'
import * as contract from './contract.ts'
import { CHARGE_OPERATION } from './responses.ts'
import { type Charge, chargeList } from './store.ts'
import type { ChargeWorker } from './worker.ts'

const { renderCharge } = contract

export const chargesRoutes = (worker: ChargeWorker): Handler[] => [
  handle(contract.createCharge, async ({ world, actor, body, bodyOf, request_id }) => {
    const claim = claimOf(actor.key_id, CHARGE_OPERATION, body)
    const request = { order: readOrder(body), claim, bodyOf, request_id }
    const { response, replayed } = await createCharge(world, actor, request, worker)
    return new StoredReply(response, replayed)
  }),

  handle(contract.listCharges, async (call) => {
    const { customer_id, status, idempotency_key } = call.query
    const list = listOf(contract.listCharges, call)
    const charges = await selectNewest<Charge>(call.world.db, chargeList, {
      partner_id: call.actor.partner_id,
      filters: { customer_id, status, idempotency_key },
      ...filterOf(list, 'chg'),
    })
    return pageOf(list, charges, renderCharge)
  }),

  handle(contract.getCharge, async ({ world, actor, params }) =>
    renderCharge(await findCharge(world, actor, params.charge_id)),
  ),
]

const readOrder = (body: Static<typeof contract.createCharge.body>): ChargeOrder => ({
  customer_id: body.customer_id,
  amount: parseMoney('BRL', body.amount),
  expires_in_seconds: body.expires_in_seconds ?? contract.EXPIRES_IN.usual,
  description: body.description ?? null,
  idempotency_key: body.idempotency_key,
  metadata: body.metadata ?? {},
})
