import type { ShouldContinue } from '../db/chore.ts'
import type { Db } from '../db/pool.ts'
import { eventFields, type StoredEvent } from '../records/events/store.ts'
import { TEST_TYPE } from '../records/events/types.ts'
import type { WebhookEndpoint } from './store.ts'

const beginAnew = `ON CONFLICT (event_id, endpoint_id) DO UPDATE
  SET status = 'pending', tries = 0, next_attempt_at = excluded.next_attempt_at, ended_at = NULL`

/** Adds deliveries to these endpoints, whatever event types they subscribe to. Returns how many: 0 if the event was deleted. */
export async function addDeliveries(db: Db, event_id: string, endpoints: readonly string[]): Promise<number> {
  const { rowCount } = await db.query(
    `INSERT INTO webhook_deliveries (event_id, endpoint_id, next_attempt_at, created_at)
     SELECT e.id, w.id, clock_timestamp(), clock_timestamp() FROM events e, unnest($2::text[]) AS w (id) WHERE e.id = $1 ${beginAnew}`,
    [event_id, endpoints],
  )
  return rowCount ?? 0
}

/**
 * Makes a pending delivery due now, without using up an attempt of its schedule. A delivery whose attempt is under way stays
 * as it is: that attempt has no row in webhook_attempts yet.
 */
export async function makeDueNow(db: Db, event_id: string, endpoint_id: string): Promise<void> {
  await db.query(
    `UPDATE webhook_deliveries d SET next_attempt_at = clock_timestamp(), tries = greatest(tries - 1, 0)
     WHERE event_id = $1 AND endpoint_id = $2 AND status = 'pending' AND next_attempt_at > clock_timestamp()
       AND EXISTS (SELECT FROM webhook_attempts a
         WHERE (a.event_id, a.endpoint_id, a.attempt) = (d.event_id, d.endpoint_id, d.attempts))`,
    [event_id, endpoint_id],
  )
}

/**
 * Like `makeDueNow`, for up to `most` pending deliveries of an endpoint, those due first; returns how many. Skips rows that a
 * worker has locked.
 */
export async function makeAllDueNow(db: Db, endpoint_id: string, most: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'make deliveries due now',
    text: `WITH waiting AS (SELECT d.event_id, d.endpoint_id FROM webhook_deliveries d
        WHERE d.endpoint_id = $1 AND d.status = 'pending' AND d.next_attempt_at > clock_timestamp()
          AND EXISTS (SELECT FROM webhook_attempts a
            WHERE (a.event_id, a.endpoint_id, a.attempt) = (d.event_id, d.endpoint_id, d.attempts))
        ORDER BY d.next_attempt_at LIMIT $2 FOR UPDATE OF d SKIP LOCKED)
      UPDATE webhook_deliveries d SET next_attempt_at = clock_timestamp(), tries = greatest(tries - 1, 0)
      FROM waiting WHERE (d.event_id, d.endpoint_id) = (waiting.event_id, waiting.endpoint_id)`,
    values: [endpoint_id, most],
  })
  return rowCount ?? 0
}

/** Enabled endpoints that an event goes to: those subscribed to its type, or the one endpoint that a test event is for. */
export async function listenersOf(db: Db, event: StoredEvent): Promise<string[]> {
  const { rows } = await db.query(
    `SELECT w.id FROM webhook_endpoints w WHERE w.partner_id = $1 AND w.status = 'enabled'
       AND (wants_event(w.events, $2) OR ($2 = '${TEST_TYPE}' AND w.id = $3)) ORDER BY w.id`,
    [event.partner_id, event.type, event.object_id],
  )
  return rows.map(({ id }) => id)
}

/**
 * Counts the pending deliveries of an endpoint, up to `most`. Undefined while another transaction redelivers to it. Until this
 * transaction ends, the locks keep other redeliveries to the endpoint out, so the count holds, and keep events from being deleted.
 */
