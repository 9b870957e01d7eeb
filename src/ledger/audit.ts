import type { QueryConfig } from 'pg'
import { reportError } from '../core/error-report.ts'
import { isPassing, sqlState } from '../db/failure.ts'
import { type Db, type Pool, transaction } from '../db/pool.ts'

/**
 * Proves the books. Each check selects rows that must not exist; a single row is a finding. The ledger proves its sums; slices
 * define what may exist: for every kind of cause a template of its entries, and what else must agree with it.
 *
 * The same checks run in two ways: all of them over one snapshot (`audit`), or piece by piece in the background (src/control/audit),
 * where each piece is a range of one of the walks below with its own short snapshot. So a check that names a walk must read
 * only rows that belong to the ids in its range.
 */
export type Check = RangeCheck | SearchCheck

export type RangeCheck = {
  readonly name: string
  /** The walk by which it can run piece by piece. Absent: it needs all rows at once, and other checks replace it in pieces. */
  readonly walk?: WalkName
  /** The prefix of the ids it checks: it is skipped in pieces that have none of them. */
  readonly prefix?: string
  /** Replaces a check that needs all rows at once: runs only in pieces. */
  readonly pieces_only?: true
  /** Selects rows that must not exist: `object_id` first, then columns that help to understand the finding. */
  readonly sql: (within: Within) => string
}

/** A check that needs more than one query. */
export type SearchCheck = {
  readonly name: string
  readonly find: (db: Db) => Promise<FindingRow[]>
}

/** The SQL condition that limits a query to its range. Several columns are compared as a row. */
export type Within = (...columns: string[]) => string

export type FindingRow = Record<string, unknown>

export type Finding = {
  readonly check: string
  readonly found: number
  readonly examples: FindingRow[]
}

export type AuditReport = {
  readonly ok: boolean
  readonly entries: bigint
  readonly customers: bigint
  /** Per asset, the sum of each kind of account: customers, in transit, fees, treasury, external. */
  readonly assets: Record<string, Record<string, bigint>>
  readonly findings: readonly Finding[]
}

/** An order of the rows for checks in pieces, by the columns of an index. */
type CheckWalk = {
  readonly types: readonly string[]
  /** All tables with ids of this kind: an id that is in only one of them must be visited too. */
  readonly places: readonly {
    readonly table: string
    readonly columns: readonly string[]
    readonly where?: string
    /** The prefix that ids must have in this table. */
    readonly prefix?: string
  }[]
}

const idsOf = (tables: Record<string, string>) =>
  Object.entries(tables).map(([table, prefix]) => ({ table, columns: ['id'], prefix }))

export const walks = {
  /** By cause: entries, the resources that caused them, their events. */
  causes: {
    types: ['text'],
    places: [
      { table: 'entries', columns: ['cause_id'] },
      { table: 'events', columns: ['object_id'] },
      ...idsOf({
        deposits: 'dep',
        pix_charges: 'chg',
        payouts: 'po',
        transfers: 'tr',
        quotes: 'qt',
        trades: 'td',
        fee_payouts: 'fp',
        adjustments: 'adj',
        custody_moves: 'cm',
        sweeps: 'swp',
        pix_returns: 'ret',
      }),
      { table: 'transactions', columns: ['transfer_id'], prefix: 'tr' },
      { table: 'sweep_transactions', columns: ['sweep_id'], prefix: 'swp' },
      { table: 'coins', columns: ['reserved_by'], where: 'reserved_by IS NOT NULL', prefix: 'tr' },
    ],
  },
  customers: {
    types: ['text'],
    places: [
      ...idsOf({ customers: 'cus' }),
      ...['balances', 'deposit_addresses'].map((table) => ({ table, columns: ['customer_id'] })),
    ],
  },
  /** Line by line through every statement. */
  lines: {
    types: ['text', 'text', 'bigint'],
    places: [{ table: 'entries', columns: ['owner', 'asset', 'seq'], where: 'seq IS NOT NULL' }],
  },
  claims: {
    types: ['text', 'text', 'text'],
    places: ['claims', 'refusals'].map((table) => ({ table, columns: ['scope', 'operation', 'key'] })),
  },
} as const satisfies Record<string, CheckWalk>

export type WalkName = keyof typeof walks

/**
 * The exact entries of one kind of cause, computed from its own row alone. A query that returns cause_id, movement, line,
 * partner_id, account, owner, asset, amount, created_at; it leaves out lines of zero, which get no line number.
 */
