import type { Asset } from '../../../core/money.ts'
import type { StatementLine } from '../../../ledger/balances.ts'
import { transferById } from '../../../money/onchain/store.ts'
import { tradeById } from '../../../money/quotes/store.ts'
import { renderStatementLine } from '../../../parties/customers/contract.ts'
import { findCustomer } from '../../../parties/customers/customers.ts'
import { readStatement } from '../../../parties/customers/statement.ts'
import type { Customer } from '../../../parties/customers/store.ts'
import type { World } from '../../../world.ts'
import { type Column, decimalOf, PART, ROWS_MAX } from '../csv.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import { consoleList, exportRows, rangeOf } from '../lists.ts'
import type { ConsoleParts } from '../parts.ts'
import * as contract from './contract.ts'

export const statementRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(contract.getStatementInConsole, async (call) => {
    const { world, actor, params, query } = call
    const where = { partner_id: actor.partner_id, id: params.customer_id }
    const customer = await findCustomer({ ...world, db: world.reads }, where)
    const list = consoleList(contract.getStatementInConsole, call)
    const { lines, ...page } = await readStatement(world.reads, customer, list, query.asset)
    const about = await Promise.all(lines.map((line) => aboutOf(world, line)))
    return {
      ...page,
      data: lines.map((line, i) => ({ line: renderStatementLine(line, customer), about: about[i]! })),
    }
  }),

  answer(contract.exportStatement, async ({ world, actor, params, query, gone }) => {
    const where = { partner_id: actor.partner_id, id: params.customer_id }
    const customer = await findCustomer({ ...world, db: world.reads }, where)
    const rows = everyLine(world, customer, query, gone)
    const entry = { endpoint: contract.exportStatement, noun: 'statement', query, object_id: customer.id }
    return exportRows(parts, { world, actor }, entry, statementColumns, rows)
  }),
]

/** The network of a transfer, or both assets of a conversion. */
async function aboutOf(world: World, { cause_id }: StatementLine) {
  if (cause_id.startsWith('tr_')) {
    const transfer = await transferById(world.reads, cause_id)
    return transfer ? { network: transfer.network } : null
  }
  if (!cause_id.startsWith('td_')) return null
  const trade = await tradeById(world.reads, cause_id)
  return trade ? { from_asset: trade.from_asset, to_asset: trade.to_asset } : null
}

type Range = { readonly created_after?: string; readonly created_before?: string; readonly asset?: Asset }

/** Reads a statement from its newest line on, part by part. */
async function* everyLine(world: World, customer: Customer, range: Range, gone: AbortSignal) {
  const { asset } = range
  const list = { limit: PART, ...rangeOf(range), tag: '', order: 'newest' as const }
  let cursor: string | undefined
  for (let left = ROWS_MAX; left > 0 && !gone.aborted; left -= PART) {
    const { lines, next_cursor } = await readStatement(world.reads, customer, { ...list, cursor }, asset)
    yield lines.map((line) => renderStatementLine(line, customer))
    if (next_cursor === null) return
    cursor = next_cursor
  }
}

type Line = ReturnType<typeof renderStatementLine>

const statementColumns: readonly Column<Line>[] = [
  { name: 'id', cell: ({ id }) => id },
  { name: 'created_at', cell: ({ created_at }) => created_at },
  { name: 'cause', cell: ({ cause }) => cause.type },
  { name: 'cause_id', cell: ({ cause }) => cause.id },
  { name: 'asset', cell: ({ asset }) => asset },
  { name: 'amount', cell: ({ amount }) => ({ number: amount }) },
  { name: 'amount_decimal', cell: ({ asset, amount }) => decimalOf(asset, amount) },
  { name: 'balance_after', cell: ({ balance_after }) => ({ number: balance_after }) },
  { name: 'balance_after_decimal', cell: ({ asset, balance_after }) => decimalOf(asset, balance_after) },
]
