import { idPrefixes, timeOfId } from '../../core/ids.ts'
import { arrayOf } from '../../db/arrays.ts'
import type { ShouldContinue } from '../../db/chore.ts'
import { columnsOf } from '../../db/columns.ts'
import { COUNTED_PER_DAY, lastDays } from '../../db/last-days.ts'
import type { LogSource } from '../../db/log-poller.ts'
import { type ListSource, narrowly, type Param } from '../../db/newest.ts'
import { type Db, type Pool, transaction } from '../../db/pool.ts'

export type LoggedRequest = {
  readonly id: string
  readonly partner_id: string
  readonly api_key_id: string
  readonly method: string
  readonly route: string | null
  readonly status: number
  readonly error_code: string | null
  readonly duration_ms: number
  readonly address: string
  readonly object_id: string | null
  /** Last four characters of the key value that was used, if known. */
  readonly key_last_four: string | null
  readonly created_at: Date
  readonly position: bigint
}

const written = {
  id: 'text',
  partner_id: 'text',
  api_key_id: 'text',
  method: 'text',
  route: 'text',
  status: 'smallint',
  error_code: 'text',
  duration_ms: 'integer',
  address: 'text',
  object_id: 'text',
  created_at: 'timestamptz',
  key_last_four: 'text',
} as const satisfies Partial<Record<keyof LoggedRequest, string>>

const names = Object.keys(written) as (keyof typeof written)[]
const INSERT = `INSERT INTO requests (${names.join(', ')})
  SELECT * FROM unnest(${Object.values(written)
    .map((type, i) => `$${i + 1}::${type}[]`)
    .join(', ')}) ON CONFLICT (id) DO NOTHING`

/** Asynchronous commit: a crash may lose the last moments of the log, but no response. */
const LIGHTLY = `SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '1s', true),
  set_config('statement_timeout', '2s', true)`

