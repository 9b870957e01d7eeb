import type { Db } from './pool.ts'

/** For how many days old rows are kept, by the settings of the operator. */
export type Retention = {
  readonly event_days: number
  readonly delivery_days: number
  readonly quote_days: number
  readonly request_days: number
}

/**
 * Writes the configured retention where the functions that remove old rows read it, and where the roles of the service cannot
 * change it (decision 0030). When a figure rises, `reached` keeps how far the shorter figure allowed removals: rows up to
 * that time are not missed by the audit. In the transaction of the caller.
 */
export async function stateRetention(owner: Db, retention: Retention): Promise<void> {
  const days = {
    events: retention.event_days,
    deliveries: retention.delivery_days,
    quotes: retention.quote_days,
    requests: retention.request_days,
  }
  for (const schema of ['live', 'sandbox']) {
    await owner.query(`SET LOCAL search_path = ${schema}, pg_temp`)
    await owner.query(
      `INSERT INTO retention AS before (what, days) SELECT * FROM unnest($1::text[], $2::integer[])
       ON CONFLICT (what) DO UPDATE SET days = excluded.days, reached = CASE WHEN before.days < excluded.days
         THEN greatest(before.reached, clock_timestamp() - make_interval(days => kept_days(before.what))) ELSE before.reached END
       WHERE before.days IS DISTINCT FROM excluded.days`,
      [Object.keys(days), Object.values(days)],
    )
  }
}
