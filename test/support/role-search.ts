import type { Db, SchemaName } from '../../src/db/pool.ts'

/**
 * What a database role may write, read from the catalogue: every table with every verb, every column, every function. Nothing is
 * listed by hand, so a new table, column or function is found by itself.
 */
export type Ability =
  | { readonly verb: 'insert' | 'delete' | 'truncate'; readonly schema: string; readonly table: string }
  | { readonly verb: 'update'; readonly schema: string; readonly table: string; readonly column: Column }
  | {
      readonly verb: 'call'
      readonly schema: string
      readonly name: string
      readonly arguments: readonly string[]
    }
  | { readonly verb: 'sequence'; readonly schema: string; readonly name: string }

type Column = {
  readonly name: string
  readonly type: string
  /** The element type of an array, or null. */
  readonly element: string | null
  readonly nullable: boolean
}

/** How an ability is called in a list: `customers.document`, `insert customers`, `call log_last()`. */
export function nameOf(ability: Ability): string {
  if (ability.verb === 'update') return `${ability.table}.${ability.column.name}`
  if (ability.verb === 'call') return `call ${ability.name}(${ability.arguments.join(', ')})`
  if (ability.verb === 'sequence') return `sequence ${ability.name}`
  return `${ability.verb} ${ability.table}`
}

const OURS = `nspname NOT IN ('pg_catalog', 'information_schema') AND nspname NOT LIKE 'pg\\_%'`

const TABLES = `SELECT n.nspname AS schema, c.relname AS table, verb FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
    unnest(ARRAY['INSERT', 'DELETE', 'TRUNCATE']) AS verb
  WHERE ${OURS} AND c.relkind IN ('r', 'p', 'v', 'f') AND has_schema_privilege($1, n.oid, 'USAGE')
    AND (has_table_privilege($1, c.oid, verb) OR verb = 'INSERT' AND has_any_column_privilege($1, c.oid, 'INSERT'))
  ORDER BY 1, 2, 3`

const COLUMNS = `SELECT n.nspname AS schema, c.relname AS table, a.attname AS name, format_type(a.atttypid, NULL) AS type,
    (SELECT format_type(t.typelem, NULL) FROM pg_type t WHERE t.oid = a.atttypid AND t.typcategory = 'A') AS element,
    NOT a.attnotnull AS nullable
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE ${OURS} AND c.relkind IN ('r', 'p', 'v', 'f') AND a.attnum > 0 AND NOT a.attisdropped
    AND has_schema_privilege($1, n.oid, 'USAGE') AND has_column_privilege($1, c.oid, a.attnum, 'UPDATE')
  ORDER BY 1, 2, a.attnum`

const FUNCTIONS = `SELECT n.nspname AS schema, p.proname AS name,
    ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS given (t, i) ORDER BY i) AS arguments
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE ${OURS} AND has_schema_privilege($1, n.oid, 'USAGE') AND has_function_privilege($1, p.oid, 'EXECUTE')
  ORDER BY 1, 2, 3`

const SEQUENCES = `SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE ${OURS} AND has_schema_privilege($1, n.oid, 'USAGE')
    AND CASE WHEN c.relkind = 'S' THEN has_sequence_privilege($1, c.oid, 'USAGE, UPDATE') ELSE false END ORDER BY 1, 2`

const COLUMNS_OF = `SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type, NOT a.attnotnull AS nullable,
    (SELECT format_type(t.typelem, NULL) FROM pg_type t WHERE t.oid = a.atttypid AND t.typcategory = 'A') AS element
  FROM pg_attribute a WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped`

/** Everything that this role may change, in every schema. */
export async function abilitiesOf(db: Db, role: string): Promise<Ability[]> {
  const ask = async (text: string) => (await db.query(text, [role])).rows
  const tables = await ask(TABLES)
  const columns = await ask(COLUMNS)
  const functions = await ask(FUNCTIONS)
  const sequences = await ask(SEQUENCES)
  return [
    ...tables.map(({ schema, table, verb }) => ({ verb: verb.toLowerCase(), schema, table })),
    ...columns.map(({ schema, table, ...column }) => ({ verb: 'update' as const, schema, table, column })),
    ...functions.map((one) => ({ verb: 'call' as const, ...one })),
    ...sequences.map((one) => ({ verb: 'sequence' as const, ...one })),
  ]
}

/**
 * What guards the tables of a schema besides the rights: constraints, unique indexes and triggers. Two schemas with the same guards
 * and the same abilities answer every attempt in the same way.
 */
