import type { Db } from '../db/pool.ts'

/** The result of one attempt. */
export type AttemptResult = {
  readonly event_id: string
  readonly endpoint_id: string
  readonly partner_id: string
  /** Number of the attempt since the delivery was created; `tries` counts since the last redelivery. */
  readonly attempt: number
  readonly tries: number
  readonly url: string
  readonly headers: string
  readonly status: number | null
  readonly answer_headers: string | null
  readonly answer_body: string | null
  readonly error: string | null
  readonly started_at: Date
  readonly duration_ms: number
  readonly delivered: boolean
  /** The response was longer than the part of it that is stored. */
  readonly lengthy: boolean
  /** Time until the retry; null when the event was delivered or the schedule is used up. */
  readonly retry_ms: number | null
}

/** The receiver answered 410 Gone: it wants no more deliveries. */
export const isGone = ({ status }: Pick<AttemptResult, 'status'>): boolean => status === 410

const outcomeColumns = {
  event_id: 'text',
  endpoint_id: 'text',
  partner_id: 'text',
  attempt: 'integer',
  tries: 'integer',
  url: 'text',
  headers: 'json',
  status: 'smallint',
  answer_headers: 'json',
  answer_body: 'text',
  error: 'text',
  started_at: 'timestamptz',
  duration_ms: 'integer',
  delivered: 'boolean',
  retry_ms: 'float8',
} as const satisfies Record<Exclude<keyof AttemptResult, 'lengthy'>, string>

const noted = Object.keys(outcomeColumns).filter(
  (name) => !['partner_id', 'tries', 'delivered', 'retry_ms'].includes(name),
)

/** Bytes of responses stored per partner and UTC day. Beyond that only status, error and times are stored. */
const ANSWER_BYTES_PER_DAY = 32 * 1024 * 1024
const whileKept = (column: string) =>
  `CASE WHEN told.bytes <= ${ANSWER_BYTES_PER_DAY} THEN done.${column} END`

/** Only this many attempts of a delivery keep their body: from the next one on, trim_attempts has work. */
const ATTEMPTS_WITH_BODY = 3

/**
 * Records the results of attempts. If the lease of an attempt ended, the delivery was redelivered, or its endpoint was
 * disabled meanwhile, only a success changes the delivery: anything else is up to the node that holds the lease now.
 * Returns the endpoints that accepted a delivery while `failing_since` is set.
 */
export async function recordResults(db: Db, outcomes: readonly AttemptResult[]): Promise<string[]> {
  const names = Object.keys(outcomeColumns) as (keyof typeof outcomeColumns)[]
  const arrays = Object.values(outcomeColumns).map((type, i) => `$${i + 1}::${type}[]`)
  const kept = noted.map((name) => (name.startsWith('answer_') ? whileKept(name) : `done.${name}`))
  const { rows } = await db.query({
    name: 'record webhook attempts',
    text: `WITH done AS MATERIALIZED (SELECT * FROM unnest(${arrays.join(', ')}) AS o (${names.join(', ')})),
      told AS (INSERT INTO webhook_answer_bytes (partner_id, day, bytes)
        SELECT partner_id, (now() AT TIME ZONE 'UTC')::date,
          sum(coalesce(octet_length(answer_body), 0) + coalesce(octet_length(answer_headers::text), 0))
        FROM done WHERE answer_headers IS NOT NULL GROUP BY partner_id ORDER BY partner_id
        ON CONFLICT (partner_id, day) DO UPDATE SET bytes = webhook_answer_bytes.bytes + excluded.bytes RETURNING partner_id, bytes),
      noted AS (INSERT INTO webhook_attempts (${noted.join(', ')})
        SELECT ${kept.join(', ')} FROM done LEFT JOIN told USING (partner_id) ON CONFLICT DO NOTHING),
      ended AS (UPDATE webhook_deliveries d SET
        status = CASE WHEN done.delivered THEN 'delivered' WHEN done.retry_ms IS NULL THEN 'exhausted' ELSE 'pending' END,
        ended_at = CASE WHEN done.delivered OR done.retry_ms IS NULL THEN clock_timestamp() END,
        next_attempt_at = coalesce(clock_timestamp() + make_interval(secs => done.retry_ms / 1000), d.next_attempt_at)
      FROM done WHERE (d.event_id, d.endpoint_id) = (done.event_id, done.endpoint_id)
        AND (done.delivered AND d.status IN ('pending', 'canceled')
          OR d.status = 'pending' AND (d.attempts, d.tries) = (done.attempt, done.tries)))
      SELECT id FROM webhook_endpoints
      WHERE id = ANY(ARRAY(SELECT DISTINCT endpoint_id FROM done WHERE delivered)) AND failing_since IS NOT NULL`,
    values: names.map((name) => outcomes.map((outcome) => outcome[name])),
  })
  const longer = outcomes.filter(({ attempt }) => attempt > ATTEMPTS_WITH_BODY)
  if (longer.length > 0)
    await db.query({
      name: 'trim webhook attempts',
      text: 'SELECT trim_attempts($1, $2)',
      values: [longer.map(({ event_id }) => event_id), longer.map(({ endpoint_id }) => endpoint_id)],
    })
  return rows.map(({ id }) => id)
}
