import type { Static } from 'typebox'
import { parseMoney } from '../../core/money.ts'
import { selectNewest } from '../../db/newest.ts'
import { replyToTried } from '../../http/dry-run.ts'
import { type Handler, handle } from '../../http/endpoint.ts'
import { filterOf, listOf, pageOf } from '../../http/page.ts'
import { StoredReply } from '../../http/stored-reply.ts'
import { claimOf } from '../../ledger/once.ts'
import type { World } from '../../world.ts'
import * as contract from './contract.ts'
import { type Transfer, transferList } from './store.ts'
import {
  createTransfer,
  currentFees,
  findTransfer,
  readDestination,
  TRANSFER_OPERATION,
  type TransferOrder,
  tryTransfer,
} from './transfers.ts'

const { renderFee, renderTransfer } = contract

export const transfersRoutes: Handler[] = [
  handle(contract.createTransfer, async ({ world, actor, query, body, bodyOf, request_id }) => {
    const order = readOrder(world, body)
    const request = { order, claim: claimOf(actor.key_id, TRANSFER_OPERATION, body), bodyOf, request_id }
    if (query.dry_run === 'true')
      return replyToTried(await tryTransfer(world, actor, request), ({ asset }) => ({ asset }))
    const { response, replayed } = await createTransfer(world, actor, request)
    return new StoredReply(response, replayed)
  }),

  handle(contract.listTransfers, async (call) => {
    const { customer_id, status, asset, network, idempotency_key } = call.query
    const list = listOf(contract.listTransfers, call)
    const transfers = await selectNewest<Transfer>(call.world.db, transferList, {
      partner_id: call.actor.partner_id,
      // Hashes are stored in lower case.
      filters: {
        customer_id,
        status,
        asset,
        network,
        idempotency_key,
        tx_hash: call.query.tx_hash?.toLowerCase(),
      },
      ...filterOf(list, 'tr'),
    })
    return pageOf(list, transfers, renderTransfer)
  }),

  handle(contract.getTransfer, async ({ world, actor, params }) =>
    renderTransfer(await findTransfer(world, actor, params.transfer_id)),
  ),

  handle(contract.getFees, async ({ world }) => ({
    data: (await currentFees(world)).map(({ network, fee }) => renderFee(network, fee)),
  })),
]

const readOrder = (world: World, body: Static<typeof contract.createTransfer.body>): TransferOrder => ({
  customer_id: body.customer_id,
  asset: body.asset,
  network: readDestination(world, body.asset, body.network, body.destination_address),
  amount_net: parseMoney(body.asset, body.amount).units,
  destination_address: body.destination_address,
  idempotency_key: body.idempotency_key,
  metadata: body.metadata ?? {},
})
