import type { OperatorRole, PartnerRole } from '../../core/actor.ts'
import type { Sealed } from '../../core/seal.ts'
import type { ShouldContinue } from '../../db/chore.ts'
import { columnsOf } from '../../db/columns.ts'
import type { Db } from '../../db/pool.ts'
import type { SealedColumn } from '../../db/sealing.ts'

export type User = {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly password_hash: string
  readonly partner_id: string | null
  readonly role: 'owner' | 'member' | 'operator'
  /** Null for people of partners; use `personRoleOf`. */
  readonly operator_role: OperatorRole | null
  /** Role of a member of a partner; null means viewer. */
  readonly partner_role: Exclude<PartnerRole, 'owner'> | null
  /** Hash of the activation code for the next sign-in of a user without a second factor. */
  readonly activation_hash: Buffer | null
  /** Null: the language of the browser. */
  readonly language: Language | null
  readonly removed_at: Date | null
  /** Until then the user may not create or change production keys. */
  readonly keys_shut_until: Date | null
  readonly created_at: Date
}

export const languages = ['en', 'pt-BR'] as const
type Language = (typeof languages)[number]

type NewRow = Omit<User, 'created_at' | 'language' | 'removed_at' | 'keys_shut_until'>

export async function insertUser(db: Db, user: NewRow): Promise<User> {
  const { rows } = await db.query(
    `INSERT INTO users (id, email, name, password_hash, partner_id, role, operator_role, partner_role, activation_hash)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING ${columnsOf('users')}`,
    [
      user.id,
      user.email,
      user.name,
      user.password_hash,
      user.partner_id,
      user.role,
      user.operator_role,
      user.partner_role,
      user.activation_hash,
    ],
  )
  return rows[0]
}

export async function selectUser(db: Db, email: string): Promise<User | undefined> {
  const { rows } = await db.query(`SELECT ${columnsOf('users')} FROM users WHERE email = $1`, [email])
  return rows[0]
}

/** Absent fields leave nobody out. */
type WhichUsers = {
  readonly id?: string
  readonly role?: User['role']
  readonly partner_id?: string
}

/** Users with whether they have a second factor; operators first. */
export async function selectUsers(
  db: Db,
  { id, role, partner_id }: WhichUsers = {},
): Promise<(User & { readonly second_factor: boolean })[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('users', 'u')}, f.confirmed_at IS NOT NULL AS second_factor
     FROM users u LEFT JOIN factors f ON f.id = u.id
     WHERE u.removed_at IS NULL AND ($1::text IS NULL OR u.id = $1) AND ($2::text IS NULL OR u.role = $2)
       AND ($3::text IS NULL OR u.partner_id = $3)
     ORDER BY u.partner_id NULLS FIRST, u.email`,
    [id, role, partner_id],
  )
  return rows
}

/**
 * A partner's team, with the time each member was last active: the last use of a live session, or else the last
 * sign-in or sign-out.
 */
export async function selectTeam(
  db: Db,
  partner_id: string,
): Promise<(User & { readonly second_factor: boolean; readonly seen_at: Date | null })[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('users', 'u')}, f.confirmed_at IS NOT NULL AS second_factor,
       greatest((SELECT max(used_at) FROM sessions s WHERE s.user_id = u.id),
         (SELECT at FROM acts a WHERE a.object_id = u.id AND a.action IN ('sign_in', 'sign_out')
          ORDER BY seq DESC LIMIT 1)) AS seen_at
     FROM users u LEFT JOIN factors f ON f.id = u.id
     WHERE u.partner_id = $1 AND u.removed_at IS NULL ORDER BY u.created_at, u.id`,
    [partner_id],
  )
  return rows
}

/** How many users a partner has, without removed ones. */
export async function countTeam(db: Db, partner_id: string): Promise<number> {
  const { rows } = await db.query(
    'SELECT count(*)::integer AS count FROM users WHERE partner_id = $1 AND removed_at IS NULL',
    [partner_id],
  )
  return rows[0].count
}

