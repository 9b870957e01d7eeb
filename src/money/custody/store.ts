import type { Asset } from '../../core/money.ts'
import { type Network, networkNames, networks } from '../../core/networks.ts'
import { columnsOf } from '../../db/columns.ts'
import type { Db } from '../../db/pool.ts'
import type { Check, Template } from '../../ledger/audit.ts'
import { referenceChecks } from '../../ledger/claims-audit.ts'
import { insertInto } from '../../ledger/command.ts'
import type { Holdings } from '../../rails/chain/rail.ts'

export type CustodyMove = {
  readonly id: string
  readonly rail: Network | 'pix'
  readonly asset: Asset
  readonly direction: 'to_rail' | 'from_rail'
  readonly amount: bigint
  readonly reason: string
  readonly reference: string
  readonly created_at: Date
}

export const insertMoves = insertInto('custody_moves', {
  id: 'text',
  rail: 'text',
  asset: 'text',
  direction: 'text',
  amount: 'bigint',
  reason: 'text',
  reference: 'text',
  created_at: 'timestamptz',
})

export async function newestMoves(db: Db, limit: number): Promise<CustodyMove[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('custody_moves')} FROM custody_moves ORDER BY id DESC LIMIT $1`,
    [limit],
  )
  return rows
}

export const moveTemplate: Template = {
  name: 'every custody move is booked once and in full, between the operator and its rail',
  prefix: 'cm',
  entries: (
    within,
  ) => `SELECT m.id AS cause_id, 'moved' AS movement, l.line, '' AS partner_id, l.account, '' AS owner, m.asset, l.amount, m.created_at
    FROM custody_moves m CROSS JOIN LATERAL (VALUES
      (0, CASE m.direction WHEN 'to_rail' THEN 'external:operator' ELSE 'external:' || m.rail END, m.amount::numeric),
      (1, CASE m.direction WHEN 'to_rail' THEN 'external:' || m.rail ELSE 'external:operator' END, -m.amount::numeric)
    ) AS l (line, account, amount)
    WHERE ${within('m.id')}`,
}

const carried = [
  `('pix', 'BRL')`,
  ...networkNames.map((name) => `('${name}', '${networks[name].asset}')`),
].join(', ')

export const custodyChecks: readonly Check[] = [
  {
    name: 'every custody move is over a rail that carries its asset',
    walk: 'causes',
    prefix: 'cm',
    sql: (within) => `SELECT m.id AS object_id, m.rail, m.asset, m.direction FROM custody_moves m
      WHERE ${within('m.id')} AND ((m.rail, m.asset) NOT IN (${carried}) OR m.direction NOT IN ('to_rail', 'from_rail') OR m.amount <= 0)`,
  },
  ...referenceChecks({
    table: 'custody_moves',
    prefix: 'cm',
    operation: 'custody move',
    partner: 'NULL',
    names: ['r.rail', 'r.direction', 'r.asset', 'r.amount', 'r.reason'],
  }),
]

/** What the wallet of a rail held when it was last asked. */
export type StoredHoldings = {
  readonly rail: Network
  readonly wallet: string
  readonly block_height: bigint
  readonly block_hash: string
  readonly asset_amount: bigint
  readonly native_amount: bigint
  /** By the clock of the database, so that nodes agree. Null if they were read in the future: the clock was set back since. */
  readonly age_ms: number | null
}

/**
 * Figures of an older block do not replace those of a newer one, except after an hour: then the higher block was invented by an endpoint,
 * or has left the chain, and no transfer would be accepted until the chain reached that height.
 */
export async function storeHoldings(db: Db, rail: Network, held: Holdings): Promise<void> {
  await db.query({
    name: 'store holdings',
    text: `INSERT INTO holdings AS old (rail, wallet, block_height, block_hash, asset_amount, native_amount, read_at)
      VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp())
      ON CONFLICT (rail) DO UPDATE SET wallet = excluded.wallet, block_height = excluded.block_height, block_hash = excluded.block_hash,
        asset_amount = excluded.asset_amount, native_amount = excluded.native_amount, read_at = excluded.read_at
      WHERE old.wallet <> excluded.wallet OR old.block_height <= excluded.block_height OR old.read_at < clock_timestamp() - interval '1 hour'`,
    values: [rail, held.wallet, held.block_height, held.block_hash, held.asset, held.native],
  })
}

/** SQL: seconds since a moment; NULL if it is in the future by more than its rounding. */
const ageOf = (moment: string) =>
  `(CASE WHEN ${moment} <= clock_timestamp() + interval '1 second'
    THEN greatest(0, extract(epoch FROM clock_timestamp() - ${moment})) END)::float8`

export async function holdingsOfRail(db: Db, rail: Network): Promise<StoredHoldings | undefined> {
  const { rows } = await db.query({
    name: 'holdings of rail',
    text: `SELECT rail, wallet, block_height, block_hash, asset_amount, native_amount,
        ${ageOf('read_at')} * 1000 AS age_ms FROM holdings WHERE rail = $1`,
    values: [rail],
  })
  const [found] = rows
  return found && { ...found, native_amount: BigInt(found.native_amount) }
}

/** What is going to leave the wallet, or left it after the block: open transfers, and those that were mined above it. */
export async function sumLeaving(db: Db, rail: Network, block_height: bigint): Promise<bigint> {
  const { rows } = await db.query({
    name: 'sum leaving',
    text: `SELECT coalesce(sum(amount_net), 0) AS leaving FROM transfers WHERE id IN (
      SELECT id FROM open_transfers WHERE network = $1 UNION ALL
      SELECT transfer_id FROM transactions WHERE network = $1 AND block_height > $2 AND purpose = 'pay')`,
    values: [rail, block_height],
  })
  return BigInt(rows[0].leaving)
}

/** What the ledger has on a rail: the negative of the sum of its outside account. */
export async function bookedOn(db: Db, rail: Network): Promise<bigint> {
  const { rows } = await db.query({
    name: 'booked on rail',
    text: `SELECT -coalesce(sum(amount), 0) AS booked FROM entries WHERE account = 'external:' || $1::text AND asset = $2
      AND account IN (${networkNames.map((name) => `'external:${name}'`).join(', ')})`,
    values: [rail, networks[rail].asset],
  })
  return BigInt(rows[0].booked)
}

export type Reconciliation = {
  readonly id: string
  readonly rail: Network
  readonly asset: Asset
  readonly wallet: string
  readonly block_height: bigint
  readonly block_hash: string
  readonly outside: bigint
  readonly booked: bigint
  readonly on_its_way: bigint
  readonly difference: bigint
  readonly parts: ReconciliationParts
  readonly at: Date
}

/** A comparison with the account at a Pix provider: it is at no block, and the account is named by the provider. */
export type PixReconciliation = Omit<Reconciliation, 'rail' | 'block_height' | 'block_hash' | 'parts'> & {
  readonly rail: 'pix'
  readonly block_height: null
  readonly block_hash: null
  readonly parts: {
    /** Payouts that the provider has paid, and that are not booked yet. */
    readonly not_booked_yet: readonly string[]
    /** Payouts that may have been paid. */
    readonly unsure: readonly string[]
    /** A difference from `least` to `most` counts as none: what may have been paid, and what was booked while the balance was read. */
    readonly least: string
    readonly most: string
    /** Payments that came in and are not credited. */
    readonly uncredited: string
    /** Returns that left the account, and whose debit waits. */
    readonly uncovered: string
  }
}

export type TransferPart = {
  readonly transfer_id: string
  readonly amount: string
  readonly tx_hash: string | null
}

/** The transfers and deposits that explain `on_its_way`, and those that may explain a difference. Amounts are in smallest units. */
export type ReconciliationParts = {
  /** Mined by the block as ordered, and not booked yet. */
  readonly not_booked_yet: readonly TransferPart[]
  /** Booked, and mined after the block. */
  readonly mined_later: readonly TransferPart[]
  /** Mined by the block with another effect than the ordered one, or spent by a foreign transaction: not in `on_its_way`. */
  readonly other: readonly TransferPart[]
  /** Confirmed by operators in the last week, without a block: not in `on_its_way`. */
  readonly without_block: readonly TransferPart[]
  /** Deposits in a block up to this one that are not credited: too small, or the chain was read before the ledger. */
  readonly arrived: DepositSum
  /** Deposits that are credited, in a block after this one. */
  readonly credited_later: DepositSum
}

/** Anybody can send many small deposits, so they are summed up. The amount is in smallest units. */
export type DepositSum = { readonly count: number; readonly amount: string }

export async function storeReconciliation(db: Db, made: Reconciliation | PixReconciliation): Promise<void> {
  await db.query({
    name: 'store reconciliation',
    text: `INSERT INTO reconciliations (id, rail, asset, wallet, block_height, block_hash, outside, booked, on_its_way, difference, parts, at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      ...[made.id, made.rail, made.asset, made.wallet, made.block_height, made.block_hash],
      ...[made.outside, made.booked, made.on_its_way, made.difference, JSON.stringify(made.parts), made.at],
    ],
  })
}

