import { columnsOf } from '../../db/columns.ts'
import { isUniqueViolation } from '../../db/failure.ts'
import { type ListSource, narrowly, ofCustomer } from '../../db/newest.ts'
import type { Db } from '../../db/pool.ts'
import type { FreeSlots } from '../../db/slots.ts'
import { insertInto, rowSource, targetOf, updateOf } from '../../ledger/command.ts'

export type ChargeStatus = 'pending' | 'open' | 'paid' | 'expired' | 'failed'

/** An amount that a customer wants to be paid by Pix (*cobrança*). */
export type Charge = {
  readonly id: string
  readonly partner_id: string
  readonly customer_id: string
  readonly api_key_id: string
  readonly idempotency_key: string
  readonly amount: bigint
  readonly description: string | null
  readonly txid: string
  readonly status: ChargeStatus
  /** The sum of the charge's deposits. */
  readonly amount_received: bigint
  readonly br_code: string | null
  readonly failure_code: string | null
  readonly rail_code: string | null
  readonly attempts: number
  readonly next_attempt_at: Date
  /** Of the charge's last event; 0 before the first. */
  readonly sequence: number
  readonly created_at: Date
  readonly expires_at: Date
  readonly opened_at: Date | null
  readonly expired_at: Date | null
  readonly paid_at: Date | null
  readonly failed_at: Date | null
  readonly request_id: string | null
  readonly metadata: Readonly<Record<string, string>>
}

/** A Pix payment that came into the provider's account. */
export type Received = {
  readonly end_to_end_id: string
  readonly txid: string | null
  readonly amount: bigint
  readonly paid_at: Date
  /** Masked. */
  readonly payer_name: string | null
  readonly payer_document: string | null
  /** Null: the payment names no charge of this service. */
  readonly charge_id: string | null
  /** Null with a charge: the payment waits for room in the balance. */
  readonly deposit_id: string | null
  readonly seen_at: Date
  /** The amount that was returned to the payer, of a payment that was never credited. */
  readonly amount_returned: bigint
}

const columns = columnsOf('pix_charges')
const UNBOUNDED = 1_000_000

export const insertCharges = insertInto('pix_charges', {
  id: 'text',
  partner_id: 'text',
  customer_id: 'text',
  api_key_id: 'text',
  idempotency_key: 'text',
  amount: 'bigint',
  description: 'text?',
  txid: 'text',
  status: 'text',
  attempts: 'integer',
  next_attempt_at: 'timestamptz',
  sequence: 'integer',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
  request_id: 'text?',
  metadata: 'json',
})

export const chargeRow = (charge: Charge) => ({ ...charge, metadata: JSON.stringify(charge.metadata) })

