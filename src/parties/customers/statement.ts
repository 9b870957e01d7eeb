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
  const owners = await ownersOfReturns(
    db,
    lines.map(({ cause_id }) => cause_id),
  )
  const withOwner = (line: StatementLine) => {
    const of = owners.get(line.cause_id)
    return of === undefined ? line : { ...line, of }
  }
  return {
    lines: lines.map(withOwner),
    has_more,
    next_cursor: has_more ? encodeCursor(writePosition(next), list.tag) : null,
  }
}

/** The payout or deposit of each return among these causes. */
async function ownersOfReturns(db: Db, causes: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const ids = causes.filter((id) => id.startsWith('ret_'))
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<{ id: string; of: string }>({
    name: 'owners of returns',
    text: 'SELECT id, coalesce(payout_id, deposit_id) AS of FROM pix_returns WHERE id = ANY($1::text[])',
    values: [ids],
  })
  return new Map(rows.map(({ id, of }) => [id, of]))
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