/** A user of this partner. */
export async function selectColleague(db: Db, partner_id: string, id: string): Promise<User | undefined> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('users')} FROM users WHERE id = $1 AND partner_id = $2 AND removed_at IS NULL`,
    [id, partner_id],
  )
  return rows[0]
}

export async function selectOperators(db: Db): Promise<User[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('users')} FROM users WHERE role = 'operator' AND removed_at IS NULL ORDER BY id`,
  )
  return rows
}

/** Runs in a transaction that holds the user's row. */
export async function setPassword(
  db: Db,
  email: string,
  { password_hash, activation_hash }: Pick<User, 'password_hash' | 'activation_hash'>,
): Promise<User | undefined> {
  const { rows } = await db.query(
    `UPDATE users SET password_hash = $2, activation_hash = $3 WHERE email = $1 RETURNING ${columnsOf('users')}`,
    [email, password_hash, activation_hash],
  )
  // A link for the previous password must not set another one.
  if (rows[0]) await db.query('DELETE FROM links WHERE user_id = $1', [rows[0].id])
  return rows[0]
}

/** Locks the admins (of the operator) or the owners (of a partner) until the transaction ends. */
export async function lockHighest(tx: Db, partner_id: string | null): Promise<readonly User[]> {
  const { rows } = await tx.query(
    `SELECT ${columnsOf('users')} FROM users
     WHERE partner_id IS NOT DISTINCT FROM $1 AND (role = 'owner' OR operator_role = 'admin') AND removed_at IS NULL
     ORDER BY id FOR NO KEY UPDATE`,
    [partner_id],
  )
  return rows
}

export async function changeRole(
  tx: Db,
  user: Pick<User, 'id' | 'role' | 'operator_role' | 'partner_role'>,
): Promise<User> {
  const { rows } = await tx.query(
    `UPDATE users SET role = $2, operator_role = $3, partner_role = $4 WHERE id = $1 RETURNING ${columnsOf('users')}`,
    [user.id, user.role, user.operator_role, user.partner_role],
  )
  return rows[0]
}

/** Runs in a transaction that holds the user's row. */
export async function selectProfile(tx: Db, id: string): Promise<UserProfile> {
  const { rows } = await tx.query('SELECT name, language FROM users WHERE id = $1', [id])
  return rows[0]
}

type UserProfile = Pick<User, 'name' | 'language'>

export async function changeProfile(tx: Db, id: string, { name, language }: UserProfile): Promise<User> {
  const { rows } = await tx.query(
    `UPDATE users SET name = $2, language = $3 WHERE id = $1 RETURNING ${columnsOf('users')}`,
    [id, name, language],
  )
  return rows[0]
}

/**
 * The row stays because the log names its id. It gets the lowest role, a password that nobody knows, and another
 * e-mail, which frees the old one.
 */
export async function markRemoved(
  tx: Db,
  user: Pick<User, 'id' | 'role' | 'operator_role' | 'partner_role' | 'password_hash'>,
): Promise<void> {
  await tx.query(
    `UPDATE users SET email = id || '@removed.invalid', password_hash = $2, activation_hash = NULL,
       role = $3, operator_role = $4, partner_role = $5, removed_at = clock_timestamp() WHERE id = $1`,
    [user.id, user.password_hash, user.role, user.operator_role, user.partner_role],
  )
}

export async function shutKeys(tx: Db, id: string): Promise<void> {
  await tx.query(`UPDATE users SET keys_shut_until = clock_timestamp() + interval '24 hours' WHERE id = $1`, [
    id,
  ])
}

/** Concurrent sign-ins of one user wait for each other. */
export async function waitForLocks(tx: Db): Promise<void> {
  await tx.query(`SET LOCAL lock_timeout = '4s'`)
}

/** Holders of this name run one after the other, each until its transaction ends. */
export async function lockName(tx: Db, name: string): Promise<void> {
  await waitForLocks(tx)
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
}

