import { refuse } from '../core/errors.ts'
import { isId } from '../core/ids.ts'
import { assets, parseMoney } from '../core/money.ts'
import { findCustomer } from '../customers/customers.ts'
import { selectNewest } from '../db/newest.ts'
import { Answered } from '../http/answered.ts'
import { type Caller, type Handler, handle } from '../http/endpoint.ts'
import { filterOf, limitOf, pageOf } from '../http/page.ts'
import { claimOf, findClaimed } from '../ledger/once.ts'
import { simulatedHash } from '../rails/chain/simulated.ts'
import type { World } from '../world.ts'
import { networkNames, networks } from './address.ts'
import * as contract from './contract.ts'
import { type Step, stepTransfer } from './settle.ts'
import { isFinal, selectTransfer, type Transfer } from './store.ts'
import {
  acceptTransfer,
  currentFee,
  OPERATION,
  readDestination,
  type TransferOrder,
  tryTransfer,
} from './transfers.ts'

const { renderTransfer } = contract

export const transfersRoutes: Handler[] = [
  handle(contract.createTransfer, async ({ world, caller, query, body, bodyOf }) => {
    const order: TransferOrder = {
      customer_id: body.customer_id,
      asset: body.asset,
      network: readDestination(body.asset, body.network, body.destination_address),
      amount_net: parseMoney(body.asset, body.amount).units,
      destination_address: body.destination_address,
      idempotency_key: body.idempotency_key,
    }
    const claim = claimOf(caller.key_id, OPERATION, body)
    const claimed = await findClaimed(world, caller.partner_id, claim)

    if (query.dry_run === 'true') {
      await caller.countLookup()
      if (claimed?.answer && claimed.answer.status >= 400) return new Answered(claimed.answer, true)
      const { fee, balance_after } = await tryTransfer(world, caller, order)
      const tried = {
        dry_run: true,
        fee: fee.toString(),
        balance_after: balance_after.toString(),
        would_replay: claimed !== undefined,
      }
      return new Answered({ status: 200, body: JSON.stringify(tried) }, false)
    }

    if (claimed?.answer) return new Answered(claimed.answer, true)
    await findCustomer(world, { partner_id: caller.partner_id, id: order.customer_id })
    const fee = await currentFee(world, order.network)
    const done = await world.commit(acceptTransfer(world, caller, order, { claim, fee, bodyOf }))
    switch (done.kind) {
      case 'refused':
        return new Answered(done.answer, false)
      case 'existing':
        return new Answered(done.claimed.answer ?? refuse('service_unavailable'), true)
      case 'made':
        return renderTransfer(done.made)
    }
  }),

  handle(contract.listTransfers, async ({ world, caller, query }) => {
    const { customer_id, status, asset, network } = query
    const equal = { partner_id: caller.partner_id, customer_id, status, asset, network }
    const transfers = await selectNewest<Transfer>(world.db, 'transfers', { equal, ...filterOf(query) })
    return pageOf(transfers, limitOf(query), renderTransfer)
  }),

  handle(contract.getTransfer, async ({ world, caller, params }) =>
    renderTransfer(await findTransfer(world, caller, params.transfer_id)),
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

  handle(contract.confirmTransfer, async ({ world, caller, params }) => {
    const transfer = await findTransfer(world, caller, params.transfer_id)
    const steps: Step[] = [
      { kind: 'signed', tx_hash: simulatedHash(transfer), signed: `forced:${transfer.id}` },
      { kind: 'broadcast' },
      { kind: 'confirmed' },
    ]
    return renderTransfer(await force(world, transfer, steps))
  }),

  handle(contract.failTransfer, async ({ world, caller, params }) => {
    const transfer = await findTransfer(world, caller, params.transfer_id)
    // Unsigned it is refused; signed it must be out before the network can fail it. Of the three, those that fit are taken.
    const steps: Step[] = [
      { kind: 'refused', rail_code: 'refused_before_broadcast' },
      { kind: 'broadcast' },
      { kind: 'failed', rail_code: 'reverted' },
    ]
    return renderTransfer(await force(world, transfer, steps))
  }),
]

async function findTransfer(world: World, caller: Caller, id: string): Promise<Transfer> {
  const transfer = isId('transfer', id)
    ? await selectTransfer(world.db, { id, partner_id: caller.partner_id })
    : undefined
  return transfer ?? refuse('transfer_not_found', { param: 'transfer_id' })
}

/** In the sandbox the caller may play the network: whatever steps are missing are taken, up to the end. */
async function force(world: World, transfer: Transfer, steps: readonly Step[]): Promise<Transfer> {
  for (const step of steps) {
    const { transfer: after, changed } = await world.commit(
      stepTransfer(world, transfer, step, { by: 'caller' }),
    )
    if (changed && isFinal(after)) return after
  }
  return refuse('already_final')
}
