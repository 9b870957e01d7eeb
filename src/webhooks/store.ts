import { type Environment, environments } from '../core/environment.ts'
import type { Sealed } from '../core/seal.ts'
import { columnsOf } from '../db/columns.ts'
import type { ListSource } from '../db/newest.ts'
import { type Db, type Pool, transaction } from '../db/pool.ts'
import type { SealedColumn } from '../db/sealing.ts'
import type { Check } from '../ledger/audit.ts'

export type WebhookEndpoint = {
  readonly id: string
  readonly partner_id: string
  readonly url: string
  readonly events: readonly string[]
  readonly description: string | null
  readonly status: 'enabled' | 'disabled' | 'deleted'
  readonly disabled_reason: string | null
  readonly disabled_at: Date | null
  readonly secret: Buffer
  readonly previous_secret: Buffer | null
  readonly previous_secret_until: Date | null
  readonly failing_since: Date | null
  /** Number of events about this endpoint so far. */
  readonly tests: number
  readonly created_at: Date
  readonly secret_key_id: string | null
  readonly previous_secret_key_id: string | null
}

type Where = { readonly id: string; readonly partner_id: string }

/** Seals a secret in the transaction that stores it. */
export type SealSecret = (tx: Db) => Promise<Sealed>

/** Returns undefined if the partner has `most` endpoints already. The lock makes the count exact. */
export function insertEndpoint(
  pool: Pool,
  endpoint: Pick<WebhookEndpoint, 'id' | 'partner_id' | 'url' | 'events' | 'description'>,
  seal: SealSecret,
  most: number,
): Promise<WebhookEndpoint | undefined> {
  return transaction(pool, async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `webhook endpoints ${endpoint.partner_id}`,
    ])
    const sealed = await seal(tx)
    const { rows } = await tx.query(
      `INSERT INTO webhook_endpoints (id, partner_id, url, events, description, secret, secret_key_id, created_at)
       SELECT $1, $2, $3, $4, $5, $6, $7, clock_timestamp()
       WHERE (SELECT count(*) FROM webhook_endpoints WHERE partner_id = $2 AND status <> 'deleted') < $8 RETURNING ${columnsOf('webhook_endpoints')}`,
      [
        endpoint.id,
        endpoint.partner_id,
        endpoint.url,
        endpoint.events,
        endpoint.description,
        sealed.value,
        sealed.key_id,
        most,
      ],
    )
    return rows[0]
  })
}

export async function selectEndpoint(db: Db, where: Where): Promise<WebhookEndpoint | undefined> {
  const { rows } = await db.query({
    name: 'webhook endpoint',
    text: `SELECT ${columnsOf('webhook_endpoints')} FROM webhook_endpoints WHERE id = $1 AND partner_id = $2 AND status <> 'deleted'`,
    values: [where.id, where.partner_id],
  })
  return rows[0]
}

/** URLs of endpoints, deleted ones included. */
export async function urlsOf(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await db.query({
    name: 'urls of webhook endpoints',
    text: 'SELECT id, url FROM webhook_endpoints WHERE id = ANY($1)',
    values: [ids],
  })
  return new Map(rows.map(({ id, url }) => [id, url]))
}

/** Partners of endpoints, deleted ones included. */
export async function ownersOf(
  db: Db,
  ids: readonly string[],
): Promise<{ endpoint_id: string; partner_id: string }[]> {
  const { rows } = await db.query({
    name: 'owners of webhook endpoints',
    text: 'SELECT id AS endpoint_id, partner_id FROM webhook_endpoints WHERE id = ANY($1)',
    values: [ids],
  })
  return rows
}

export type TroubledEndpoint = Pick<
  WebhookEndpoint,
  'id' | 'url' | 'status' | 'disabled_reason' | 'disabled_at' | 'failing_since'
> & {
  /** Pending deliveries, and below the exhausted ones of the last week; counted up to a maximum. */
  readonly waiting: number
  readonly exhausted: number
  readonly next_attempt_at: Date | null
  /** Last attempt of the pending delivery that is due first: its status, or the error. */
  readonly answered: number | null
  readonly error: string | null
}