/** Locks the user's row until the transaction ends. False if the password has changed meanwhile. */
export async function holdUser(tx: Db, user: User): Promise<boolean> {
  const { rowCount } = await tx.query(
    'SELECT FROM users WHERE id = $1 AND password_hash = $2 FOR NO KEY UPDATE',
    [user.id, user.password_hash],
  )
  return rowCount === 1
}

/** Uses up the activation code. Of concurrent callers with the same code one gets true. */
export async function useActivation(tx: Db, user_id: string, activation_hash: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(
    'UPDATE users SET activation_hash = NULL WHERE id = $1 AND activation_hash = $2',
    [user_id, activation_hash],
  )
  return rowCount === 1
}

/** Locks the user's row, so that no sign-in of this user completes until the transaction ends. */
export async function lockUser(tx: Db, user_id: string): Promise<void> {
  await tx.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [user_id])
}

const STANDING = `hashtextextended('standing of people', 0)`

/**
 * Keeps these users from being removed or changing roles until the transaction ends. Admins are locked first, as
 * everywhere, to avoid deadlocks. Shared row locks alone would let new approvals overtake a waiting removal; the
 * advisory lock before them queues in order.
 */
export async function holdStanding(tx: Db, emails: readonly string[]): Promise<void> {
  // The longest wait of a command that moves money.
  await tx.query(
    `SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = '6s'; SET LOCAL idle_in_transaction_session_timeout = '15s'`,
  )
  await tx.query(`SELECT pg_advisory_xact_lock_shared(${STANDING})`)
  await tx.query(
    `SELECT FROM users WHERE email = ANY($1::text[]) ORDER BY operator_role <> 'admin', id FOR SHARE`,
    [emails],
  )
}

/** Taken before any other lock. Waits for the transactions of `holdStanding`; later ones queue behind this lock. */
export async function lockStanding(tx: Db): Promise<void> {
  await tx.query(`SET LOCAL lock_timeout = '6s'; SET LOCAL statement_timeout = '6500ms'`)
  await tx.query(`SELECT pg_advisory_xact_lock(${STANDING})`)
}

/** By the database's clock: the idle timeout and the maximum lifetime of a session. */
const SESSION_IS_LIVE = `s.used_at > clock_timestamp() - interval '30 minutes' AND s.created_at > clock_timestamp() - interval '12 hours'`

/** Client address and user agent of the sign-in; a terminal has neither. */
export type SessionOrigin = { readonly address?: string | undefined; readonly agent?: string | undefined }

/** How long a code or password counts as a fresh proof. */
const PROVED_UNTIL = `CASE WHEN s.proved_at > clock_timestamp() - interval '5 minutes'
  THEN s.proved_at + interval '5 minutes' END`

const HAS_FACTOR = 'EXISTS (SELECT FROM factors f WHERE f.id = u.id AND f.confirmed_at IS NOT NULL)'

export async function insertSession(
  tx: Db,
  session: { readonly id: string; readonly token_hash: Buffer; readonly user_id: string } & SessionOrigin,
): Promise<void> {
  const { id, token_hash, user_id, address, agent } = session
  await tx.query(
    `INSERT INTO sessions (id, token_hash, user_id, address, agent, proved_at)
     VALUES ($1, $2, $3, $4, $5, clock_timestamp())`,
    [id, token_hash, user_id, address, agent],
  )
}

/** Ends all but the newest sessions of a user; the named one counts as the newest, whatever the clocks say. */
export async function keepNewestSessions(
  tx: Db,
  { id, user_id }: { readonly id: string; readonly user_id: string },
  most: number,
): Promise<void> {
  await tx.query(
    `DELETE FROM sessions WHERE id IN (
       SELECT id FROM sessions WHERE user_id = $1 ORDER BY id = $2 DESC, created_at DESC, id DESC OFFSET $3)`,
    [user_id, id, most],
  )
}

export type FoundSession = {
  readonly session_id: string
  readonly factor: boolean
  readonly proved_until: Date | null
}

