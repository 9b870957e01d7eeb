import type { ListSource, Param } from '../db/newest.ts'
import type { Db } from '../db/pool.ts'
import { eventFields, type StoredEvent } from '../records/events/store.ts'
import type { AttemptResult } from './attempt-results.ts'

/** Deliveries as the API and the console show them. The worker's queries are in queue.ts. */
export const deliveryStatuses = ['pending', 'delivered', 'exhausted', 'canceled'] as const
type DeliveryStatus = (typeof deliveryStatuses)[number]

export type Delivery = StoredEvent & {
  readonly endpoint_id: string
  readonly status: DeliveryStatus
  readonly next_attempt_at: Date
  /** Attempts since the last redelivery. */
  readonly tries: number
  readonly delivery_created_at: Date
  readonly ended_at: Date | null
  /** An attempt is under way: it was taken and has no recorded result yet. */
  readonly under_way: boolean
  readonly attempts: readonly Attempted[]
}

export type Attempted = Omit<
  AttemptResult,
  | 'event_id'
  | 'endpoint_id'
  | 'partner_id'
  | 'tries'
  | 'headers'
  | 'answer_headers'
  | 'started_at'
  | 'delivered'
  | 'retry_ms'
> & {
  readonly headers: Readonly<Record<string, string>>
  readonly answer_headers: Readonly<Record<string, string>> | null
  /** ISO 8601, because the row comes as JSON. */
  readonly started_at: string
  readonly cut: boolean
}

const ATTEMPTS_SHOWN = 20

/** Statuses with a partial index. `delivered` has none: nearly all rows have that status. */
const rareStatuses: readonly string[] = deliveryStatuses.filter((status) => status !== 'delivered')

export const deliveryList = (endpoint_id: string): ListSource => ({
  table: 'webhook_deliveries',
  columns: 'event_id AS id, status, created_at',
  id: 'event_id',
  walks: [
    {
      by: ['event_id'],
      stretches: ({ event_id }, param) => [
        `${ofEndpoint(endpoint_id, param)} AND event_id = ${param(event_id)}`,
      ],
    },
    {
      by: ['status'],
      stretches: ({ status }, param) =>
        rareStatuses.includes(status!)
          ? [`${ofEndpoint(endpoint_id, param)} AND status = '${status}'`]
          : undefined,
    },
    { by: [], stretches: (_, param) => [ofEndpoint(endpoint_id, param)] },
  ],
  conditions: {
    type: (value, param) =>
      `EXISTS (SELECT FROM events e WHERE e.id = walked.id AND e.type = ${param(value)})`,
  },
})

/** Checks the owner of the endpoint once per list, not once per row. */
const ofEndpoint = (endpoint_id: string, param: Param) => {
  const place = param(endpoint_id)
  return `endpoint_id = ${place} AND EXISTS (SELECT FROM webhook_endpoints w WHERE w.id = ${place} AND w.partner_id = $1)`
}

/** Summary of a delivery, with the result of its last attempt. */
export type DeliveryLine = {
  readonly event_id: string
  readonly endpoint_id: string
  readonly type: string
  readonly status: DeliveryStatus
  /** All attempts, over all redeliveries. */
  readonly attempts: number
  readonly next_attempt_at: Date
  readonly created_at: Date
  readonly answer_status: number | null
  readonly error: string | null
}

const LINE = `SELECT d.event_id, d.endpoint_id, e.type, d.status, d.attempts, d.next_attempt_at, d.created_at,
    a.status AS answer_status, a.error
  FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
  LEFT JOIN LATERAL (SELECT status, error FROM webhook_attempts WHERE (event_id, endpoint_id) = (d.event_id, d.endpoint_id)
    ORDER BY attempt DESC LIMIT 1) AS a ON true`

/** Summaries of deliveries to one endpoint, newest first. */
export async function selectDeliveryLines(
  db: Db,
  { endpoint_id, event_ids }: { readonly endpoint_id: string; readonly event_ids: readonly string[] },
): Promise<DeliveryLine[]> {
  const { rows } = await db.query({
    name: 'delivery lines of an endpoint',
    text: `${LINE} WHERE d.endpoint_id = $1 AND d.event_id = ANY($2) ORDER BY d.created_at DESC, d.event_id DESC`,
    values: [endpoint_id, event_ids],
  })
  return rows
}

/** Summaries of the deliveries of these events, to all endpoints. */
export async function linesOfEvents(db: Db, event_ids: readonly string[]): Promise<DeliveryLine[]> {
  const { rows } = await db.query({
    name: 'delivery lines of events',
    text: `${LINE} WHERE d.event_id = ANY($1) ORDER BY d.created_at, d.endpoint_id`,
    values: [event_ids],
  })
  return rows
}