/** Endpoints of a partner that fail, were disabled by the service, or have exhausted deliveries. */
export async function troubledEndpoints(db: Db, partner_id: string): Promise<TroubledEndpoint[]> {
  const { rows } = await db.query({
    name: 'troubled endpoints',
    text: `SELECT w.id, w.url, w.status, w.disabled_reason, w.disabled_at, w.failing_since, p.waiting, x.exhausted, p.next_attempt_at,
        l.status AS answered, l.error
      FROM (SELECT id, url, status, disabled_reason, disabled_at, failing_since FROM webhook_endpoints
        WHERE partner_id = $1 AND status <> 'deleted' ORDER BY created_at DESC, id DESC LIMIT 50) AS w
      CROSS JOIN LATERAL (SELECT count(*)::integer AS waiting, min(next_attempt_at) AS next_attempt_at FROM
        (SELECT next_attempt_at FROM webhook_deliveries WHERE endpoint_id = w.id AND status = 'pending' LIMIT 10000) AS d) AS p
      CROSS JOIN LATERAL (SELECT count(*)::integer AS exhausted FROM
        (SELECT FROM webhook_deliveries WHERE endpoint_id = w.id AND status = 'exhausted'
          AND created_at > clock_timestamp() - interval '7 days' LIMIT 1000) AS d) AS x
      LEFT JOIN LATERAL (SELECT a.status, a.error FROM
        (SELECT event_id FROM webhook_deliveries WHERE endpoint_id = w.id AND status = 'pending' AND attempts > 0
          ORDER BY next_attempt_at LIMIT 1) AS d
        JOIN webhook_attempts a ON a.event_id = d.event_id AND a.endpoint_id = w.id ORDER BY a.attempt DESC LIMIT 1) AS l ON true
      WHERE w.failing_since IS NOT NULL OR (w.status = 'disabled' AND w.disabled_reason <> 'by_request') OR x.exhausted > 0`,
    values: [partner_id],
  })
  return rows
}

export const endpointList: ListSource = {
  table: 'webhook_endpoints',
  columns: columnsOf('webhook_endpoints'),
  walks: [{ by: [], stretches: () => [`partner_id = $1 AND status <> 'deleted'`] }],
}

export type EndpointChange = {
  readonly url?: string
  readonly events?: readonly string[]
  readonly description?: string | null
  readonly status?: 'enabled' | 'disabled'
}

/** Fields that are absent stay. Enabling the endpoint, or changing its URL, resets `failing_since`. */
export async function changeEndpoint(
  db: Db,
  where: Where,
  change: EndpointChange,
): Promise<WebhookEndpoint | undefined> {
  const { rows } = await db.query(
    `UPDATE webhook_endpoints SET url = coalesce($3, url), events = coalesce($4, events),
       description = CASE WHEN $5 THEN $6 ELSE description END, status = coalesce($7, status),
       disabled_reason = CASE WHEN coalesce($7, status) = 'disabled' THEN coalesce(disabled_reason, 'by_request') END,
       disabled_at = CASE WHEN coalesce($7, status) = 'disabled' THEN coalesce(disabled_at, clock_timestamp()) END,
       failing_since = CASE WHEN $7 = 'enabled' OR $3 <> url THEN NULL ELSE failing_since END
     WHERE id = $1 AND partner_id = $2 AND status <> 'deleted' RETURNING ${columnsOf('webhook_endpoints')}`,
    [
      where.id,
      where.partner_id,
      change.url ?? null,
      change.events ?? null,
      change.description !== undefined,
      change.description ?? null,
      change.status ?? null,
    ],
  )
  return rows[0]
}

/** Keeps the row, so that past deliveries can be explained, and erases the secrets. */
export async function deleteEndpoint(db: Db, where: Where): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE webhook_endpoints SET status = 'deleted', disabled_reason = NULL, disabled_at = NULL,
       secret = '', secret_key_id = NULL, previous_secret = NULL, previous_secret_key_id = NULL, previous_secret_until = NULL
     WHERE id = $1 AND partner_id = $2 AND status <> 'deleted'`,
    [where.id, where.partner_id],
  )
  return rowCount === 1
}

/** The current secret stays valid as the previous one for the grace period. */
export function replaceSecret(
  pool: Pool,
  where: Where,
  seal: SealSecret,
  grace_seconds: number,
): Promise<WebhookEndpoint | undefined> {
  return transaction(pool, async (tx) => {
    const sealed = await seal(tx)
    const { rows } = await tx.query(
      `UPDATE webhook_endpoints SET secret = $3, secret_key_id = $5,
         previous_secret = CASE WHEN $4 > 0 THEN secret END, previous_secret_key_id = CASE WHEN $4 > 0 THEN secret_key_id END,
         previous_secret_until = CASE WHEN $4 > 0 THEN clock_timestamp() + make_interval(secs => $4) END
       WHERE id = $1 AND partner_id = $2 AND status <> 'deleted' RETURNING ${columnsOf('webhook_endpoints')}`,
      [where.id, where.partner_id, sealed.value, grace_seconds, sealed.key_id],
    )
    return rows[0]
  })
}

/** The context that a secret is sealed with: it opens for this endpoint only. */
export const secretSealContext = (environment: Environment, endpoint_id: string): string =>
  `${environment} ${endpoint_id}`

/** The row of a deleted endpoint stays, without its secrets. */
export const webhookSecrets: readonly SealedColumn[] = [
  {
    object: 'webhook secret',
    places: environments,
    table: 'webhook_endpoints',
    column: 'secret',
    key_column: 'secret_key_id',
    where: "status <> 'deleted'",
    of: secretSealContext,
  },
  {
    object: 'previous webhook secret',
    places: environments,
    table: 'webhook_endpoints',
    column: 'previous_secret',
    key_column: 'previous_secret_key_id',
    where: 'previous_secret_until > clock_timestamp()',
    forget: (schema) => `UPDATE ${schema}.webhook_endpoints
      SET previous_secret = NULL, previous_secret_key_id = NULL, previous_secret_until = NULL WHERE previous_secret_until <= clock_timestamp()`,
    of: secretSealContext,
  },
]

/** Locks the row until the transaction ends. */
export async function lockEndpoint(db: Db, where: Where): Promise<WebhookEndpoint | undefined> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('webhook_endpoints')} FROM webhook_endpoints
     WHERE id = $1 AND partner_id = $2 AND status <> 'deleted' FOR NO KEY UPDATE`,
    [where.id, where.partner_id],
  )
  return rows[0]
}

