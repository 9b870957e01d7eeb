import { timeOfId } from '../../core/ids.ts'
import type { ShouldContinue } from '../../db/chore.ts'
import { type Db, type Pool, transaction } from '../../db/pool.ts'

/**
 * An exchange between the service and a rail about one payout or transfer: a send or a status query, and the rail's answer.
 * Only for people to see what happened: nothing is decided by it, and it is not part of the books.
 */
export type RailExchange = {
  readonly object_id: string
  readonly did: 'sent' | 'asked'
  readonly at: Date
  readonly heard: 'unknown' | 'waiting' | 'answered'
  /** The rail's answer, short and without documents. */
  readonly said: string | null
  readonly last_at: Date
}

/** A line of the track in the console: what the service did, or what the rail answered. */
export type RailStep = {
  readonly kind: 'sent' | 'asked' | 'unknown' | 'answered'
  readonly by: 'service' | 'rail'
  readonly said: string | null
  readonly at: Date
  readonly last_at: Date
  /** Number of queries with the same answer. */
  readonly times: number
}

type Row = RailExchange & { readonly n: bigint; readonly times: number }

/** Exchanges kept per object: the first one and the latest ones. */
const MOST = 200

const COLUMNS = 'object_id, n, did, at, heard, said, last_at, times'

/** Steps of an object, oldest first. The caller must have checked that the object belongs to the partner. */
export async function stepsOf(db: Db, object_id: string): Promise<RailStep[]> {
  const { rows } = await db.query<Row>({
    name: 'steps of object',
    text: `SELECT ${COLUMNS} FROM (SELECT ${COLUMNS} FROM steps WHERE object_id = $1 ORDER BY n DESC LIMIT ${MOST}) AS last
      ORDER BY n`,
    values: [object_id],
  })
  return rows.flatMap(stepsOfExchange)
}

/** The lines of an exchange. */
export function stepsOfExchange({
  did,
  heard,
  said,
  at,
  last_at,
  times,
}: Omit<Row, 'object_id' | 'n'>): RailStep[] {
  const asked = { kind: did, by: 'service', said: null, at, last_at: at, times: 1 } as const
  if (did === 'asked' && heard !== 'answered') return [{ ...asked, said, last_at, times }]
  const kind = heard === 'unknown' ? 'unknown' : 'answered'
  return [asked, { kind, by: 'rail', said, at: last_at, last_at, times }]
}

/** Orders of a partner on one rail that are late, and that the rail has not confirmed to be processing. */
export type Unanswered = {
  readonly rail: string
  readonly asset: string
  /** Counted up to a maximum. */
  readonly count: number
  /** Amount in transit, fees included. */
  readonly amount: bigint
  readonly since: Date
}

/** SQL condition: the rail's last answer is that it is processing the order. */
export const isWaiting = (id: string): string =>
  `coalesce((SELECT heard FROM steps WHERE object_id = ${id} ORDER BY n DESC LIMIT 1) = 'waiting', false)`

/** The objects among these whose last answer is that the rail is processing them. */
export async function waitingAmong(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await db.query<{ id: string }>({
    name: 'waiting among',
    text: `SELECT id FROM unnest($1::text[]) AS o (id) WHERE ${isWaiting('o.id')}`,
    values: [ids],
  })
  return new Set(rows.map(({ id }) => id))
}

/** Asynchronous commit and short time-outs: steps may be lost. */
const LIGHTLY = `SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '1s', true),
  set_config('statement_timeout', '2s', true)`

/** Adds a batch. Only exchanges that may repeat are compared with the stored ones. */
export function insertExchanges(db: Pool, batch: readonly RailExchange[]): Promise<void> {
  const repeatable = batch.filter(({ did, heard }) => did === 'asked' || heard !== 'answered')
  return transaction(db, async (tx) => {
    await tx.query(LIGHTLY)
    const before = repeatable.length === 0 ? [] : await lastOf(tx, [...idsOf(repeatable)].sort())
    const { fresh, beyond, repeated } = fold(before, batch)
    if (repeated.length > 0) await countAgain(tx, repeated)
    if (fresh.length > 0) await insert(tx, fresh)
    for (const exchange of beyond) await replaceOldest(tx, exchange)
  })
}

const idsOf = (batch: readonly RailExchange[]) => new Set(batch.map(({ object_id }) => object_id))

type Last = Row & { readonly count: number }

