import { columnsOf } from '../../db/columns.ts'
import { type ListOrder, narrowly } from '../../db/newest.ts'
import type { Db } from '../../db/pool.ts'
import type { SealedColumn } from '../../db/sealing.ts'
import { insertInto, type RowSource, rowSource, updateOf } from '../../ledger/command.ts'
import type { Head, LogLine } from './line.ts'

/**
 * A time outside of the range of JavaScript dates, such as infinity, is clamped: the line's hash is wrong in any
 * case.
 */
const COLUMNS = columnsOf('acts').replace(
  ' at,',
  ` least(greatest(at, '0001-01-01'), '9999-12-31')::timestamptz(3) AS at,`,
)

/** `taken`: a line with the next number exists, which the service did not write. */
export type HeldHead = Head & { readonly id: string; readonly taken: boolean }

/** Locked by every writer of a line. It is the last lock that a transaction takes, to avoid deadlocks. */
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

/** Undefined if the head was deleted. */
export async function findHead(db: Db): Promise<Head | undefined> {
  const { rows } = await db.query('SELECT seq, hash FROM acts_head')
  return rows[0]
}

export async function readHead(db: Db): Promise<Head> {
  const head = await findHead(db)
  if (!head) throw new Error('The head of a log was removed. See: trilho log verify')
  return head
}

/** Serialises the acts of one schema, so that the `before` of a line is the state that earlier acts left. */
export async function lockActs(tx: Db): Promise<void> {
  await tx.query(
    `SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = '6s'; SET LOCAL idle_in_transaction_session_timeout = '6s'`,
  )
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('acts ' || current_schema(), 0))`)
}

/**
 * Serialises the acts on one object. Acts of users on different objects run concurrently; they only wait for an
 * operator's act.
 */
export async function lockActsOn(tx: Db, object_id: string): Promise<void> {
  await tx.query(`SET LOCAL lock_timeout = '4s'`)
  await tx.query(`SELECT pg_advisory_xact_lock_shared(hashtextextended('acts ' || current_schema(), 0))`)
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`act on ${object_id}`])
}

/** Call after all other locks are taken. */
export async function lockHead(tx: Db): Promise<{ head: HeldHead | undefined; now: Date }> {
  const { rows } = await tx.query({ name: 'lock acts head', text: headRows.sql, values: [[HEAD]] })
  // A second statement, so that the time is read after the wait for the lock.
  const { rows: times } = await tx.query('SELECT clock_timestamp()::timestamptz(3) AS now')
  return { head: rows[0], now: times[0].now }
}

export async function addLine(tx: Db, line: LogLine): Promise<void> {
  await tx.query(
    insertActs.sql,
    insertActs.columns.map((column) => [line[column as keyof LogLine]]),
  )
  await tx.query('UPDATE acts_head SET seq = $1, hash = $2', [line.seq, line.hash])
}

export async function selectLogLines(db: Db, after: bigint, limit: number): Promise<LogLine[]> {
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM acts WHERE seq > $1 ORDER BY seq LIMIT $2`, [
    after,
    limit,
  ])
  return rows
}

