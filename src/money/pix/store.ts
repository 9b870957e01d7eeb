import { columnsOf } from '../../db/columns.ts'
import { queueOf } from '../../db/due.ts'
import { isUniqueViolation } from '../../db/failure.ts'
import { COUNT_MAX, type ListSource, narrowly, ofCustomer, type Param } from '../../db/newest.ts'
import type { Db } from '../../db/pool.ts'
import type { Check, Template } from '../../ledger/audit.ts'
import { onceChecks } from '../../ledger/claims-audit.ts'
import { insertInto, rowSource, updateOf } from '../../ledger/command.ts'
import type { BankAccount, PixOutcome } from '../../rails/pix/rail.ts'
import { endTime, isoTime, metadataText, missingEventCheck } from '../../records/events/store.ts'
import { isWaiting, type Unanswered } from '../../records/steps/store.ts'

/** The recipient, as the DICT or the caller named it. Only here is the document stored unmasked. */
export type Counterparty = { readonly name: string; readonly document: string } & (
  | { readonly type: 'pix_key'; readonly pix_key: string }
  | ({ readonly type: 'bank_account' } & BankAccount)
)

type PayoutStatus = 'pending' | 'processing' | 'completed' | 'failed'

export type Payout = {
  readonly id: string
  readonly partner_id: string
  readonly customer_id: string
  readonly api_key_id: string
  readonly idempotency_key: string
  readonly amount: bigint
  readonly fee: bigint
  readonly status: PayoutStatus
  readonly counterparty: Counterparty
  readonly description: string | null
  readonly send_id: string
  readonly end_to_end_id: string | null
  readonly failure_code: string | null
  readonly rail_code: string | null
  readonly attempts: number
  readonly next_attempt_at: Date
  readonly sequence: number
  readonly created_at: Date
  readonly completed_at: Date | null
  /** The request that created the payout; null if unknown. */
  readonly request_id: string | null
  /** When the rail first confirmed that it has the payout; null if it never did. */
  readonly accepted_at: Date | null
  readonly metadata: Readonly<Record<string, string>>
  /** The account at a provider that the payout is handed to; null if an earlier version accepted the payout. */
  readonly provider: string | null
  /** When the provider first said, after the time for sending or after a refusal of a repeated send, that it has nothing of the payout. */
  readonly absent_at: Date | null
  /** The sum of what came back of the payment after it was completed. */
  readonly amount_returned: bigint
  /** What the rail answered to a repeated send that it refused; null if it refused none. */
  readonly refusal: StoredRefusal | null
}

/** A refusal that is believed once two status queries find nothing of the sends before it. */
export type StoredRefusal = Pick<Extract<PixOutcome, { kind: 'refused' }>, 'rail_code' | 'reason'>

export const isFinalPayout = ({ status }: Pick<Payout, 'status'>): boolean =>
  status === 'completed' || status === 'failed'

export const payoutColumns = columnsOf('payouts')

export const insertPayouts = insertInto('payouts', {
  id: 'text',
  partner_id: 'text',
  customer_id: 'text',
  api_key_id: 'text',
  idempotency_key: 'text',
  amount: 'bigint',
  fee: 'bigint',
  status: 'text',
  counterparty: 'json',
  description: 'text?',
  send_id: 'text',
  attempts: 'integer',
  next_attempt_at: 'timestamptz',
  sequence: 'integer',
  created_at: 'timestamptz',
  request_id: 'text?',
  metadata: 'json',
  provider: 'text?',
})

export const payoutRow = (payout: Payout) => ({
  ...payout,
  counterparty: JSON.stringify(payout.counterparty),
  metadata: JSON.stringify(payout.metadata),
})