export async function newestReconciliations(db: Db, rail: Network, limit: number): Promise<Reconciliation[]> {
  const { rows } = await db.query({
    name: 'newest reconciliations',
    text: `SELECT ${columnsOf('reconciliations')} FROM reconciliations WHERE rail = $1 ORDER BY at DESC, id DESC LIMIT $2`,
    values: [rail, limit],
  })
  return rows
}

export async function newestPixReconciliation(db: Db): Promise<PixReconciliation | undefined> {
  const { rows } = await db.query({
    name: 'newest pix reconciliation',
    text: `SELECT ${columnsOf('reconciliations')} FROM reconciliations WHERE rail = 'pix' ORDER BY at DESC, id DESC LIMIT 1`,
  })
  return rows[0]
}

/** The newest comparison of each rail, with its age, for the metrics. */
export async function reconciliationStates(
  db: Db,
): Promise<{ rail: Network | 'pix'; difference: bigint; age_seconds: number }[]> {
  const { rows } = await db.query({
    name: 'reconciliation states',
    text: `SELECT r.rail, r.difference, greatest(0, extract(epoch FROM clock_timestamp() - r.at))::float8 AS age_seconds
      FROM unnest($1::text[]) AS n (rail) CROSS JOIN LATERAL (
        SELECT rail, difference, at FROM reconciliations WHERE rail = n.rail ORDER BY at DESC, id DESC LIMIT 1) AS r`,
    values: [[...networkNames, 'pix']],
  })
  return rows
}

