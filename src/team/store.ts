import type { OperatorRole } from '../core/actor.ts'
import type { Sealed } from '../core/seal.ts'
import type { GoOn } from '../db/chore.ts'
import { columnsOf } from '../db/columns.ts'
import type { Db } from '../db/pool.ts'
import type { SealedColumn } from '../db/sealing.ts'

export type User = {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly password_hash: string
  readonly partner_id: string | null
  readonly role: 'owner' | 'member' | 'operator'
  /** Of an operator. Null also where the version before made one: `roleOf` tells. */
  readonly operator_role: OperatorRole | null
  /** Of the code that the next sign-in takes, of who has no second factor. */
  readonly activation_hash: Buffer | null
  readonly created_at: Date
}

export async function insertUser(db: Db, user: Omit<User, 'created_at'>): Promise<User> {
  const { rows } = await db.query(
    `INSERT INTO users (id, email, name, password_hash, partner_id, role, operator_role, activation_hash)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${columnsOf('users')}`,
    [
      user.id,
      user.email,
      user.name,
      user.password_hash,
      user.partner_id,
      user.role,
      user.operator_role,
      user.activation_hash,
    ],
  )
  return rows[0]
}

export async function selectUser(db: Db, email: string): Promise<User | undefined> {
  const { rows } = await db.query(`SELECT ${columnsOf('users')} FROM users WHERE email = $1`, [email])
  return rows[0]
}

/** Everybody, and whether they have a second factor. */
export async function selectUsers(db: Db): Promise<(User & { readonly second_factor: boolean })[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('users', 'u')}, f.confirmed_at IS NOT NULL AS second_factor
     FROM users u LEFT JOIN factors f ON f.id = u.id ORDER BY u.partner_id NULLS FIRST, u.email`,
  )
  return rows
}

export async function selectOperators(db: Db): Promise<User[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('users')} FROM users WHERE role = 'operator' ORDER BY id`,
  )
  return rows
}

export async function setPassword(
  db: Db,
  email: string,
  { password_hash, activation_hash }: Pick<User, 'password_hash' | 'activation_hash'>,
): Promise<User | undefined> {
  const { rows } = await db.query(
    `UPDATE users SET password_hash = $2, activation_hash = $3 WHERE email = $1 RETURNING ${columnsOf('users')}`,
    [email, password_hash, activation_hash],
  )
  return rows[0]
}

/** Held until the transaction ends: those who may do everything, among the operators or within a partner. */
export async function lockHighest(tx: Db, partner_id: string | null): Promise<readonly User[]> {
  const { rows } = await tx.query(
    `SELECT ${columnsOf('users')} FROM users
     WHERE partner_id IS NOT DISTINCT FROM $1 AND (role = 'owner' OR operator_role = 'admin')
     ORDER BY id FOR NO KEY UPDATE`,
    [partner_id],
  )
  return rows
}

export async function changeRole(tx: Db, user: Pick<User, 'id' | 'role' | 'operator_role'>): Promise<User> {
  const { rows } = await tx.query(
    `UPDATE users SET role = $2, operator_role = $3 WHERE id = $1 RETURNING ${columnsOf('users')}`,
    [user.id, user.role, user.operator_role],
  )
  return rows[0]
}

/** One after the other under this name, each until its transaction ends. */
export async function takeTurn(tx: Db, name: string): Promise<void> {
  await tx.query(`SET LOCAL lock_timeout = '4s'`)
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
}

/** Nobody changes the person until the transaction ends. False when the password has become another one. */
export async function holdUser(tx: Db, user: User): Promise<boolean> {
  const { rowCount } = await tx.query(
    'SELECT FROM users WHERE id = $1 AND password_hash = $2 FOR NO KEY UPDATE',
    [user.id, user.password_hash],
  )
  return rowCount === 1
}

/** True for one of those who come with it. */
export async function useActivation(tx: Db, user_id: string, activation_hash: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(
    'UPDATE users SET activation_hash = NULL WHERE id = $1 AND activation_hash = $2',
    [user_id, activation_hash],
  )
  return rowCount === 1
}

/** Held alone: nobody signs in as this person until the transaction ends. */
export async function lockUser(tx: Db, user_id: string): Promise<void> {
  await tx.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [user_id])
}

/** By the database's clock: how long a session may be left alone, and how long it may last. */
const SESSION_GOES_ON = `s.used_at > clock_timestamp() - interval '30 minutes' AND s.created_at > clock_timestamp() - interval '12 hours'`

export async function insertSession(
  tx: Db,
  session: { readonly id: string; readonly token_hash: Buffer; readonly user_id: string },
): Promise<void> {
  const { id, token_hash, user_id } = session
  await tx.query('INSERT INTO sessions (id, token_hash, user_id) VALUES ($1, $2, $3)', [
    id,
    token_hash,
    user_id,
  ])
}

/** The person of a session that goes on, which counts as used by this. */
export async function touchSession(
  db: Db,
  token_hash: Buffer,
): Promise<(User & { readonly session_id: string }) | undefined> {
  const { rows } = await db.query(
    `UPDATE sessions s SET used_at = clock_timestamp() FROM users u
     WHERE s.token_hash = $1 AND u.id = s.user_id AND ${SESSION_GOES_ON}
     RETURNING ${columnsOf('users', 'u')}, s.id AS session_id`,
    [token_hash],
  )
  return rows[0]
}

