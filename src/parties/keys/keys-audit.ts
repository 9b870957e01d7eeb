import { EVENTS_REMOVED_UNTIL } from '../../db/event-horizon.ts'
import type { RangeCheck } from '../../ledger/audit.ts'

const eventsAbout = (key: string) => `SELECT FROM events e WHERE e.object_id = ${key}.id`

/**
 * Every API key, and every value of one, was announced to its partner by an event. Triggers protect a key's partner,
 * scopes and values (identity.sql); its name, allowlist and limits may change without an event.
 */
export const keyChecks: readonly RangeCheck[] = [
  {
    name: 'every API key has an event for its partner',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT k.id AS object_id, k.partner_id, k.created_at, k.sequence FROM api_keys k WHERE ${within('k.id')} AND (
        EXISTS (${eventsAbout('k')} AND e.partner_id <> k.partner_id)
        OR k.created_at > ${EVENTS_REMOVED_UNTIL} AND (
          NOT EXISTS (${eventsAbout('k')} AND e.type = 'api_key.created' AND (e.data ->> 'scopes')::jsonb = to_jsonb(k.scopes))
          OR NOT EXISTS (${eventsAbout('k')} AND e.sequence = k.sequence))
        OR EXISTS (${eventsAbout('k')} AND e.sequence > k.sequence))`,
  },
  {
    // A key from before the kept events needs no event, so its age must be possible. Both times are the database's; after a
    // fail-over that is another machine's clock.
    name: 'every API key has a partner that is older than the key',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT k.id AS object_id, k.partner_id, k.created_at, p.created_at AS partner_created_at FROM api_keys k
      LEFT JOIN shared.partners p ON p.id = k.partner_id
      WHERE ${within('k.id')} AND (p.id IS NULL OR k.created_at < p.created_at - interval '1 hour')`,
  },
  {
    name: 'every value of an API key has an event for its partner',
    walk: 'causes',
    sql: (within) => `SELECT k.id AS object_id, k.partner_id, v.made, v.open, e.told FROM api_keys k
      CROSS JOIN LATERAL (SELECT count(*) AS made, count(*) FILTER (WHERE valid_until IS NULL) AS open,
        (array_agg(last_four) FILTER (WHERE valid_until IS NULL))[1] AS last_four,
        bool_or(valid_until > now()) AS in_grace FROM api_key_values WHERE api_key_id = k.id) AS v
      CROSS JOIN LATERAL (SELECT count(*) AS told, (array_agg(data ->> 'last_four' ORDER BY sequence DESC))[1] AS last_four FROM events
        WHERE object_id = k.id AND type IN ('api_key.created', 'api_key.rotated')) AS e
      WHERE ${within('k.id')} AND (v.open > 1
        OR e.told > 0 AND v.open = 1 AND v.last_four IS DISTINCT FROM e.last_four
        -- A rotation leaves the value before it for 30 days at the most, and events are kept for as long.
        OR e.told = 0 AND v.in_grace
        OR k.created_at > ${EVENTS_REMOVED_UNTIL} AND v.made <> e.told)`,
  },
]