export async function guardsOf(db: Db, schema: SchemaName): Promise<string[]> {
  const { rows } = await db.query(
    `SELECT c.relname || ': ' || pg_get_constraintdef(k.oid) || ' ' || k.convalidated AS guard FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
       WHERE k.connamespace = $1::regnamespace
     UNION ALL SELECT c.relname || ': ' || pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
       WHERE c.relnamespace = $1::regnamespace AND i.indisunique
     UNION ALL SELECT c.relname || ': ' || pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
       WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal
     ORDER BY 1`,
    [schema],
  )
  return rows.map(({ guard }) => guard.replaceAll(`${schema}.`, ''))
}

/** Hostile values of a column, as SQL over the row `t` that is changed. The first ones are the likeliest to be believed. */
function hostileValues(table: string, { name, type, element, nullable }: Column): string[] {
  const c = `t.${name}`
  const other = `(SELECT o.${name} FROM ${table} o WHERE o.${name}::text IS DISTINCT FROM ${c}::text ORDER BY o.ctid LIMIT 1)`
  const nothing = nullable ? ['NULL'] : []
  if (element !== null) return [`'{}'`, `${c} || ${c}`, `${c}[2:]`, other, ...nothing]
  switch (type) {
    case 'bigint':
    case 'integer':
    case 'smallint':
    case 'numeric': {
      const most = { bigint: '9000000000000000000', integer: '2000000000', smallint: '32000' }[type as string]
      return [
        `coalesce(${c}, 0) + 1`,
        '0',
        `coalesce(${c}, 0) - 1`,
        '-1',
        most ?? `'1e30'`,
        other,
        ...nothing,
      ]
    }
    case 'timestamp with time zone':
      return [
        `coalesce(${c}, now()) - interval '1 hour'`,
        `coalesce(${c}, now()) + interval '1 second'`,
        `now() + interval '1 year'`,
        `'infinity'`,
        `'-infinity'`,
        other,
        ...nothing,
      ]
    case 'date':
      return [`${c} - 1`, `${c} + 400`, other, ...nothing]
    case 'boolean':
      return [`NOT coalesce(${c}, false)`, ...nothing]
    case 'json':
    case 'jsonb':
      return [other, `'{}'`, `'[]'`, ...nothing]
    case 'bytea':
      return [`sha256('forged')`, `'\\x00'`, other, ...nothing]
    default:
      return [other, `coalesce(${c}, '') || 'x'`, `''`, ...nothing]
  }
}

const argumentValues: Readonly<Record<string, readonly string[]>> = {
  bigint: ['1', '0', '-1', '9000000000000000000', '-9000000000000000000', 'NULL'],
  integer: ['1000', '0', '-1', '2147483647', 'NULL'],
  smallint: ['1', '0', '-1', '32000', 'NULL'],
  text: [`'zzzz'`, `''`, 'NULL'],
  'text[]': ['everyId', `'{}'`, 'NULL'],
  'timestamp with time zone': ['now()', `'infinity'`, `'-infinity'`, `now() - interval '10 years'`, 'NULL'],
}

/** Lists of hostile arguments, as SQL: each value of each argument, beside the first values of the others. */
function hostileArguments(types: readonly string[]): string[][] {
  const values = types.map((type) => {
    const known = argumentValues[type]
    if (!known) throw new Error(`no hostile values of the type ${type}: add some to role-search.ts`)
    return known.map((value) => (value === 'everyId' ? EVERY_ID : value))
  })
  const first = values.map((list) => list[0]!)
  const varied = values.flatMap((list, i) => list.slice(1).map((value) => first.with(i, value)))
  return [first, ...varied]
}

/** The ids of all events: the only objects of which a function of ours takes lists, besides payouts and transfers. */
const EVERY_ID = `ARRAY(SELECT id FROM events UNION ALL SELECT id FROM payouts UNION ALL SELECT id FROM transfers)`

/** How many rows of a table are tried: one for every value of its columns that have few, up to so many. */
const ROWS_MOST = 12