export function insertRequests(
  db: Pool,
  requests: readonly Omit<LoggedRequest, 'position'>[],
): Promise<void> {
  return transaction(db, async (tx) => {
    await tx.query(LIGHTLY)
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('place requests ' || current_schema(), 0))`)
    await tx.query({
      name: 'insert requests',
      text: INSERT,
      values: names.map((name) =>
        arrayOf(
          written[name],
          requests.map((request) => request[name]),
        ),
      ),
    })
  })
}

/**
 * Refused requests are few and have their own indexes. Successful ones have no index by status: they are nearly all, and a walk
 * along the list finds them.
 */
const REFUSED = 'partner_id = $1 AND error_code IS NOT NULL'
const refusedWith = (code: string, param: Param) => `${REFUSED} AND ${narrowly('error_code', param(code))}`
const withStatus = (status: string, param: Param) =>
  `partner_id = $1 AND status >= ${FIRST_REFUSAL} AND ${narrowly('status', param(status))}`
const FIRST_REFUSAL = 400

/** Checks once per list that the key belongs to the partner. */
const ofKey = (place: string) =>
  `api_key_id = ${place} AND EXISTS (SELECT FROM api_keys k WHERE k.id = ${place} AND k.partner_id = $1)`

export const requestList: ListSource = {
  table: 'requests',
  columns: columnsOf('requests'),
  walks: [
    {
      by: ['status'],
      stretches: ({ status }, param) =>
        Number(status) >= FIRST_REFUSAL ? [withStatus(status!, param)] : undefined,
    },
    { by: ['error_code'], stretches: ({ error_code }, param) => [refusedWith(error_code!, param)] },
    { by: ['api_key_id'], stretches: ({ api_key_id }, param) => [ofKey(param(api_key_id))] },
    { by: ['refused'], stretches: () => [REFUSED] },
    { by: [] },
  ],
  conditions: { refused: () => 'error_code IS NOT NULL' },
}

export async function requestById(
  db: Db,
  where: { id: string; partner_id: string },
): Promise<LoggedRequest | undefined> {
  const { rows } = await db.query({
    name: 'request by id',
    text: `SELECT ${columnsOf('requests')} FROM requests WHERE id = $1 AND partner_id = $2`,
    values: [where.id, where.partner_id],
  })
  return rows[0]
}

export async function partnerOfRequest(db: Db, id: string): Promise<string | undefined> {
  const { rows } = await db.query('SELECT partner_id FROM requests WHERE id = $1', [id])
  return rows[0]?.partner_id
}

/** How often a key value was used since then, among the last ten thousand calls of that key. */
export async function callsWith(
  db: Db,
  value: { readonly partner_id: string; readonly api_key_id: string; readonly last_four: string },
  since: Date,
): Promise<number> {
  const { rows } = await db.query({
    name: 'calls with a value of a key',
    text: `SELECT count(*)::integer AS n FROM (SELECT key_last_four FROM requests
        WHERE ${ofKey('$2')} AND created_at >= $4 ORDER BY created_at DESC, id DESC LIMIT 10000) AS made
      WHERE key_last_four = $3`,
    values: [value.partner_id, value.api_key_id, value.last_four, since],
  })
  return rows[0].n
}

type CallsOfDay = {
  readonly day: string
  /** Refused ones included. */
  readonly calls: number
  readonly refused: number
  readonly median_ms: number | null
  readonly complete: boolean
}

/** Refusals of all keys that are examined per day; the median is that of the day's last requests. */
const REFUSED_PER_DAY = 10_000
const SAMPLE = 500

/** The logged requests of a key per day. The counts read an index only, refusals the few rows of their own index. */
export async function callsPerDay(
  db: Db,
  { partner_id, api_key_id }: { readonly partner_id: string; readonly api_key_id: string },
): Promise<CallsOfDay[]> {
  const within = 'created_at >= d.starts AND created_at < d.ends'
  const { rows } = await db.query({
    name: 'calls of a key per day',
    text: `SELECT d.day, made.count AS calls, least(refused.count, made.count) AS refused, took.median_ms
      FROM ${lastDays} AS d
      CROSS JOIN LATERAL (SELECT count(*)::integer AS count FROM (SELECT FROM requests
        WHERE ${ofKey('$2')} AND ${within} LIMIT ${COUNTED_PER_DAY}) AS one) AS made
      CROSS JOIN LATERAL (SELECT (count(*) FILTER (WHERE api_key_id = $2))::integer AS count FROM (SELECT api_key_id FROM requests
        WHERE ${REFUSED} AND ${within} ORDER BY created_at DESC, id DESC LIMIT ${REFUSED_PER_DAY}) AS one) AS refused
      CROSS JOIN LATERAL (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) AS median_ms FROM (
        SELECT duration_ms FROM requests WHERE ${ofKey('$2')} AND ${within} ORDER BY created_at DESC, id DESC LIMIT ${SAMPLE}) AS last) AS took
      ORDER BY d.day`,
    values: [partner_id, api_key_id],
  })
  return rows.map((row) => ({ ...row, complete: row.calls < COUNTED_PER_DAY }))
}

/** A page for a caller that follows the log. With `stopped_at` there may be more after that position. */
export type Followed = { readonly rows: readonly LoggedRequest[]; readonly stopped_at: bigint | undefined }

/** Requests examined for one page, if a filter may exclude some of them. */
const READ_MAX = 1000

/** Requests in the order of logging, oldest first. */
export async function selectRequestsAfter(
  db: Db,
  filter: {
    readonly partner_id: string
    readonly after: bigint
    readonly status: string | undefined
    readonly key_id: string | undefined
    readonly limit: number
  },
): Promise<Followed> {
  const { partner_id, after, status = null, key_id = null, limit } = filter
  const read_most = status === null && key_id === null ? limit : READ_MAX
  const { rows } = await db.query({
    name: 'requests after position',
    text: `WITH looked AS MATERIALIZED (SELECT ${columnsOf('requests')} FROM requests
        WHERE partner_id = $1 AND position > $2 ORDER BY position LIMIT $6)
      SELECT ${columnsOf('requests', 'm')}, s.last, s.looked_at
      FROM (SELECT max(position) AS last, count(*)::integer AS looked_at FROM looked) AS s LEFT JOIN LATERAL
        (SELECT ${columnsOf('requests')} FROM looked WHERE ($3::smallint IS NULL OR status = $3)
          AND ($4::text IS NULL OR api_key_id = $4) ORDER BY position LIMIT $5) AS m ON true ORDER BY m.position`,
    values: [partner_id, after, status, key_id, limit, read_most],
  })
  const found = rows.filter(({ id }) => id !== null)
  const stopped = found.length < limit && rows[0].looked_at === read_most
  return { rows: found, stopped_at: stopped ? rows[0].last : undefined }
}

/** Position of the last request of these partners; 0 if there is none. */
export async function lastRequest(db: Db, partners: readonly string[]): Promise<bigint> {
  const { rows } = await db.query({
    name: 'last request',
    text: `SELECT max(newest.position) AS last FROM unnest($1::text[]) AS p (id) CROSS JOIN LATERAL
      (SELECT position FROM requests WHERE partner_id = p.id ORDER BY position DESC LIMIT 1) AS newest`,
    values: [partners],
  })
  return rows[0].last ?? 0n
}

/** For callers that wait for requests. */
export const requestLogSource = (db: Db): LogSource => ({
  last: (partners) => lastRequest(db, partners),
  async since(position, partners) {
    const { rows } = await db.query({
      name: 'requests since position',
      text: `SELECT max(newest.position) AS last, array_agg(p.id) AS partners FROM unnest($2::text[]) AS p (id) CROSS JOIN LATERAL
        (SELECT position FROM requests WHERE partner_id = p.id AND position > $1 ORDER BY position DESC LIMIT 1) AS newest`,
      values: [position, partners],
    })
    return { last: rows[0].last, partners: new Set(rows[0].partners ?? []), more: false }
  },
})

const STEP = 1000

/** Deletes all requests from before that time. */
export async function forgetRequests(
  db: Db,
  older_than: Date,
  shouldContinue: ShouldContinue = () => true,
): Promise<void> {
  const below = `${idPrefixes.request}_${timeOfId(older_than.getTime())}`
  for (let gone = STEP; gone === STEP && shouldContinue(); ) {
    const { rows } = await db.query('SELECT forget_requests($1, $2) AS gone', [below, STEP])
    gone = rows[0].gone
  }
}