export type Template = {
  readonly name: string
  /** The prefix of ids of this kind, without the underscore. */
  readonly prefix: string
  readonly entries: (within: Within) => string
}

/** SQL: the id has this prefix. The check for unknown kinds negates the same expression, so no id escapes both. */
export const ofKind = (column: string, prefix: string): string => `starts_with(${column}, '${prefix}_')`

/** SQL: in production. The sandbox has deposits and samples that partners made. */
export const IN_PRODUCTION = `current_schema() = 'live'`

const COMPARED = ['partner_id', 'account', 'owner', 'asset', 'amount', 'created_at']

function templateCheck({ name, prefix, entries }: Template): RangeCheck {
  const differ = COMPARED.map((column) => `x.${column} IS DISTINCT FROM e.${column}`).join(' OR ')
  return {
    name,
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT coalesce(e.cause_id, x.cause_id) AS object_id, coalesce(e.partner_id, x.partner_id) AS partner_id,
        coalesce(e.movement, x.movement) AS movement, coalesce(e.line, x.line) AS line,
        x.account AS account, x.owner AS owner, x.asset AS asset, x.amount AS amount,
        e.account AS booked_account, e.owner AS booked_owner, e.asset AS booked_asset, e.amount AS booked_amount
      FROM (${entries(within)}) AS x
      FULL JOIN (SELECT cause_id, movement, line, ${COMPARED.join(', ')}, seq, balance_after FROM entries
        WHERE ${within('cause_id')} AND ${ofKind('cause_id', prefix)}) AS e
        ON e.cause_id = x.cause_id AND e.movement = x.movement AND e.line = x.line
      WHERE x.cause_id IS NULL OR e.cause_id IS NULL OR ${differ}
        OR (e.account = 'customer') <> (e.seq IS NOT NULL) OR (e.account = 'customer') <> (e.balance_after IS NOT NULL)`,
  }
}

/** One check for each kind of cause, and one for entries of an unknown kind. */
export function templateChecks(templates: readonly Template[]): RangeCheck[] {
  const known = templates.map(({ prefix }) => ofKind('cause_id', prefix)).join(' OR ')
  return [
    ...templates.map(templateCheck),
    {
      name: 'every entry has a cause of a known kind',
      walk: 'causes',
      sql: (
        within,
      ) => `SELECT cause_id AS object_id, partner_id, movement, line, account, owner, asset, amount
        FROM entries WHERE ${within('cause_id')} AND NOT (${known})`,
    },
  ]
}

/** `open`: queries that return customer_id, asset and amount of open orders. */
export function transitCheck(open: readonly string[]): RangeCheck {
  return {
    name: 'every amount in transit is the sum of open orders',
    walk: 'customers',
    sql: (
      within,
    ) => `SELECT coalesce(b.customer_id, o.customer_id) AS object_id, b.partner_id, asset, b.in_transit AS stored, o.amount AS open
      FROM (SELECT customer_id, partner_id, asset, in_transit FROM balances WHERE ${within('customer_id')}) AS b
      FULL JOIN (SELECT customer_id, asset, sum(amount) AS amount FROM (${open.join(' UNION ALL ')}) AS orders
                 WHERE ${within('customer_id')} GROUP BY customer_id, asset) AS o USING (customer_id, asset)
      WHERE b.customer_id IS NULL OR b.in_transit <> coalesce(o.amount, 0)`,
  }
}

export const ledgerChecks: readonly RangeCheck[] = [
  {
    name: 'the lines of every movement sum to zero per asset',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT cause_id AS object_id, movement, asset, sum(amount) AS sum FROM entries WHERE ${within('cause_id')}
      GROUP BY cause_id, movement, asset HAVING sum(amount) <> 0`,
  },
  {
    name: 'every asset sums to zero over all accounts',
    sql: () =>
      'SELECT asset AS object_id, sum(amount) AS sum FROM entries GROUP BY asset HAVING sum(amount) <> 0',
  },
  {
    name: 'every balance is the sum of its entries, and counts them',
    sql: () => `SELECT customer_id AS object_id, asset, b.balance AS stored, e.sum AS entries, b.seq, e.last_seq
      FROM (SELECT customer_id, asset, balance, seq FROM balances) AS b
      FULL JOIN (SELECT owner AS customer_id, asset, sum(amount) AS sum, max(seq) AS last_seq, count(*) AS lines
                 FROM entries WHERE account = 'customer' GROUP BY owner, asset) AS e USING (customer_id, asset)
      WHERE b.customer_id IS NULL OR b.balance <> coalesce(e.sum, 0) OR b.seq <> coalesce(e.last_seq, 0) OR b.seq <> coalesce(e.lines, 0)`,
  },
  {
    name: 'every balance equals balance_after of its last statement line',
    walk: 'customers',
    pieces_only: true,
    sql: (
      within,
    ) => `SELECT b.customer_id AS object_id, b.partner_id, b.asset, b.balance AS stored, b.seq, e.balance_after AS entries
      FROM balances b
      LEFT JOIN entries e ON e.owner = b.customer_id AND e.asset = b.asset AND e.seq = b.seq AND e.seq IS NOT NULL
      WHERE ${within('b.customer_id')} AND (b.balance <> CASE WHEN b.seq = 0 THEN 0 ELSE coalesce(e.balance_after, -1) END
        OR EXISTS (SELECT FROM entries n WHERE n.owner = b.customer_id AND n.asset = b.asset AND n.seq > b.seq AND n.seq IS NOT NULL))`,
  },
  {
    name: 'every amount in transit is the sum of its entries',
    sql: () => `SELECT customer_id AS object_id, asset, b.in_transit AS stored, e.sum AS entries
      FROM (SELECT customer_id, asset, in_transit FROM balances) AS b
      FULL JOIN (SELECT owner AS customer_id, asset, sum(amount) AS sum
                 FROM entries WHERE account LIKE 'in\\_transit:%' GROUP BY owner, asset) AS e USING (customer_id, asset)
      WHERE b.customer_id IS NULL OR b.in_transit <> coalesce(e.sum, 0)`,
  },
  {
    name: 'every statement line follows from the one before it',
    sql: () => `SELECT owner AS object_id, asset, seq, balance_after, running FROM (
        SELECT owner, asset, seq, balance_after, row_number() OVER w AS place, sum(amount) OVER w AS running
        FROM entries WHERE account = 'customer' WINDOW w AS (PARTITION BY owner, asset ORDER BY seq)) AS lines
      WHERE balance_after <> running OR seq <> place OR balance_after < 0`,
  },
  {
    name: 'every statement line continues the line before it, and its account counts it',
    walk: 'lines',
    pieces_only: true,
    sql: (
      within,
    ) => `SELECT e.owner AS object_id, e.partner_id, e.asset, e.seq, e.balance_after, e.amount, p.balance_after AS before
      FROM entries e
      LEFT JOIN entries p ON p.owner = e.owner AND p.asset = e.asset AND p.seq = e.seq - 1 AND p.seq IS NOT NULL
      LEFT JOIN balances b ON b.customer_id = e.owner AND b.asset = e.asset
      WHERE e.seq IS NOT NULL AND ${within('e.owner', 'e.asset', 'e.seq')} AND (e.seq < 1 OR e.balance_after < 0
        OR (e.seq > 1 AND p.seq IS NULL) OR e.balance_after <> coalesce(p.balance_after, 0)::numeric + e.amount
        OR b.seq IS NULL OR e.seq > b.seq)`,
  },
]

