import { refuse } from '../core/errors.ts'
import { type Asset, assetNames, formatMoney, money } from '../core/money.ts'
import type { Db } from '../db/pool.ts'
import type { MovementName } from './accounts.ts'
import type { AccountRef, HeldAccount } from './command.ts'

/** A line of a customer's statement. */
export type StatementLine = {
  readonly asset: Asset
  readonly seq: bigint
  readonly amount: bigint
  readonly balance_after: bigint
  readonly cause_id: string
  readonly movement: string
  readonly created_at: Date
  /** For a return: the payout or deposit whose money went back. */
  readonly of?: string
}

/** Per asset, the lowest seq already shown. Absent: from the newest. */
export type StatementPosition = Partial<Record<Asset, bigint>>

const LINES = {
  name: 'statement lines',
  text: `SELECT asset, seq, amount, balance_after, cause_id, movement, created_at FROM entries
    WHERE owner = $1 AND asset = $2 AND seq < $3 AND seq >= $5 ORDER BY seq DESC LIMIT $4`,
}

/**
 * The first line at that time or later. Lines are numbered without gaps in the order of their times, so a binary search
 * finds it in a few reads, and entries need no index by time.
 */
const FIRST_SINCE = {
  name: 'first statement line since',
  text: `WITH RECURSIVE halved (low, high) AS (
      SELECT 1::bigint, seq + 1 FROM balances WHERE customer_id = $1 AND asset = $2
      UNION ALL
      SELECT CASE WHEN line.created_at < $3 THEN line.seq + 1 ELSE low END, CASE WHEN line.created_at < $3 THEN high ELSE line.seq END
      FROM halved CROSS JOIN LATERAL (
        SELECT seq, created_at FROM entries WHERE owner = $1 AND asset = $2 AND seq = (low + high) / 2) AS line
      WHERE low < high)
    SELECT low FROM halved WHERE low >= high`,
}

const NEWEST = 2n ** 63n - 1n

/**
 * A page, newest first, and the position of the next one. Each account's lines are numbered without gaps under its own lock,
 * so a position per account stays right when lines are added. An account of which no line is shown yet keeps its newest
 * line of this page as its position.
 */
export async function statementPage(
  db: Db,
  options: {
    customer_id: string
    assets: readonly Asset[]
    before: StatementPosition
    since: Date | undefined
    until: Date | undefined
    limit: number
  },
): Promise<{ lines: StatementLine[]; has_more: boolean; next: StatementPosition }> {
  const { customer_id, assets, before, since, until, limit } = options
  const perAsset = await Promise.all(
    assets.map(async (asset) => {
      const account = { customer_id, asset }
      const [first, end] = await Promise.all([
        since ? firstSince(db, account, since) : 1n,
        until && before[asset] === undefined ? firstSince(db, account, until) : undefined,
      ])
      const { rows } = await db.query({
        ...LINES,
        values: [customer_id, asset, before[asset] ?? end ?? NEWEST, limit + 1, first],
      })
      return rows as StatementLine[]
    }),
  )
  const merged = merge(perAsset, limit + 1)
  const lines = merged.slice(0, limit)
  const starts = assets.map(
    (asset, i) => [asset, before[asset] ?? (perAsset[i]![0]?.seq ?? 0n) + 1n] as const,
  )
  const next = Object.fromEntries([...starts, ...lines.map(({ asset, seq }) => [asset, seq] as const)])
  return { lines, has_more: merged.length > limit, next }
}

async function firstSince(db: Db, { customer_id, asset }: AccountRef, time: Date): Promise<bigint> {
  const { rows } = await db.query({ ...FIRST_SINCE, values: [customer_id, asset, time] })
  return rows[0]?.low ?? 1n
}

/** Merges the lists by time, and keeps the order within an account. */
function merge(lists: readonly (readonly StatementLine[])[], limit: number): StatementLine[] {
  const heads = lists.map(() => 0)
  const merged: StatementLine[] = []
  while (merged.length < limit) {
    let latest: { line: StatementLine; list: number } | undefined
    for (const [list, lines] of lists.entries()) {
      const line = lines[heads[list]!]
      if (line && (!latest || line.created_at > latest.line.created_at)) latest = { line, list }
    }
    if (!latest) break
    heads[latest.list]!++
    merged.push(latest.line)
  }
  return merged
}

/** An entry of one cause. */
type EntryOfCause = {
  readonly movement: MovementName
  readonly account: string
  readonly owner: string
  readonly asset: Asset
  readonly amount: bigint
  /** Only for a customer's account. */
  readonly balance_after: bigint | null
  readonly created_at: Date
}

/** All entries of one cause, oldest movement first. */
export async function entriesOf(db: Db, cause_id: string): Promise<EntryOfCause[]> {
  const { rows } = await db.query({
    name: 'entries of cause',
    text: `SELECT movement, account, owner, asset, amount, balance_after, created_at FROM entries
      WHERE cause_id = $1 ORDER BY created_at, movement, line`,
    values: [cause_id],
  })
  return rows
}

const BALANCES = {
  name: 'balances of a customer',
  text: 'SELECT asset, balance, in_transit FROM balances WHERE customer_id = $1',
}

export type Balance = { readonly asset: Asset; readonly balance: bigint; readonly in_transit: bigint }

export async function balancesOf(db: Db, customer_id: string): Promise<Balance[]> {
  const { rows } = await db.query({ ...BALANCES, values: [customer_id] })
  const found = new Map(rows.map((row: Balance) => [row.asset, row]))
  return assetNames.map((asset) => found.get(asset) ?? { asset, balance: 0n, in_transit: 0n })
}

/** The balances of several customers, read with one statement; each list in the order of the assets. */
export async function balancesOfAll(db: Db, customers: readonly string[]): Promise<Map<string, Balance[]>> {
  const { rows } = await db.query({
    name: 'balances of customers',
    text: 'SELECT customer_id, asset, balance, in_transit FROM balances WHERE customer_id = ANY($1::text[])',
    values: [customers],
  })
  const found = new Map<string, Balance[]>(customers.map((id) => [id, []]))
  for (const asset of assetNames)
    for (const row of rows) if (row.asset === asset) found.get(row.customer_id)!.push(row)
  return found
}

export async function balanceOf(db: Db, { customer_id, asset }: AccountRef): Promise<bigint> {
  return (await balancesOf(db, customer_id)).find((balance) => balance.asset === asset)!.balance
}

/** Refuses an amount that exceeds the balance, and names both. */
export function assertCovered({ asset, balance }: HeldAccount, needed: bigint): void {
  if (balance >= needed) return
  const [needs, has] = [needed, balance].map((units) => formatMoney(money(asset, units)))
  refuse('insufficient_balance', {
    message: `The customer’s balance does not cover this operation: ${needs} are needed, ${has} are available. Nothing moved; credit the customer, or send less.`,
    details: { asset, needed: needed.toString(), available: balance.toString() },
  })
}

/** Creates an account in every asset with the customer, so that a lock never has to create one. */
export async function openAccounts(
  db: Db,
  owner: { customer_id: string; partner_id: string },
): Promise<void> {
  await db.query(`INSERT INTO balances (customer_id, partner_id, asset) SELECT $1, $2, unnest($3::text[])`, [
    owner.customer_id,
    owner.partner_id,
    assetNames,
  ])
}

/** Locks a customer's accounts until the transaction ends: no other transaction can decide on them. */
export async function holdAccounts(db: Db, customer_id: string): Promise<void> {
  await db.query('SELECT FROM balances WHERE customer_id = $1 ORDER BY asset COLLATE "C" FOR NO KEY UPDATE', [
    customer_id,
  ])
}
