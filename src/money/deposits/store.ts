import { type Asset, assetNames, UNITS_MAX } from '../../core/money.ts'
import { type Network, networkNames, networks } from '../../core/networks.ts'
import { columnsOf } from '../../db/columns.ts'
import { isUniqueViolation } from '../../db/failure.ts'
import { type ListSource, ofCustomer } from '../../db/newest.ts'
import type { Db } from '../../db/pool.ts'
import { type Check, IN_PRODUCTION, type Template } from '../../ledger/audit.ts'
import { referenceChecks } from '../../ledger/claims-audit.ts'
import { insertInto, rowSource, updateOf } from '../../ledger/command.ts'
import { endTime, isoTime, missingEventCheck } from '../../records/events/store.ts'

export type DepositStatus = 'pending' | 'completed' | 'dropped'

export type Deposit = {
  readonly id: string
  readonly partner_id: string
  readonly customer_id: string
  readonly asset: Asset
  readonly amount: bigint
  /** The outside account that the money came from: the other side of the entry. A deposit on a chain has its network. */
  readonly rail: 'sandbox' | 'operator' | 'pix' | Network
  readonly reason: string | null
  readonly reference: string | null
  readonly created_at: Date
  readonly status: DepositStatus
  /** Of the deposit's last event. */
  readonly sequence: number
  /** Null for a deposit that was credited when it was made. */
  readonly completed_at: Date | null
  /** What was seen on the chain. All are null, zero or false for other deposits. */
  readonly address: string | null
  readonly tx_hash: string | null
  readonly output_index: number | null
  readonly below_minimum: boolean
  readonly block_height: bigint | null
  readonly block_hash: string | null
  readonly depth: number
  /** When the chain is asked about the deposit next; in the sandbox, when the worker that plays the chains takes it. */
  readonly next_attempt_at: Date | null
  /** The payment in the Pix network and the charge that it paid. Both are null for other deposits. */
  readonly end_to_end_id: string | null
  readonly charge_id: string | null
  /** The sum of what was given back of the payment, and debited. */
  readonly amount_returned: bigint
}

/** What a deposit has that was not seen on a chain: credited as it is written. */
export const CREDITED_AT_ONCE = {
  status: 'completed',
  sequence: 1,
  completed_at: null,
  address: null,
  tx_hash: null,
  output_index: null,
  below_minimum: false,
  block_height: null,
  block_hash: null,
  depth: 0,
  next_attempt_at: null,
  end_to_end_id: null,
  charge_id: null,
  amount_returned: 0n,
} as const

export const insertDeposits = insertInto('deposits', {
  id: 'text',
  partner_id: 'text',
  customer_id: 'text',
  asset: 'text',
  amount: 'bigint',
  rail: 'text',
  reason: 'text?',
  reference: 'text?',
  created_at: 'timestamptz',
})

/** An operator's credit, by its reference. */
export const operatorCredits = rowSource<{ readonly id: string; readonly deposit_id: string }>(
  'operator credits',
  `SELECT reference AS id, id AS deposit_id FROM deposits WHERE rail = 'operator' AND reference = ANY($1::text[])`,
)

/** The same, without those that were reversed. */
export const standingCredits = rowSource<{ readonly id: string; readonly deposit_id: string }>(
  'standing operator credits',
  `SELECT reference AS id, id AS deposit_id FROM deposits d WHERE rail = 'operator' AND reference = ANY($1::text[])
     AND NOT EXISTS (SELECT FROM adjustments a WHERE a.deposit_id = d.id)`,
)

/**
 * A lock per end_to_end_id, and per hash of a transaction without 0x, held while the service or an operator credits the payment. The two
 * credits may name different customers, and so share no other lock, and neither transaction reads what the other has not committed. The
 * payment may have no row yet.
 */
export const creditTurns = rowSource(
  'turns of credits',
  `SELECT name AS id, pg_advisory_xact_lock(lock)::text AS held FROM (
    SELECT name, hashtextextended('credit of ' || name || ' ' || current_schema(), 0) AS lock FROM unnest($1::text[]) AS name ORDER BY 2) AS names`,
)