const EXAMPLES = 5
const AN_HOUR_MS = 3_600_000
const everything: Within = () => 'true'

/** Runs all checks over one snapshot: the whole proof. */
export async function audit(pool: Pool, checks: readonly Check[], onCheck?: OnCheck): Promise<AuditReport> {
  return transaction(pool, async (tx) => {
    // One snapshot for all checks, so that a running system can be audited; no limit on how long that takes.
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    return auditIn(tx, checks, onCheck)
  })
}

/** Called before each check. An error that it throws ends the audit. */
export type OnCheck = (done: number, of: number) => void

/** The names of the checks of the whole audit. */
export const checkNames = (checks: readonly Check[]): string[] => wholeChecks(checks).map(({ name }) => name)

const wholeChecks = (checks: readonly Check[]): readonly Check[] =>
  [...ledgerChecks, ...checks].filter((check) => !('pieces_only' in check))

/** Runs inside the caller's transaction. */
export async function auditIn(
  tx: Db,
  checks: readonly Check[],
  onCheck: OnCheck = () => {},
): Promise<AuditReport> {
  // The audit reads whole tables, so it needs the plans that are switched off for requests.
  await tx.query(
    `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '5min'; SET LOCAL work_mem = '64MB';
     SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on`,
  )
  const ask = (text: string) => tx.query({ text, query_timeout: AN_HOUR_MS } as QueryConfig)
  const findings: Finding[] = []
  const whole = wholeChecks(checks)
  for (const [done, check] of whole.entries()) {
    onCheck(done, whole.length)
    const finding = await orFailure(tx, check.name, () =>
      'find' in check ? runSearchCheck(tx, check) : findAll(ask, check),
    )
    if (finding) findings.push(finding)
  }
  return { ok: findings.length === 0, ...(await sumsIn(tx)), findings }
}

