import { texts } from '../db/arrays.ts'
import { batched } from '../db/batched.ts'
import type { ShouldContinue } from '../db/chore.ts'
import type { Db } from '../db/pool.ts'
import type { Counter } from './windows.ts'

const OPEN = {
  name: 'open windows',
  text: `INSERT INTO windows (subject, name, starts_at, ends_at, count)
    SELECT *, 0 FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[]) AS new (subject, name, starts_at, ends_at)
    ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING`,
}

const LOCK = {
  name: 'lock windows',
  text: `SELECT subject, name, starts_at, ends_at, count FROM windows
    JOIN unnest($1::text[], $2::text[], $3::timestamptz[]) AS wanted (subject, name, starts_at) USING (subject, name, starts_at)
    ORDER BY 1, 2, 3 FOR UPDATE OF windows`,
}

const ADD = {
  name: 'count windows',
  text: `UPDATE windows SET count = new.count
    FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::integer[]) AS new (subject, name, starts_at, count)
    WHERE (windows.subject, windows.name, windows.starts_at) = (new.subject, new.name, new.starts_at)`,
}

// An exclusive node saves its counts. The higher count wins: it includes more requests.
const SAVE = {
  name: 'save windows',
  text: `INSERT INTO windows (subject, name, starts_at, ends_at, count)
    SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::integer[]) ORDER BY 1, 2, 3
    ON CONFLICT (subject, name, starts_at) DO UPDATE SET count = greatest(windows.count, excluded.count)`,
}

type Place = Pick<Counter, 'subject' | 'name' | 'starts_at' | 'ends_at'>

const time = (ms: number) => new Date(ms).toISOString()
const columns = (places: readonly Place[]) => [
  places.map((p) => p.subject),
  places.map((p) => p.name),
  places.map((p) => time(p.starts_at)),
]

const counterOf = (row: {
  subject: string
  name: string
  starts_at: Date
  ends_at: Date
  count: number
}): Counter => ({
  ...row,
  starts_at: row.starts_at.getTime(),
  ends_at: row.ends_at.getTime(),
})

/** Held exclusively by a single node, or shared by several (membership.ts), until it is released or its session ends. */
const MODE_LOCK = 7_415_302

export async function tryLockExclusive(db: Db): Promise<boolean> {
  const { rows } = await db.query('SELECT pg_try_advisory_lock($1) AS won', [MODE_LOCK])
  return rows[0].won
}

/** Waits until an exclusive node shares. */
export async function lockShared(db: Db): Promise<void> {
  await db.query('SELECT pg_advisory_lock_shared($1)', [MODE_LOCK])
}

export async function unlockExclusive(db: Db): Promise<void> {
  await db.query('SELECT pg_advisory_unlock($1)', [MODE_LOCK])
}

export async function unlockShared(db: Db): Promise<void> {
  await db.query('SELECT pg_advisory_unlock_shared($1)', [MODE_LOCK])
}

/** Puts this node's mark unless another mark is there. Returns the mark that is there now. */
export async function putMark(db: Db, node: string): Promise<string> {
  const { rows } = await db.query(
    'INSERT INTO lone_node (node) VALUES ($1) ON CONFLICT (id) DO UPDATE SET node = lone_node.node RETURNING node',
    [node],
  )
  return rows[0].node
}

export async function hasMark(db: Db, node: string): Promise<boolean> {
  const { rows } = await db.query('SELECT FROM lone_node WHERE node = $1', [node])
  return rows.length > 0
}

/** Call only when all counts in memory are saved, or the mark is stale. */
export async function removeMark(db: Db, node: string): Promise<void> {
  await db.query('DELETE FROM lone_node WHERE node = $1', [node])
}

/** `exclusive`: a node holds the exclusive lock. `marked`: a former exclusive node has not saved all its counts. */
type Locked =
  | { readonly counters: readonly Counter[] }
  | { readonly exclusive: true }
  | { readonly marked: string }

