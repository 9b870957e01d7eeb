import { refuse } from '../core/errors.ts'
import { isId } from '../core/ids.ts'
import { parseMoney } from '../core/money.ts'
import { type Handler, handle } from '../http/endpoint.ts'
import { onBehalfOf } from '../keys/keys.ts'
import { createSandboxDeposit, renderDeposit } from './contract.ts'
import { deposit } from './deposits.ts'

export const depositsRoutes: Handler[] = [
  handle(createSandboxDeposit, async ({ world, caller, body }) => {
    const { customer_id } = body
    if (!isId('customer', customer_id)) refuse('customer_not_found', { param: 'customer_id' })
    const money = parseMoney(body.asset, body.amount)
    const order = deposit(world, { partner_id: caller.partner_id, customer_id, money, rail: 'sandbox' })
    return renderDeposit(await world.commit(onBehalfOf(caller, order)))
  }),
]