/** Whose it was; undefined when there is none. */
export async function deleteSession(
  tx: Db,
  token_hash: Buffer,
): Promise<(Pick<User, 'id' | 'email'> & { readonly session_id: string }) | undefined> {
  const { rows } = await tx.query(
    `DELETE FROM sessions s USING users u WHERE s.token_hash = $1 AND u.id = s.user_id
     RETURNING u.id, u.email, s.id AS session_id`,
    [token_hash],
  )
  return rows[0]
}

/** All of a person's sessions, but one if it is named. */
export async function deleteSessions(tx: Db, user_id: string, but?: Buffer): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE user_id = $1 AND token_hash IS DISTINCT FROM $2', [user_id, but])
}

export type Factor = {
  readonly id: string
  readonly seed: Buffer
  readonly step: number
  readonly confirmed_at: Date | null
}

/** What a seed is sealed for. */
export const sealedFor = (user_id: string): string => `the second factor of ${user_id}`

export const factorSeeds: readonly SealedColumn[] = [
  {
    object: 'second factor',
    places: ['shared'],
    table: 'factors',
    column: 'seed',
    key_column: 'seed_key_id',
    where: 'true',
    of: (_, id) => sealedFor(id),
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

/** One that does not count yet. False when there is one that does. */
export async function insertFactor(tx: Db, user_id: string, seed: Sealed): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO factors (id, seed, seed_key_id) VALUES ($1, $2, $3)
     ON CONFLICT (id) DO UPDATE SET seed = excluded.seed, seed_key_id = excluded.seed_key_id, step = 0, created_at = excluded.created_at
     WHERE factors.confirmed_at IS NULL`,
    [user_id, seed.value, seed.key_id],
  )
  return rowCount === 1
}

/** The guard of every code: of those who come with the same step at once, one gets true. */
export async function useStep(tx: Db, user_id: string, step: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    'UPDATE factors SET step = $2 WHERE id = $1 AND step < $2 AND confirmed_at IS NOT NULL',
    [user_id, step],
  )
  return rowCount === 1
}

/** From now on it counts. The code that shows it is used by that. */
export async function markConfirmed(tx: Db, user_id: string, step: number): Promise<void> {
  await tx.query(
    'UPDATE factors SET step = $2, confirmed_at = clock_timestamp() WHERE id = $1 AND confirmed_at IS NULL',
    [user_id, step],
  )
}

/** With its recovery codes. */
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

/** Five failures in 15 minutes: nobody gets in under this e-mail until the first of them is that old. */
const BLOCKED = `(cardinality(f.failed_at) = 5 AND f.failed_at[1] > clock_timestamp() - interval '15 minutes')`

/** By whoever has the turn and found the e-mail not blocked. */
export async function addFailure(tx: Db, subject: Buffer): Promise<void> {
  await tx.query(
    `INSERT INTO sign_in_failures AS f (subject, failed_at) VALUES ($1, ARRAY[clock_timestamp()])
     ON CONFLICT (subject) DO UPDATE SET failed_at = (f.failed_at || clock_timestamp())[greatest(cardinality(f.failed_at) - 3, 1):]`,
    [subject],
  )
}

/** For how many seconds nobody gets in under this e-mail. */
export async function blockedFor(db: Db, subject: Buffer): Promise<number | undefined> {
  const { rows } = await db.query(
    `SELECT ceil(extract(epoch FROM f.failed_at[1] + interval '15 minutes' - clock_timestamp()))::integer AS seconds
     FROM sign_in_failures f WHERE subject = $1 AND ${BLOCKED}`,
    [subject],
  )
  return rows[0]?.seconds
}

export async function deleteFailures(tx: Db, subject: Buffer): Promise<void> {
  await tx.query('DELETE FROM sign_in_failures WHERE subject = $1', [subject])
}

const STEP = 1000

const FORGOTTEN = [
  `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions s
     WHERE NOT (${SESSION_GOES_ON}) LIMIT $1 FOR UPDATE SKIP LOCKED)`,
  `DELETE FROM sign_in_failures WHERE subject IN (SELECT subject FROM sign_in_failures f
     WHERE f.failed_at[cardinality(f.failed_at)] < clock_timestamp() - interval '15 minutes' LIMIT $1 FOR UPDATE SKIP LOCKED)`,
  `DELETE FROM factors WHERE id IN (SELECT id FROM factors
     WHERE confirmed_at IS NULL AND created_at < clock_timestamp() - interval '1 hour' LIMIT $1 FOR UPDATE SKIP LOCKED)`,
]

/** Sessions that have ended, failures that count no more, and factors that nobody confirmed within an hour. */
export async function forgetSignIns(db: Db, goOn: GoOn = () => true): Promise<void> {
  for (const statement of FORGOTTEN) {
    for (let gone = STEP; gone === STEP && goOn(); ) gone = (await db.query(statement, [STEP])).rowCount ?? 0
  }
}

export async function hasSession(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query('SELECT FROM sessions WHERE id = $1', [id])
  return rowCount === 1
}