/**
 * Locks the counters until `writeCounters` commits. The shared lock is taken in the transaction that counts, so no node can
 * become exclusive while it is open. The mark is read in a later statement, which sees every mark put before the lock.
 * One round trip on a pipelining connection.
 */
export async function lockCounters(db: Db, places: readonly Place[]): Promise<Locked> {
  const [, shared, lone, , locked] = await Promise.all([
    db.query('BEGIN'),
    db.query('SELECT pg_try_advisory_xact_lock_shared($1) AS won', [MODE_LOCK]),
    db.query('SELECT node FROM lone_node'),
    db.query({ ...OPEN, values: [...columns(places), places.map((p) => time(p.ends_at))] }),
    db.query({ ...LOCK, values: columns(places) }),
  ])
  if (shared.rows[0].won && lone.rows.length === 0) return { counters: locked.rows.map(counterOf) }
  await db.query('ROLLBACK')
  return shared.rows[0].won ? { marked: lone.rows[0].node } : { exclusive: true }
}

export async function writeCounters(db: Db, counters: readonly Counter[]): Promise<void> {
  await Promise.all([
    db.query({ ...ADD, values: [...columns(counters), counters.map((c) => c.count)] }),
    db.query('COMMIT'),
  ])
}

export async function saveCounters(db: Db, counters: readonly Counter[]): Promise<void> {
  const values = [...columns(counters), counters.map((c) => time(c.ends_at)), counters.map((c) => c.count)]
  await db.query({ ...SAVE, values })
}

export async function openCounters(db: Db): Promise<Counter[]> {
  const { rows } = await db.query(
    'SELECT subject, name, starts_at, ends_at, count FROM windows WHERE ends_at > clock_timestamp()',
  )
  return rows.map(counterOf)
}

/** The open counters of a subject. Subjects that are asked for at the same time, as all keys of a page, share a statement. */
export const countersOf = async (db: Db, subject: string): Promise<readonly Counter[]> =>
  (await readOpenCounters(db, subject)) ?? []

const readOpenCounters = batched<string, Counter[]>(async (db, subjects) => {
  const found = new Map<string, Counter[]>(subjects.map((subject) => [subject, []]))
  const { rows } = await db.query({
    name: 'open windows of subjects',
    text: `SELECT subject, name, starts_at, ends_at, count FROM windows
      WHERE subject = ANY($1::text[]) AND ends_at > clock_timestamp()`,
    values: [texts([...found.keys()])],
  })
  for (const row of rows) found.get(row.subject)!.push(counterOf(row))
  return subjects.map((subject) => found.get(subject))
})

const STEP = 1000

/** Deletes windows that ended an hour ago: the hour covers clocks that differ between nodes. */
export async function forgetWindows(db: Db, shouldContinue: ShouldContinue = () => true): Promise<void> {
  for (let gone = STEP; gone === STEP && shouldContinue(); ) {
    const answer = await db.query(
      `DELETE FROM windows WHERE (subject, name, starts_at) IN (SELECT subject, name, starts_at FROM windows
         WHERE ends_at < clock_timestamp() - interval '1 hour' ORDER BY ends_at LIMIT $1 FOR UPDATE SKIP LOCKED)`,
      [STEP],
    )
    gone = answer.rowCount ?? 0
  }
}

/** The counters of API keys in the current UTC day, in the order of the keys. */
export async function countersOfDay(
  db: Db,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly subject: string; readonly count: number; readonly starts_at: Date }[]> {
  const { rows } = await db.query({
    name: 'counters of the day',
    text: `SELECT subject, count, starts_at FROM windows
      WHERE subject > $1 AND name = 'day' AND ends_at > now() AND starts_at <= now() AND starts_with(subject, 'key_')
      ORDER BY subject LIMIT $2`,
    values: [after, limit],
  })
  return rows
}
