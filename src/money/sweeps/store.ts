import type { Network } from '../../core/networks.ts'
import { columnsOf } from '../../db/columns.ts'
import { isUniqueViolation } from '../../db/failure.ts'
import type { Db } from '../../db/pool.ts'
import type { SweepAttempt, Swept } from '../../rails/chain/evm/sweeping.ts'
import type { Block } from '../../rails/chain/rail.ts'
import type { SignedBefore } from '../../rails/signer/hourly.ts'
import { type SweepPurpose, spentBySweep } from '../../rails/signer/sweeps.ts'

/**
 * Tokens that are moved from a deposit address into the wallet of the service (decision 0065). `mined`: the sweep was once deep enough
 * in the chain, and its block is watched until the network has finalized it.
 */
export type SweepState = 'funding' | 'sweeping' | 'mined' | 'swept' | 'failed'

/** Why a sweep ended without effect. */
export type SweepFailure =
  /** The token's contract refuses the transfer: it is paused, or has blocked the address. */
  | 'token_reverts'
  /** Mined without effect. */
  | 'reverted'
  /** Mined with another effect than the ordered one. */
  | 'other_effect'
  /** A transaction that this database does not know spent the nonce. */
  | 'nonce_taken'
  /** Fees rose above the rule before anything was reserved, or above the gas of the address before anything was signed. */
  | 'too_dear'

export type Sweep = Swept & {
  readonly network: Network
  readonly wallet: string
  readonly gas_account: string
  readonly cost_most: bigint
  readonly fund_nonce: bigint | null
  readonly fund_wei: bigint | null
  readonly nonce: bigint | null
  readonly state: SweepState
  readonly failure: SweepFailure | null
  readonly created_at: Date
  readonly ended_at: Date | null
}

export type SweepTransaction = SweepAttempt & {
  readonly sweep_id: string
  readonly network: Network
  readonly sender: string
  readonly nonce: bigint
  readonly block_height: bigint | null
  readonly block_hash: string | null
  readonly gas_paid_wei: bigint | null
}

const sweepColumns = columnsOf('sweeps')
const transactionColumns = columnsOf('sweep_transactions')

/** Another node began a sweep of the address, or took the nonce. */
export const isSweptElsewhere = (error: unknown): boolean =>
  isUniqueViolation(error, 'sweeps_open') ||
  isUniqueViolation(error, 'sweeps_fund_nonce') ||
  isUniqueViolation(error, 'sweep_transactions_pkey')

export async function openSweeps(db: Db, network: Network): Promise<Sweep[]> {
  const { rows } = await db.query({
    name: 'open sweeps',
    text: `SELECT ${sweepColumns} FROM sweeps WHERE network = $1 AND ended_at IS NULL ORDER BY created_at, id`,
    values: [network],
  })
  return rows
}

export async function newestSweeps(db: Db, limit: number): Promise<Sweep[]> {
  const { rows } = await db.query(
    `SELECT ${sweepColumns} FROM sweeps ORDER BY created_at DESC, id DESC LIMIT $1`,
    [limit],
  )
  return rows
}

export async function sweepById(db: Db, id: string): Promise<Sweep | undefined> {
  const { rows } = await db.query({
    name: 'sweep',
    text: `SELECT ${sweepColumns} FROM sweeps WHERE id = $1`,
    values: [id],
  })
  return rows[0]
}