/** Counts, and the sums of all accounts. Reads all entries, which takes long. */
export async function sumsIn(tx: Db): Promise<Pick<AuditReport, 'entries' | 'customers' | 'assets'>> {
  const ask = (text: string) => tx.query({ text, query_timeout: AN_HOUR_MS } as QueryConfig)
  const counts = await ask(
    'SELECT (SELECT count(*) FROM entries) AS entries, (SELECT count(DISTINCT customer_id) FROM balances) AS customers',
  )
  const sums = await ask(
    `SELECT asset, split_part(account, ':', 1) AS account, sum(amount) AS sum FROM entries GROUP BY 1, 2 ORDER BY 1, 2`,
  )
  const assets: Record<string, Record<string, bigint>> = {}
  for (const { asset, account, sum } of sums.rows) (assets[asset] ??= {})[account] = sum
  return { ...counts.rows[0], assets }
}

/** A serialization conflict, a lock timeout, a stale plan: a retry succeeds. */
const OF_THE_MOMENT = /^(40|55|0A000)/

/**
 * A check that fails has proved nothing, so its failure is a finding too, under the check's own name; the other checks go
 * on. Only temporary errors, and errors of the server or the connection, are thrown; `too_much` may add further ones.
 */
export async function orFailure<Found>(
  tx: Db,
  check: string,
  find: () => Promise<Found>,
  too_much: (error: unknown) => boolean = () => false,
): Promise<Found | Finding> {
  await tx.query('SAVEPOINT before_check')
  try {
    const found = await find()
    await tx.query('RELEASE SAVEPOINT before_check')
    return found
  } catch (error) {
    if (isPassing(error) || OF_THE_MOMENT.test(sqlState(error) ?? '') || too_much(error)) throw error
    await tx.query('ROLLBACK TO SAVEPOINT before_check')
    return { check, found: 1, examples: [{ object_id: check, failed: reportError(error).message }] }
  }
}

async function findAll(
  ask: (text: string) => Promise<{ rows: FindingRow[] }>,
  { name, sql }: RangeCheck,
  within: Within = everything,
  examples = EXAMPLES,
): Promise<Finding | undefined> {
  const { rows } = await ask(
    `SELECT *, count(*) OVER () AS found FROM (${sql(within)}) AS wrong LIMIT ${examples}`,
  )
  if (rows.length === 0) return undefined
  return { check: name, found: Number(rows[0]!.found), examples: rows.map(({ found: _, ...row }) => row) }
}

export async function runSearchCheck(tx: Db, { name, find }: SearchCheck): Promise<Finding | undefined> {
  const rows = await find(tx)
  return rows.length === 0
    ? undefined
    : { check: name, found: rows.length, examples: rows.slice(0, EXAMPLES) }
}

/** The ids after `after`, up to and including `upto`; null means the beginning, or the end. */
type Range = { readonly after: readonly unknown[] | null; readonly upto: readonly unknown[] | null }

/** A condition and its parameters. */
type Bounds = { readonly within: Within; readonly values: unknown[] }

/** Each bound is a row comparison with constants, so that PostgreSQL can use the index. */
function withinRange(walk: WalkName, { after, upto }: Range): Bounds {
  const { types } = walks[walk]
  const values: unknown[] = []
  const bound = (ids: readonly unknown[]) =>
    `(${ids.map((id, i) => `$${values.push(id)}::${types[i]}`).join(', ')})`
  const low = after && bound(after)
  const high = upto && bound(upto)
  const within: Within = (...columns) => {
    const place = `(${columns.join(', ')})`
    return [low && `${place} > ${low}`, high && `${place} <= ${high}`].filter(Boolean).join(' AND ') || 'true'
  }
  return { within, values }
}

/** Limits a query to these ids. */
function among(walk: WalkName, places: readonly (readonly unknown[])[]): Bounds {
  const { types } = walks[walk]
  const lists = types.map((type, i) => `$${i + 1}::${type}[]`)
  const within: Within = (...columns) =>
    columns.length === 1
      ? `${columns[0]} = ANY(${lists[0]})`
      : `(${columns.join(', ')}) IN (SELECT * FROM unnest(${lists.join(', ')}))`
  return { within, values: types.map((_, i) => places.map((ids) => ids[i])) }
}