export const chargeRows = rowSource<Charge>(
  'pix charges',
  `SELECT ${columns} FROM pix_charges WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
)

export const updateCharges = updateOf(chargeRows, 'pix_charges', {
  id: 'text',
  status: 'text',
  amount_received: 'bigint',
  br_code: 'text?',
  failure_code: 'text?',
  rail_code: 'text?',
  sequence: 'integer',
  expires_at: 'timestamptz',
  opened_at: 'timestamptz?',
  expired_at: 'timestamptz?',
  paid_at: 'timestamptz?',
  failed_at: 'timestamptz?',
})

export async function chargeById(db: Db, id: string): Promise<Charge | undefined> {
  const { rows } = await db.query({
    name: 'charge by id',
    text: `SELECT ${columns} FROM pix_charges WHERE id = $1`,
    values: [id],
  })
  return rows[0]
}

type TakeCharges = {
  readonly lease_ms: number
  readonly most: number
  /** Charges of each partner that are being registered on this node. */
  readonly running?: FreeSlots['running']
  readonly per_partner?: number
}

/**
 * Takes pending charges that are due, with a lease: until it ends, other workers pass over them. The partner with the fewest charges under
 * way on this node goes first, so that many charges of one partner do not keep those of another one waiting.
 */
export async function takeDueCharges(
  db: Db,
  { lease_ms, most, running = [], per_partner = UNBOUNDED }: TakeCharges,
): Promise<Charge[]> {
  const { rows } = await db.query({
    name: 'take due charges',
    text: `UPDATE pix_charges SET attempts = attempts + 1,
        next_attempt_at = clock_timestamp() + make_interval(secs => $1::float8 / 1000)
      WHERE id = ANY(ARRAY(SELECT c.id FROM pix_charges c JOIN (
          SELECT id, coalesce(running.count, 0) + row_number() OVER (PARTITION BY partner_id ORDER BY next_attempt_at) AS turn
          FROM pix_charges LEFT JOIN unnest($3::text[], $4::integer[]) AS running (partner_id, count) USING (partner_id)
          WHERE status = 'pending' AND next_attempt_at <= clock_timestamp()) AS due ON due.id = c.id
        WHERE c.status = 'pending' AND c.next_attempt_at <= clock_timestamp() AND due.turn <= $5
        ORDER BY due.turn, c.next_attempt_at LIMIT $2 FOR NO KEY UPDATE OF c SKIP LOCKED)) RETURNING ${columns}`,
    values: [
      ...[lease_ms, most],
      running.map(({ partner_id }) => partner_id),
      running.map(({ count }) => count),
      per_partner,
    ],
  })
  return rows
}

/** Sets when the charge is registered next, unless another worker has taken it since. */
export async function registerLater(
  db: Db,
  { id, attempts }: Pick<Charge, 'id' | 'attempts'>,
  delay_ms: number,
): Promise<void> {
  await db.query({
    name: 'register charge later',
    text: `UPDATE pix_charges SET next_attempt_at = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
      WHERE id = $1 AND attempts = $2 AND status = 'pending'`,
    values: [id, attempts, Math.max(0, delay_ms)],
  })
}

/**
 * Charges whose time to pay is over; of those that wait for payers, only if all payments up to then were read. Partners take turns, so that
 * many charges of one partner do not keep those of another one from ending.
 */
export async function endingCharges(db: Db, read_until: Date | undefined, most: number): Promise<Charge[]> {
  const { rows } = await db.query({
    name: 'ending charges',
    text: `SELECT ${columns} FROM pix_charges WHERE id = ANY(ARRAY(
        SELECT id FROM pix_charges WHERE status IN ('pending', 'open') AND expires_at <= clock_timestamp()
          AND expires_at < coalesce($1::timestamptz, 'infinity')
        ORDER BY row_number() OVER (PARTITION BY partner_id ORDER BY expires_at), expires_at LIMIT $2)) ORDER BY expires_at`,
    values: [read_until ?? null, most],
  })
  return rows
}

/** The index has a digest of the key, and is ordered by time. */
const ofKey = (place: string) => {
  const digest = (partner: string, key: string) => `hashtextextended(${partner} || ' ' || ${key}, 0)`
  const found = narrowly(digest('partner_id', 'idempotency_key'), digest('$1', place))
  return `partner_id = $1 AND idempotency_key = ${place} AND ${found}`
}

export const chargeList: ListSource = {
  table: 'pix_charges',
  columns,
  walks: [
    {
      by: ['idempotency_key'],
      stretches: ({ idempotency_key }, param) => [ofKey(param(idempotency_key))],
    },
    {
      by: ['customer_id', 'status'],
      stretches: ({ customer_id, status }, param) => [
        `${ofCustomer(customer_id, param)} AND status = ${param(status)}`,
      ],
    },
    { by: ['customer_id'], stretches: ({ customer_id }, param) => [ofCustomer(customer_id, param)] },
    { by: ['status'] },
    { by: [] },
  ],
  conditions: {
    amount_min: (units, param) => `amount >= ${param(units)}::bigint`,
    amount_max: (units, param) => `amount <= ${param(units)}::bigint`,
  },
}

const receivedColumns = columnsOf('pix_received')

/** Payments by their end_to_end_id, which is the id of the row. */
export const receivedRows = rowSource<Received & { readonly id: string }>(
  'pix received',
  `SELECT ${receivedColumns}, end_to_end_id AS id FROM pix_received WHERE end_to_end_id = ANY($1::text[])`,
)

export const insertReceived = insertInto('pix_received', {
  end_to_end_id: 'text',
  txid: 'text?',
  amount: 'bigint',
  paid_at: 'timestamptz',
  payer_name: 'text?',
  payer_document: 'text?',
  charge_id: 'text?',
  deposit_id: 'text?',
  seen_at: 'timestamptz',
})

export const creditReceived = targetOf(
  'credit pix received',
  { end_to_end_id: 'text', deposit_id: 'text' },
  (rows) =>
    `UPDATE pix_received AS old SET deposit_id = new.deposit_id FROM ${rows} WHERE old.end_to_end_id = new.end_to_end_id RETURNING 1`,
  { counted: true },
)

/** Another transaction stored or credited this payment first. */
export const isDoublePayment = (error: unknown): boolean =>
  isUniqueViolation(error, 'pix_received_pkey') || isUniqueViolation(error, 'deposits_end_to_end_id')

export async function receivedById(db: Db, end_to_end_id: string): Promise<Received | undefined> {
  const { rows } = await db.query({
    name: 'pix received by id',
    text: `SELECT ${receivedColumns} FROM pix_received WHERE end_to_end_id = $1`,
    values: [end_to_end_id],
  })
  return rows[0]
}

/** The payments of a charge, in the order in which they were paid. */
export async function paymentsOf(db: Db, charge_id: string, most: number): Promise<Received[]> {
  const { rows } = await db.query({
    name: 'pix received of charge',
    text: `SELECT ${receivedColumns} FROM pix_received WHERE charge_id = $1 ORDER BY paid_at, end_to_end_id LIMIT $2`,
    values: [charge_id, most],
  })
  return rows
}

/** Which of these payments are not stored yet. */
export async function unknownReceived(db: Db, end_to_end_ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'unknown pix received',
    text: `SELECT DISTINCT id FROM unnest($1::text[]) AS w (id)
      WHERE NOT EXISTS (SELECT FROM pix_received r WHERE r.end_to_end_id = w.id)`,
    values: [end_to_end_ids],
  })
  return rows.map(({ id }) => id)
}

/** Some of the payments of charges that did not fit into the balance: at random, so that each has its turn. */
export async function waitingReceived(db: Db, most: number): Promise<Received[]> {
  const { rows } = await db.query({
    name: 'waiting pix received',
    text: `SELECT ${receivedColumns} FROM pix_received WHERE charge_id IS NOT NULL AND deposit_id IS NULL ORDER BY random() LIMIT $1`,
    values: [most],
  })
  return rows
}

/** False: the payment was stored before. */
export async function addUnknownReceived(tx: Db, received: Received): Promise<boolean> {
  const { end_to_end_id, txid, amount, paid_at, payer_name, payer_document, seen_at } = received
  const { rows } = await tx.query({
    name: 'add unknown pix received',
    text: `INSERT INTO pix_received (end_to_end_id, txid, amount, paid_at, payer_name, payer_document, seen_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING 1`,
    values: [end_to_end_id, txid, amount, paid_at, payer_name, payer_document, seen_at],
  })
  return rows.length > 0
}

/** Up to when the payments of an account were read. Of those before `begun_at` only payments of charges count. */
export type ReceivedScan = { readonly begun_at: Date; readonly read_until: Date }

/**
 * The position of an account. The first call stores it: a little before the database's time, because the provider's clock may be behind,
 * and where the oldest charge was made that may still be paid, because payers may have paid it before.
 */
export async function receivedScan(db: Db, provider: string): Promise<ReceivedScan> {
  const read = async () => {
    const { rows } = await db.query<ReceivedScan>({
      name: 'pix received scan',
      text: 'SELECT begun_at, read_until FROM pix_received_scan WHERE provider = $1',
      values: [provider],
    })
    return rows[0]
  }
  const before = await read()
  if (before) return before
  await db.query({
    name: 'begin pix received scan',
    text: `INSERT INTO pix_received_scan (provider, begun_at, read_until)
      SELECT $1, at, least(at, (SELECT min(created_at) FROM pix_charges WHERE status <> 'failed' AND expires_at > at - interval '1 day'))
        FROM (SELECT clock_timestamp() - interval '5 minutes' AS at) AS now ON CONFLICT DO NOTHING`,
    values: [provider],
  })
  return (await read())!
}

/** Seconds since the list of an account was read to its end, for the metrics. Undefined: never. */
export async function receivedScanAge(db: Db, provider: string): Promise<number | undefined> {
  const { rows } = await db.query<{ age_seconds: number }>({
    name: 'pix received scan age',
    text: `SELECT greatest(0, extract(epoch FROM clock_timestamp() - read_until))::float8 AS age_seconds
      FROM pix_received_scan WHERE provider = $1`,
    values: [provider],
  })
  return rows[0]?.age_seconds
}

/** Moves the position on; it never goes back. */
export async function moveReceivedScan(db: Db, provider: string, read_until: Date): Promise<void> {
  await db.query({
    name: 'move pix received scan',
    text: 'UPDATE pix_received_scan SET read_until = $2 WHERE provider = $1 AND read_until < $2',
    values: [provider, read_until],
  })
}
