import pg from 'pg'
import { rounded } from './slices.ts'
import type { Stage } from './stage.ts'

/**
 * Counts what a payout writes from the records of the write-ahead log (pg_walinspect). An index entry is a B-tree record that
 * adds a tuple to a leaf: an insert, or a split caused by an insert. An update is HOT when the log says so. A record belongs to
 * the transaction that wrote it, and a transaction to the writer whose tables it changes.
 */
type Written = {
  readonly count: number
  /** All writes of a payout except the request log and the console's sums. */
  readonly payout: Amounts
  readonly by_writer: Readonly<Record<string, Amounts>>
  readonly by_table: Readonly<Record<string, TableAmounts>>
  /** Share of updates that touched no index. */
  readonly hot: Readonly<Record<string, number>>
}

/** Per payout. Full-page bytes are page images that the first change after a checkpoint copies into the log. */
type Amounts = { records: number; bytes: number; full_page_bytes: number; index_entries: number }
type TableAmounts = Amounts & {
  inserts: number
  updates: number
  hot_updates: number
  deletes: number
}

/** The writer of a transaction: the first entry that matches the tables it wrote. */
const WRITERS: readonly (readonly [name: string, tables: RegExp])[] = [
  ['payout', /^(payouts|open_payouts|claims|entries|balances|commits|events)$/],
  ['webhooks', /^webhook_/],
  ['log of requests', /^(requests|api_key_uses)$/],
  ['sums', /^(daily|hourly|daily_\w+)$/],
]
const OWN = ['payout', 'placing of events', 'webhooks']
type Group = {
  xid: string
  file: string | null
  kind: string
  records: number
  bytes: number
  full_page_bytes: number
}

const COUNT = `
  SELECT r.xid::text, b.relfilenode::text AS file,
    r.resource_manager || ' ' || replace(r.record_type, '+INIT', '')
      || CASE WHEN r.record_type LIKE 'SPLIT%' AND r.description LIKE '%level: 0%' THEN ' LEAF' ELSE '' END AS kind,
    count(*)::int AS records, sum(r.record_length)::float AS bytes, sum(r.fpi_length)::float AS full_page_bytes
  FROM pg_get_wal_records_info($1, $2) AS r
  LEFT JOIN (
    SELECT DISTINCT ON (start_lsn) start_lsn, reldatabase, relfilenode FROM pg_get_wal_block_info($1, $2, false)
    ORDER BY start_lsn, block_id) AS b USING (start_lsn)
  WHERE b.reldatabase IS NULL OR b.reldatabase = $3::oid
  GROUP BY 1, 2, 3`

/**
 * Starts counting. `end` returns the writes since then per payout created, including payouts whose caller did not wait for the
 * end; or per `among`, if given.
 */
export async function countWritten(stage: Stage): Promise<{ end(among?: number): Promise<Written> }> {
  const place = async (): Promise<string> =>
    (await stage.sql('SELECT pg_current_wal_flush_lsn() AS at'))[0].at
  const before = await payoutsMade(stage)
  const from = await place()
  return {
    async end(among) {
      const to = await place()
      const count = among ?? (await payoutsMade(stage)) - before
      const [{ oid }] = await stage.sql('SELECT oid FROM pg_database WHERE datname = current_database()')
      return { count, ...amountsOf(await groupsIn(stage, [from, to, oid]), await tablesByFile(stage), count) }
    },
  }
}

export const payoutsMade = async (stage: Stage): Promise<number> =>
  (await stage.sql('SELECT count(*)::int AS count FROM payouts'))[0].count

/** Queried from another database, so that the service's own gets no extension. */
async function groupsIn(stage: Stage, values: unknown[]): Promise<Group[]> {
  const url = new URL(stage.database_url)
  url.pathname = '/postgres'
  const db = new pg.Client({ connectionString: url.href })
  await db.connect()
  try {
    await db.query('CREATE EXTENSION IF NOT EXISTS pg_walinspect')
    return (await db.query(COUNT, values)).rows
  } finally {
    await db.end()
  }
}

