import { type Asset, assetNames } from '../../core/money.ts'
import type { Db } from '../../db/pool.ts'
import { decodeCursor, encodeCursor, type List } from '../../http/page.ts'
import { type StatementLine, type StatementPosition, statementPage } from '../../ledger/balances.ts'

/** A page of a customer's statement: of one asset, or of all merged. The caller has checked the customer's partner. */
export async function readStatement(
  db: Db,
  { id: customer_id }: { readonly id: string },
  list: List,
  asset: Asset | undefined,
): Promise<{ lines: StatementLine[]; has_more: boolean; next_cursor: string | null }> {
  const { lines, has_more, next } = await statementPage(db, {
    customer_id,
    assets: asset ? [asset] : assetNames,
    before: readPosition(list),
    since: list.after,
    until: list.before,
    limit: list.limit,
  })
  return { lines, has_more, next_cursor: has_more ? encodeCursor(writePosition(next), list.tag) : null }
}

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