export async function newestLines(db: Db, limit: number): Promise<LogLine[]> {
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM acts ORDER BY seq DESC LIMIT $1`, [limit])
  return rows
}

type LineFilter = {
  /** Only lines before this one. */
  readonly before: bigint | undefined
  readonly action: string | undefined
  readonly actor: string | undefined
  readonly object: string | undefined
  readonly limit: number
}

/**
 * The newest matching lines, each filter along its index. `object` matches the object or the proposal; few lines
 * match either, so the other filters are applied to those.
 */
export async function linesBefore(db: Db, filter: LineFilter): Promise<LogLine[]> {
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

type PartnerLines = {
  readonly partner_id: string
  readonly after: Date | undefined
  readonly before: Date | undefined
}

/**
 * After a fail-over the clock of the new server may differ from that of the old one: the times of the lines of a log may be
 * out of order by up to this much.
 */
const DISORDER = `interval '5 minutes'`

/** The number of the first line at or after a time, found by bisection: the log has no index by time. */
const firstLineAt = (time: string) => `(WITH RECURSIVE halves (low, high) AS (
    SELECT 0::bigint, coalesce(max(seq), 0) + 1 FROM acts
    UNION ALL
    SELECT CASE WHEN middle.at < ${time} THEN middle.seq ELSE low END, CASE WHEN middle.at < ${time} THEN high ELSE (low + high) / 2 END
    FROM halves LEFT JOIN LATERAL (SELECT seq, at FROM acts WHERE seq >= (low + high) / 2 AND seq < high ORDER BY seq LIMIT 1) AS middle ON true
    WHERE high - low > 1)
  SELECT min(high) FROM halves)`

function ofPartner({ partner_id, after, before }: PartnerLines, param: (value: unknown) => string): string {
  const since = after && `${param(after)}::timestamptz`
  const until = before && `${param(before)}::timestamptz`
  return [
    narrowly('partner_id', param(partner_id)),
    ...(since ? [`seq >= ${firstLineAt(`${since} - ${DISORDER}`)} AND at >= ${since}`] : []),
    ...(until ? [`seq < ${firstLineAt(`${until} + ${DISORDER}`)} AND at < ${until}`] : []),
  ].join(' AND ')
}

/** Lines of acts by users of a partner, oldest or newest first, beginning after the line `position` in that order. */
export async function linesOfPartner(
  db: Db,
  asked: PartnerLines,
  { order, position, limit }: { order: ListOrder; position: bigint | undefined; limit: number },
): Promise<LogLine[]> {
  const values: unknown[] = []
  const param = (value: unknown) => `$${values.push(value)}`
  const conditions = ofPartner(asked, param)
  const behind = position === undefined ? '' : `AND seq ${order === 'oldest' ? '>' : '<'} ${param(position)}`
  const { rows } = await db.query(
    `SELECT ${COLUMNS} FROM acts WHERE ${conditions} ${behind}
     ORDER BY seq ${order === 'oldest' ? 'ASC' : 'DESC'} LIMIT ${limit}`,
    values,
  )
  return rows
}

/** How many lines of a partner there are, up to `most`. */
export async function countLinesOfPartner(db: Db, asked: PartnerLines, most: number): Promise<number> {
  const values: unknown[] = []
  const conditions = ofPartner(asked, (value) => `$${values.push(value)}`)
  const { rows } = await db.query(
    `SELECT count(*)::integer AS count FROM (SELECT FROM acts WHERE ${conditions} LIMIT ${most}) AS lines`,
    values,
  )
  return rows[0].count
}

type SensitiveAct = Pick<LogLine, 'seq' | 'at' | 'action' | 'actor_kind' | 'actor_email' | 'object_id'> & {
  /** E-mail of the user the act was about: from the user, or from the line if the user was only invited or was removed. */
  readonly object_email: string | null
}

/** The action of a line by which a person dismisses a line of their overview; its object is the number of that line. */
export const DISMISS_ACTION = 'dismiss'

/** Acts that give or take access to a partner's account, whoever the actor is. */
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
 * The sensitive acts of the last seven days about a partner's users, at most 50, from `shared`. Includes acts of
 * operators on those users; an act that two operators decided appears with its approval. Nobody can push a line out
 * of the list by repetition: of the same act by one actor on one object only the newest appears, every actor and kind
 * of act gets one line before any gets a second, and acts of users on themselves come last. Lines that `reader_id` dismissed
 * are left out: a dismissal is a line of the log too.
 */
export async function sensitiveActs(db: Db, partner_id: string, reader_id = ''): Promise<SensitiveAct[]> {
  const { rows } = await db.query(
    `WITH told AS (
       SELECT DISTINCT ON (1, 2, a.actor_kind, a.object_id) coalesce(a.actor_id, a.actor_email, '') AS actor,
         coalesce(p.action, a.action) AS action, a.seq, a.at, a.actor_kind, a.actor_email, a.object_id,
         substring(coalesce(a.after, '') || coalesce(a.before, '') FROM '"email":"([^"]+)"') AS said_email,
         coalesce(a.actor_id = a.object_id, false) AS own
       FROM (SELECT seq FROM acts WHERE partner_id = $1 AND action = ANY($2::text[])
               AND at > clock_timestamp() - interval '7 days'
             UNION SELECT seq FROM acts WHERE (action = ANY($2::text[]) OR action = 'approve')
               AND at > clock_timestamp() - interval '7 days' AND object_id IN (SELECT id FROM users WHERE partner_id = $1)) found
       JOIN acts a USING (seq) LEFT JOIN proposals p ON p.id = a.proposal_id
       ORDER BY 1, 2, a.actor_kind, a.object_id, a.seq DESC)
     SELECT t.seq, t.at, t.action, t.actor_kind, t.actor_email, t.object_id,
       coalesce(u.email, t.said_email) AS object_email
     FROM told t LEFT JOIN users u ON u.id = t.object_id AND u.removed_at IS NULL
     WHERE NOT EXISTS (SELECT FROM acts d WHERE d.object_id = t.seq::text AND d.action = '${DISMISS_ACTION}' AND d.actor_id = $3)
     ORDER BY t.own, row_number() OVER (PARTITION BY t.actor_kind, t.actor, t.action ORDER BY t.seq DESC), t.seq DESC LIMIT 50`,
    [partner_id, SENSITIVE, reader_id],
  )
  return rows
}

/** How many of the newest lines about an object `lastLineOf` searches. */
const LOOKED_BACK = 200

/** When a session last performed `action` on an object, with this value of the field `what` in `after`. */
export async function lastLineOf(
  db: Db,
  of: {
    readonly object_id: string
    readonly action: string
    readonly session_id: string
    readonly what: string
    readonly within_ms: number
  },
): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date }>(
    `SELECT at FROM (SELECT at, action, session_id, after FROM acts WHERE object_id = $1 ORDER BY seq DESC LIMIT ${LOOKED_BACK}) AS newest
     WHERE action = $2 AND session_id = $3 AND strpos(after, $4) > 0
       AND at > clock_timestamp() - make_interval(secs => $5::float8 / 1000)
     ORDER BY at DESC LIMIT 1`,
    [of.object_id, of.action, of.session_id, `"what":${JSON.stringify(of.what)}`, of.within_ms],
  )
  return rows[0]?.at
}

/** The newest line of an action about an object. */
export async function newestLineAbout(
  db: Db,
  { object_id, action }: { readonly object_id: string; readonly action: string },
): Promise<Pick<LogLine, 'at' | 'actor_email' | 'after'> | undefined> {
  const { rows } = await db.query(
    'SELECT at, actor_email, after FROM acts WHERE object_id = $1 AND action = $2 ORDER BY seq DESC LIMIT 1',
    [object_id, action],
  )
  return rows[0]
}

/** The lines about one proposal, in order. */
export async function linesAbout(db: Db, proposal_id: string): Promise<LogLine[]> {
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM acts WHERE proposal_id = $1 ORDER BY seq`, [
    proposal_id,
  ])
  return rows
}