function amountsOf(groups: readonly Group[], files: ReadonlyMap<string, string>, count: number) {
  const tableOf = ({ file }: Group) => (file === null ? undefined : files.get(file))
  const touched = new Map<string, Set<string>>()
  for (const group of groups) {
    const table = tableOf(group)
    if (table) touched.set(group.xid, (touched.get(group.xid) ?? new Set()).add(table))
  }
  const writerOf = (xid: string) => {
    if (xid === '0') return 'upkeep'
    const tables = [...(touched.get(xid) ?? [])]
    return WRITERS.find(([, pattern]) => tables.some((table) => pattern.test(table)))?.[0] ?? 'other'
  }
  const by_writer: Record<string, Amounts> = {}
  const by_table: Record<string, TableAmounts> = {}
  for (const group of groups) {
    const writer = writerOf(group.xid)
    by_writer[writer] ??= nothing()
    add(by_writer[writer], group)
    const table = tableOf(group) ?? '(commits and the like)'
    by_table[table] ??= { ...nothing(), inserts: 0, updates: 0, hot_updates: 0, deletes: 0 }
    add(by_table[table], group)
    addRows(by_table[table], group)
  }
  const hot = Object.fromEntries(
    Object.entries(by_table)
      .filter(([, { updates }]) => updates > 0)
      .map(([table, { updates, hot_updates }]) => [table, rounded(hot_updates / updates, 3)]),
  )
  const payout = nothing()
  for (const writer of OWN) if (by_writer[writer]) addTo(payout, by_writer[writer])
  return {
    payout: each(payout, count),
    by_writer: eachOf(by_writer, count),
    by_table: eachOf(by_table, count),
    hot,
  }
}

const nothing = (): Amounts => ({ records: 0, bytes: 0, full_page_bytes: 0, index_entries: 0 })

const INDEX_ENTRY = /^Btree (INSERT_LEAF|INSERT_POST|SPLIT_[LR] LEAF)$/

function add(sum: Amounts, { kind, ...group }: Group): void {
  addTo(sum, { ...group, index_entries: INDEX_ENTRY.test(kind) ? group.records : 0 })
}

function addTo(sum: Amounts, more: Amounts): void {
  sum.records += more.records
  sum.bytes += more.bytes
  sum.full_page_bytes += more.full_page_bytes
  sum.index_entries += more.index_entries
}

function addRows(sum: TableAmounts, { kind, records }: Group): void {
  if (kind === 'Heap INSERT') sum.inserts += records
  if (kind === 'Heap DELETE') sum.deletes += records
  if (/^Heap (HOT_)?UPDATE$/.test(kind)) sum.updates += records
  if (kind === 'Heap HOT_UPDATE') sum.hot_updates += records
}

const each = <Sums extends Record<string, number>>(sums: Sums, count: number): Sums =>
  Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, rounded(sum / count, 2)])) as Sums

const eachOf = <Sums extends Record<string, number>>(all: Record<string, Sums>, count: number) =>
  Object.fromEntries(Object.entries(all).map(([name, sums]) => [name, each(sums, count)]))

/** The table of each file: the file of the table itself, of an index, or of its TOAST values. */
async function tablesByFile(stage: Stage): Promise<Map<string, string>> {
  const rows = await stage.sql(`
    SELECT pg_relation_filenode(c.oid)::text AS file, coalesce(t.relname, i.relname, o.relname, c.relname) AS table
    FROM pg_class c LEFT JOIN pg_index x ON x.indexrelid = c.oid LEFT JOIN pg_class i ON i.oid = x.indrelid
    LEFT JOIN pg_class o ON o.reltoastrelid = c.oid LEFT JOIN pg_class t ON t.reltoastrelid = i.oid
    WHERE pg_relation_filenode(c.oid) IS NOT NULL`)
  return new Map(rows.map(({ file, table }) => [file, table]))
}