export async function lockOutstanding(
  tx: Db,
  endpoint_id: string,
  most: number,
): Promise<number | undefined> {
  const locked = await tx.query(
    `SELECT pg_advisory_xact_lock_shared(hashtextextended('redeliver ' || current_schema(), 0)),
       pg_try_advisory_xact_lock(hashtextextended('redeliver ' || current_schema() || ' ' || $1, 0)) AS won`,
    [endpoint_id],
  )
  if (!locked.rows[0].won) return undefined
  const { rows } = await tx.query(
    `SELECT count(*)::integer AS n FROM
       (SELECT FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'pending' LIMIT $2) AS p`,
    [endpoint_id, most],
  )
  return rows[0].n
}

type RangePart = {
  readonly redelivered: number
  readonly looked_at: number
  /** Log position of the last event that was looked at. */
  readonly last: bigint | null
}

/**
 * Redelivers a part of a time range: the first `most` events after the log position `after`. Events that entered the log late
 * are few, and go with the first part. `only_failed`: only events whose delivery was given up or canceled.
 */
export async function redeliverRange(
  db: Db,
  endpoint: WebhookEndpoint,
  range: { from: Date; to: Date; after: bigint | null; most: number; only_failed?: boolean },
): Promise<RangePart> {
  const { rows } = await db.query({
    name: 'redeliver range',
    text: `WITH looked_at AS MATERIALIZED (SELECT id, type, position FROM events
        WHERE position IS NOT NULL AND (partner_id, position) > ($2, coalesce($5, log_start($3)))
          AND (partner_id, position) <= ($2, log_end($4)) AND late IS NULL AND created_at >= $3 AND created_at < $4
        ORDER BY partner_id, position LIMIT $6),
      again AS (INSERT INTO webhook_deliveries (event_id, endpoint_id, next_attempt_at, created_at)
        SELECT e.id, w.id, clock_timestamp(), clock_timestamp() FROM (
          SELECT id, type FROM looked_at UNION ALL
          SELECT id, type FROM events WHERE late AND partner_id = $2 AND created_at >= $3 AND created_at < $4 AND $5 IS NULL) AS e
        JOIN webhook_endpoints w ON w.id = $1 AND w.status = 'enabled' AND wants_event(w.events, e.type)
        WHERE NOT $7 OR EXISTS (SELECT FROM webhook_deliveries d WHERE (d.event_id, d.endpoint_id) = (e.id, w.id)
          AND d.status IN ('exhausted', 'canceled'))
        ${beginAnew} RETURNING 1)
      SELECT (SELECT count(*)::integer FROM again) AS redelivered, count(*)::integer AS looked_at, max(position) AS last FROM looked_at`,
    values: [
      endpoint.id,
      endpoint.partner_id,
      range.from,
      range.to,
      range.after,
      range.most,
      range.only_failed ?? false,
    ],
  })
  return rows[0]
}

/** The time at which a range must end so that it has at most about `most` events that entered the log late. */
export async function endOfLate(
  db: Db,
  partner_id: string,
  { from, to, most }: { from: Date; to: Date; most: number },
): Promise<Date | undefined> {
  const { rows } = await db.query(
    `SELECT created_at AS at FROM events WHERE late AND partner_id = $1 AND created_at >= $2 AND created_at < $3
     ORDER BY created_at, id OFFSET $4 LIMIT 1`,
    [partner_id, from, to, most],
  )
  return rows[0] && rows[0].at > from ? rows[0].at : undefined
}

/** The time of the earliest event of a range after a log position. Every earlier event of the range is before that position. */
export async function earliestBehind(
  db: Db,
  partner_id: string,
  range: { from: Date; to: Date; after: bigint },
): Promise<Date | undefined> {
  const behind = `position IS NOT NULL AND partner_id = $1 AND position > $4 AND late IS NULL AND created_at >= $2 AND created_at < $3`
  const { rows } = await db.query(
    `WITH next AS MATERIALIZED (SELECT position, created_at FROM events WHERE ${behind} ORDER BY position LIMIT 1)
     SELECT min(created_at) AS at FROM events WHERE ${behind}
       AND position <= (SELECT greatest(position, log_end(created_at)) FROM next)`,
    [partner_id, range.from, range.to, range.after],
  )
  return rows[0].at ?? undefined
}