type SealedLogKey = { readonly secret: Buffer }

export async function readLogKey(db: Db): Promise<SealedLogKey | undefined> {
  const { rows } = await db.query('SELECT secret FROM acts_keys')
  return rows[0]
}

export const KEY_ID = 'acts'

/** Does nothing if another node has created the key first. */
export async function insertLogKey(tx: Db, key: { value: Buffer; key_id: string }): Promise<void> {
  await tx.query(
    'INSERT INTO acts_keys (id, secret, secret_key_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [KEY_ID, key.value, key.key_id],
  )
}

/** In a transaction that encrypts the key again. */
export async function lockLogKey(tx: Db): Promise<SealedLogKey> {
  const { rows } = await tx.query('SELECT secret FROM acts_keys FOR UPDATE')
  return rows[0]
}

export async function updateLogKey(tx: Db, key: { value: Buffer; key_id: string }): Promise<void> {
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

/** The lines with these actions and a number above `after` and up to `until`, in the order of the log. */
export async function linesOfActions(
  db: Db,
  range: {
    readonly after: bigint
    readonly until: bigint
    readonly actions: readonly string[]
    readonly limit: number
  },
): Promise<LogLine[]> {
  const { rows } = await db.query(
    `SELECT ${COLUMNS} FROM acts WHERE seq > $1 AND seq <= $2 AND action = ANY($3::text[]) ORDER BY seq LIMIT $4`,
    [range.after, range.until, range.actions, range.limit],
  )
  return rows
}

/** The `after` (canonical JSON with the origin) of a user's sign-ins before line `seq` in the last 90 days, newest first. */
export async function signInsBefore(
  db: Db,
  { user_id, seq, limit }: { readonly user_id: string; readonly seq: bigint; readonly limit: number },
): Promise<(string | null)[]> {
  const { rows } = await db.query<{ after: string | null }>(
    `SELECT after FROM acts
     WHERE object_id = $1 AND seq < $2 AND action = 'sign_in' AND at > clock_timestamp() - interval '90 days'
     ORDER BY seq DESC LIMIT $3`,
    [user_id, seq, limit],
  )
  return rows.map(({ after }) => after)
}
