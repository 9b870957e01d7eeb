import { selectNewest } from '../../db/newest.ts'
import { type Handler, handle } from '../../http/endpoint.ts'
import { filterOf, listOf, pageOf } from '../../http/page.ts'
import { getDeposit, listDeposits, renderDeposit } from './contract.ts'
import { findDeposit } from './deposits.ts'
import { type Deposit, depositList } from './store.ts'

export const depositsRoutes: Handler[] = [
  handle(listDeposits, async (call) => {
    const { customer_id, asset } = call.query
    const list = listOf(listDeposits, call)
    const deposits = await selectNewest<Deposit>(call.world.db, depositList, {
      partner_id: call.actor.partner_id,
      filters: { customer_id, asset },
      ...filterOf(list, 'dep'),
    })
    return pageOf(list, deposits, renderDeposit)
  }),

  handle(getDeposit, async ({ world, actor, params }) =>
    renderDeposit(await findDeposit(world, actor, params.deposit_id)),
  ),
]
