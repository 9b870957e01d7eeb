import { EVENTS_REMOVED_UNTIL } from '../db/event-horizon.ts'
import type { RangeCheck } from './audit.ts'

/**
 * Checks that each row of `claims` (an idempotency key in use) and the payout, transfer or act made under it agree, in both
 * directions. An expired claim may be deleted, or its row reused by a later request with the same key; so an old resource may
 * have no claim, or one that names another resource.
 */

/** How long an idempotency key is taken (contract §7). */
const VALID = `interval '24 hours'`

/** Tolerated difference between the clocks of two database servers, after a fail-over. */
const CLOCK_TOLERANCE = `interval '5 minutes'`

/**
 * SQL: whether `expires_at` is possible. It is 24 hours after the latest claim of the key. `claimed_at` is the time of the first
 * claim, so the latest claim lies between `claimed_at` and now.
 */
const hasPossibleExpiry = `(c.expires_at >= c.claimed_at + ${VALID} - ${CLOCK_TOLERANCE} AND c.expires_at <= now() + ${VALID} + ${CLOCK_TOLERANCE})`

/**
 * Checks of resources made under a partner's idempotency key. The table has the columns api_key_id, idempotency_key,
 * customer_id, status and created_at. In the SQL, `r` is a row of the table and `c` its claim.
 */
export function onceChecks(options: {
  readonly table: string
  readonly prefix: string
  readonly operation: string
  /** SQL: whether `r` is not final yet. */
  readonly open: string
  /** Columns whose values the stored response contains. */
  readonly repeats: readonly string[]
  /** States that the stored response may show, besides the current one. */
  readonly statuses: readonly string[]
  /** `at once`: the claim is inserted with its response. `later`: a claim without a response is correct too. */
  readonly answered: 'at once' | 'later'
  /** SQL: the response `c.answer` shows a state for which no event is stored. Absent: there is no such state. */
  readonly untold?: string
}): RangeCheck[] {
  const { table, prefix, operation, open, repeats, statuses, answered, untold = 'false' } = options
  const showsStatus = [...statuses.map((status) => `'${status}'`), 'r.status']
    .map((status) => `strpos(c.answer, '"status":"' || ${status} || '"') > 0`)
    .join(' OR ')
  // A stored response equals the data of one of the resource's events, to the byte, unless the events may have been deleted.
  const eventsMayBeDeleted = `r.created_at <= ${EVENTS_REMOVED_UNTIL}`
  const matchesRow = [
    `starts_with(c.answer, '{"id":"' || r.id || '"')`,
    `right(c.answer, 1) = '}'`,
    `strpos(c.answer, '"customer_id":"' || r.customer_id || '"') > 0`,
    ...repeats.map((column) => `strpos(c.answer, '"${column}":"' || r.${column} || '"') > 0`),
    `(${showsStatus})`,
    // Only the response of a final state is stored as a reference to an event.
    `(c.answer_body IS NOT NULL OR strpos(c.answer, '"status":"' || r.status || '"') > 0)`,
    `(c.answer_body IS NULL OR ${eventsMayBeDeleted} OR ${untold} OR EXISTS (SELECT FROM events e WHERE e.object_id = r.id AND e.data::text = c.answer))`,
  ].join(' AND ')
  const isResponse = `c.answer_status = 201 AND (${matchesRow} OR c.answer IS NULL AND c.answer_sequence IS NOT NULL AND ${eventsMayBeDeleted})`
  const hasNoResponse = `(c.answer_status IS NULL AND c.answer_body IS NULL AND c.answer_sequence IS NULL)`
  const hasCorrectResponse = `coalesce(${isResponse}, false)${answered === 'later' ? ` OR ${hasNoResponse}` : ''}`
  // The response of a final state is stored in its event.
  const claims = `(SELECT k.scope, k.operation, k.key, k.fingerprint, k.resource_id, k.claimed_at, k.expires_at, k.final, k.answer_status, k.answer_body,
    k.answer_sequence, coalesce(k.answer_body, (SELECT v.data::text FROM events v
    WHERE v.object_id = k.resource_id AND v.sequence = k.answer_sequence)) AS answer FROM claims k)`
  return [
    {
      name: `every row of ${table} has its idempotency record, and the record matches it`,
      walk: 'causes',
      prefix,
      sql: (
        within,
      ) => `SELECT r.id AS object_id, r.partner_id, r.idempotency_key, r.status, c.resource_id, c.final, c.expires_at, c.answer_status
        FROM ${table} r LEFT JOIN ${claims} AS c ON c.scope = r.api_key_id AND c.operation = '${operation}' AND c.key = r.idempotency_key
        WHERE ${within('r.id')} AND CASE
          WHEN c.scope IS NULL THEN ${open} OR r.created_at > now() - ${VALID}
          WHEN c.resource_id = r.id THEN c.final AND ${open} OR c.expires_at IS DISTINCT FROM r.created_at + ${VALID} OR NOT (${hasCorrectResponse})
          -- Another resource, or a refusal, has the key now. It claimed the key after the 24 hours of this row, and not in the future.
          ELSE ${open} OR coalesce(c.expires_at < r.created_at + ${VALID} + ${VALID} OR NOT ${hasPossibleExpiry}, true)
        END`,
    },
    {
      name: `every idempotency record of ${operation} stands for its result or for a refusal`,
      walk: 'claims',
      sql: (
        within,
      ) => `SELECT coalesce(c.resource_id, c.key) AS object_id, c.scope, c.operation, c.key, c.resource_id
        FROM claims c LEFT JOIN ${table} r ON r.id = c.resource_id
        WHERE ${within('c.scope', 'c.operation', 'c.key')} AND c.operation = '${operation}' AND NOT CASE
          WHEN c.resource_id IS NULL THEN
            coalesce(c.final AND c.answer_status = 422 AND starts_with(c.answer_body, '{"error":') AND ${hasPossibleExpiry}, false)
          ELSE coalesce(r.api_key_id = c.scope AND r.idempotency_key = c.key AND ${hasPossibleExpiry}, false) END`,
    },
    {
      name: `no two of ${table} were made under one idempotency key within 24 hours`,
      sql: () => `SELECT id AS object_id, partner_id, api_key_id, idempotency_key, created_at, before FROM (
          SELECT id, partner_id, api_key_id, idempotency_key, created_at,
            lag(created_at) OVER (PARTITION BY api_key_id, idempotency_key ORDER BY created_at, id) AS before FROM ${table}) AS made
        WHERE created_at < before + ${VALID}`,
    },
  ]
}

