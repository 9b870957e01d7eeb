import { columnsOf } from '../db/columns.ts'
import type { Db } from '../db/pool.ts'

export type User = {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly password_hash: string
  readonly partner_id: string | null
  readonly role: 'owner' | 'member' | 'operator'
  readonly created_at: Date
}

export async function insertUser(db: Db, user: Omit<User, 'created_at'>): Promise<User> {
  const { rows } = await db.query(
    `INSERT INTO users (id, email, name, password_hash, partner_id, role) VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${columnsOf('users')}`,
    [user.id, user.email, user.name, user.password_hash, user.partner_id, user.role],
  )
  return rows[0]
}

export async function selectUser(db: Db, email: string): Promise<User | undefined> {
  const { rows } = await db.query(`SELECT ${columnsOf('users')} FROM users WHERE email = $1`, [email])
  return rows[0]
}

export async function selectOperators(db: Db): Promise<User[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('users')} FROM users WHERE role = 'operator' ORDER BY email`,
  )
  return rows
}

export async function setPassword(db: Db, email: string, password_hash: string): Promise<User | undefined> {
  const { rows } = await db.query(
    `UPDATE users SET password_hash = $2 WHERE email = $1 RETURNING ${columnsOf('users')}`,
    [email, password_hash],
  )
  return rows[0]
}
