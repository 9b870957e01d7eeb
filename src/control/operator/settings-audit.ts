import type { Db } from '../../db/pool.ts'
import type { StoragePlace } from '../../db/sealing.ts'
import type { FindingRow, SearchCheck } from '../../ledger/audit.ts'
import { limitNames } from '../../limits/tiers.ts'
import { railLimitNames } from '../../money/custody/controls-store.ts'
import { moneyLimitNames } from '../../money/money-limits/store.ts'
import { customersWithoutAct, keysWithoutAct } from './unlogged-changes.ts'

/**
 * Settings have no entries and no events, but each act on them is a line of the act log with the row's state
 * afterwards. These queries find rows that differ from the last line about them, rows that were deleted, and rows
 * without a line. The lines themselves are verified with the log.
 */

/** The last line of these actions about an object; `after` as JSON. */
const lastLine = (object_id: string, actions: readonly string[]) =>
  `LATERAL (SELECT a.after::json AS after FROM acts a WHERE a.object_id = ${object_id}
     AND a.action IN (${actions.map((action) => `'${action}'`).join(', ')}) ORDER BY a.seq DESC LIMIT 1) AS line`

const differs = (table: string, columns: readonly string[]) =>
  columns.map((column) => `line.after ->> '${column}' IS DISTINCT FROM ${table}.${column}::text`).join(' OR ')

/** Objects of this action whose row was deleted. */
const gone = (action: string, table: string, key: string) =>
  `SELECT DISTINCT a.object_id, 'removed from ${table}' AS wrong FROM acts a WHERE a.action = '${action}'
     AND NOT EXISTS (SELECT FROM ${table} t WHERE t.${key} = a.object_id)`

/** Rows without a line. */
const unsaid = (action: string, table: string, key: string) =>
  `SELECT t.${key} AS object_id, 'nobody set this row of ${table}' AS wrong FROM ${table} t
     WHERE NOT EXISTS (SELECT FROM acts a WHERE a.object_id = t.${key} AND a.action = '${action}')`

const limits = `SELECT t.subject_id AS object_id, 'money limits that differ from their line' AS wrong
  FROM money_limits t, ${lastLine('t.subject_id', ['set_money_limits'])} WHERE ${differs('t', moneyLimitNames)}`

const treasury = `SELECT t.asset AS object_id, 'a treasury limit that differs from its line' AS wrong
  FROM treasury_limits t, ${lastLine('t.asset', ['set_treasury_limits'])} WHERE ${differs('t', ['lowest', 'highest'])}`

/** Pauses have a history of their own (controls-store.ts), because the service may pause without a line. */
const rails = `SELECT c.rail AS object_id, 'a limit of a rail that differs from its line' AS wrong
  FROM rail_controls c, ${lastLine('c.rail', ['set_rail_limits'])} WHERE ${differs('c', railLimitNames)}`
const railsWithoutAct = `SELECT c.rail AS object_id, 'nobody set this limit of a rail' AS wrong FROM rail_controls c
  WHERE (${railLimitNames.map((name) => `c.${name} IS NOT NULL`).join(' OR ')})
    AND NOT EXISTS (SELECT FROM acts a WHERE a.object_id = c.rail AND a.action = 'set_rail_limits')`

/** Each of these lines holds the key's full state. */
const keyActs = ['create_key', 'rotate_key', 'revoke_key', 'set_key_limits', 'change_key']
const keys = `SELECT k.id AS object_id, 'a key that differs from its line' AS wrong
  FROM api_keys k, ${lastLine('k.id', keyActs)}
  WHERE (line.after -> 'per_day') IS NOT NULL AND (${differs('k', ['name', ...limitNames])}
    OR (line.after ->> 'ip_allowlist')::jsonb IS DISTINCT FROM to_jsonb(k.ip_allowlist))`

