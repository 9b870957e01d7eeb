import type { Asset } from '../../core/money.ts'
import { type Network, networkNames, networks } from '../../core/networks.ts'
import { rowsById } from '../../db/batched.ts'
import { columnsOf } from '../../db/columns.ts'
import { queueOf } from '../../db/due.ts'
import { isUniqueViolation } from '../../db/failure.ts'
import {
  COUNT_MAX,
  type Filters,
  type ListSource,
  narrowly,
  ofCustomer,
  type Param,
} from '../../db/newest.ts'
import type { Db } from '../../db/pool.ts'
import type { Check, Template } from '../../ledger/audit.ts'
import { onceChecks } from '../../ledger/claims-audit.ts'
import { insertInto, rowSource, updateOf } from '../../ledger/command.ts'
import { endTime, isoTime, metadataText, missingEventCheck } from '../../records/events/store.ts'
import { isWaiting, type Unanswered } from '../../records/steps/store.ts'

type TransferStatus = 'pending' | 'processing' | 'confirmed' | 'failed'

export type Transfer = {
  readonly id: string
  readonly partner_id: string
  readonly customer_id: string
  readonly api_key_id: string
  readonly idempotency_key: string
  readonly asset: Extract<Asset, 'USDT' | 'BTC'>
  readonly network: Network
  readonly amount_net: bigint
  readonly fee: bigint
  readonly status: TransferStatus
  readonly destination_address: string
  readonly tx_hash: string | null
  readonly signed_transaction: string | null
  readonly failure_code: string | null
  readonly rail_code: string | null
  readonly attempts: number
  readonly next_attempt_at: Date
  readonly sequence: number
  readonly created_at: Date
  readonly completed_at: Date | null
  /** The network's actual charge in the transfer's asset, and when it was booked. Null: unknown, or charged in another coin. */
  readonly charged: bigint | null
  readonly charged_at: Date | null
  /** The request that created the transfer; null if unknown. */
  readonly request_id: string | null
  readonly metadata: Readonly<Record<string, string>>
  /** What the transfer spends: reserved before anything is signed. */
  readonly wallet_id: string | null
  readonly nonce: bigint | null
  /** HMAC over the order, which the signer checks (`rails/signer/seal.ts`). Null where nothing is signed for real. */
  readonly seal: string | null
  /** When two operators asked for a transaction that spends the nonce without paying. */
  readonly cancel_requested_at: Date | null
}

export const isFinalTransfer = ({ status }: Pick<Transfer, 'status'>): boolean =>
  status === 'confirmed' || status === 'failed'

export const transferColumns = columnsOf('transfers')

export const insertTransfers = insertInto('transfers', {
  id: 'text',
  partner_id: 'text',
  customer_id: 'text',
  api_key_id: 'text',
  idempotency_key: 'text',
  asset: 'text',
  network: 'text',
  amount_net: 'bigint',
  fee: 'bigint',
  status: 'text',
  destination_address: 'text',
  attempts: 'integer',
  next_attempt_at: 'timestamptz',
  sequence: 'integer',
  created_at: 'timestamptz',
  request_id: 'text?',
  metadata: 'json',
  seal: 'text?',
})

export const transferRow = (transfer: Transfer) => ({
  ...transfer,
  metadata: JSON.stringify(transfer.metadata),
})

export const transferRows = rowSource<Transfer>(
  'transfers',
  `SELECT ${transferColumns} FROM transfers WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
)

export const updateTransfers = updateOf(transferRows, 'transfers', {
  id: 'text',
  status: 'text',
  tx_hash: 'text?',
  signed_transaction: 'text?',
  failure_code: 'text?',
  rail_code: 'text?',
  sequence: 'integer',
  completed_at: 'timestamptz?',
  charged: 'bigint?',
  charged_at: 'timestamptz?',
  wallet_id: 'text?',
  nonce: 'bigint?',
  cancel_requested_at: 'timestamptz?',
})

/** Another transfer has this transaction hash already. */
export const isDoubleTxHash = (error: unknown): boolean =>
  isUniqueViolation(error, 'transfers_tx_hash') || isUniqueViolation(error, 'transactions_tx_hash')

export async function selectTransfer(
  db: Db,
  where: { id: string; partner_id: string },
): Promise<Transfer | undefined> {
  const { rows } = await db.query({
    name: 'select transfer',
    text: `SELECT ${transferColumns} FROM transfers WHERE id = $1 AND partner_id = $2`,
    values: [where.id, where.partner_id],
  })
  return rows[0]
}

export const transferById = rowsById<Transfer>('transfers')

/** The ids of transfers with this hash, of any partner: at most one per network. The hash is in lower case. */
export async function transfersByHash(db: Db, tx_hash: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM transfers WHERE network = ANY($1) AND tx_hash = $2`,
    [networkNames, tx_hash],
  )
  return rows.map(({ id }) => id)
}