/** The places of rows that differ from each other in kind: by status, by type, by what is missing. */
async function variedRows(db: Db, table: string): Promise<string[]> {
  const { rows: columns } = await db.query(
    `SELECT attname AS name, format_type(atttypid, NULL) IN ('text', 'boolean') AS told FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [table],
  )
  const places = new Set<string>()
  for (const { name, told } of columns) {
    const value = told ? `, CASE WHEN length(${name}::text) <= 12 THEN ${name}::text END` : ''
    const { rows } = await db.query(
      `SELECT min(ctid)::text AS place FROM ${table} GROUP BY ${name} IS NULL${value} ORDER BY 1`,
    )
    if (rows.length <= 6) for (const { place } of rows) places.add(place)
  }
  return [...places].slice(0, ROWS_MOST)
}

/** Columns that an INSERT may name, and of each the value that a copy needs so that no unique index refuses it. */
async function copyColumns(db: Db, table: string, changed: 'first' | 'last'): Promise<Map<string, string>> {
  const { rows } = await db.query(
    `SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type, EXISTS (SELECT FROM pg_index i WHERE i.indrelid = a.attrelid
         AND i.indisunique AND i.indkey[${changed === 'first' ? '0' : 'i.indnkeyatts - 1'}] = a.attnum) AS of_key
     FROM pg_attribute a WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
       AND a.attidentity <> 'a' AND a.attgenerated = '' ORDER BY a.attnum`,
    [table],
  )
  return new Map(rows.map(({ name, type, of_key }) => [name, of_key ? anotherKey(name, type) : `t.${name}`]))
}

function anotherKey(name: string, type: string): string {
  const c = `t.${name}`
  switch (type) {
    case 'text':
      return `${c} || 'x'`
    case 'bytea':
      return `sha256(${c})`
    case 'timestamp with time zone':
      return `${c} - interval '1 second'`
    case 'date':
      return `${c} - 1`
    default:
      return `${c} + 1000`
  }
}

/** Every statement with which an ability is tried. `all`: also copies of rows in which one more column is another. */
export async function attemptsOf(db: Db, ability: Ability, all: boolean): Promise<string[]> {
  switch (ability.verb) {
    case 'update':
      return updatesOf(ability, await variedRows(db, `${ability.schema}.${ability.table}`))
    case 'delete': {
      const places = await variedRows(db, `${ability.schema}.${ability.table}`)
      if (places.length === 0) return []
      return [
        ...places.map((place) => `DELETE FROM ${ability.table} WHERE ctid = '${place}'`),
        `DELETE FROM ${ability.table}`,
      ]
    }
    case 'insert':
      return copiesOf(db, ability, all)
    case 'truncate':
      return [`TRUNCATE ${ability.table}`]
    case 'call':
      return hostileArguments(ability.arguments).map((given) => {
        const typed = given.map((value, i) => `(${value})::${ability.arguments[i]}`)
        return `SELECT * FROM ${ability.schema}.${ability.name}(${typed.join(', ')})`
      })
    case 'sequence':
      return [`SELECT setval('${ability.schema}.${ability.name}', 1)`]
  }
}

function updatesOf(
  { table, column }: Extract<Ability, { verb: 'update' }>,
  places: readonly string[],
): string[] {
  const c = `t.${column.name}::text`
  return hostileValues(table, column).flatMap((value) =>
    places.map(
      (place) =>
        `UPDATE ${table} t SET ${column.name} = ${value} WHERE t.ctid = '${place}' AND ${c} IS DISTINCT FROM (${value})::text`,
    ),
  )
}

async function copiesOf(
  db: Db,
  { schema, table }: { readonly schema: string; readonly table: string },
  all: boolean,
): Promise<string[]> {
  const places = await variedRows(db, `${schema}.${table}`)
  const copy = (columns: ReadonlyMap<string, string>, place: string) =>
    `INSERT INTO ${table} (${[...columns.keys()].join(', ')}) SELECT ${[...columns.values()].join(', ')} FROM ${table} t WHERE t.ctid = '${place}'`
  const [by_last, by_first] = [
    await copyColumns(db, `${schema}.${table}`, 'last'),
    await copyColumns(db, `${schema}.${table}`, 'first'),
  ]
  const plain = [by_last, by_first].flatMap((columns) => places.map((place) => copy(columns, place)))
  if (!all || places.length === 0) return [...new Set(plain)]
  const { rows } = await db.query(COLUMNS_OF, [`${schema}.${table}`])
  const changed = rows
    .filter(({ name }) => by_last.get(name) === `t.${name}`)
    .flatMap((column: Column) =>
      hostileValues(table, column).map((value) => copy(new Map(by_last).set(column.name, value), places[0]!)),
    )
  return [...new Set([...plain, ...changed])]
}