/** What each wallet holds, what is going to leave it, and the floor of its gas coin, for the metrics. */
export type HoldingsState = {
  readonly rail: Network
  readonly asset_amount: bigint
  readonly native_amount: bigint
  /** Null if the clock was set back since the figures were read. */
  readonly age_seconds: number | null
  readonly leaving: bigint
  readonly gas_floor: bigint
}

/** A rail whose wallet was never read has no row. */
export async function holdingsStates(db: Db): Promise<HoldingsState[]> {
  const { rows } = await db.query<Omit<HoldingsState, 'leaving'> & { block_height: bigint }>({
    name: 'holdings states',
    text: `SELECT h.rail, h.asset_amount, h.native_amount, h.block_height, ${ageOf('h.read_at')} AS age_seconds,
        coalesce(c.gas_floor, 0) AS gas_floor
      FROM unnest($1::text[]) AS n (rail) JOIN holdings h ON h.rail = n.rail LEFT JOIN rail_controls c ON c.rail = h.rail`,
    values: [networkNames],
  })
  return Promise.all(
    rows.map(async ({ block_height, ...state }) => ({
      ...state,
      leaving: await sumLeaving(db, state.rail, block_height),
    })),
  )
}

/** What each network charged for the transactions that were signed within a day and are final, in wei. */
export async function gasPaidInADay(db: Db): Promise<{ rail: Network; wei: bigint }[]> {
  const { rows } = await db.query({
    name: 'gas paid in a day',
    text: `SELECT n.rail, g.wei FROM unnest($1::text[]) AS n (rail) CROSS JOIN LATERAL (
        SELECT sum(gas_paid_wei) AS wei FROM transactions
        WHERE network = n.rail AND gas_paid_wei IS NOT NULL AND created_at > clock_timestamp() - interval '1 day') AS g
      WHERE g.wei IS NOT NULL`,
    values: [networkNames],
  })
  return rows
}