/** Takes the same turn in another transaction, until it ends. */
export async function takeCreditTurn(tx: Db, end_to_end_id: string): Promise<void> {
  await tx.query({ name: 'take turn of credits', text: creditTurns.sql, values: [[end_to_end_id]] })
}

/** A Pix payment that came in, if a reference is its end_to_end_id. The slice of charges writes it. */
export type ReferencedPayment = {
  readonly id: string
  readonly charge_id: string | null
  readonly amount: bigint
  readonly amount_returned: bigint
}

export const paymentsByReference = rowSource<ReferencedPayment>(
  'payments by reference',
  'SELECT end_to_end_id AS id, charge_id, amount, amount_returned FROM pix_received WHERE end_to_end_id = ANY($1::text[])',
)

/** A reference that names a returned payout: the network id of the return, or the end_to_end_id of the payout. */
export const returnsByReference = rowSource<{ readonly id: string; readonly payout_id: string }>(
  'returns of payouts by reference',
  `SELECT return_id AS id, payout_id FROM pix_returns WHERE return_id = ANY($1::text[]) AND payout_id IS NOT NULL
   UNION SELECT e.end_to_end_id, p.id FROM end_to_end_ids e JOIN payouts p ON p.id = e.payout_id
     WHERE e.end_to_end_id = ANY($1::text[]) AND p.amount_returned > 0`,
)

/** What the service and operators know of a transaction on a chain. */
export type TransactionCredits = {
  /** The hash without 0x, in lower case. */
  readonly id: string
  /** Null while no deposit of the transaction is known. Dropped deposits do not count. */
  readonly asset: Asset | null
  /** A deposit that the service credits, or has credited. */
  readonly own_deposit_id: string | null
  /** The sum of the deposits below the minimum, which operators may credit. */
  readonly small_amount: bigint
  /** The newest credit by an operator under the hash, and the sum of these credits. A reversed credit does not count. */
  readonly hand_deposit_id: string | null
  readonly hand_amount: bigint
}

const sumOf = (amounts: string) => `least(coalesce(sum(${amounts}), 0), ${9n * UNITS_MAX})::bigint`

/** Read under the turn of the hash. */
export const transactionCredits = rowSource<TransactionCredits>(
  'credits of transactions',
  `SELECT t.hash AS id, d.asset, d.own_deposit_id, d.small_amount, o.hand_deposit_id, o.hand_amount FROM unnest($1::text[]) AS t (hash)
    CROSS JOIN LATERAL (SELECT min(asset) AS asset, min(id) FILTER (WHERE NOT below_minimum) AS own_deposit_id,
      ${sumOf('CASE WHEN below_minimum THEN amount ELSE 0 END')} AS small_amount FROM deposits
      WHERE rail IN (${networkNames.map((name) => `'${name}'`).join(', ')}) AND tx_hash IN (t.hash, '0x' || t.hash) AND status <> 'dropped') AS d
    CROSS JOIN LATERAL (SELECT max(c.id) AS hand_deposit_id, ${sumOf('c.amount')} AS hand_amount FROM deposits c
      WHERE c.rail = 'operator' AND c.reference IN (t.hash, '0x' || t.hash)
        AND NOT EXISTS (SELECT FROM adjustments a WHERE a.deposit_id = c.id)) AS o`,
)

/** A payment of a charge: credited as it is written, once per end_to_end_id. */
export const insertPixDeposits = {
  ...insertInto('deposits', {
    id: 'text',
    partner_id: 'text',
    customer_id: 'text',
    asset: 'text',
    amount: 'bigint',
    rail: 'text',
    created_at: 'timestamptz',
    end_to_end_id: 'text?',
    charge_id: 'text?',
  }),
  name: 'insert deposits by pix',
}