async function lastOf(tx: Db, ids: readonly string[]): Promise<Last[]> {
  const { rows } = await tx.query<Last>({
    name: 'last steps',
    text: `SELECT l.object_id, l.n, l.did, l.at, l.heard, l.said, l.last_at, l.times, c.count FROM unnest($1::text[]) AS o (id)
      CROSS JOIN LATERAL (SELECT ${COLUMNS} FROM steps WHERE object_id = o.id ORDER BY n DESC LIMIT 1) AS l
      CROSS JOIN LATERAL (SELECT count(*)::integer AS count FROM steps WHERE object_id = o.id) AS c`,
    values: [ids],
  })
  return rows
}

type Counted = RailExchange & { times: number; last_at: Date }

/** A query with the same answer as the last one increases the count of that one. */
function fold(before: readonly Last[], batch: readonly RailExchange[]) {
  const lasts = new Map<string, Counted & { n?: bigint; count: number }>(
    before.map((row) => [row.object_id, { ...row, times: 0 }]),
  )
  const fresh: Counted[] = []
  const beyond: Counted[] = []
  for (const exchange of batch) {
    const last = lasts.get(exchange.object_id)
    if (last && exchange.did === 'asked' && isSame(last, exchange)) {
      last.times += 1
      last.last_at = exchange.last_at
      continue
    }
    const count = (last?.count ?? 0) + 1
    const added = { ...exchange, times: 1, count }
    lasts.set(exchange.object_id, added)
    const list = count > MOST ? beyond : fresh
    list.push(added)
  }
  const seen = before.map((row) => ({ row, now: lasts.get(row.object_id) }))
  const repeated = seen.flatMap(({ row: { n, object_id }, now }) =>
    now?.n === n && now.times > 0 ? [{ object_id, n, times: now.times, last_at: now.last_at }] : [],
  )
  return { fresh, beyond, repeated }
}

const isSame = (a: RailExchange, b: RailExchange) =>
  a.did === b.did && a.heard === b.heard && a.said === b.said

async function countAgain(
  tx: Db,
  repeated: readonly Pick<Row, 'object_id' | 'n' | 'times' | 'last_at'>[],
): Promise<void> {
  await tx.query({
    name: 'repeat steps',
    text: `UPDATE steps s SET times = s.times + r.times, last_at = greatest(s.last_at, r.last_at)
      FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::timestamptz[]) AS r (object_id, n, times, last_at)
      WHERE (s.object_id, s.n) = (r.object_id, r.n)`,
    values: (['object_id', 'n', 'times', 'last_at'] as const).map((name) => repeated.map((row) => row[name])),
  })
}

const written = {
  object_id: 'text',
  did: 'text',
  at: 'timestamptz',
  heard: 'text',
  said: 'text',
  last_at: 'timestamptz',
  times: 'integer',
} as const
const names = Object.keys(written) as (keyof typeof written)[]
const arrays = Object.values(written).map((type, i) => `$${i + 1}::${type}[]`)
const INSERT = `INSERT INTO steps (${names.join(', ')}) SELECT * FROM unnest(${arrays.join(', ')})`

async function insert(tx: Db, fresh: readonly Counted[]): Promise<void> {
  const values = names.map((name) => fresh.map((exchange) => exchange[name]))
  await tx.query({ name: 'insert steps', text: INSERT, values })
}

const sets = names.map((name, i) => `${name} = $${i + 1}::${written[name]}`)

/** Overwrites the oldest row but the first with the newest exchange. Rare, so one at a time. */
async function replaceOldest(tx: Db, exchange: Counted): Promise<void> {
  await tx.query({
    name: 'replace step',
    text: `UPDATE steps SET n = DEFAULT, ${sets.join(', ')} WHERE object_id = $1
      AND n = (SELECT n FROM steps WHERE object_id = $1 ORDER BY n OFFSET 1 LIMIT 1)`,
    values: names.map((name) => exchange[name]),
  })
}

const SAID_MAX = 200

/** Text of a rail, shortened, without control characters and without anything that looks like a document. */
export const masked = (text: string): string =>
  text
    .replaceAll(/[^\x20-\x7e\u00a0-\u{10ffff}]/gu, ' ')
    .replaceAll(/\d(?:[ ./-]?\d){7,}/g, '***')
    .slice(0, SAID_MAX / 2)

const STEP = 1000

/** Deletes steps of objects that were created before that time and have ended. */
export async function forgetSteps(
  db: Db,
  older_than: Date,
  shouldContinue: ShouldContinue = () => true,
): Promise<void> {
  const before = timeOfId(older_than.getTime())
  for (let gone = STEP; gone >= STEP && shouldContinue(); ) {
    const { rows } = await db.query('SELECT forget_steps($1, $2) AS gone', [before, STEP])
    gone = rows[0].gone
  }
}
