import { columnsOf } from '../db/columns.ts'
import { narrowly } from '../db/newest.ts'
import type { Db } from '../db/pool.ts'
import type { SealedColumn } from '../db/sealing.ts'
import { insertInto, type RowSource, rowSource, updateOf } from '../ledger/command.ts'
import type { Head, Line } from './line.ts'

/** A time that no clock shows, such as infinity, comes as the last one that does: such a line is not ours in any case. */
const COLUMNS = columnsOf('acts').replace(
  ' at,',
  ` least(greatest(at, '0001-01-01'), '9999-12-31')::timestamptz(3) AS at,`,
)

/** `taken`: somebody else has put a line where the next one belongs. */
export type HeldHead = Head & { readonly id: string; readonly taken: boolean }

/** Whoever adds a line holds the head. It is taken last of all locks, so that nobody waits in a circle. */
export const headRows: RowSource<HeldHead> = {
  ...rowSource<HeldHead>(
    'acts head',
    `SELECT id, seq, hash, EXISTS (SELECT FROM acts WHERE acts.seq = acts_head.seq + 1) AS taken
     FROM acts_head WHERE id = ANY($1::text[]) FOR NO KEY UPDATE`,
  ),
  last: true,
}
export const HEAD = 'head'

export const insertActs = insertInto('acts', {
  seq: 'bigint',
  at: 'timestamptz',
  actor_kind: 'text',
  actor_id: 'text?',
  actor_email: 'text?',
  session_id: 'text?',
  action: 'text',
  object_id: 'text?',
  before: 'text?',
  after: 'text?',
  proposal_id: 'text?',
  previous_hash: 'text',
  hash: 'text',
  partner_id: 'text?',
})

export const moveHead = updateOf(headRows, 'acts_head', { id: 'text', seq: 'bigint', hash: 'text' })

/** Undefined: somebody has removed it. */
export async function findHead(db: Db): Promise<Head | undefined> {
  const { rows } = await db.query('SELECT seq, hash FROM acts_head')
  return rows[0]
}

export async function readHead(db: Db): Promise<Head> {
  const head = await findHead(db)
  if (!head) throw new Error('The head of a log was removed. See: trilho log verify')
  return head
}

/** Acts of one schema come one after the other, so that a line's before is what the line before it left. */
export async function takeTurn(tx: Db): Promise<void> {
  await tx.query(
    `SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = '6s'; SET LOCAL idle_in_transaction_session_timeout = '6s'`,
  )
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('acts ' || current_schema(), 0))`)
}

/** The same among those who change one thing: people of partners do not wait for each other, only for an operator's turn. */
export async function takeTurnOn(tx: Db, object_id: string): Promise<void> {
  await tx.query(`SET LOCAL lock_timeout = '4s'`)
  await tx.query(`SELECT pg_advisory_xact_lock_shared(hashtextextended('acts ' || current_schema(), 0))`)
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`act on ${object_id}`])
}

/** In a transaction that has everything else. */
export async function lockHead(tx: Db): Promise<{ head: HeldHead | undefined; now: Date }> {
  const { rows } = await tx.query({ name: 'lock acts head', text: headRows.sql, values: [[HEAD]] })
  // A statement of its own: the time is that after the waiting.
  const { rows: times } = await tx.query('SELECT clock_timestamp()::timestamptz(3) AS now')
  return { head: rows[0], now: times[0].now }
}

export async function addLine(tx: Db, line: Line): Promise<void> {
  await tx.query(
    insertActs.sql,
    insertActs.columns.map((column) => [line[column as keyof Line]]),
  )
  await tx.query('UPDATE acts_head SET seq = $1, hash = $2', [line.seq, line.hash])
}

export async function selectLines(db: Db, after: bigint, limit: number): Promise<Line[]> {
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM acts WHERE seq > $1 ORDER BY seq LIMIT $2`, [
    after,
    limit,
  ])
  return rows
}