/** The end of a piece that begins after `after`, so that no table has more than `most` rows in it; null: the rest. */
export async function endOfPiece(
  db: Db,
  walk: WalkName,
  after: readonly unknown[] | null,
  most: number,
): Promise<unknown[] | null> {
  const { within, values } = withinRange(walk, { after, upto: null })
  const { places } = walks[walk] as CheckWalk
  const names = walks[walk].types.map((_, i) => `c${i}`)
  const ends = places.map(({ table, columns, where = 'true' }) => {
    const named = columns.map((column, i) => `${column} AS c${i}`).join(', ')
    return `(SELECT ${named} FROM ${table} WHERE ${where} AND ${within(...columns)}
      ORDER BY ${columns.join(', ')} OFFSET ${most} LIMIT 1)`
  })
  const { rows } = await db.query(
    `SELECT ${names.join(', ')} FROM (${ends.join(' UNION ALL ')}) AS ends ORDER BY ${names.join(', ')} LIMIT 1`,
    values,
  )
  return rows.length === 0 ? null : names.map((name) => rows[0][name])
}

/**
 * The prefixes of the ids in this range, so that checks of other kinds can be skipped. Undefined: a table has an id with a
 * wrong prefix, and every check must run.
 */
async function kindsIn(db: Db, walk: WalkName, { within, values }: Bounds): Promise<Set<string> | undefined> {
  const { rows } = await db.query(
    (walks[walk] as CheckWalk).places
      .map(({ table, columns: [id], prefix }) => {
        const kind = `split_part(${id}, '_', 1)`
        const strange = prefix ? `NOT ${ofKind(id!, prefix)}` : 'false'
        return `SELECT DISTINCT ${kind} AS kind, ${strange} AS strange FROM ${table} WHERE ${within(id!)}`
      })
      .join(' UNION '),
    values,
  )
  return rows.some(({ strange }) => strange) ? undefined : new Set(rows.map(({ kind }) => kind))
}

const PIECE_EXAMPLES = 100

/** An error after which a smaller piece is worth a try. */
type TooMuch = (error: unknown) => boolean

/** Runs the checks of one walk over one piece. */
export const auditPiece = (
  tx: Db,
  checks: readonly Check[],
  walk: WalkName,
  range: Range,
  too_much?: TooMuch,
): Promise<Finding[]> => auditWithin(tx, checks, walk, withinRange(walk, range), too_much)

/** Runs the checks of all walks for these causes, their statement lines and their customers. */
export async function auditCauses(
  tx: Db,
  checks: readonly Check[],
  causes: readonly string[],
  too_much?: TooMuch,
): Promise<Finding[]> {
  const { rows } = await tx.query(
    'SELECT DISTINCT owner, asset, seq FROM entries WHERE cause_id = ANY($1::text[]) AND seq IS NOT NULL',
    [causes],
  )
  const customers = [...new Set(rows.map(({ owner }) => owner))]
  const places = {
    causes: causes.map((id) => [id]),
    customers: customers.map((id) => [id]),
    lines: rows.map(({ owner, asset, seq }) => [owner, asset, seq]),
  }
  const findings: Finding[] = []
  for (const walk of ['causes', 'customers', 'lines'] as const)
    if (places[walk].length > 0)
      findings.push(...(await auditWithin(tx, checks, walk, among(walk, places[walk]), too_much)))
  return findings
}

async function auditWithin(
  tx: Db,
  checks: readonly Check[],
  walk: WalkName,
  bounds: Bounds,
  too_much?: TooMuch,
): Promise<Finding[]> {
  const { within, values } = bounds
  const chosen = [...ledgerChecks, ...checks].filter(
    (check) => !('find' in check) && check.walk === walk,
  ) as RangeCheck[]
  const kinds = chosen.some(({ prefix }) => prefix) ? await kindsIn(tx, walk, bounds) : undefined
  const findings: Finding[] = []
  for (const check of chosen) {
    if (kinds && check.prefix && !kinds.has(check.prefix)) continue
    const ask = (text: string) => tx.query(text, values)
    const finding = await orFailure(
      tx,
      check.name,
      () => findAll(ask, check, within, PIECE_EXAMPLES),
      too_much,
    )
    if (finding) findings.push(finding)
  }
  return findings
}
