import { selectNewest } from '../../db/newest.ts'
import { type Handler, handle } from '../../http/endpoint.ts'
import { filterOf, listOf, pageOf } from '../../http/page.ts'
import { StoredReply } from '../../http/stored-reply.ts'
import { worldOf } from '../../parties/keys/keys.ts'
import { addDepositAddress, listDepositAddresses, readNetwork } from './addresses.ts'
import * as contract from './contract.ts'
import { findDeposit } from './deposits.ts'
import { type Deposit, depositList } from './store.ts'

const { getDeposit, listDeposits, renderDeposit, renderDepositAddress } = contract

export const depositsRoutes: Handler[] = [
  handle(contract.createDepositAddress, async ({ world, actor, params, body }) => {
    const wanted = { customer_id: params.customer_id, network: readNetwork(body.network) }
    const { address, is_new } = await addDepositAddress(worldOf(actor, world), actor, wanted)
    return new StoredReply({ status: 201, body: JSON.stringify(renderDepositAddress(address)) }, !is_new)
  }),

  handle(contract.listDepositAddresses, async ({ world, actor, params }) => ({
    data: (await listDepositAddresses(world, actor, params.customer_id)).map(renderDepositAddress),
  })),

  handle(listDeposits, async (call) => {
    const { customer_id, asset, status } = call.query
    const list = listOf(listDeposits, call)
    const deposits = await selectNewest<Deposit>(call.world.db, depositList, {
      partner_id: call.actor.partner_id,
      filters: { customer_id, asset, status },
      ...filterOf(list, 'dep'),
    })
    return pageOf(list, deposits, renderDeposit)
  }),

  handle(getDeposit, async ({ world, actor, params }) =>
    renderDeposit(await findDeposit(world, actor, params.deposit_id)),
  ),
]