/** A token of a terminal session is not valid in a browser, and the other way round. */
type SessionKind = 'browser' | 'terminal'

export type SessionLookup = {
  readonly door: SessionKind
  /** False for a request that a page makes by itself, which does not keep the session alive. */
  readonly attended: boolean
}

/** A use is written at most once in this time, because every call of a page is one. A session ends up to this much early, never late. */
const USE_STEP = "interval '1 minute'"

/** The user of a live session. An attended request counts as a use. */
export async function touchSession(
  db: Db,
  token_hash: Buffer,
  { door, attended }: SessionLookup,
): Promise<(User & FoundSession) | undefined> {
  const values = [token_hash, door === 'browser']
  const read = await db.query(
    `SELECT ${FOUND_SESSION}, s.used_at <= clock_timestamp() - ${USE_STEP} AS use_is_due
     FROM sessions s, users u WHERE ${IS_SESSION_OF_TOKEN}`,
    values,
  )
  if (!read.rows[0]) return undefined
  const { use_is_due, ...found } = read.rows[0]
  if (!attended || !use_is_due) return found
  const { rows } = await db.query(
    `UPDATE sessions s SET used_at = clock_timestamp() FROM users u WHERE ${IS_SESSION_OF_TOKEN} RETURNING ${FOUND_SESSION}`,
    values,
  )
  return rows[0]
}

/** By the database's clock: null once the time has passed. */
const KEYS_SHUT_UNTIL = `CASE WHEN u.keys_shut_until > clock_timestamp() THEN u.keys_shut_until END AS keys_shut_until`

const FOUND_SESSION = `${columnsOf('users', 'u').replace('u.keys_shut_until', KEYS_SHUT_UNTIL)},
  s.id AS session_id, ${PROVED_UNTIL} AS proved_until, ${HAS_FACTOR} AS factor`

const IS_SESSION_OF_TOKEN = `s.token_hash = $1 AND u.id = s.user_id AND ${SESSION_IS_LIVE} AND (s.address IS NOT NULL) = $2`

type ListedSession = {
  readonly id: string
  readonly address: string | null
  readonly agent: string | null
  readonly created_at: Date
  readonly used_at: Date
}

export async function selectSessions(db: Db, user_id: string): Promise<ListedSession[]> {
  const { rows } = await db.query(
    `SELECT s.id, s.address, s.agent, s.created_at, s.used_at FROM sessions s
     WHERE s.user_id = $1 AND ${SESSION_IS_LIVE} ORDER BY s.used_at DESC, s.id`,
    [user_id],
  )
  return rows
}

/** True if the session existed and belonged to this user. */
export async function deleteSessionOf(tx: Db, user_id: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query('DELETE FROM sessions WHERE user_id = $1 AND id = $2', [user_id, id])
  return rowCount === 1
}

/** Gives the session a new token after a fresh proof. False if the session has ended. */
export async function changeToken(tx: Db, before: Buffer, after: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE sessions s SET token_hash = $2, used_at = clock_timestamp(), proved_at = clock_timestamp()
     WHERE s.token_hash = $1 AND ${SESSION_IS_LIVE}`,
    [before, after],
  )
  return rowCount === 1
}

/** The user of a live session, with the present role and proof. */
export async function personOfSession(
  db: Db,
  session_id: string,
): Promise<(User & Omit<FoundSession, 'session_id'>) | undefined> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('users', 'u')}, ${PROVED_UNTIL} AS proved_until, ${HAS_FACTOR} AS factor
     FROM sessions s JOIN users u ON u.id = s.user_id
     WHERE s.id = $1 AND ${SESSION_IS_LIVE}`,
    [session_id],
  )
  return rows[0]
}