/** Conditions exactly as in the queue's indexes. */
const pending = 'partner_id = $1 AND NOT followed'
const processing = 'partner_id = $1 AND followed'
const openStatuses: Readonly<Record<string, readonly string[]>> = {
  pending: [pending],
  processing: [processing],
  open: [pending, processing],
}

const patience = `CASE network ${networkNames
  .map((name) => `WHEN '${name}' THEN interval '${networks[name].patience_ms} milliseconds'`)
  .join(' ')} END`

/** `patience` is the extra time of each network. */
const silentSince = (time: string | undefined, param: Param) =>
  `status = 'processing' AND created_at < ${param(time)}::timestamptz - ${patience} AND NOT ${isWaiting('id')}`

/** The index begins with the network. A pending transfer does not show its hash, so it is not found by it. */
const withHash = (tx_hash: string | undefined, param: Param) =>
  `network = ANY(${param(networkNames)}) AND tx_hash = ${param(tx_hash)} AND status <> 'pending'`

/** The networks of an asset: each network carries one asset. */
const overNetworks = ({ asset }: Filters, param: Param) =>
  networkNames
    .filter((name) => networks[name].asset === asset)
    .map((name) => `partner_id = $1 AND ${narrowly('network', param(name))}`)

/** Confirmed transfers have no index of their own: they are nearly all transfers. */
export const transferList: ListSource = {
  table: 'transfers',
  columns: transferColumns,
  walks: [
    { by: ['idempotency_key'] },
    {
      by: ['tx_hash'],
      stretches: ({ tx_hash }, param) => [`partner_id = $1 AND ${withHash(tx_hash, param)}`],
    },
    {
      by: ['silent_since'],
      through: queueOf.transfers,
      stretches: ({ silent_since }, param) => [
        `${processing} AND EXISTS (SELECT FROM transfers t WHERE t.id = open_transfers.id AND ${silentSince(silent_since, param)})`,
      ],
    },
    {
      by: ['customer_id', 'status'],
      stretches: ({ customer_id, status }, param) =>
        status === 'failed' ? [`${ofCustomer(customer_id, param)} AND failure_code IS NOT NULL`] : undefined,
    },
    {
      by: ['status'],
      through: queueOf.transfers,
      stretches: ({ status = '' }) =>
        Object.hasOwn(openStatuses, status) ? openStatuses[status] : undefined,
    },
    {
      by: ['status'],
      stretches: ({ status }) =>
        status === 'failed' ? ['partner_id = $1 AND failure_code IS NOT NULL'] : undefined,
    },
    { by: ['customer_id'], stretches: ({ customer_id }, param) => [ofCustomer(customer_id, param)] },
    { by: ['network'] },
    { by: ['asset'], stretches: overNetworks },
    { by: [] },
  ],
  conditions: {
    tx_hash: withHash,
    status: (status, param) =>
      status === 'open' ? `status IN ('pending', 'processing')` : `status = ${param(status)}`,
    silent_since: silentSince,
    amount_min: (units, param) => `amount_net >= ${param(units)}::bigint`,
    amount_max: (units, param) => `amount_net <= ${param(units)}::bigint`,
  },
}