export const payoutRows = rowSource<Payout>(
  'payouts',
  `SELECT ${payoutColumns} FROM payouts WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
)

export const settlePayouts = updateOf(payoutRows, 'payouts', {
  id: 'text',
  status: 'text',
  end_to_end_id: 'text?',
  failure_code: 'text?',
  rail_code: 'text?',
  sequence: 'integer',
  completed_at: 'timestamptz?',
})

export const acceptedPayouts = updateOf(payoutRows, 'payouts', { id: 'text', accepted_at: 'timestamptz' })

export const absentPayouts = updateOf(payoutRows, 'payouts', { id: 'text', absent_at: 'timestamptz' })

export const returnedPayouts = updateOf(payoutRows, 'payouts', { id: 'text', amount_returned: 'bigint' })

export const refusedPayouts = updateOf(payoutRows, 'payouts', { id: 'text', refusal: 'json' })

/** Another payout has this end-to-end id already. */
export const isDoubleEndToEndId = (error: unknown): boolean =>
  isUniqueViolation(error, 'payouts_end_to_end_id')

export async function selectPayout(
  db: Db,
  where: { id: string; partner_id: string },
): Promise<Payout | undefined> {
  const { rows } = await db.query({
    name: 'select payout',
    text: `SELECT ${payoutColumns} FROM payouts WHERE id = $1 AND partner_id = $2`,
    values: [where.id, where.partner_id],
  })
  return rows[0]
}

export async function payoutById(db: Db, id: string): Promise<Payout | undefined> {
  const { rows } = await db.query({
    name: 'payout by id',
    text: `SELECT ${payoutColumns} FROM payouts WHERE id = $1`,
    values: [id],
  })
  return rows[0]
}

/** The id of the payout that has this id in the Pix network, of any partner. */
export async function payoutByEndToEndId(db: Db, end_to_end_id: string): Promise<string | undefined> {
  const { rows } = await db.query<{ payout_id: string }>(
    'SELECT payout_id FROM end_to_end_ids WHERE end_to_end_id = $1',
    [end_to_end_id],
  )
  return rows[0]?.payout_id
}

/** Conditions exactly as in the partial indexes. */
const openStatuses: Readonly<Record<string, string>> = {
  pending: `status = 'pending'`,
  processing: `status = 'processing'`,
  open: 'true',
}

/** Both ranges of the queue's index. */
const inQueue = (condition: string) => [
  `partner_id = $1 AND NOT followed AND ${condition}`,
  `partner_id = $1 AND followed AND ${condition}`,
]

const silentSince = (time: string | undefined, param: Param) =>
  `status = 'processing' AND created_at < ${param(time)}::timestamptz AND NOT ${isWaiting('id')}`

/** The index has a digest of the key, and is ordered by time. */
const ofKey = (place: string) => {
  const digest = (partner: string, key: string) => `hashtextextended(${partner} || ' ' || ${key}, 0)`
  const found = narrowly(digest('partner_id', 'idempotency_key'), digest('$1', place))
  return `partner_id = $1 AND idempotency_key = ${place} AND ${found}`
}

/** Completed payouts have no index of their own: they are nearly all payouts. */
export const payoutList: ListSource = {
  table: 'payouts',
  columns: payoutColumns,
  walks: [
    {
      by: ['idempotency_key'],
      stretches: ({ idempotency_key }, param) => [ofKey(param(idempotency_key))],
    },
    {
      by: ['end_to_end_id'],
      stretches: ({ end_to_end_id }, param) => [
        `partner_id = $1 AND id = (SELECT payout_id FROM end_to_end_ids WHERE end_to_end_id = ${param(end_to_end_id)})`,
      ],
    },
    {
      by: ['silent_since'],
      through: queueOf.payouts,
      stretches: ({ silent_since }, param) => inQueue(silentSince(silent_since, param)),
    },
    {
      by: ['customer_id', 'status'],
      stretches: ({ customer_id, status }, param) =>
        status === 'failed' ? [`${ofCustomer(customer_id, param)} AND failure_code IS NOT NULL`] : undefined,
    },
    {
      by: ['status'],
      through: queueOf.payouts,
      stretches: ({ status = '' }) =>
        Object.hasOwn(openStatuses, status) ? inQueue(openStatuses[status]!) : undefined,
    },
    {
      by: ['status'],
      stretches: ({ status }) =>
        status === 'failed' ? ['partner_id = $1 AND failure_code IS NOT NULL'] : undefined,
    },
    { by: ['customer_id'], stretches: ({ customer_id }, param) => [ofCustomer(customer_id, param)] },
    { by: [] },
  ],
  conditions: {
    status: (status, param) =>
      status === 'open' ? `status IN ('pending', 'processing')` : `status = ${param(status)}`,
    silent_since: silentSince,
    amount_min: (units, param) => `amount >= ${param(units)}::bigint`,
    amount_max: (units, param) => `amount <= ${param(units)}::bigint`,
  },
}

/** Counts open payouts, up to COUNTED per range, and those among them without an answer since before `silent_since`. */
export async function countOpenPayouts(
  db: Db,
  { partner_id, silent_since }: { partner_id: string; silent_since: Date },
): Promise<{ open: number; silent: number }> {
  const { rows } = await db.query({
    name: 'count open payouts of partner',
    text: `SELECT count(*)::integer AS open,
        count(*) FILTER (WHERE status = 'processing' AND created_at < $2 AND NOT ${isWaiting('o.id')})::integer AS silent FROM (
        (SELECT id, status, created_at FROM open_payouts WHERE partner_id = $1 AND NOT followed ORDER BY created_at, id LIMIT ${COUNT_MAX})
        UNION ALL
        (SELECT id, status, created_at FROM open_payouts WHERE partner_id = $1 AND followed ORDER BY created_at, id LIMIT ${COUNT_MAX})
      ) AS o`,
    values: [partner_id, silent_since],
  })
  return rows[0]
}

/** Whether a payout has been processing since before `silent_since`. */
export const isLatePayout = (
  { status, created_at }: Pick<Payout, 'status' | 'created_at'>,
  silent_since: Date,
) => status === 'processing' && created_at < silent_since

/** Movements of a payout: accepted, then completed or returned. */
export const payoutTemplate: Template = {
  name: 'every payout is debited once and in full, and ends in exactly one place',
  prefix: 'po',
  entries: (
    within,
  ) => `SELECT p.id AS cause_id, l.movement, l.line, p.partner_id, l.account, l.owner, 'BRL' AS asset, l.amount, l.created_at
    FROM payouts p CROSS JOIN LATERAL (VALUES
      (true, 'accepted', 0, 'customer', p.customer_id, -(p.amount::numeric + p.fee), p.created_at),
      (true, 'accepted', 1, 'in_transit:pix', p.customer_id, p.amount::numeric + p.fee, p.created_at),
      (p.status = 'completed', 'completed', 0, 'in_transit:pix', p.customer_id, -(p.amount::numeric + p.fee), p.completed_at),
      (p.status = 'completed', 'completed', 1, 'external:pix', '', p.amount, p.completed_at),
      (p.status = 'completed', 'completed', 2, 'service_fees', '', p.fee, p.completed_at),
      (p.status = 'failed', 'returned', 0, 'in_transit:pix', p.customer_id, -(p.amount::numeric + p.fee), p.completed_at),
      (p.status = 'failed', 'returned', 1, 'customer', p.customer_id, p.amount::numeric + p.fee, p.completed_at)
    ) AS l (happened, movement, line, account, owner, amount, created_at)
    WHERE ${within('p.id')} AND l.happened AND l.amount <> 0`,
}

/** Amounts that were debited for payouts that are not final. */
export const openPayouts = `SELECT customer_id, 'BRL' AS asset, amount::numeric + fee AS amount FROM open_payouts JOIN payouts USING (id)`

/** Payouts of a partner, accepted before that time, without an answer of the network. */
export async function unansweredPayouts(
  db: Db,
  { partner_id, before }: { partner_id: string; before: Date },
): Promise<Unanswered[]> {
  const { rows } = await db.query({
    name: 'unanswered payouts',
    text: `SELECT 'pix' AS rail, 'BRL' AS asset, count(*)::integer AS count, sum(amount + fee) AS amount, min(created_at) AS since
      FROM (SELECT amount, fee, created_at FROM payouts WHERE id = ANY(ARRAY(SELECT id FROM open_payouts WHERE partner_id = $1
        AND status = 'processing' AND created_at < $2 AND NOT ${isWaiting('open_payouts.id')} ORDER BY created_at DESC, id DESC LIMIT 1000))) AS open
      HAVING count(*) > 0`,
    values: [partner_id, before],
  })
  return rows
}

/** The final payouts among these ids, for the daily sums. */
export const endedPayouts = (
  ids: string,
): string => `SELECT partner_id, 'pix' AS kind, 'BRL' AS asset, '' AS to_asset, status = 'completed' AS completed,
  amount, fee, created_at, completed_at AS ended_at FROM payouts WHERE id = ANY(${ids}) AND completed_at IS NOT NULL`

/** Masks a document in SQL exactly as renderCounterparty does. */
const maskedDocument = (document: string) => `CASE length(${document})
  WHEN 11 THEN '***.' || substr(${document}, 4, 3) || '.' || substr(${document}, 7, 3) || '-**'
  WHEN 14 THEN '**.' || substr(${document}, 3, 3) || '.' || substr(${document}, 6, 3) || '/' || substr(${document}, 9, 4) || '-**'
  ELSE '***' END`

const COUNTERPARTY_FACTS = ['name', 'pix_key', 'ispb', 'branch', 'account_number', 'account_type']

const counterpartyFacts = (json: string) =>
  COUNTERPARTY_FACTS.map((field) => `${json} ->> '${field}'`).join(', ')

/** The payout's send_id is not derived from its own id: the service makes no such payout, but its database role could. */
const otherSendId = (table: string) => `${table}.send_id <> 'TRILHO' || substr(${table}.id, 4)`

export const payoutChecks: readonly Check[] = [
  {
    name: 'every payout is in a state that can be, of a customer and a key of its partner',
    walk: 'causes',
    prefix: 'po',
    sql: (
      within,
    ) => `SELECT p.id AS object_id, p.partner_id, p.customer_id, p.api_key_id, p.status, p.sequence FROM payouts p
      LEFT JOIN customers c ON c.id = p.customer_id LEFT JOIN api_keys k ON k.id = p.api_key_id
      WHERE ${within('p.id')} AND (c.partner_id IS DISTINCT FROM p.partner_id OR k.partner_id IS DISTINCT FROM p.partner_id
        OR p.status NOT IN ('pending', 'processing', 'completed', 'failed') OR p.amount <= 0 OR p.fee < 0
        OR (p.status = 'completed') <> (p.end_to_end_id IS NOT NULL) OR (p.status = 'failed') <> (p.failure_code IS NOT NULL)
        OR (p.failure_code IS NULL AND p.rail_code IS NOT NULL) OR (p.status IN ('completed', 'failed')) <> (p.completed_at IS NOT NULL)
        OR p.accepted_at < p.created_at OR EXISTS (SELECT FROM sends s WHERE s.resource_id = p.id AND s.sent_at > p.accepted_at)
        OR p.absent_at < p.created_at OR (p.failure_code = 'never_sent' AND (p.accepted_at IS NOT NULL OR p.absent_at IS NULL))
        OR p.sequence <> CASE p.status WHEN 'pending' THEN 1 WHEN 'processing' THEN 2 ELSE 3 END)`,
  },
  {
    name: 'no two payouts are one payment of the Pix network, or were sent under one id',
    walk: 'causes',
    prefix: 'po',
    sql: (
      within,
    ) => `SELECT p.id AS object_id, p.partner_id, p.end_to_end_id, other.id AS other_id FROM payouts p
      LEFT JOIN end_to_end_ids other_id ON other_id.end_to_end_id = p.end_to_end_id LEFT JOIN payouts other ON other.id = other_id.payout_id
      WHERE ${within('p.id')} AND p.end_to_end_id IS NOT NULL AND other.id IS DISTINCT FROM p.id
      UNION ALL SELECT p.id, p.partner_id, p.send_id, other.id FROM payouts p
      JOIN payouts other ON other.send_id = p.send_id AND other.id <> p.id AND ${otherSendId('other')} WHERE ${within('p.id')} AND ${otherSendId('p')}
      UNION ALL SELECT p.id, p.partner_id, p.send_id, other.id FROM payouts p
      JOIN payouts other ON other.id = 'po_' || substr(p.send_id, 7) AND other.send_id = p.send_id WHERE ${within('p.id')} AND ${otherSendId('p')}`,
  },
  {
    name: 'every payout that is on its way stands in the queue, and no other does',
    walk: 'causes',
    prefix: 'po',
    sql: (
      within,
    ) => `SELECT coalesce(p.id, q.id) AS object_id, coalesce(p.partner_id, q.partner_id) AS partner_id, p.status, q.status AS queued
      FROM (SELECT id, partner_id, attempts, created_at, status, next_attempt_at FROM payouts p WHERE ${within('p.id')} AND p.status IN ('pending', 'processing')) AS p
      FULL JOIN (SELECT id, partner_id, followed, created_at, status, next_attempt_at FROM open_payouts q WHERE ${within('q.id')}) AS q ON q.id = p.id
      WHERE p.id IS NULL OR q.id IS NULL OR (q.partner_id, q.followed, q.created_at, q.status, q.next_attempt_at)
        IS DISTINCT FROM (p.partner_id, p.attempts > 1, p.created_at, p.status, p.next_attempt_at)`,
  },
  ...onceChecks({
    table: 'payouts',
    prefix: 'po',
    operation: 'pix.payout',
    open: `r.status IN ('pending', 'processing')`,
    repeats: ['amount', 'fee'],
    statuses: ['pending', 'processing'],
    answered: 'later',
  }),
  missingEventCheck({
    name: 'every payout was told at each of its states, as it is',
    prefix: 'po',
    table: 'payouts',
    expected: (
      within,
    ) => `SELECT p.id AS object_id, v.sequence, 'pix.payout.' || v.type AS type, p.partner_id, v.at AS created_at, v.at AS since,
        ARRAY[p.id, p.customer_id, p.amount::text, p.fee::text, v.status, p.idempotency_key, ${isoTime('p.created_at')},
          CASE WHEN v.status = 'completed' THEN p.end_to_end_id END,
          CASE WHEN v.status = 'completed' THEN ${isoTime('p.completed_at')} END,
          CASE WHEN v.status = 'failed' THEN ${isoTime('p.completed_at')} END,
          CASE WHEN v.status = 'failed' THEN p.failure_code END, CASE WHEN v.status = 'failed' THEN p.rail_code END,
          v.returned::text, p.description, ${maskedDocument(`(p.counterparty ->> 'document')`)}, ${counterpartyFacts('p.counterparty')}] AS facts, ${metadataText('p.metadata')} AS metadata
      FROM payouts p CROSS JOIN LATERAL (VALUES
        (true, 1, 'created', 'pending', p.created_at, NULL::numeric), (p.sequence > 1, 2, 'processing', 'processing', p.created_at, NULL),
        (p.status IN ('completed', 'failed'), 3, p.status, p.status, p.completed_at, NULL)
        UNION ALL SELECT true, r.sequence, 'returned', 'completed', r.booked_at, sum(r.amount) OVER (ORDER BY r.sequence)
          FROM pix_returns r WHERE r.payout_id = p.id) AS v (happened, sequence, type, status, at, returned)
      WHERE ${within('p.id')} AND v.happened`,
    fields: `id text, customer_id text, amount text, fee text, status text, description text, idempotency_key text, created_at text,
      end_to_end_id text, completed_at text, failed_at text, amount_returned text, failure json, counterparty json, metadata json`,
    facts: `ARRAY[d.id, d.customer_id, d.amount, d.fee, d.status, d.idempotency_key, d.created_at, d.end_to_end_id,
      d.completed_at, ${endTime('failed_at', 'failed')}, d.failure ->> 'code', d.failure ->> 'rail_code', d.amount_returned, d.description, d.counterparty ->> 'document', ${counterpartyFacts('d.counterparty')}]`,
    personal: 2 + COUNTERPARTY_FACTS.length,
  }),
]