export async function newestLines(db: Db, limit: number): Promise<Line[]> {
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM acts ORDER BY seq DESC LIMIT $1`, [limit])
  return rows
}

export type LineFilter = {
  /** Only lines before this one. */
  readonly before: bigint | undefined
  readonly action: string | undefined
  readonly actor: string | undefined
  readonly object: string | undefined
  readonly limit: number
}

/**
 * The newest that fit, along an index of what was asked for. `object` is what it was about, or the proposal; few lines are
 * about one thing, so the rest is asked of those.
 */
export async function linesBefore(db: Db, filter: LineFilter): Promise<Line[]> {
  const { before, limit } = filter
  const values: unknown[] = []
  const param = (value: unknown) => `$${values.push(value)}`
  const is = (column: string, value: string | undefined) =>
    value === undefined ? [] : [narrowly(column, param(value))]
  const earlier = before === undefined ? [] : [`seq < ${param(before)}`]
  const fits = [...is('action', filter.action), ...is('actor_email', filter.actor), ...earlier]
  const newest = (...about: string[]) =>
    `SELECT ${COLUMNS} FROM acts WHERE ${['true', ...about, ...fits].join(' AND ')} ORDER BY seq DESC LIMIT ${limit}`
  const either = ['object_id', 'proposal_id'].flatMap((column) => is(column, filter.object))
  const text =
    either.length === 0
      ? newest()
      : `SELECT ${columnsOf('acts')} FROM (${either.map((about) => `(${newest(about)})`).join(' UNION ')}) AS lines ORDER BY seq DESC LIMIT ${limit}`
  const { rows } = await db.query(text, values)
  return rows
}

/** What people of a partner did, newest first, before a line. */
export async function linesOfPartner(
  db: Db,
  partner_id: string,
  { before, limit }: { readonly before: bigint | undefined; readonly limit: number },
): Promise<Line[]> {
  const { rows } = await db.query(
    `SELECT ${COLUMNS} FROM acts WHERE partner_id = $1 AND seq < coalesce($2, 9223372036854775807)
     ORDER BY seq DESC LIMIT $3`,
    [partner_id, before, limit],
  )
  return rows
}

export type SensitiveAct = Pick<
  Line,
  'seq' | 'at' | 'action' | 'actor_kind' | 'actor_email' | 'object_id'
> & {
  /** Of the person whom it was done to, if that person is still there. */
  readonly object_email: string | null
}

/** What opens or closes a partner's doors, whoever did it. */
const SENSITIVE = [
  'create_user',
  'invite',
  'use_invitation',
  'reset_password',
  'use_reset',
  'reset_factor',
  'disable_factor',
  'set_role',
  'remove_user',
]

/**
 * Of the last seven days, at most 50; of `shared`. What operators did to a partner's people is among it; what two of them did,
 * when the second one approved it. Nobody can bury it: what the same person did to the same again and again is told once, the
 * newest; of every person and every kind of act one line comes before a second; and last what people did to themselves.
 */
export async function sensitiveActs(db: Db, partner_id: string): Promise<SensitiveAct[]> {
  const { rows } = await db.query(
    `WITH told AS (
       SELECT DISTINCT ON (1, 2, a.actor_kind, a.object_id) coalesce(a.actor_id, a.actor_email, '') AS actor,
         coalesce(p.action, a.action) AS action, a.seq, a.at, a.actor_kind, a.actor_email, a.object_id,
         coalesce(a.actor_id = a.object_id, false) AS own
       FROM (SELECT seq FROM acts WHERE partner_id = $1 AND action = ANY($2::text[])
               AND at > clock_timestamp() - interval '7 days'
             UNION SELECT seq FROM acts WHERE (action = ANY($2::text[]) OR action = 'approve')
               AND at > clock_timestamp() - interval '7 days' AND object_id IN (SELECT id FROM users WHERE partner_id = $1)) found
       JOIN acts a USING (seq) LEFT JOIN proposals p ON p.id = a.proposal_id
       ORDER BY 1, 2, a.actor_kind, a.object_id, a.seq DESC)
     SELECT t.seq, t.at, t.action, t.actor_kind, t.actor_email, t.object_id, u.email AS object_email
     FROM told t LEFT JOIN users u ON u.id = t.object_id AND u.removed_at IS NULL
     ORDER BY t.own, row_number() OVER (PARTITION BY t.actor_kind, t.actor, t.action ORDER BY t.seq DESC), t.seq DESC LIMIT 50`,
    [partner_id, SENSITIVE],
  )
  return rows
}

/** What the log says of one proposal, in order. */
export async function linesAbout(db: Db, proposal_id: string): Promise<Line[]> {
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM acts WHERE proposal_id = $1 ORDER BY seq`, [
    proposal_id,
  ])
  return rows
}

export type SealedKey = { readonly secret: Buffer }

export async function readKey(db: Db): Promise<SealedKey | undefined> {
  const { rows } = await db.query('SELECT secret FROM acts_keys')
  return rows[0]
}

export const KEY_ID = 'acts'

/** Nothing happens when there is one: whoever came first has made it. */
export async function insertKey(tx: Db, key: { value: Buffer; key_id: string }): Promise<void> {
  await tx.query(
    'INSERT INTO acts_keys (id, secret, secret_key_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [KEY_ID, key.value, key.key_id],
  )
}

/** In a transaction that stores it again. */
export async function lockKey(tx: Db): Promise<SealedKey> {
  const { rows } = await tx.query('SELECT secret FROM acts_keys FOR UPDATE')
  return rows[0]
}

export async function updateKey(tx: Db, key: { value: Buffer; key_id: string }): Promise<void> {
  await tx.query('UPDATE acts_keys SET secret = $1, secret_key_id = $2', [key.value, key.key_id])
}

export const actsKeyOf = (id: string): string => `the key of the log: ${id}`

export const actsKeys: readonly SealedColumn[] = [
  {
    object: 'key of the log',
    places: ['shared'],
    table: 'acts_keys',
    column: 'secret',
    key_column: 'secret_key_id',
    where: 'true',
    of: (_, id) => actsKeyOf(id),
  },
]
