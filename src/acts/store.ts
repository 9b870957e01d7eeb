import { columnsOf } from '../db/columns.ts'
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

/** What the log says of one proposal, in order, and its first line, which says what was there before it. */
export async function linesAbout(db: Db, proposal_id: string): Promise<Line[]> {
  const { rows } = await db.query(
    `SELECT ${COLUMNS} FROM acts WHERE proposal_id = $1 OR seq = 1 ORDER BY seq`,
    [proposal_id],
  )
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