/** Counts open transfers, up to COUNTED per range, and those among them without an answer since before `silent_since`. */
export async function countOpenTransfers(
  db: Db,
  { partner_id, silent_since }: { partner_id: string; silent_since: Date },
): Promise<{ open: number; silent: number }> {
  const counted = (followed: string) => `(SELECT t.id, t.status, t.network, t.created_at FROM (
    SELECT id FROM open_transfers WHERE partner_id = $1 AND ${followed} ORDER BY created_at, id LIMIT ${COUNT_MAX}) AS q JOIN transfers t USING (id))`
  const { rows } = await db.query({
    name: 'count open transfers of partner',
    text: `SELECT count(*)::integer AS open,
        count(*) FILTER (WHERE status = 'processing' AND created_at < $2::timestamptz - ${patience} AND NOT ${isWaiting('o.id')})::integer AS silent FROM (
        ${counted('NOT followed')} UNION ALL ${counted('followed')}) AS o`,
    values: [partner_id, silent_since],
  })
  return rows[0]
}

/** Whether a transfer has been processing for longer than its network may need. */
export const isLateTransfer = (
  { status, network, created_at }: Pick<Transfer, 'status' | 'network' | 'created_at'>,
  silent_since: Date,
): boolean =>
  status === 'processing' && created_at.getTime() < silent_since.getTime() - networks[network].patience_ms

/** Movements of a transfer: accepted, then completed or returned; and charged, where the charge is known. */
export const transferTemplate: Template = {
  name: 'every transfer is debited once and in full, and ends in exactly one place',
  prefix: 'tr',
  entries: (
    within,
  ) => `SELECT t.id AS cause_id, l.movement, l.line, t.partner_id, l.account, l.owner, t.asset, l.amount, l.created_at
    FROM transfers t CROSS JOIN LATERAL (VALUES
      (true, 'accepted', 0, 'customer', t.customer_id, -(t.amount_net::numeric + t.fee), t.created_at),
      (true, 'accepted', 1, 'in_transit:' || t.network, t.customer_id, t.amount_net::numeric + t.fee, t.created_at),
      (t.status = 'confirmed', 'completed', 0, 'in_transit:' || t.network, t.customer_id, -(t.amount_net::numeric + t.fee), t.completed_at),
      (t.status = 'confirmed', 'completed', 1, 'external:' || t.network, '', t.amount_net, t.completed_at),
      (t.status = 'confirmed', 'completed', 2, 'network_fees', '', t.fee, t.completed_at),
      (t.status = 'failed', 'returned', 0, 'in_transit:' || t.network, t.customer_id, -(t.amount_net::numeric + t.fee), t.completed_at),
      (t.status = 'failed', 'returned', 1, 'customer', t.customer_id, t.amount_net::numeric + t.fee, t.completed_at),
      (t.charged IS NOT NULL, 'charged', 0, 'network_fees', '', -t.charged::numeric, t.charged_at),
      (t.charged IS NOT NULL, 'charged', 1, 'external:' || t.network, '', t.charged, t.charged_at)
    ) AS l (happened, movement, line, account, owner, amount, created_at)
    WHERE ${within('t.id')} AND l.happened AND l.amount <> 0`,
}

/** Amounts that were debited for transfers that are not final. */
export const openTransfers = `SELECT customer_id, asset, amount_net::numeric + fee AS amount FROM open_transfers JOIN transfers USING (id)`

/**
 * Transfers of a partner, accepted longer ago than their network needs, without an answer of the network. Transfers that wait
 * for confirmations have an answer.
 */
export async function unansweredTransfers(
  db: Db,
  { partner_id, before }: { partner_id: string; before: Readonly<Record<Network, Date>> },
): Promise<Unanswered[]> {
  const open = (
    followed: string,
  ) => `(SELECT id, network, asset, amount_net + fee AS gross, created_at FROM transfers WHERE id = ANY(ARRAY(
    SELECT id FROM open_transfers WHERE partner_id = $1 AND ${followed} AND created_at < $2 ORDER BY created_at DESC, id DESC LIMIT 1000)))`
  const latest = new Date(Math.max(...Object.values(before).map((time) => time.getTime())))
  const { rows } = await db.query({
    name: 'unanswered transfers',
    text: `SELECT network AS rail, asset, count(*)::integer AS count, sum(gross) AS amount, min(created_at) AS since
      FROM (${open('NOT followed')} UNION ALL ${open('followed')}) AS open
      JOIN unnest($3::text[], $4::timestamptz[]) AS patience (name, before) ON name = network AND created_at < patience.before
      WHERE NOT ${isWaiting('open.id')}
      GROUP BY network, asset ORDER BY network`,
    values: [partner_id, latest, Object.keys(before), Object.values(before)],
  })
  return rows
}

