import type { ListSource, Param } from '../db/newest.ts'
import type { Db } from '../db/pool.ts'
import { eventFields, type StoredEvent } from '../events/store.ts'
import type { AttemptResult } from './attempt-results.ts'

/** Deliveries as partners see them. How they come about is in queue.ts. */
export const deliveryStatuses = ['pending', 'delivered', 'exhausted', 'canceled'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export type Delivery = StoredEvent & {
  readonly endpoint_id: string
  readonly status: DeliveryStatus
  readonly next_attempt_at: Date
  readonly delivery_created_at: Date
  readonly ended_at: Date | null
  readonly attempts: readonly Attempted[]
}

export type Attempted = Omit<
  AttemptResult,
  | 'event_id'
  | 'endpoint_id'
  | 'partner_id'
  | 'headers'
  | 'answer_headers'
  | 'started_at'
  | 'delivered'
  | 'retry_ms'
> & {
  readonly headers: Readonly<Record<string, string>>
  readonly answer_headers: Readonly<Record<string, string>> | null
  /** ISO 8601: it comes as JSON. */
  readonly started_at: string
  readonly cut: boolean
}

const ATTEMPTS_SHOWN = 20

/** Each has an index of its own. What was delivered has none: it is nearly everything. */
const rareStatuses: readonly string[] = deliveryStatuses.filter((status) => status !== 'delivered')

export const deliveryList = (endpoint_id: string): ListSource => ({
  table: 'webhook_deliveries',
  columns: 'event_id AS id, status, created_at',
  id: 'event_id',
  walks: [
    {
      by: ['status'],
      stretches: ({ status }, param) =>
        rareStatuses.includes(status!)
          ? [`${ofEndpoint(endpoint_id, param)} AND status = '${status}'`]
          : undefined,
    },
    { by: [], stretches: (_, param) => [ofEndpoint(endpoint_id, param)] },
  ],
})

/** Whose endpoint it is, is asked once and before. */
const ofEndpoint = (endpoint_id: string, param: Param) => {
  const place = param(endpoint_id)
  return `endpoint_id = ${place} AND EXISTS (SELECT FROM webhook_endpoints w WHERE w.id = ${place} AND w.partner_id = $1)`
}

export type DeliveryFilter = {
  readonly endpoint_id: string
  readonly event_ids: readonly string[]
  /** Of each answer this many characters. */
  readonly shown: number
}

/** Newest first, each with its last attempts in the order in which they were made. */
export async function selectDeliveries(db: Db, filter: DeliveryFilter): Promise<Delivery[]> {
  const { rows } = await db.query(
    `SELECT ${eventFields('e')}, d.endpoint_id, d.status, d.next_attempt_at, d.created_at AS delivery_created_at, d.ended_at,
       coalesce(a.attempts, '[]') AS attempts
     FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
     LEFT JOIN LATERAL (SELECT json_agg(json_build_object('attempt', attempt, 'url', url, 'headers', headers, 'status', status,
         'answer_headers', answer_headers, 'answer_body', left(answer_body, $3), 'cut', length(answer_body) > $3,
         'error', error, 'started_at', started_at, 'duration_ms', duration_ms) ORDER BY attempt) AS attempts
       FROM (SELECT attempt, url, headers, status, answer_headers, answer_body, error, started_at, duration_ms
         FROM webhook_attempts WHERE (event_id, endpoint_id) = (d.event_id, d.endpoint_id)
         ORDER BY attempt DESC LIMIT ${ATTEMPTS_SHOWN}) AS last) AS a ON true
     WHERE d.endpoint_id = $1 AND d.event_id = ANY($2) ORDER BY d.created_at DESC, d.event_id DESC`,
    [filter.endpoint_id, filter.event_ids, filter.shown],
  )
  return rows
}