/** Does not count as a use: an open page alone keeps no session alive. */
export async function liveSessionIds(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT s.id FROM sessions s WHERE s.id = ANY($1::text[]) AND ${SESSION_IS_LIVE}`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Live browser sessions, newest first. Does not count as a use. */
export async function selectLiveSessions(
  db: Db,
  most: number,
): Promise<{ readonly token_hash: Buffer; readonly user_id: string; readonly partner_id: string | null }[]> {
  const { rows } = await db.query(
    `SELECT s.token_hash, s.user_id, u.partner_id FROM sessions s JOIN users u ON u.id = s.user_id
     WHERE ${SESSION_IS_LIVE} AND s.address IS NOT NULL ORDER BY s.created_at DESC LIMIT $1`,
    [most],
  )
  return rows
}

/** Returns the session's user; undefined if there was no such session. */
export async function deleteSession(
  tx: Db,
  token_hash: Buffer,
): Promise<(Pick<User, 'id' | 'email' | 'partner_id'> & { readonly session_id: string }) | undefined> {
  const { rows } = await tx.query(
    `DELETE FROM sessions s USING users u WHERE s.token_hash = $1 AND u.id = s.user_id
     RETURNING u.id, u.email, u.partner_id, s.id AS session_id`,
    [token_hash],
  )
  return rows[0]
}

/** Ends all sessions of a user but `but`, and returns their number. */
export async function deleteSessions(tx: Db, user_id: string, but?: Buffer): Promise<number> {
  const { rowCount } = await tx.query(
    'DELETE FROM sessions WHERE user_id = $1 AND token_hash IS DISTINCT FROM $2',
    [user_id, but],
  )
  return rowCount ?? 0
}

export type Factor = {
  readonly id: string
  readonly seed: Buffer
  readonly step: number
  readonly confirmed_at: Date | null
}

/** The context that a TOTP seed is encrypted for. */
export const factorSealContext = (user_id: string): string => `the second factor of ${user_id}`

export const factorSeeds: readonly SealedColumn[] = [
  {
    object: 'second factor',
    places: ['shared'],
    table: 'factors',
    column: 'seed',
    key_column: 'seed_key_id',
    where: 'true',
    of: (_, id) => factorSealContext(id),
  },
]

/** With the database's time, in seconds since 1970. */
export async function selectFactor(
  db: Db,
  user_id: string,
): Promise<(Factor & { readonly now: number }) | undefined> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('factors')}, extract(epoch FROM clock_timestamp())::float8 AS now FROM factors WHERE id = $1`,
    [user_id],
  )
  return rows[0]
}