/** The final transfers among these ids, for the daily sums. */
export const endedTransfers = (
  ids: string,
): string => `SELECT partner_id, network AS kind, asset, '' AS to_asset, status = 'confirmed' AS completed,
  amount_net AS amount, fee, created_at, completed_at AS ended_at FROM transfers WHERE id = ANY(${ids}) AND completed_at IS NOT NULL`

const carried = networkNames.map((name) => `('${name}', '${networks[name].asset}')`).join(', ')

/** SQL: how many payments were signed. Each of them has an event once the transfer is on its way. */
const payments = `(SELECT count(*) FROM transactions x WHERE x.transfer_id = t.id AND x.purpose = 'pay')`

const isInGap = (wallet_id: string, nonce: string) =>
  `EXISTS (SELECT FROM wallet_gaps o WHERE o.wallet_id = ${wallet_id} AND o.first_nonce <= ${nonce} AND o.next_nonce > ${nonce})`

/** SQL: a transfer has the nonce, or operators accepted that a foreign transaction spent it. */
const isSpent = (wallet_id: string, nonce: string) =>
  `(EXISTS (SELECT FROM transfers o WHERE o.wallet_id = ${wallet_id} AND o.nonce = ${nonce}) OR ${isInGap(wallet_id, nonce)})`
/** SQL: the cancel is in a block, or operators found that a stranger had spent its nonce: the audit asks for their resolution elsewhere. */
const isCancelDone = `EXISTS (SELECT FROM transactions x WHERE x.transfer_id = t.id AND x.purpose = 'cancel'
  AND (x.block_hash IS NOT NULL OR t.rail_code = 'resolved_by_operator'))`

/** SQL: on tron a cancel is no transaction. A transfer that was canceled before it was signed has none at all. */
const isNeverSigned = `(t.network = 'tron' AND t.wallet_id <> 'tron:simulated' AND t.failure_code = 'canceled' AND t.cancel_requested_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM transactions x WHERE x.transfer_id = t.id))`

/** SQL: the block by which the transfer failed vanished, and its payments must not be mined any more (`watch.ts`). */
const isLateCancel = `(x.purpose = 'cancel' AND t.status = 'failed' AND x.created_at > t.completed_at
  AND EXISTS (SELECT FROM follow_ups f WHERE f.resource_id = t.id AND f.kind = 'transfer'))`