const worldSettings: readonly string[] = [
  limits,
  gone('set_money_limits', 'money_limits', 'subject_id'),
  unsaid('set_money_limits', 'money_limits', 'subject_id'),
  treasury,
  gone('set_treasury_limits', 'treasury_limits', 'asset'),
  unsaid('set_treasury_limits', 'treasury_limits', 'asset'),
  rails,
  gone('set_rail_limits', 'rail_controls', 'rail'),
  railsWithoutAct,
  keys,
  keysWithoutAct,
  customersWithoutAct,
]

const terms = [
  'tier',
  ...limitNames,
  'pix_fee',
  'service_fee_bps',
  'partner_fee_share_pct',
  'third_party_payouts',
]
const partners = `SELECT p.id AS object_id, 'a partner whose terms differ from its line' AS wrong
  FROM partners p, ${lastLine('p.id', ['create_partner', 'change_partner'])} WHERE ${differs('p', ['name', ...terms])}`

/** Same result as `personRoleOf`. */
const role = `CASE u.role WHEN 'operator' THEN coalesce(u.operator_role, 'reader') WHEN 'owner' THEN 'owner' ELSE coalesce(u.partner_role, 'viewer') END`
const people = `SELECT u.id AS object_id, 'a person with another role than the log says' AS wrong
  FROM users u, LATERAL (SELECT a.action, coalesce(a.after::json -> 'person', a.after::json) AS after FROM acts a WHERE a.object_id = u.id
     AND a.action IN ('create_user', 'set_role', 'reset_factor', 'remove_user', 'use_invitation', 'approve')
     ORDER BY a.seq DESC LIMIT 1) AS line
  WHERE (line.after ->> 'role') IS NOT NULL AND (line.after ->> 'role') <> ${role}
    OR (line.after ->> 'partner_id') IS NOT NULL AND (line.after ->> 'partner_id') IS DISTINCT FROM u.partner_id
    OR line.action = 'remove_user' AND u.removed_at IS NULL
    OR line.action NOT IN ('remove_user', 'approve') AND u.removed_at IS NOT NULL`

/** An operator is created by an act or by an approval. An operator without either is named also after being removed. */
const operators = `SELECT u.id AS object_id, 'an operator whom nobody made' AS wrong FROM users u
  WHERE u.role = 'operator'
    AND NOT EXISTS (SELECT FROM acts a WHERE a.object_id = u.id AND a.action IN ('create_user', 'set_role', 'approve'))`

/** A confirmed second factor stays until the user, an owner or two operators remove it. */
const factors = `SELECT u.id AS object_id, 'a second factor that was removed without an act' AS wrong
  FROM users u, LATERAL (SELECT a.action FROM acts a WHERE a.object_id = u.id
     AND a.action IN ('confirm_factor', 'disable_factor', 'reset_factor', 'remove_user', 'approve') ORDER BY a.seq DESC LIMIT 1) AS line
  WHERE line.action = 'confirm_factor' AND NOT EXISTS (SELECT FROM factors f WHERE f.id = u.id AND f.confirmed_at IS NOT NULL)`

/** Every sign-in writes a line that names the session. */
const sessions = `SELECT s.id AS object_id, 'a session that nobody signed in to' AS wrong FROM sessions s
  WHERE NOT EXISTS (SELECT FROM acts a WHERE a.object_id = s.user_id AND a.action = 'sign_in' AND a.session_id = s.id)`

const sharedSettings: readonly string[] = [
  partners,
  gone('create_partner', 'partners', 'id'),
  people,
  operators,
  factors,
  sessions,
]

const NAMED_MOST = 100

/** Both worlds run the same queries. */
export async function wrongSettings(db: Db, place: StoragePlace): Promise<FindingRow[]> {
  const queries = place === 'shared' ? sharedSettings : worldSettings
  const { rows } = await db.query(`${queries.join(' UNION ALL ')} LIMIT ${NAMED_MOST}`)
  return rows
}

export const settingsCheck: SearchCheck = {
  name: 'limits, keys, blocks and arrangements match the audit log',
  find: (tx) => wrongSettings(tx, 'production'),
}
