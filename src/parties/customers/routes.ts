import { type Handler, handle } from '../../http/endpoint.ts'
import { filterOf, listOf, pageOf } from '../../http/page.ts'
import { balancesOf } from '../../ledger/balances.ts'
import { worldOf } from '../keys/keys.ts'
import * as contract from './contract.ts'
import { addCustomer, editCustomer, findCustomer, findCustomers } from './customers.ts'
import { readStatement } from './statement.ts'

const { renderBalance, renderCustomer, renderStatementLine } = contract

export const customersRoutes: Handler[] = [
  handle(contract.createCustomer, async ({ world, actor, body }) =>
    renderCustomer(await addCustomer(worldOf(actor, world), { ...body, partner_id: actor.partner_id })),
  ),

  handle(contract.listCustomers, async (call) => {
    const { status, document, external_id } = call.query
    const list = listOf(contract.listCustomers, call)
    const customers = await findCustomers(call.world, {
      partner_id: call.actor.partner_id,
      filters: { status, document, external_id },
      ...filterOf(list, 'cus'),
    })
    return pageOf(list, customers, renderCustomer)
  }),

  handle(contract.getCustomer, async ({ world, actor, params }) =>
    renderCustomer(await findCustomer(world, { partner_id: actor.partner_id, id: params.customer_id })),
  ),

  handle(contract.updateCustomer, async ({ world, actor, params, body }) =>
    renderCustomer(
      await editCustomer(
        worldOf(actor, world),
        { partner_id: actor.partner_id, id: params.customer_id },
        body,
      ),
    ),
  ),

  handle(contract.getBalances, async ({ world, actor, params }) => {
    const customer = await findCustomer(world, { partner_id: actor.partner_id, id: params.customer_id })
    return { data: (await balancesOf(world.db, customer.id)).map(renderBalance) }
  }),

  handle(contract.getStatement, async (call) => {
    const { world, actor, params, query } = call
    const customer = await findCustomer(world, { partner_id: actor.partner_id, id: params.customer_id })
    const list = listOf(contract.getStatement, call)
    const { lines, ...page } = await readStatement(world.db, customer, list, query.asset)
    return { data: lines.map((line) => renderStatementLine(line, customer)), ...page }
  }),
]
