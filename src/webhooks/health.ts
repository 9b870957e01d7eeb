import { COUNTED_PER_DAY, lastDays } from '../db/last-days.ts'
import type { Db } from '../db/pool.ts'

type HealthOfDay = {
  readonly day: string
  readonly delivered: number
  readonly failed: number
  readonly pending: number
  readonly median_ms: number | null
  readonly complete: boolean
}

/** The median is that of the day's last responses. */
const SAMPLE = 200

/** Deliveries per day of their creation. Every count reads an index only, and at most `COUNTED_PER_DAY` entries of it. */
export async function healthOf(db: Db, endpoint_id: string): Promise<HealthOfDay[]> {
  const within = 'endpoint_id = $1 AND created_at >= d.starts AND created_at < d.ends'
  const counted = (name: string, more = '') =>
    `CROSS JOIN LATERAL (SELECT count(*)::integer AS count FROM (SELECT FROM webhook_deliveries
       WHERE ${within} ${more} LIMIT ${COUNTED_PER_DAY}) AS one) AS ${name}`
  const { rows } = await db.query({
    name: 'health of a webhook endpoint',
    text: `SELECT d.day, every_one.count AS all, exhausted.count + canceled.count AS failed, pending.count AS pending,
        took.median_ms
      FROM ${lastDays} AS d ${counted('every_one')}
      ${counted('exhausted', `AND status = 'exhausted'`)}
      ${counted('canceled', `AND status = 'canceled'`)}
      ${counted('pending', `AND status = 'pending'`)}
      CROSS JOIN LATERAL (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY a.duration_ms) AS median_ms
        FROM (SELECT event_id FROM webhook_deliveries WHERE ${within} ORDER BY created_at DESC, event_id DESC LIMIT ${SAMPLE}) AS last
        CROSS JOIN LATERAL (SELECT duration_ms FROM webhook_attempts WHERE (event_id, endpoint_id) = (last.event_id, $1)
          AND status IS NOT NULL ORDER BY attempt DESC LIMIT 1) AS a) AS took
      ORDER BY d.day`,
    values: [endpoint_id],
  })
  return rows.map(({ day, all, failed, pending, median_ms }) => ({
    day,
    delivered: Math.max(0, all - failed - pending),
    failed,
    pending,
    median_ms,
    complete: all < COUNTED_PER_DAY,
  }))
}
