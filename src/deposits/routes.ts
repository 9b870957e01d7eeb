import { refuse } from '../core/errors.ts'
import { isId } from '../core/ids.ts'
import { parseMoney } from '../core/money.ts'
import { selectNewest } from '../db/newest.ts'
import { type Handler, handle } from '../http/endpoint.ts'
import { filterOf, listOf, pageOf } from '../http/page.ts'
import { onBehalfOf } from '../keys/keys.ts'
import { createSandboxDeposit, getDeposit, listDeposits, renderDeposit } from './contract.ts'
import { deposit } from './deposits.ts'
import { type Deposit, depositById, depositList } from './store.ts'

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

  handle(getDeposit, async ({ world, actor, params }) => {
    const found = isId('deposit', params.deposit_id)
      ? await depositById(world.db, params.deposit_id)
      : undefined
    if (found?.partner_id !== actor.partner_id) refuse('deposit_not_found', { param: 'deposit_id' })
    return renderDeposit(found)
  }),

  handle(createSandboxDeposit, async ({ world, actor, body }) => {
    const { customer_id } = body
    if (!isId('customer', customer_id)) refuse('customer_not_found', { param: 'customer_id' })
    const money = parseMoney(body.asset, body.amount)
    const order = deposit(world, { partner_id: actor.partner_id, customer_id, money, rail: 'sandbox' })
    return renderDeposit(await world.commit(onBehalfOf(actor, order)))
  }),
]