/** What was signed for sweeps, by sweep, oldest first. */
export async function transactionsOfSweeps(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, SweepTransaction[]>> {
  const { rows } = await db.query<SweepTransaction>({
    name: 'transactions of sweeps',
    text: `SELECT ${transactionColumns} FROM sweep_transactions WHERE sweep_id = ANY($1::text[]) ORDER BY sweep_id, purpose, attempt`,
    values: [ids],
  })
  const found = new Map<string, SweepTransaction[]>(ids.map((id) => [id, []]))
  for (const row of rows) found.get(row.sweep_id)?.push(row)
  return found
}

/** What was credited at each deposit address of a network, less what was swept from it for good. */
const UNSWEPT = `SELECT d.address, d.credited - coalesce(s.swept, 0) AS unswept FROM (
    SELECT address, sum(amount) AS credited FROM deposits
    WHERE rail = $1 AND status = 'completed' AND address IS NOT NULL GROUP BY address) AS d
  LEFT JOIN (SELECT address, sum(amount) AS swept FROM sweeps WHERE network = $1 AND state = 'swept' GROUP BY address) AS s
    ON s.address = d.address`

/** The USDT at the deposit addresses of a network, by the books, and the number of addresses that hold some. */
export async function sumUnswept(db: Db, network: Network): Promise<{ unswept: bigint; addresses: number }> {
  const { rows } = await db.query({
    name: 'sum unswept',
    text: `SELECT coalesce(sum(unswept), 0)::bigint AS unswept, count(*) FILTER (WHERE unswept > 0)::integer AS addresses
      FROM (${UNSWEPT}) AS u`,
    values: [network],
  })
  return rows[0]
}

export type SweepCandidate = Omit<Swept, 'id' | 'amount'> & { readonly unswept: bigint }

/** How long an address is left alone after a sweep of it failed. */
const RESTS = `CASE WHEN failure IN ('nonce_taken', 'too_dear') THEN interval '10 minutes' ELSE interval '1 day' END`

/** Addresses with at least `sweep_from` that are not being swept and whose last sweep did not fail just now; the most first. */
export async function sweepCandidates(
  db: Db,
  {
    network,
    sweep_from,
    except,
    limit,
  }: { network: Network; sweep_from: bigint; except: readonly string[]; limit: number },
): Promise<SweepCandidate[]> {
  const { rows } = await db.query<SweepCandidate>({
    name: 'sweep candidates',
    text: `SELECT u.address, a.address_index, u.unswept::bigint AS unswept FROM (${UNSWEPT}) AS u
      JOIN deposit_addresses a ON a.network = $1 AND a.address = u.address
      WHERE u.unswept > 0 AND u.unswept >= $2 AND u.address <> ALL($4::text[]) AND NOT EXISTS (SELECT FROM sweeps o WHERE o.network = $1 AND o.address = u.address
        AND (o.ended_at IS NULL OR (o.state = 'failed' AND o.ended_at > clock_timestamp() - ${RESTS})))
      ORDER BY u.unswept DESC, u.address LIMIT $3`,
    values: [network, sweep_from, limit, except],
  })
  return rows
}

/** The nonce after the last one of the address that this database knows. */
export async function nextNonceOfAddress(
  db: Db,
  { network, address }: Pick<Sweep, 'network' | 'address'>,
): Promise<bigint> {
  const { rows } = await db.query<{ next: bigint }>({
    name: 'next nonce of deposit address',
    text: `SELECT coalesce(max(nonce) + 1, 0) AS next FROM sweeps WHERE network = $1 AND address = $2`,
    values: [network, address],
  })
  return rows[0]!.next
}

type NewSweep = Pick<
  Sweep,
  'id' | 'network' | 'address' | 'address_index' | 'amount' | 'wallet' | 'gas_account' | 'cost_most'
>

/**
 * Begins a sweep, unless the rail is paused by now. Throws `isSweptElsewhere` if another node began one. With `failure` the sweep is
 * stored as failed, so that the address is left alone for a while.
 */
export async function beginSweep(
  db: Db,
  made: NewSweep,
  failure: SweepFailure | null = null,
): Promise<Sweep | undefined> {
  const { rows } = await db.query({
    name: 'begin sweep',
    text: `INSERT INTO sweeps (id, network, address, address_index, amount, wallet, gas_account, cost_most, state, failure, created_at, ended_at)
      SELECT $1, $2, $3, $4, $5, $6, $7, $8, CASE WHEN $9::text IS NULL THEN 'funding' ELSE 'failed' END, $9, n.now,
        CASE WHEN $9::text IS NOT NULL THEN n.now END
      FROM (SELECT clock_timestamp()::timestamptz(3) AS now) AS n
      WHERE NOT EXISTS (SELECT FROM rail_controls c WHERE c.rail = $2 AND c.paused_at IS NOT NULL) RETURNING ${sweepColumns}`,
    values: [
      ...[made.id, made.network, made.address, made.address_index, made.amount, made.wallet],
      ...[made.gas_account, made.cost_most, failure],
    ],
  })
  return rows[0]
}

/**
 * Reserves the next nonce of the gas account, once. `mined` is the next nonce by the chain: after the restore of a backup it is above
 * the known ones. Throws `isSweptElsewhere` if another node took the nonce for another sweep.
 */
export async function reserveFund(
  db: Db,
  { id }: Sweep,
  { fund_wei, mined }: { fund_wei: bigint; mined: bigint },
): Promise<Sweep | undefined> {
  const { rows } = await db.query({
    name: 'reserve fund of sweep',
    text: `UPDATE sweeps AS s SET fund_wei = $2, fund_nonce = greatest($3::bigint, (SELECT coalesce(max(o.fund_nonce) + 1, 0) FROM sweeps o
        WHERE o.network = s.network AND o.gas_account = s.gas_account))
      WHERE id = $1 AND fund_nonce IS NULL AND state = 'funding' RETURNING ${sweepColumns}`,
    values: [id, fund_wei, mined],
  })
  return rows[0]
}

/**
 * Reserves a nonce of the address, once, when the address has gas. A sweep that has reserved gas waits until that transaction is in a
 * block: a node with an older row could begin the sweep otherwise, and the gas would never be recorded.
 */
export async function reserveSweep(db: Db, { id }: Sweep, nonce: bigint): Promise<Sweep | undefined> {
  const { rows } = await db.query({
    name: 'reserve nonce of sweep',
    text: `UPDATE sweeps SET nonce = $2, state = 'sweeping' WHERE id = $1 AND nonce IS NULL AND ended_at IS NULL
        AND (fund_nonce IS NULL OR EXISTS (SELECT FROM sweep_transactions t
          WHERE t.sweep_id = sweeps.id AND t.purpose = 'fund' AND t.block_hash IS NOT NULL))
      RETURNING ${sweepColumns}`,
    values: [id, nonce],
  })
  return rows[0]
}

/** What the gas account has reserved for open sweeps that have no nonce of their address yet, with what those transactions may cost. */
export async function promisedByGasAccount(
  db: Db,
  { network, gas_account }: Pick<Sweep, 'network' | 'gas_account'>,
): Promise<bigint> {
  const { rows } = await db.query<{ promised: bigint }>({
    name: 'promised by gas account',
    text: `SELECT coalesce(sum(s.fund_wei + coalesce((SELECT max((t.terms ->> 'max_fee_per_gas')::numeric * (t.terms ->> 'gas_limit')::numeric)
          FROM sweep_transactions t WHERE t.sweep_id = s.id AND t.purpose = 'fund'), 0)), 0)::numeric(78, 0) AS promised
      FROM sweeps s WHERE s.network = $1 AND s.gas_account = $2 AND s.state = 'funding' AND s.ended_at IS NULL AND s.fund_wei IS NOT NULL`,
    values: [network, gas_account],
  })
  return BigInt(rows[0]!.promised)
}

/** The mined gas transactions of ended sweeps, from the nonce `first` up to that of an open sweep. */
export async function endedFundsFrom(
  db: Db,
  { network, gas_account, fund_nonce }: Sweep,
  first: bigint,
): Promise<SweepTransaction[]> {
  const { rows } = await db.query({
    name: 'funds of ended sweeps',
    text: `SELECT ${transactionColumns} FROM sweep_transactions WHERE block_hash IS NOT NULL AND purpose = 'fund' AND sweep_id IN (
        SELECT id FROM sweeps WHERE network = $1 AND gas_account = $2 AND fund_nonce >= $3 AND fund_nonce < $4 AND ended_at IS NOT NULL)
      ORDER BY nonce`,
    values: [network, gas_account, first, fund_nonce],
  })
  return rows
}

type NewTransaction = Omit<SweepAttempt, 'created_at'> &
  Pick<SweepTransaction, 'sweep_id' | 'network' | 'sender' | 'nonce'>

/** Stores a signed transaction before it is broadcast. Throws `isSweptElsewhere` if another node stored one of the same number. */
export async function storeSweepTransaction(db: Db, made: NewTransaction): Promise<void> {
  await db.query({
    name: 'store sweep transaction',
    text: `INSERT INTO sweep_transactions (sweep_id, purpose, attempt, network, sender, nonce, tx_hash, signed, terms, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp())`,
    values: [
      ...[made.sweep_id, made.purpose, made.attempt, made.network, made.sender, made.nonce],
      ...[made.tx_hash, made.signed, JSON.stringify(made.terms)],
    ],
  })
}

export type MinedSweep = Block & { readonly tx_hash: string; readonly gas_paid_wei: bigint | null }

/** Writes the block of a transaction, once. */
export async function storeSweepBlock(
  db: Db,
  { id }: Sweep,
  purpose: SweepPurpose,
  { tx_hash, block_height, block_hash, gas_paid_wei }: MinedSweep,
): Promise<void> {
  await db.query({
    name: 'store block of sweep',
    text: `UPDATE sweep_transactions SET block_height = $4, block_hash = $5, gas_paid_wei = $6
      WHERE sweep_id = $1 AND purpose = $2 AND tx_hash = $3 AND block_hash IS NULL`,
    values: [id, purpose, tx_hash, block_height, block_hash, gas_paid_wei],
  })
}

export async function noteSweepMined(db: Db, { id }: Sweep): Promise<void> {
  await db.query({
    name: 'sweep is mined',
    text: `UPDATE sweeps SET state = 'mined' WHERE id = $1 AND state = 'sweeping'`,
    values: [id],
  })
}

/** Returns false if another node ended it. */
export async function endSweep(db: Db, { id }: Sweep, failure: SweepFailure | null): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'end sweep',
    text: `UPDATE sweeps SET state = CASE WHEN $2::text IS NULL THEN 'swept' ELSE 'failed' END, failure = $2, ended_at = clock_timestamp()
      WHERE id = $1 AND ended_at IS NULL`,
    values: [id, failure],
  })
  return rowCount === 1
}