export const transferChecks: readonly Check[] = [
  {
    name: 'every transfer is in a state that can be, over a network that carries it, of a customer and a key of its partner',
    walk: 'causes',
    prefix: 'tr',
    sql: (
      within,
    ) => `SELECT t.id AS object_id, t.partner_id, t.customer_id, t.api_key_id, t.network, t.asset, t.status, t.sequence FROM transfers t
      LEFT JOIN customers c ON c.id = t.customer_id LEFT JOIN api_keys k ON k.id = t.api_key_id
      WHERE ${within('t.id')} AND (c.partner_id IS DISTINCT FROM t.partner_id OR k.partner_id IS DISTINCT FROM t.partner_id
        OR (t.network, t.asset) NOT IN (${carried}) OR t.amount_net <= 0 OR t.fee < 0
        OR t.status NOT IN ('pending', 'processing', 'confirmed', 'failed')
        OR (t.tx_hash IS NULL) <> (t.signed_transaction IS NULL) OR (t.status IN ('processing', 'confirmed') AND t.tx_hash IS NULL)
        OR (t.status = 'failed') <> (t.failure_code IS NOT NULL) OR (t.failure_code IS NULL AND t.rail_code IS NOT NULL)
        OR (t.status IN ('confirmed', 'failed')) <> (t.completed_at IS NOT NULL)
        OR (t.charged IS NULL) <> (t.charged_at IS NULL) OR t.charged < 0
        OR (t.charged IS NOT NULL AND (t.completed_at IS NULL OR t.nonce IS NULL OR t.charged_at < t.completed_at))
        OR (t.wallet_id IS NULL) <> (t.nonce IS NULL) OR (t.tx_hash IS NOT NULL AND t.nonce IS NULL)
        OR (t.status = 'failed' AND t.nonce IS NOT NULL AND t.tx_hash IS NULL AND NOT ${isCancelDone} AND NOT ${isNeverSigned})
        OR (t.cancel_requested_at IS NOT NULL AND (t.cancel_requested_at < t.created_at OR t.cancel_requested_at > t.completed_at
          OR (t.nonce IS NULL AND t.failure_code IS DISTINCT FROM 'canceled')))
        OR (t.nonce IS NULL AND t.failure_code = 'canceled' AND t.cancel_requested_at IS DISTINCT FROM t.completed_at)
        OR t.sequence <> CASE t.status WHEN 'pending' THEN 1 WHEN 'processing' THEN 1 + ${payments} ELSE 2 + ${payments} END)`,
  },
  {
    name: 'every transfer that has reserved a nonce has the one after its predecessor in its wallet, or after a gap',
    walk: 'causes',
    prefix: 'tr',
    sql: (
      within,
    ) => `SELECT t.id AS object_id, t.partner_id, t.wallet_id, t.nonce FROM transfers t LEFT JOIN wallets w ON w.id = t.wallet_id
      WHERE ${within('t.id')} AND t.nonce IS NOT NULL AND (w.id IS NULL OR w.id <> w.network || ':' || w.address
        OR w.network <> t.network OR t.nonce < w.first_nonce OR t.nonce >= w.next_nonce
        OR (t.nonce > w.first_nonce AND NOT ${isSpent('t.wallet_id', 't.nonce - 1')})
        OR (t.nonce < w.next_nonce - 1 AND NOT ${isSpent('t.wallet_id', 't.nonce + 1')}) OR ${isInGap('t.wallet_id', 't.nonce')}
        OR EXISTS (SELECT FROM transfers o WHERE o.wallet_id = t.wallet_id AND o.nonce = t.nonce AND o.id <> t.id))`,
  },
  {
    name: 'every wallet has given its nonces, up to the last one, to transfers and gaps',
    walk: 'causes',
    // A few rows, checked in the piece whose range contains the name of their table.
    sql: (within) => `SELECT w.id AS object_id, w.network, w.first_nonce, w.next_nonce FROM wallets w
      WHERE ${within(`'wallets'`)} AND (w.id <> w.network || ':' || w.address OR w.first_nonce < 0 OR w.next_nonce < w.first_nonce
        OR (w.next_nonce > w.first_nonce AND NOT ${isSpent('w.id', 'w.next_nonce - 1')}))`,
  },
  {
    name: 'every gap in the nonces of a wallet lies between its transfers, and overlaps no other gap',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT g.wallet_id AS object_id, g.first_nonce, g.next_nonce FROM wallet_gaps g LEFT JOIN wallets w ON w.id = g.wallet_id
      WHERE ${within(`'wallets'`)} AND (w.id IS NULL OR g.first_nonce < w.first_nonce OR g.next_nonce <= g.first_nonce OR g.next_nonce > w.next_nonce
        OR (g.first_nonce > w.first_nonce AND NOT ${isSpent('g.wallet_id', 'g.first_nonce - 1')})
        OR (g.next_nonce < w.next_nonce AND NOT ${isSpent('g.wallet_id', 'g.next_nonce')})
        OR EXISTS (SELECT FROM transfers t WHERE t.wallet_id = g.wallet_id AND t.nonce >= g.first_nonce AND t.nonce < g.next_nonce)
        OR EXISTS (SELECT FROM wallet_gaps o WHERE o.wallet_id = g.wallet_id AND o.first_nonce <> g.first_nonce
          AND o.first_nonce < g.next_nonce AND o.next_nonce > g.first_nonce))`,
  },
  {
    name: 'every transaction belongs to a transfer, which shows one of its payments and ends by at most one of them',
    walk: 'causes',
    prefix: 'tr',
    sql: (
      within,
    ) => `SELECT coalesce(t.id, x.transfer_id) AS object_id, t.partner_id, t.status, t.tx_hash, x.attempts
      FROM (SELECT t.id, t.partner_id, t.network, t.status, t.tx_hash, t.signed_transaction, t.nonce, t.failure_code, t.created_at, t.completed_at
        FROM transfers t WHERE ${within('t.id')}) AS t
      FULL JOIN (SELECT x.transfer_id, array_agg(x.attempt ORDER BY x.attempt) AS attempts, count(*) AS made, max(x.attempt) AS newest,
          count(*) FILTER (WHERE x.purpose = 'pay') AS payments,
          coalesce(max(x.attempt) FILTER (WHERE x.purpose = 'pay') > min(x.attempt) FILTER (WHERE x.purpose = 'cancel'), false)
            OR bool_or(x.purpose = 'pay' AND x.created_at > t.cancel_requested_at) AS paid_after_cancel,
          count(x.block_hash) AS mined, bool_or(x.block_hash IS NOT NULL AND x.purpose = 'cancel') AS canceled,
          bool_or(x.block_hash IS NOT NULL AND ${isLateCancel}) AS canceled_late,
          bool_or(${isLateCancel}) AND NOT bool_or(x.purpose = 'cancel' AND x.created_at <= t.completed_at) AS only_late,
          bool_and(x.block_hash IS NULL OR x.tx_hash = t.tx_hash OR x.purpose = 'cancel') AS shown_is_mined,
          bool_or(x.purpose = 'pay' AND x.tx_hash = t.tx_hash AND x.signed = t.signed_transaction) AS shown,
          bool_and(x.network = t.network AND x.created_at >= t.created_at AND x.purpose IN ('pay', 'cancel')
            AND (x.block_height IS NULL) = (x.block_hash IS NULL)
            AND (t.completed_at IS NULL OR x.created_at <= t.completed_at OR ${isLateCancel})) AS sound
        FROM transactions x LEFT JOIN transfers t ON t.id = x.transfer_id WHERE ${within('x.transfer_id')} GROUP BY x.transfer_id) AS x
      ON x.transfer_id = t.id
      WHERE t.id IS NULL OR (t.tx_hash IS NULL) <> (coalesce(x.payments, 0) = 0) OR (x.transfer_id IS NOT NULL AND (t.nonce IS NULL
        OR x.made <> x.newest OR x.mined > 1 OR (x.payments > 0 AND NOT x.shown) OR x.paid_after_cancel OR NOT x.sound OR (x.mined > 0 AND t.completed_at IS NULL)
        OR NOT x.shown_is_mined OR (t.status = 'confirmed' AND x.canceled)
        OR (t.failure_code = 'canceled' AND x.only_late)
        OR (t.status = 'failed' AND x.mined > 0 AND NOT x.canceled_late AND x.canceled <> (t.failure_code = 'canceled'))))`,
  },
  {
    name: 'no two transfers are one transaction of their network',
    walk: 'causes',
    prefix: 'tr',
    sql: (
      within,
    ) => `SELECT t.id AS object_id, t.partner_id, t.network, t.tx_hash, other.id AS other_id FROM transfers t
      JOIN transfers other ON other.network = t.network AND lower(other.tx_hash) = lower(t.tx_hash) AND other.tx_hash IS NOT NULL
        AND other.id <> t.id WHERE ${within('t.id')}`,
  },
  {
    name: 'every transfer that is on its way stands in the queue, and no other does',
    walk: 'causes',
    prefix: 'tr',
    sql: (
      within,
    ) => `SELECT coalesce(t.id, q.id) AS object_id, coalesce(t.partner_id, q.partner_id) AS partner_id, t.status, q.status AS queued
      FROM (SELECT id, partner_id, network, created_at, status, next_attempt_at FROM transfers t WHERE ${within('t.id')} AND t.status IN ('pending', 'processing')) AS t
      FULL JOIN (SELECT id, partner_id, network, followed, created_at, status, next_attempt_at FROM open_transfers q WHERE ${within('q.id')}) AS q ON q.id = t.id
      WHERE t.id IS NULL OR q.id IS NULL OR (q.partner_id, q.network, q.followed, q.created_at, q.status, q.next_attempt_at)
        IS DISTINCT FROM (t.partner_id, t.network, t.status = 'processing', t.created_at, t.status, t.next_attempt_at)`,
  },
  ...onceChecks({
    table: 'transfers',
    prefix: 'tr',
    operation: 'onchain.transfer',
    open: `r.status IN ('pending', 'processing')`,
    repeats: ['amount_net', 'fee'],
    statuses: ['pending'],
    answered: 'at once',
  }),
  missingEventCheck({
    name: 'every transfer was told at each of its states, as it is',
    prefix: 'tr',
    table: 'transfers',
    expected: (
      within,
    ) => `SELECT t.id AS object_id, v.sequence, 'onchain.transfer.' || v.type AS type, t.partner_id, v.at AS created_at, v.since,
        ARRAY[t.id, t.customer_id, t.asset, t.network, (t.amount_net::numeric + t.fee)::text, t.amount_net::text, t.fee::text, v.status,
          t.destination_address, t.idempotency_key, ${isoTime('t.created_at')},
          v.tx_hash,
          CASE WHEN v.status = 'confirmed' THEN ${isoTime('t.completed_at')} END,
          CASE WHEN v.status = 'failed' THEN ${isoTime('t.completed_at')} END,
          CASE WHEN v.status = 'failed' THEN t.failure_code END, CASE WHEN v.status = 'failed' THEN t.rail_code END] AS facts,
        ${metadataText('t.metadata')} AS metadata
      FROM transfers t CROSS JOIN LATERAL (
        SELECT 1 AS sequence, 'created' AS type, 'pending' AS status, t.created_at AS at, t.created_at AS since, NULL AS tx_hash
        UNION ALL
        SELECT (1 + row_number() OVER (ORDER BY x.attempt))::integer, 'processing', 'processing', CASE WHEN x.attempt > 1 THEN x.created_at END,
          CASE WHEN x.attempt > 1 THEN x.created_at ELSE t.created_at END, x.tx_hash
        FROM transactions x WHERE x.transfer_id = t.id AND x.purpose = 'pay' AND t.status <> 'pending'
        UNION ALL
        SELECT t.sequence, t.status, t.status, t.completed_at, t.completed_at, t.tx_hash WHERE t.status IN ('confirmed', 'failed')
      ) AS v WHERE ${within('t.id')}`,
    fields: `id text, customer_id text, asset text, network text, amount_gross text, amount_net text, fee text, status text,
      destination_address text, idempotency_key text, created_at text, tx_hash text, completed_at text, failed_at text, failure json, metadata json`,
    facts: `ARRAY[d.id, d.customer_id, d.asset, d.network, d.amount_gross, d.amount_net, d.fee, d.status, d.destination_address,
      d.idempotency_key, d.created_at, d.tx_hash, ${endTime('completed_at', 'confirmed')}, ${endTime('failed_at', 'failed')}, d.failure ->> 'code', d.failure ->> 'rail_code']`,
  }),
]

type NetworkCharges = {
  readonly network: Network
  readonly asset: Asset
  readonly transfers: number
  readonly fees: bigint
  readonly charged: bigint
}

/**
 * Fees that customers paid and charges of the networks, over the newest 10,000 final transfers with a known charge. A failed
 * transfer has no fee: the customer got everything back.
 */
export async function networkCharges(db: Db): Promise<NetworkCharges[]> {
  const { rows } = await db.query(
    `SELECT network, asset, count(*)::integer AS transfers,
       coalesce(sum(fee) FILTER (WHERE status = 'confirmed'), 0) AS fees, sum(charged) AS charged
     FROM (SELECT network, asset, status, fee, charged FROM transfers WHERE status IN ('confirmed', 'failed')
       ORDER BY id DESC LIMIT 10000) AS recent
     WHERE charged IS NOT NULL GROUP BY network, asset ORDER BY network, asset`,
  )
  return rows
}