/** Inserts an unconfirmed TOTP seed. Returns false if the user has a confirmed one. */
export async function insertFactor(tx: Db, user_id: string, seed: Sealed): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO factors (id, seed, seed_key_id) VALUES ($1, $2, $3)
     ON CONFLICT (id) DO UPDATE SET seed = excluded.seed, seed_key_id = excluded.seed_key_id, step = 0, created_at = excluded.created_at
     WHERE factors.confirmed_at IS NULL`,
    [user_id, seed.value, seed.key_id],
  )
  return rowCount === 1
}

/** Uses up a time step: of concurrent codes of one step, one gets true. */
export async function useStep(tx: Db, user_id: string, step: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    'UPDATE factors SET step = $2 WHERE id = $1 AND step < $2 AND confirmed_at IS NOT NULL',
    [user_id, step],
  )
  return rowCount === 1
}

/** Confirms the factor and uses up the code that proved it. */
export async function markConfirmed(tx: Db, user_id: string, step: number): Promise<void> {
  await tx.query(
    'UPDATE factors SET step = $2, confirmed_at = clock_timestamp() WHERE id = $1 AND confirmed_at IS NULL',
    [user_id, step],
  )
}

/** Also deletes the recovery codes. */
export async function deleteFactor(tx: Db, user_id: string): Promise<boolean> {
  const { rowCount } = await tx.query('DELETE FROM factors WHERE id = $1', [user_id])
  return rowCount === 1
}

export async function replaceRecoveryCodes(
  tx: Db,
  user_id: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await tx.query('DELETE FROM recovery_codes WHERE user_id = $1', [user_id])
  await tx.query('INSERT INTO recovery_codes (user_id, code_hash) SELECT $1, unnest($2::bytea[])', [
    user_id,
    hashes,
  ])
}

export async function useRecoveryCode(tx: Db, user_id: string, code_hash: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query('DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2', [
    user_id,
    code_hash,
  ])
  return rowCount === 1
}

export async function countRecoveryCodes(db: Db, user_id: string): Promise<number> {
  const { rows } = await db.query(
    'SELECT count(*)::integer AS count FROM recovery_codes WHERE user_id = $1',
    [user_id],
  )
  return rows[0].count
}

/** What a failure is counted under, and how many failures within how many minutes are allowed. */
export type AttemptLimit = {
  readonly subject: Buffer
  readonly most: number
  readonly minutes: number
  /** The account whose new password clears these failures. */
  readonly account: Buffer | null
}

/** More than the largest `most`. */
const FAILURES_KEPT = 64
/** Longer than the largest `minutes`. */
const FAILURES_LAST = "interval '1 hour'"

const LIMITS = `unnest($1::bytea[], $2::integer[], $3::integer[], $4::bytea[]) AS l (subject, most, minutes, account)`

const columnsOfLimits = (limits: readonly AttemptLimit[]) => {
  const sorted = limits.toSorted((one, other) => Buffer.compare(one.subject, other.subject))
  return [
    sorted.map(({ subject }) => subject),
    sorted.map(({ most }) => most),
    sorted.map(({ minutes }) => minutes),
    sorted.map(({ account }) => account),
  ]
}

/** Seconds until these limits allow another attempt; undefined if they allow one now. */
export async function blockedFor(db: Db, limits: readonly AttemptLimit[]): Promise<number | undefined> {
  const { rows } = await db.query(
    `SELECT max(ceil(extract(epoch FROM f.failed_at[cardinality(f.failed_at) - l.most + 1]
         + l.minutes * interval '1 minute' - clock_timestamp())))::integer AS seconds
     FROM ${LIMITS} JOIN sign_in_failures f USING (subject)
     WHERE cardinality(f.failed_at) >= l.most`,
    columnsOfLimits(limits),
  )
  const { seconds } = rows[0]
  return seconds > 0 ? seconds : undefined
}

type CountedAttempt = {
  /** In milliseconds, as the database wrote it. */
  readonly at: string
  /** One of the limits was reached before this attempt: roll the transaction back. */
  readonly exceeds: boolean
}

/**
 * Counts an attempt as a failure under all of its limits. Rows are locked in the order of their subjects, here and in
 * `uncountAttempt`, so that transactions do not wait for each other in a circle.
 */
export async function countAttempt(tx: Db, limits: readonly AttemptLimit[]): Promise<CountedAttempt> {
  await waitForLocks(tx)
  const { rows } = await tx.query(
    `WITH counted AS (
       INSERT INTO sign_in_failures AS f (subject, failed_at, account)
       SELECT l.subject, ARRAY[statement_timestamp()::timestamptz(3)], l.account FROM ${LIMITS} ORDER BY l.subject
       ON CONFLICT (subject) DO UPDATE SET account = excluded.account,
         failed_at = (f.failed_at || excluded.failed_at)[greatest(cardinality(f.failed_at) + 2 - ${FAILURES_KEPT}, 1):]
       RETURNING f.subject, f.failed_at)
     SELECT statement_timestamp()::timestamptz(3)::text AS at,
       bool_or(coalesce(c.failed_at[cardinality(c.failed_at) - l.most]
         > clock_timestamp() - l.minutes * interval '1 minute', false)) AS exceeds
     FROM counted c JOIN ${LIMITS} USING (subject)`,
    columnsOfLimits(limits),
  )
  return rows[0]
}

/** Removes an attempt that was no failure. */
export async function uncountAttempt(
  db: Db,
  subjects: readonly Buffer[],
  { at }: Pick<CountedAttempt, 'at'>,
): Promise<void> {
  await db.query(
    `WITH held AS (SELECT subject FROM sign_in_failures
       WHERE subject = ANY($1::bytea[]) AND $2::timestamptz = ANY(failed_at) ORDER BY subject FOR UPDATE)
     UPDATE sign_in_failures f SET failed_at =
       f.failed_at[:array_position(f.failed_at, $2::timestamptz) - 1]
       || f.failed_at[array_position(f.failed_at, $2::timestamptz) + 1:]
     FROM held WHERE f.subject = held.subject`,
    [subjects, at],
  )
}

/** Clears the failures of one account at one place. */
export async function deleteFailuresAt(tx: Db, subject: Buffer): Promise<void> {
  await tx.query('DELETE FROM sign_in_failures WHERE subject = $1', [subject])
}

/** Clears the failures of an account at all places. */
export async function deleteFailures(tx: Db, account: Buffer): Promise<void> {
  await tx.query(
    `WITH held AS (SELECT subject FROM sign_in_failures WHERE account = $1 ORDER BY subject FOR UPDATE)
     DELETE FROM sign_in_failures f USING held WHERE f.subject = held.subject`,
    [account],
  )
}

/** How many places are remembered per user. */
const PLACES_PER_PERSON = 20
const PLACES_LAST = "interval '90 days'"

export async function insertPlace(tx: Db, subject: Buffer, user_id: string): Promise<void> {
  await tx.query(
    `INSERT INTO sign_in_places (subject, user_id) VALUES ($1, $2)
     ON CONFLICT (subject) DO UPDATE SET user_id = excluded.user_id, seen_at = clock_timestamp()`,
    [subject, user_id],
  )
  await tx.query(
    `DELETE FROM sign_in_places WHERE subject IN (
       SELECT subject FROM sign_in_places WHERE user_id = $1 ORDER BY seen_at DESC OFFSET ${PLACES_PER_PERSON})`,
    [user_id],
  )
}

/** A place that a user signed in from. `partner_id` is null for an operator. */
export type KnownPlace = { readonly user_id: string; readonly partner_id: string | null }

/** All places of operators, and the newest places of all users, at most `most` of them. */
export async function selectPlaces(
  db: Db,
  most: number,
): Promise<readonly (KnownPlace & { readonly subject: Buffer })[]> {
  const { rows } = await db.query(
    `SELECT p.subject, p.user_id, u.partner_id FROM users u JOIN sign_in_places p ON p.user_id = u.id WHERE u.role = 'operator'
     UNION
     (SELECT p.subject, p.user_id, u.partner_id FROM sign_in_places p JOIN users u ON u.id = p.user_id
     ORDER BY p.seen_at DESC LIMIT $1)`,
    [most],
  )
  return rows
}

export async function deletePlaces(tx: Db, user_id: string): Promise<void> {
  await tx.query('DELETE FROM sign_in_places WHERE user_id = $1', [user_id])
}

const STEP = 1000

const FORGOTTEN = [
  `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions s
     WHERE NOT (${SESSION_IS_LIVE}) LIMIT $1 FOR UPDATE SKIP LOCKED)`,
  `DELETE FROM sign_in_failures WHERE subject IN (SELECT subject FROM sign_in_failures f
     WHERE coalesce(f.failed_at[cardinality(f.failed_at)] < clock_timestamp() - ${FAILURES_LAST}, true)
     LIMIT $1 FOR UPDATE SKIP LOCKED)`,
  `DELETE FROM sign_in_places WHERE subject IN (SELECT subject FROM sign_in_places
     WHERE seen_at < clock_timestamp() - ${PLACES_LAST} LIMIT $1 FOR UPDATE SKIP LOCKED)`,
  `DELETE FROM factors WHERE id IN (SELECT id FROM factors
     WHERE confirmed_at IS NULL AND created_at < clock_timestamp() - interval '1 hour' LIMIT $1 FOR UPDATE SKIP LOCKED)`,
  `DELETE FROM links WHERE id IN (SELECT id FROM links
     WHERE expires_at < clock_timestamp() LIMIT $1)`,
]

/**
 * Removes ended sessions, failures that no longer count, places not seen for 90 days, unconfirmed factors older than an hour, and
 * expired links.
 */
export async function forgetSignIns(db: Db, shouldContinue: ShouldContinue = () => true): Promise<void> {
  for (const statement of FORGOTTEN) {
    for (let gone = STEP; gone === STEP && shouldContinue(); )
      gone = (await db.query(statement, [STEP])).rowCount ?? 0
  }
}

/** Lets an invited user, or one who lost the password, choose a password. */
export type PasswordLink = {
  readonly id: string
  readonly kind: 'invitation' | 'reset'
  readonly partner_id: string
  readonly email: string
  readonly name: string
  /** Set for an invitation. */
  readonly role: PartnerRole | null
  /** Set for a reset. */
  readonly user_id: string | null
  readonly made_by: string
  readonly created_at: Date
  readonly expires_at: Date
}

const LINK = 'id, kind, partner_id, email, name, role, user_id, made_by, created_at, expires_at'
const LINK_HOLDS = 'expires_at > clock_timestamp()'

const LINK_LASTS = { invitation: '72 hours', reset: '1 hour' } as const

/** Replaces an earlier link of this kind for the same person. */
export async function insertLink(
  tx: Db,
  link: Omit<PasswordLink, 'created_at' | 'expires_at'> & { readonly token_hash: Buffer },
): Promise<PasswordLink> {
  await tx.query(
    `DELETE FROM links WHERE kind = $1 AND ((kind = 'invitation' AND partner_id = $2 AND email = $3) OR user_id = $4)`,
    [link.kind, link.partner_id, link.email, link.user_id],
  )
  const { rows } = await tx.query(
    `INSERT INTO links (id, kind, token_hash, partner_id, email, name, role, user_id, made_by, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp() + $10::interval) RETURNING ${LINK}`,
    [
      link.id,
      link.kind,
      link.token_hash,
      link.partner_id,
      link.email,
      link.name,
      link.role,
      link.user_id,
      link.made_by,
      LINK_LASTS[link.kind],
    ],
  )
  return rows[0]
}

export async function selectLink(db: Db, token_hash: Buffer): Promise<PasswordLink | undefined> {
  const { rows } = await db.query(`SELECT ${LINK} FROM links WHERE token_hash = $1 AND ${LINK_HOLDS}`, [
    token_hash,
  ])
  return rows[0]
}

/** Uses up the link: of concurrent callers one gets it. */
export async function takeLink(tx: Db, token_hash: Buffer): Promise<PasswordLink | undefined> {
  const { rows } = await tx.query(
    `DELETE FROM links WHERE token_hash = $1 AND ${LINK_HOLDS} RETURNING ${LINK}`,
    [token_hash],
  )
  return rows[0]
}

export async function selectInvitations(db: Db, partner_id: string): Promise<PasswordLink[]> {
  const { rows } = await db.query(
    `SELECT ${LINK} FROM links WHERE kind = 'invitation' AND partner_id = $1 AND ${LINK_HOLDS}
     ORDER BY created_at, id`,
    [partner_id],
  )
  return rows
}

export async function deleteInvitation(
  tx: Db,
  partner_id: string,
  id: string,
): Promise<PasswordLink | undefined> {
  const { rows } = await tx.query(
    `DELETE FROM links WHERE kind = 'invitation' AND partner_id = $1 AND id = $2 RETURNING ${LINK}`,
    [partner_id, id],
  )
  return rows[0]
}

/** Deletes the links for this user and the links that this user made, which would outlive the user's access. */
export async function deleteLinksOf(tx: Db, { id, email }: User): Promise<void> {
  await tx.query('DELETE FROM links WHERE user_id = $1 OR made_by = $2', [id, email])
}