/**
 * A refused request leaves a claim and no resource to compare the claim with. So a trigger stores each refusal a second time,
 * in `refusals`, which the service cannot change; until the refusal expires, both records must agree (decision 0029).
 */
export const refusalCheck: RangeCheck = {
  name: 'every refusal whose idempotency key is in force is stored as it was returned',
  walk: 'claims',
  sql: (
    within,
  ) => `SELECT key AS object_id, scope, operation, key, c.expires_at, c.resource_id, f.expires_at AS refused_until
    FROM (SELECT scope, operation, key, resource_id, expires_at, refusal_digest(fingerprint, answer_status, answer_body) AS digest FROM claims
      WHERE ${within('scope', 'operation', 'key')} AND expires_at > now()) AS c
    FULL JOIN (SELECT scope, operation, key, expires_at, digest FROM refusals
      WHERE ${within('scope', 'operation', 'key')} AND expires_at > now()) AS f USING (scope, operation, key)
    WHERE (f.digest IS NOT NULL OR c.resource_id IS NULL)
      AND (c.resource_id IS NOT NULL OR (c.expires_at, c.digest) IS DISTINCT FROM (f.expires_at, f.digest))`,
}

/** Checks of operators' acts on money. Their idempotency key is the reference, which never expires (`underReference` in once.ts). */
export function referenceChecks(options: {
  readonly table: string
  readonly prefix: string
  readonly operation: string
  /** SQL: which rows `r` of the table have a claim; all when absent. */
  readonly only?: string
  /** SQL: the partner of a row `r`, for the finding. */
  readonly partner?: string
  /** The SQL expressions that the claim's fingerprint is made of. */
  readonly names: readonly string[]
}): RangeCheck[] {
  const { table, prefix, operation, only = 'true', partner = 'r.partner_id', names } = options
  const parts = names.map((name) => `coalesce(to_json(${name}::text)::text, 'null')`)
  const fingerprint = `'[' || ${parts.join(` || ',' || `)} || ']'`
  return [
    {
      name: `every ${operation} was made under its reference, and every reference stands for one`,
      walk: 'causes',
      prefix,
      sql: (
        within,
      ) => `SELECT r.id AS object_id, ${partner} AS partner_id, r.reference, c.resource_id FROM ${table} r
        LEFT JOIN claims c ON c.scope = 'operator' AND c.operation = '${operation}' AND c.key = r.reference
        WHERE ${within('r.id')} AND ${only} AND (c.resource_id IS DISTINCT FROM r.id OR NOT c.final OR c.expires_at IS NOT NULL
          OR c.answer_status IS NOT NULL OR c.answer_body IS NOT NULL OR c.answer_sequence IS NOT NULL
          OR c.fingerprint IS DISTINCT FROM ${fingerprint})`,
    },
    {
      name: `every reference of a ${operation} stands for one`,
      walk: 'claims',
      sql: (
        within,
      ) => `SELECT coalesce(c.resource_id, c.key) AS object_id, c.scope, c.operation, c.key FROM claims c
        LEFT JOIN ${table} r ON r.id = c.resource_id
        WHERE ${within('c.scope', 'c.operation', 'c.key')} AND c.operation = '${operation}'
          AND (c.scope <> 'operator' OR r.reference IS DISTINCT FROM c.key OR NOT coalesce(${only}, false))`,
    },
  ]
}
