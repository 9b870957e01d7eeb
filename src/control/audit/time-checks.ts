import { EVENTS_KEPT_SINCE } from '../../db/event-horizon.ts'
import { EDITION } from '../../db/functions.ts'
import type { RangeCheck } from '../../ledger/audit.ts'
import { AUDIT_EDITION } from './progress.ts'

/** For the clocks of two servers, when one took over from the other. */
const MARGIN = `interval '5 minutes'`

/** Rows of one table whose time is in the future. */
const ahead = (table: string, id: string, time: string, within: string) =>
  `SELECT ${id} AS object_id, '${table}' AS found_in, ${time} AS dated FROM ${table} WHERE ${within} AND ${time} > now() + ${MARGIN}`

/** Leases, backoffs and webhook retries all end within about a day. */
const LONGEST = `interval '2 days'`

/** Checks of plausible times: nothing happened in the future, no work is postponed for ever, nothing was removed too early. */
export const timeChecks: readonly RangeCheck[] = [
  {
    name: 'nothing that happened is dated in the future',
    walk: 'causes',
    sql: (within) =>
      [
        ahead('entries', 'cause_id', 'created_at', within('cause_id')),
        ahead('events', 'object_id', 'created_at', within('object_id')),
        ahead('quotes', 'id', 'created_at', within('id')),
        ahead('sends', 'resource_id', 'sent_at', within('resource_id')),
        ahead('transactions', 'transfer_id', 'created_at', within('transfer_id')),
        ahead('resolutions', 'resource_id', 'resolved_at', within('resource_id')),
        ahead('holds', 'resource_id', 'since', within('resource_id')),
      ].join(' UNION ALL '),
  },
  {
    name: 'no event has a position in the future',
    walk: 'causes',
    // A position is the time at which it was assigned, in microseconds.
    sql: (within) => `SELECT object_id, partner_id, id AS event_id, position FROM events
      WHERE ${within('object_id')} AND position > extract(epoch FROM now() + ${MARGIN}) * 1000000`,
  },
  {
    name: 'no customer was created in the future',
    walk: 'customers',
    sql: (within) => ahead('customers', 'id', 'created_at', within('id')),
  },
  {
    name: 'no idempotency record is dated in the future',
    walk: 'claims',
    sql: (within) => ahead('claims', 'key', 'claimed_at', within('scope', 'operation', 'key')),
  },
  {
    name: 'no proof, exception or request is dated in the future',
    sql: () =>
      [
        ahead('proofs', 'n::text', 'greatest(started_at, finished_at)', 'true'),
        ahead('exceptions', 'id', 'greatest(opened_at, closed_at)', 'true'),
        // The primary key leads to requests with such an id; requests are removed by their id.
        `SELECT id, 'requests', created_at FROM requests WHERE id > 'req_' || time_of_id(now() + ${MARGIN})`,
      ].join(' UNION ALL '),
  },
  {
    name: 'no event was deleted before its retention ended',
    // One row, checked in the piece whose range contains its name.
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT 'event_horizon' AS object_id, forgotten_until, ${EVENTS_KEPT_SINCE} AS kept_since FROM event_horizon
      WHERE ${within(`'event_horizon'`)} AND forgotten_until > ${EVENTS_KEPT_SINCE} + ${MARGIN}`,
  },
  {
    name: 'nothing open is postponed for longer than two days',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT id AS object_id, 'payouts' AS found_in, next_attempt_at AS until FROM open_payouts
        WHERE ${within('id')} AND next_attempt_at > now() + ${LONGEST}
      UNION ALL SELECT id, 'transfers', next_attempt_at FROM open_transfers WHERE ${within('id')} AND next_attempt_at > now() + ${LONGEST}
      UNION ALL SELECT resource_id, 'sends', until FROM sends WHERE ${within('resource_id')} AND until > sent_at + ${LONGEST}
      UNION ALL SELECT resource_id, 'follow_ups', ask_at FROM follow_ups WHERE ${within('resource_id')} AND ask_at > now() + ${LONGEST}`,
  },
  {
    name: 'no delivery is postponed for longer than two days',
    sql: () => `SELECT event_id AS object_id, endpoint_id, next_attempt_at AS until FROM webhook_deliveries
      WHERE status = 'pending' AND next_attempt_at > now() + ${LONGEST}`,
  },
  {
    name: 'the background audit is not postponed',
    walk: 'causes',
    // One row, checked in the piece whose range contains its name. A higher edition is right only after a newer version has
    // installed its functions: otherwise no audit would ever get the lease again.
    sql: (
      within,
    ) => `SELECT 'audit_progress' AS object_id, node, turn_until, last_finished_at, proved_upto, edition FROM audit_progress
      WHERE ${within(`'audit_progress'`)} AND (greatest(started_at, last_started_at, last_finished_at) > now() + ${MARGIN}
        OR turn_until > now() + interval '1 hour' OR proved_upto > extract(epoch FROM now() + ${MARGIN}) * 1000000
        OR edition > ${AUDIT_EDITION} AND (SELECT edition FROM functions) <= ${EDITION})`,
  },
]