type Waiting = {
  readonly endpoint_id: string
  readonly partner_id: string
  readonly enabled: boolean
  /** Time until the endpoint's first delivery is due; 0 if it is due now. */
  readonly due_in_ms: number
}

/**
 * Enabled endpoints with a delivery due within `within_ms`, and other endpoints with any pending delivery. The query steps from
 * endpoint to endpoint through the index, so a long queue costs no more than a short one.
 */
export async function endpointsWithPending(db: Db, within_ms: number): Promise<Waiting[]> {
  const { rows } = await db.query({
    name: 'endpoints with pending deliveries',
    text: `WITH RECURSIVE waiting AS (
        (SELECT endpoint_id, next_attempt_at FROM webhook_deliveries WHERE status = 'pending'
          ORDER BY endpoint_id, next_attempt_at LIMIT 1)
        UNION ALL
        SELECT next.endpoint_id, next.next_attempt_at FROM waiting, LATERAL (SELECT endpoint_id, next_attempt_at FROM webhook_deliveries
          WHERE status = 'pending' AND endpoint_id > waiting.endpoint_id ORDER BY endpoint_id, next_attempt_at LIMIT 1) AS next)
      SELECT d.endpoint_id, w.partner_id, w.status = 'enabled' AS enabled,
        greatest(0, extract(epoch FROM d.next_attempt_at - now()) * 1000)::float8 AS due_in_ms
      FROM waiting d JOIN webhook_endpoints w ON w.id = d.endpoint_id
      WHERE d.next_attempt_at <= now() + make_interval(secs => $1::float8 / 1000) OR w.status <> 'enabled'
      ORDER BY d.next_attempt_at`,
    values: [within_ms],
  })
  return rows
}

/**
 * Cancels pending deliveries of endpoints that are not enabled, up to `most`; returns how many. Skips rows that another
 * transaction has locked: a later poll finds them.
 */
export async function cancelPending(db: Db, endpoints: readonly string[], most: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'cancel pending deliveries',
    text: `WITH ending AS (SELECT d.event_id, d.endpoint_id FROM webhook_endpoints w JOIN webhook_deliveries d ON d.endpoint_id = w.id
        WHERE w.id = ANY($1) AND w.status <> 'enabled' AND d.status = 'pending' LIMIT $2 FOR UPDATE OF d SKIP LOCKED)
      UPDATE webhook_deliveries d SET status = 'canceled', ended_at = clock_timestamp()
      FROM ending WHERE (d.event_id, d.endpoint_id) = (ending.event_id, ending.endpoint_id)`,
    values: [endpoints, most],
  })
  return rowCount ?? 0
}

/** A delivery that this node holds until the lease ends. */
export type TakenDelivery = StoredEvent &
  Pick<WebhookEndpoint, 'url' | 'secret' | 'previous_secret' | 'previous_secret_until'> & {
    readonly endpoint_id: string
    /** All attempts so far, this one included; `tries` counts since the last redelivery. */
    readonly attempts: number
    readonly tries: number
    readonly delivery_created_at: Date
  }