/** Numbers the next event about the endpoint. The column is called `tests` because test events were the first. */
export async function countEndpointEvent(db: Db, where: Where): Promise<WebhookEndpoint | undefined> {
  const { rows } = await db.query(
    `UPDATE webhook_endpoints SET tests = tests + 1 WHERE id = $1 AND partner_id = $2 AND status <> 'deleted' RETURNING ${columnsOf('webhook_endpoints')}`,
    [where.id, where.partner_id],
  )
  return rows[0]
}

/** Health of an endpoint's URL after a batch of results. `works`: a delivery was accepted; `gone`: it answered 410. */
export type EndpointNews = {
  readonly id: string
  readonly url: string
  readonly works: boolean
  readonly gone: boolean
}

/**
 * Sets or clears `failing_since`, and disables endpoints that are gone or have failed for `disable_after_ms`. Returns the disabled
 * ones. Results of a URL that the endpoint no longer has are ignored. The statement reads the current row: it may have changed.
 */
export async function noteEndpoints(
  db: Db,
  news: readonly EndpointNews[],
  disable_after_ms: number,
): Promise<{ id: string; partner_id: string; disabled_reason: string }[]> {
  const ends = `(NOT n.works AND (n.gone OR w.failing_since < now() - make_interval(secs => $5::float8 / 1000)) IS TRUE)`
  const { rows } = await db.query({
    name: 'note webhook endpoints',
    text: `UPDATE webhook_endpoints w SET
        failing_since = CASE WHEN n.works THEN NULL ELSE coalesce(w.failing_since, now()) END,
        status = CASE WHEN ${ends} THEN 'disabled' ELSE w.status END,
        disabled_reason = CASE WHEN ${ends} THEN CASE WHEN n.gone THEN 'gone' ELSE 'failing' END END,
        disabled_at = CASE WHEN ${ends} THEN now() END
      FROM unnest($1::text[], $2::text[], $3::boolean[], $4::boolean[]) AS n (id, url, works, gone)
      WHERE (w.id, w.url, w.status) = (n.id, n.url, 'enabled') AND (${ends} OR n.works = (w.failing_since IS NOT NULL))
      RETURNING w.id, w.partner_id, w.disabled_reason`,
    values: [
      news.map(({ id }) => id),
      news.map(({ url }) => url),
      news.map(({ works }) => works),
      news.map(({ gone }) => gone),
      disable_after_ms,
    ],
  })
  return rows.filter(({ disabled_reason }) => disabled_reason !== null)
}

export const webhookChecks: readonly Check[] = [
  {
    name: 'every delivery is of an event to an endpoint of the same partner',
    sql: () => `SELECT d.event_id AS object_id, d.endpoint_id FROM webhook_deliveries d LEFT JOIN events e ON e.id = d.event_id
      LEFT JOIN webhook_endpoints w ON w.id = d.endpoint_id WHERE e.partner_id IS DISTINCT FROM w.partner_id OR w.id IS NULL`,
  },
  {
    name: 'every delivered delivery has a 2xx response',
    sql: () => `SELECT d.event_id AS object_id, d.endpoint_id FROM webhook_deliveries d WHERE d.status = 'delivered' AND NOT EXISTS (
      SELECT FROM webhook_attempts a WHERE (a.event_id, a.endpoint_id) = (d.event_id, d.endpoint_id)
        AND a.status BETWEEN 200 AND 299 AND a.error IS NULL)`,
  },
]

/** Endpoints of all partners that fail since before `failing_before`, or that the service disabled after `disabled_after`. */
export async function endpointsInTrouble(
  db: Db,
  {
    failing_before,
    disabled_after,
    after,
    limit,
  }: {
    readonly failing_before: Date
    readonly disabled_after: Date
    readonly after: string
    readonly limit: number
  },
): Promise<Pick<WebhookEndpoint, 'id' | 'partner_id' | 'failing_since' | 'disabled_at'>[]> {
  const { rows } = await db.query({
    name: 'endpoints in trouble',
    text: `SELECT id, partner_id, failing_since, disabled_at FROM webhook_endpoints
      WHERE id > $3 AND ((status = 'enabled' AND failing_since < $1)
        OR (status = 'disabled' AND disabled_reason <> 'by_request' AND disabled_at > $2))
      ORDER BY id LIMIT $4`,
    values: [failing_before, disabled_after, after, limit],
  })
  return rows
}