/** State of an endpoint's queue. */
type QueueOfEndpoint = {
  readonly id: string
  /** Pending deliveries, counted up to a thousand. */
  readonly waiting: number
  readonly next_attempt_at: Date | null
  readonly last: DeliveryLine | null
}

const WAITING_MAX = 1000

export async function queuesOf(db: Db, endpoints: readonly string[]): Promise<QueueOfEndpoint[]> {
  const { rows } = await db.query({
    name: 'queues of webhook endpoints',
    text: `SELECT w.id, q.waiting, n.next_attempt_at, l.event_id, l.type, l.status, l.attempts, l.created_at, l.answer_status,
        l.error, l.next_attempt_at AS last_next_attempt_at
      FROM unnest($1::text[]) AS w (id)
      CROSS JOIN LATERAL (SELECT count(*)::integer AS waiting FROM (SELECT FROM webhook_deliveries
        WHERE endpoint_id = w.id AND status = 'pending' LIMIT ${WAITING_MAX}) AS p) AS q
      LEFT JOIN LATERAL (SELECT next_attempt_at FROM webhook_deliveries WHERE endpoint_id = w.id AND status = 'pending'
        ORDER BY next_attempt_at LIMIT 1) AS n ON true
      LEFT JOIN LATERAL (${LINE} WHERE d.endpoint_id = w.id ORDER BY d.created_at DESC, d.event_id DESC LIMIT 1) AS l ON true`,
    values: [endpoints],
  })
  return rows.map(({ id, waiting, next_attempt_at, last_next_attempt_at, ...last }) => ({
    id,
    waiting,
    next_attempt_at,
    last: last.event_id === null ? null : { ...last, endpoint_id: id, next_attempt_at: last_next_attempt_at },
  }))
}

type DeliveryFilter = {
  readonly endpoint_id: string
  readonly event_ids: readonly string[]
  /** Characters to return of each response body. */
  readonly shown: number
}

/** Deliveries, newest first, each with its last ATTEMPTS_SHOWN attempts, oldest first. */
export async function selectDeliveries(db: Db, filter: DeliveryFilter): Promise<Delivery[]> {
  const { rows } = await db.query(
    `SELECT ${eventFields('e')}, d.endpoint_id, d.status, d.next_attempt_at, d.tries, d.created_at AS delivery_created_at, d.ended_at,
       d.status = 'pending' AND d.attempts > coalesce(a.last, 0) AS under_way, coalesce(a.attempts, '[]') AS attempts
     FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
     LEFT JOIN LATERAL (SELECT json_agg(json_build_object('attempt', attempt, 'url', url, 'headers', headers, 'status', status,
         'answer_headers', answer_headers, 'answer_body', left(answer_body, $3), 'cut', length(answer_body) > $3,
         'error', error, 'started_at', started_at, 'duration_ms', duration_ms) ORDER BY attempt) AS attempts, max(attempt) AS last
       FROM (SELECT attempt, url, headers, status, answer_headers, answer_body, error, started_at, duration_ms
         FROM webhook_attempts WHERE (event_id, endpoint_id) = (d.event_id, d.endpoint_id)
         ORDER BY attempt DESC LIMIT ${ATTEMPTS_SHOWN}) AS last) AS a ON true
     WHERE d.endpoint_id = $1 AND d.event_id = ANY($2) ORDER BY d.created_at DESC, d.event_id DESC`,
    [filter.endpoint_id, filter.event_ids, filter.shown],
  )
  return rows
}

/** A delivery as the console shows it on the page of a payment: with the last attempt only. */
type DeliveryOfEvent = {
  readonly event_id: string
  readonly endpoint_id: string
  readonly url: string
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly next_attempt_at: Date
  /** Status of the last response; null before the first attempt, and when there was no response. */
  readonly answer_status: number | null
  readonly error: string | null
  readonly duration_ms: number | null
}

/** The deliveries of these events to each endpoint of the partner. */
export async function deliveriesOfEvents(
  db: Db,
  where: { readonly partner_id: string; readonly event_ids: readonly string[] },
): Promise<DeliveryOfEvent[]> {
  const { rows } = await db.query({
    name: 'deliveries of events',
    text: `SELECT d.event_id, d.endpoint_id, w.url, d.status, d.attempts, d.next_attempt_at, a.status AS answer_status, a.error, a.duration_ms
      FROM webhook_deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id AND w.partner_id = $1
      LEFT JOIN LATERAL (SELECT status, error, duration_ms FROM webhook_attempts
        WHERE (event_id, endpoint_id) = (d.event_id, d.endpoint_id) ORDER BY attempt DESC LIMIT 1) AS a ON true
      WHERE d.event_id = ANY($2) ORDER BY d.created_at, d.endpoint_id`,
    values: [where.partner_id, where.event_ids],
  })
  return rows
}
