import { type Asset, assetNames } from '../core/money.ts'
import { type Handler, handle } from '../http/endpoint.ts'
import { decodeCursor, encodeCursor, filterOf, type List, listOf, pageOf } from '../http/page.ts'
import { worldOf } from '../keys/keys.ts'
import { balancesOf, type StatementPosition, statementPage } from '../ledger/balances.ts'
import * as contract from './contract.ts'
import { addCustomer, editCustomer, findCustomer, findCustomers } from './customers.ts'

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
    const { lines, has_more, next } = await statementPage(world.db, {
      customer_id: customer.id,
      assets: query.asset ? [query.asset] : assetNames,
      before: readPosition(list),
      since: list.after,
      until: list.before,
      limit: list.limit,
    })
    return {
      data: lines.map((line) => renderStatementLine(line, customer)),
      has_more,
      next_cursor: has_more ? encodeCursor(writePosition(next), list.tag) : null,
    }
  }),
]

const seq = /^[0-9]{1,18}$/
const seqs = Object.fromEntries(assetNames.map((asset) => [asset, seq])) as Record<Asset, RegExp>

function readPosition({ cursor, tag }: List): StatementPosition {
  const position = decodeCursor(cursor, seqs, { tag }) ?? {}
  return Object.fromEntries(Object.entries(position).map(([asset, text]) => [asset, BigInt(text)]))
}

function writePosition(position: StatementPosition): Record<string, string> {
  return Object.fromEntries(
    (Object.entries(position) as [Asset, bigint][]).map(([asset, seq]) => [asset, seq.toString()]),
  )
}