/** A deposit as it is first seen on a chain; `updateChainDeposits` writes every later change. */
export const insertChainDeposits = {
  ...insertInto('deposits', {
    id: 'text',
    partner_id: 'text',
    customer_id: 'text',
    asset: 'text',
    amount: 'bigint',
    rail: 'text',
    created_at: 'timestamptz',
    status: 'text',
    sequence: 'integer',
    completed_at: 'timestamptz?',
    address: 'text?',
    tx_hash: 'text?',
    output_index: 'integer?',
    below_minimum: 'boolean',
    block_height: 'bigint?',
    block_hash: 'text?',
    depth: 'integer',
    next_attempt_at: 'timestamptz?',
  }),
  name: 'insert deposits on chains',
}

export const chainDepositRows = rowSource<Deposit>(
  'deposits on chains',
  `SELECT ${columnsOf('deposits')} FROM deposits WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
)

export const updateChainDeposits = updateOf(chainDepositRows, 'deposits', {
  id: 'text',
  status: 'text',
  sequence: 'integer',
  completed_at: 'timestamptz?',
  block_height: 'bigint?',
  block_hash: 'text?',
  depth: 'integer',
  next_attempt_at: 'timestamptz?',
})

export const returnedDeposits = updateOf(chainDepositRows, 'deposits', {
  id: 'text',
  amount_returned: 'bigint',
})

/** Another transaction stored this output first. */
export const isDoubleOutput = (error: unknown): boolean => isUniqueViolation(error, 'deposits_output_once')

/** An output of a Bitcoin transaction, or a log entry of an EVM transaction. */
export type Output = { readonly network: Network; readonly tx_hash: string; readonly output_index: number }

/**
 * All deposits of an output. One at the most is not dropped, and comes first. After a reorganisation the same transaction may pay another
 * amount or address at the same place, as a swap at another price does: then each payment that was seen has a deposit.
 */
export async function depositsOfOutput(
  db: Db,
  { network, tx_hash, output_index }: Output,
): Promise<Deposit[]> {
  const { rows } = await db.query({
    name: 'deposits of output',
    text: `SELECT ${columnsOf('deposits')} FROM deposits WHERE rail = $1 AND tx_hash = $2 AND output_index = $3
      ORDER BY (status = 'dropped'), id DESC`,
    values: [network, tx_hash, output_index],
  })
  return rows
}

/** The deposits of a partner that a transaction paid, on any network. */
export async function depositsOfTransaction(
  db: Db,
  { partner_id, tx_hash, limit }: { partner_id: string; tx_hash: string; limit: number },
): Promise<Deposit[]> {
  const { rows } = await db.query({
    name: 'deposits of transaction',
    text: `SELECT ${columnsOf('deposits')} FROM deposits WHERE rail = ANY($1) AND tx_hash = $2 AND partner_id = $3 LIMIT $4`,
    values: [networkNames, tx_hash, partner_id, limit],
  })
  return rows
}

/** The credited payments of a charge. */
export async function depositsOfCharge(db: Db, charge_id: string, limit: number): Promise<Deposit[]> {
  const { rows } = await db.query({
    name: 'deposits of charge',
    text: `SELECT ${columnsOf('deposits')} FROM deposits WHERE charge_id = $1 ORDER BY created_at, id LIMIT $2`,
    values: [charge_id, limit],
  })
  return rows
}

/** All deposits that a transaction paid on a network; of one output those that are not dropped first, then the newest. */
export async function depositsPaidBy(
  db: Db,
  { network, tx_hash }: Pick<Output, 'network' | 'tx_hash'>,
): Promise<Deposit[]> {
  const { rows } = await db.query({
    name: 'deposits paid by transaction',
    text: `SELECT ${columnsOf('deposits')} FROM deposits WHERE rail = $1 AND tx_hash = $2
      ORDER BY output_index, (status = 'dropped'), id DESC`,
    values: [network, tx_hash],
  })
  return rows
}

/** Takes deposits on these networks that are due, with a lease: until it ends, other workers pass over them. */
export async function takeDueDeposits(
  db: Db,
  { lease_ms, most, on = networkNames }: { lease_ms: number; most: number; on?: readonly Network[] },
): Promise<Deposit[]> {
  const { rows } = await db.query({
    name: 'take due deposits',
    text: `UPDATE deposits SET next_attempt_at = clock_timestamp() + make_interval(secs => $1::float8 / 1000)
      WHERE id = ANY(ARRAY(SELECT id FROM deposits WHERE next_attempt_at <= clock_timestamp() AND rail = ANY($3)
        ORDER BY next_attempt_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED)) RETURNING ${columnsOf('deposits')}`,
    values: [lease_ms, most, on],
  })
  return rows
}

export async function depositById(db: Db, id: string): Promise<Deposit | undefined> {
  const { rows } = await db.query(`SELECT ${columnsOf('deposits')} FROM deposits WHERE id = $1`, [id])
  return rows[0]
}

/** Conditions exactly as in the partial indexes. Nearly all deposits are completed, so that status has no index of its own. */
const openStatuses: Readonly<Record<string, string>> = {
  pending: `status <> 'completed' AND status = 'pending'`,
  dropped: `status <> 'completed' AND status = 'dropped'`,
}
const isOpen = (status: string | undefined): status is string =>
  status !== undefined && Object.hasOwn(openStatuses, status)

/** The other indexes begin with the owner and the asset, so a list of all assets merges three ranges. */
export const depositList: ListSource = {
  table: 'deposits',
  columns: columnsOf('deposits'),
  walks: [
    {
      by: ['customer_id', 'status'],
      stretches: ({ customer_id, status }, param) =>
        isOpen(status) ? [`${ofCustomer(customer_id, param)} AND ${openStatuses[status]}`] : undefined,
    },
    {
      by: ['status'],
      stretches: ({ status }) =>
        isOpen(status) ? [`partner_id = $1 AND ${openStatuses[status]}`] : undefined,
    },
    {
      by: ['customer_id', 'asset'],
      stretches: ({ customer_id, asset }, param) => [
        `${ofCustomer(customer_id, param)} AND asset = ${param(asset)}`,
      ],
    },
    {
      by: ['customer_id'],
      stretches: ({ customer_id }, param) =>
        assetNames.map((asset) => `${ofCustomer(customer_id, param)} AND asset = ${param(asset)}`),
    },
    { by: ['asset'] },
    {
      by: [],
      stretches: (_, param) => assetNames.map((asset) => `partner_id = $1 AND asset = ${param(asset)}`),
    },
  ],
}

const ON_CHAIN = networkNames.map((name) => `'${name}'`).join(', ')
/** Networks whose hashes are written without 0x. One hash in two spellings would be two deposits. */
const WITHOUT_0X = networkNames
  .filter((name) => networks[name].kind !== 'evm')
  .map((name) => `'${name}'`)
  .join(', ')
const carried = networkNames.map((name) => `('${name}', '${networks[name].asset}')`).join(', ')

/** When a deposit was credited. */
const CREDITED_AT = 'coalesce(d.completed_at, d.created_at)'

export const depositTemplate: Template = {
  name: 'every deposit is booked once and in full, and nothing is booked without one',
  prefix: 'dep',
  entries: (
    within,
  ) => `SELECT d.id AS cause_id, 'credited' AS movement, l.line, d.partner_id, l.account, l.owner, d.asset, l.amount, ${CREDITED_AT} AS created_at
    FROM deposits d CROSS JOIN LATERAL (VALUES
      (0, 'external:' || d.rail, '', -d.amount::numeric),
      (1, 'customer', d.customer_id, d.amount)) AS l (line, account, owner, amount)
    WHERE ${within('d.id')} AND d.status = 'completed'`,
}

export const depositChecks: readonly Check[] = [
  {
    name: 'every deposit is of a known kind, to a customer of its partner',
    walk: 'causes',
    prefix: 'dep',
    sql: (within) => `SELECT d.id AS object_id, d.partner_id, d.customer_id, d.rail FROM deposits d
      LEFT JOIN customers c ON c.id = d.customer_id
      WHERE ${within('d.id')} AND (c.partner_id IS DISTINCT FROM d.partner_id OR d.rail NOT IN ('sandbox', 'operator', 'pix', ${ON_CHAIN})
        OR (d.rail = 'pix') <> (d.end_to_end_id IS NOT NULL) OR (d.rail = 'pix') <> (d.charge_id IS NOT NULL)
        OR (d.rail = 'pix' AND d.asset <> 'BRL')
        OR (d.rail = 'sandbox' AND ${IN_PRODUCTION})
        OR (d.rail = 'operator') <> (d.reference IS NOT NULL) OR (d.rail = 'operator') <> (d.reason IS NOT NULL))`,
  },
  {
    // `pending` and `dropped` alternate, so a pending deposit has an odd sequence; a deposit is pending right before it is completed.
    name: 'every deposit is in a state that can be, and only one on a chain was ever anything but credited',
    walk: 'causes',
    prefix: 'dep',
    sql: (within) => `SELECT d.id AS object_id, d.partner_id, d.rail, d.status, d.sequence FROM deposits d
      WHERE ${within('d.id')} AND CASE WHEN d.rail IN (${ON_CHAIN}) THEN
        (d.rail, d.asset) NOT IN (${carried}) OR d.address IS NULL OR d.tx_hash IS NULL OR d.output_index IS NULL
        OR d.tx_hash !~ CASE WHEN d.rail IN (${WITHOUT_0X}) THEN '^[0-9a-f]{64}$' ELSE '^0x[0-9a-f]{64}$' END
        OR d.status NOT IN ('pending', 'completed', 'dropped') OR d.sequence < 1 OR (d.status = 'pending') <> (d.sequence % 2 = 1)
        OR (d.status = 'completed') <> (d.completed_at IS NOT NULL) OR d.completed_at < d.created_at
        OR (d.below_minimum AND d.status = 'completed') OR (d.block_height IS NULL) <> (d.block_hash IS NULL)
        OR (d.block_hash IS NULL AND (d.depth > 0 OR d.status = 'completed')) OR (d.block_hash IS NOT NULL AND (d.depth < 1 OR d.status = 'dropped'))
        OR d.next_attempt_at > now() + interval '2 days'
      ELSE d.status <> 'completed' OR d.sequence <> 1 OR d.completed_at IS NOT NULL OR d.address IS NOT NULL OR d.tx_hash IS NOT NULL
        OR d.output_index IS NOT NULL OR d.below_minimum OR d.block_height IS NOT NULL OR d.block_hash IS NOT NULL OR d.depth <> 0
        OR d.next_attempt_at IS NOT NULL END`,
  },
  {
    name: 'every deposit on a chain came to an address of its customer',
    walk: 'causes',
    prefix: 'dep',
    sql: (within) => `SELECT d.id AS object_id, d.partner_id, d.customer_id, d.rail, d.address FROM deposits d
      LEFT JOIN deposit_addresses a ON a.network = d.rail AND a.address = d.address
      WHERE ${within('d.id')} AND d.rail IN (${ON_CHAIN}) AND (a.partner_id, a.customer_id) IS DISTINCT FROM (d.partner_id, d.customer_id)`,
  },
  {
    name: 'no output of a chain is deposited twice',
    walk: 'causes',
    prefix: 'dep',
    sql: (
      within,
    ) => `SELECT d.id AS object_id, d.partner_id, d.rail, d.tx_hash, other.id AS other_id FROM deposits d
      JOIN deposits other ON other.rail = d.rail AND other.tx_hash = d.tx_hash AND other.output_index = d.output_index AND other.id <> d.id
      WHERE ${within('d.id')} AND d.tx_hash IS NOT NULL AND d.status <> 'dropped' AND other.status <> 'dropped'`,
  },
  {
    name: 'no payment on a chain is credited by the service and by an operator',
    walk: 'causes',
    prefix: 'dep',
    sql: (
      within,
    ) => `SELECT d.id AS object_id, d.partner_id, d.rail, d.tx_hash, o.id AS other_id FROM deposits d
      CROSS JOIN LATERAL (SELECT right(d.tx_hash, 64) AS digits) AS h
      JOIN deposits o ON o.rail = 'operator' AND o.reference IN (h.digits, '0x' || h.digits, upper(h.digits), '0x' || upper(h.digits))
      WHERE ${within('d.id')} AND d.rail IN (${ON_CHAIN}) AND d.status = 'completed'
        AND NOT EXISTS (SELECT FROM adjustments a WHERE a.deposit_id = o.id)
        AND o.amount > (SELECT coalesce(sum(s.amount), 0) FROM deposits s
          WHERE s.rail = d.rail AND s.tx_hash = d.tx_hash AND s.below_minimum AND s.status <> 'dropped')`,
  },
  {
    name: 'no return of a payout is credited by the service and by an operator',
    walk: 'causes',
    prefix: 'dep',
    sql: (within) => `SELECT d.id AS object_id, d.partner_id, d.reference, p.id AS payout_id FROM deposits d
      CROSS JOIN LATERAL (SELECT payout_id AS id FROM pix_returns WHERE return_id = d.reference AND payout_id IS NOT NULL AND state = 'booked'
        UNION SELECT payout_id FROM end_to_end_ids WHERE end_to_end_id = d.reference) AS u
      JOIN payouts p ON p.id = u.id AND p.amount_returned > 0
      WHERE ${within('d.id')} AND d.rail = 'operator' AND NOT EXISTS (SELECT FROM adjustments a WHERE a.deposit_id = d.id)`,
  },
  {
    name: 'no reference credits twice',
    walk: 'causes',
    prefix: 'dep',
    sql: (
      within,
    ) => `SELECT d.id AS object_id, d.partner_id, d.reference, other.id AS other_id FROM deposits d
      JOIN deposits other ON other.rail = d.rail AND other.reference = d.reference AND other.id <> d.id
      WHERE ${within('d.id')}`,
  },
  ...referenceChecks({
    table: 'deposits',
    prefix: 'dep',
    operation: 'credit',
    only: `r.rail = 'operator'`,
    names: ['r.customer_id', 'r.asset', 'r.amount', 'r.reason'],
  }),
  missingEventCheck({
    name: 'every deposit was told once, as it is',
    prefix: 'dep',
    table: 'deposits',
    // When a deposit was dropped, or seen again, is told by these events alone.
    expected: (within) => `SELECT d.id AS object_id, n.sequence, 'deposit.' || n.type AS type, d.partner_id,
        CASE WHEN n.type = 'returned' THEN n.at WHEN n.status = 'completed' THEN ${CREDITED_AT} WHEN n.sequence = 1 THEN d.created_at END AS created_at, d.created_at AS since,
        ARRAY[d.id, d.customer_id, d.asset, d.amount::text, n.status, ${isoTime('d.created_at')},
          CASE n.status WHEN 'completed' THEN ${isoTime(CREDITED_AT)} END, CASE WHEN d.tx_hash IS NOT NULL THEN d.rail END,
          d.address, d.tx_hash, d.output_index::text, CASE WHEN d.below_minimum THEN 'true' END, d.end_to_end_id, d.charge_id, n.returned::text] AS facts
      FROM deposits d CROSS JOIN LATERAL (SELECT sequence, status AS type, status, NULL::timestamptz AS at, NULL::numeric AS returned FROM (SELECT i AS sequence, CASE
        WHEN d.status = 'completed' AND i = d.sequence THEN 'completed' WHEN i % 2 = 1 THEN 'pending' ELSE 'dropped' END AS status
        FROM generate_series(1, d.sequence) AS i) AS states
        UNION ALL SELECT r.sequence, 'returned', 'completed', r.booked_at, sum(r.amount) OVER (ORDER BY r.sequence)
          FROM pix_returns r WHERE r.deposit_id = d.id AND r.state = 'booked') AS n
      WHERE ${within('d.id')}`,
    fields:
      'id text, customer_id text, asset text, amount text, status text, created_at text, completed_at text, network text, address text, tx_hash text, output_index text, below_minimum text, end_to_end_id text, charge_id text, amount_returned text',
    facts: `ARRAY[d.id, d.customer_id, d.asset, d.amount, d.status, d.created_at, ${endTime('completed_at', 'completed')}, d.network, d.address,
      d.tx_hash, d.output_index, d.below_minimum, d.end_to_end_id, d.charge_id, d.amount_returned]`,
  }),
]
