import { refuse } from '../core/errors.ts'
import { assets, parseMoney } from '../core/money.ts'
import { selectNewest } from '../db/newest.ts'
import { Answered } from '../http/answered.ts'
import { answerDryRun } from '../http/dry-run.ts'
import { type Handler, handle } from '../http/endpoint.ts'
import { filterOf, listOf, pageOf } from '../http/page.ts'
import { claimOf, findClaimed } from '../ledger/once.ts'
import { networkNames, networks } from './address.ts'
import * as contract from './contract.ts'
import { type Transfer, transferList } from './store.ts'
import {
  currentFee,
  findTransfer,
  OPERATION,
  prepareTransfer,
  readDestination,
  type TransferOrder,
  tryTransfer,
} from './transfers.ts'

const { renderTransfer } = contract

export const transfersRoutes: Handler[] = [
  handle(contract.createTransfer, async ({ world, actor, query, body, bodyOf }) => {
    const order: TransferOrder = {
      customer_id: body.customer_id,
      asset: body.asset,
      network: readDestination(world, body.asset, body.network, body.destination_address),
      amount_net: parseMoney(body.asset, body.amount).units,
      destination_address: body.destination_address,
      idempotency_key: body.idempotency_key,
    }
    const claim = claimOf(actor.key_id, OPERATION, body)
    const request = { order, claim, bodyOf }

    if (query.dry_run === 'true') {
      const tried = await tryTransfer(world, actor, request)
      if (tried.kind === 'refused') return new Answered(tried.answer, tried.replayed)
      const { transfer, balance_after, would_replay } = tried
      return answerDryRun({ asset: transfer.asset, fee: transfer.fee, balance_after, would_replay })
    }

    const claimed = await findClaimed(world, actor.partner_id, claim)
    if (claimed?.answer) return new Answered(claimed.answer, true)
    const done = await world.commit(await prepareTransfer(world, actor, request))
    switch (done.kind) {
      case 'refused':
        return new Answered(done.answer, false)
      case 'existing':
        return new Answered(done.claimed.answer ?? refuse('service_unavailable'), true)
      case 'made':
        return renderTransfer(done.made)
    }
  }),

  handle(contract.listTransfers, async (call) => {
    const { customer_id, status, asset, network, idempotency_key } = call.query
    const list = listOf(contract.listTransfers, call)
    const transfers = await selectNewest<Transfer>(call.world.db, transferList, {
      partner_id: call.actor.partner_id,
      // Hexadecimal, and kept in small letters.
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

  handle(contract.getFees, async ({ world }) => {
    const fees = await Promise.all(
      networkNames.map(async (network) => {
        const fee = await currentFee(world, network).catch(() => undefined)
        const { asset } = networks[network]
        return fee === undefined
          ? []
          : [{ network, asset, fee: fee.toString(), decimals: assets[asset].decimals }]
      }),
    )
    return { data: fees.flat() }
  }),
]
