import type { Db } from '../../db/pool.ts'
import { quoted } from '../../db/roles.ts'
import { schemaNames } from '../../db/seat.ts'

export type Table = {
  /** Qualified with the schema. */
  readonly name: string
  readonly columns: readonly string[]
  /** Tables that its foreign keys refer to: they are copied first. */
  readonly refers: readonly string[]
}

/** Tables that migrations write: each database has its own rows. */
const OWN = /^(shared|live|sandbox)\.(migrations|functions)$/

/** Tables in which `trilho migrate` inserts a row. */
const BEGUN =
  /^(shared|live|sandbox)\.(acts_head|sealing|retention|event_horizon|audit_progress|daily_progress)$/

export const quotedColumns = ({ columns }: Table): string => columns.map(quoted).join(', ')

/** All tables with rows of the service, referenced tables first. */
export async function tablesOf(db: Db): Promise<Table[]> {
  const { rows } = await db.query<Table>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name,
       ARRAY(SELECT attname::text FROM pg_attribute
             WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attname) AS columns,
       ARRAY(SELECT format('%I.%I', rn.nspname, r.relname) FROM pg_constraint f
             JOIN pg_class r ON r.oid = f.confrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace
             WHERE f.conrelid = c.oid AND f.contype = 'f' AND r.oid <> c.oid) AS refers
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ANY ($1) AND c.relkind = 'r' ORDER BY 1`,
    [schemaNames],
  )
  return inOrder(rows.filter(({ name }) => !OWN.test(name)))
}

function inOrder(tables: readonly Table[]): Table[] {
  const placed = new Set<string>()
  const ordered: Table[] = []
  const known = new Set(tables.map(({ name }) => name))
  while (ordered.length < tables.length) {
    const next = tables.filter(
      ({ name, refers }) =>
        !placed.has(name) && refers.every((other) => placed.has(other) || !known.has(other)),
    )
    if (next.length === 0) throw new Error('Tables refer to each other in a circle: they cannot be copied.')
    for (const table of next) placed.add(table.name)
    ordered.push(...next)
  }
  return ordered
}

/** Tables that already have data of a service: a copy is refused then. */
export async function usedTables(db: Db): Promise<string[]> {
  const used: string[] = []
  for (const { name } of await tablesOf(db)) {
    if (BEGUN.test(name)) continue
    const { rows } = await db.query(`SELECT EXISTS (SELECT FROM ${name}) AS has_rows`)
    if (rows[0].has_rows) used.push(name)
  }
  return used
}

type Sequence = { readonly name: string; readonly last: bigint; readonly called: boolean }

export async function sequencesOf(db: Db): Promise<Sequence[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ANY ($1) AND c.relkind = 'S' ORDER BY 1`,
    [schemaNames],
  )
  const sequences: Sequence[] = []
  for (const { name } of rows) {
    const { rows } = await db.query(`SELECT last_value AS last, is_called AS called FROM ${name}`)
    sequences.push({ name, ...rows[0] })
  }
  return sequences
}

type Digest = { readonly rows: bigint; readonly hash: string }

/** The number of rows and the sum of their hashes, which does not depend on their order. */
export async function tableDigest(db: Db, table: Table): Promise<Digest> {
  const part = (from: number) =>
    `coalesce(sum(('x' || encode(substr(hash, ${from}, 8), 'hex'))::bit(64)::bigint), 0)::text`
  const { rows } = await db.query(
    `SELECT count(*) AS rows, ${part(1)} || ' ' || ${part(9)} || ' ' || ${part(17)} || ' ' || ${part(25)} AS hash
     FROM (SELECT sha256(convert_to(ROW(${quotedColumns(table)})::text, 'UTF8')) AS hash FROM ${table.name}) AS hashed`,
  )
  return rows[0]
}