/** Takes, for each endpoint, as many deliveries as it has slots, longest due first. */
export async function takeDeliveries(
  db: Db,
  slots: ReadonlyMap<string, number>,
  lease_ms: number,
): Promise<TakenDelivery[]> {
  const { rows } = await db.query({
    name: 'take due deliveries',
    text: `WITH due AS (
        SELECT d.event_id, d.endpoint_id FROM unnest($1::text[], $2::integer[]) AS wanted (endpoint_id, slots)
        JOIN webhook_endpoints w ON w.id = wanted.endpoint_id AND w.status = 'enabled'
        CROSS JOIN LATERAL (SELECT event_id, endpoint_id FROM webhook_deliveries
          WHERE endpoint_id = w.id AND status = 'pending' AND next_attempt_at <= now()
          ORDER BY next_attempt_at LIMIT wanted.slots FOR UPDATE SKIP LOCKED) AS d),
      taken AS (
        UPDATE webhook_deliveries d SET attempts = attempts + 1, tries = tries + 1,
          next_attempt_at = now() + make_interval(secs => $3::float8 / 1000)
        FROM due WHERE (d.event_id, d.endpoint_id) = (due.event_id, due.endpoint_id)
        RETURNING d.event_id, d.endpoint_id, d.attempts, d.tries, d.created_at)
      SELECT ${eventFields('e')}, c.endpoint_id, c.attempts, c.tries, c.created_at AS delivery_created_at,
        w.url, w.secret, w.previous_secret, w.previous_secret_until
      FROM taken c JOIN webhook_endpoints w ON w.id = c.endpoint_id JOIN events e ON e.id = c.event_id`,
    values: [[...slots.keys()], [...slots.values()], lease_ms],
  })
  return rows
}

/** Gives back deliveries that were taken and not tried: due at once, without using up a try. */
export async function releaseTaken(db: Db, taken: readonly TakenDelivery[]): Promise<void> {
  await db.query(
    `UPDATE webhook_deliveries d SET next_attempt_at = now(), tries = greatest(tries - 1, 0)
     FROM unnest($1::text[], $2::text[], $3::integer[]) AS c (event_id, endpoint_id, attempts)
     WHERE (d.event_id, d.endpoint_id, d.attempts) = (c.event_id, c.endpoint_id, c.attempts) AND d.status = 'pending'`,
    [taken.map(({ id }) => id), taken.map((c) => c.endpoint_id), taken.map(({ attempts }) => attempts)],
  )
}

/** For the metrics: the length of the queues, counted up to 100,000, and the age of the oldest entries. */
export async function queueState(db: Db): Promise<{
  fresh: number
  oldest_fresh_seconds: number
  pending: number
  oldest_due_seconds: number
}> {
  const { rows } = await db.query({
    name: 'webhook queue',
    text: `SELECT (SELECT count(*)::integer FROM (SELECT FROM events WHERE position IS NULL LIMIT 100000) AS f) AS fresh,
      coalesce((SELECT greatest(0, extract(epoch FROM clock_timestamp() - created_at))::float8
        FROM events WHERE position IS NULL ORDER BY id LIMIT 1), 0) AS oldest_fresh_seconds,
      (SELECT count(*)::integer FROM (SELECT FROM webhook_deliveries WHERE status = 'pending' LIMIT 100000) AS p) AS pending,
      coalesce((SELECT extract(epoch FROM now() - min(oldest.next_attempt_at))::float8 FROM webhook_endpoints w,
        LATERAL (SELECT next_attempt_at FROM webhook_deliveries WHERE endpoint_id = w.id AND status = 'pending'
          AND next_attempt_at <= now() ORDER BY next_attempt_at LIMIT 1) AS oldest
        WHERE w.status = 'enabled'), 0) AS oldest_due_seconds`,
  })
  return rows[0]
}

/** Deletes deliveries that ended before that time, and the byte counts of older days. */
export async function forgetDeliveries(
  db: Db,
  older_than: Date,
  shouldContinue: ShouldContinue = () => true,
): Promise<void> {
  while (shouldContinue()) {
    const { rows } = await db.query('SELECT forget_deliveries($1, 1000) AS gone', [older_than])
    if (rows[0].gone === 0) break
  }
  await db.query('DELETE FROM webhook_answer_bytes WHERE day < $1', [older_than])
}