/** What was signed for sweeps within the last hour: a signer that starts counts it towards its hourly limits. */
export async function sweepsSignedWithinAnHour(db: Db): Promise<SignedBefore[]> {
  const { rows } = await db.query({
    name: 'sweeps signed within an hour',
    text: `SELECT t.network, t.purpose, t.nonce, s.address_index, t.created_at AS at,
        ((t.terms ->> 'max_fee_per_gas')::numeric * (t.terms ->> 'gas_limit')::numeric
          + CASE t.purpose WHEN 'fund' THEN s.fund_wei ELSE 0 END)::text AS cost
      FROM sweep_transactions t JOIN sweeps s ON s.id = t.sweep_id
      WHERE t.created_at > clock_timestamp() - interval '1 hour' ORDER BY t.created_at`,
  })
  return rows.map(({ network, at, cost, ...spent }) => ({
    ...{ network, at, amount: 0n, cost: BigInt(cost) },
    spends: spentBySweep(spent),
  }))
}

export type SweepFigures = {
  readonly network: Network
  readonly gas_account: string
  readonly gas_wei: bigint
  readonly unswept: bigint
  readonly addresses: number
}

export async function storeSweepFigures(db: Db, figures: SweepFigures): Promise<void> {
  await db.query({
    name: 'store sweep figures',
    text: `INSERT INTO sweep_figures (network, gas_account, gas_wei, unswept, addresses, read_at) VALUES ($1, $2, $3, $4, $5, clock_timestamp())
      ON CONFLICT (network) DO UPDATE SET gas_account = excluded.gas_account, gas_wei = excluded.gas_wei, unswept = excluded.unswept,
        addresses = excluded.addresses, read_at = excluded.read_at`,
    values: [figures.network, figures.gas_account, figures.gas_wei, figures.unswept, figures.addresses],
  })
}

export type SweepsUnderWay = {
  readonly network: Network
  readonly count: number
  readonly amount: bigint
  readonly oldest_seconds: number
}

/** Sweeps that have not ended, by network. There are few of them at a time. */
export async function sweepsUnderWay(db: Db): Promise<SweepsUnderWay[]> {
  const { rows } = await db.query({
    name: 'sweeps under way',
    text: `SELECT network, count(*)::integer AS count, sum(amount)::bigint AS amount,
        greatest(0, extract(epoch FROM clock_timestamp() - min(created_at)))::float8 AS oldest_seconds
      FROM sweeps WHERE ended_at IS NULL GROUP BY network ORDER BY network`,
  })
  return rows
}

/** A network whose gas account was never read has no row. */
export async function sweepFigures(db: Db): Promise<(SweepFigures & { readonly read_at: Date })[]> {
  const { rows } = await db.query({
    name: 'sweep figures',
    text: `SELECT ${columnsOf('sweep_figures')} FROM sweep_figures ORDER BY network`,
  })
  return rows
}
