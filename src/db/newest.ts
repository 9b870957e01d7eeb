import type { Db } from './pool.ts'

/** What a list is narrowed by, name by name; undefined: any. A name that the list does not have is refused. */
export type Filters = Readonly<Record<string, string | undefined>>

/** Puts a value into the statement and returns its place there. `$1` is always the partner. */
export type Param = (value: unknown) => string

/**
 * A way through a table, newest first, along an index that begins with what it asks for and goes on with created_at and
 * id. It reads nothing that it does not show, as long as no other filter is given.
 */
export type Walk = {
  /** The filters that it answers. It can be taken when all of them are given. */
  readonly by: readonly string[]
  /**
   * The conditions of each stretch of the index; several are merged. Undefined: it does not fit these values. Absent: the
   * partner's rows that are equal in all of `by`.
   */
  readonly stretches?: (given: Filters, param: Param) => readonly string[] | undefined
  /** Another table that leads to the rows by their ids, with the time of each: a queue of those that are open. */
  readonly through?: string
}

export type ListSource = {
  readonly table: string
  /** Each by its name; `created_at` and `id` are among the names under which they come out. */
  readonly columns: string
  /** The column that orders what has the same time, if it is not `id`. */
  readonly id?: string
  /** The best first. The last one answers nothing, and can always be taken. */
  readonly walks: readonly Walk[]
  /** Filters that are no plain equality of a column, for when they are asked of rows that a walk has found. */
  readonly conditions?: Readonly<Record<string, (value: string, param: Param) => string>>
}

export type Position = { readonly at: Date; readonly id: string }

export type NewestFilter = {
  readonly partner_id: string
  readonly filters: Filters
  readonly after: Date | undefined
  readonly before: Date | undefined
  /** Where the page before ended. */
  readonly position: Position | undefined
  readonly limit: number
}

/** What is open is counted up to this many of a state: nobody works through more by hand. */
export const COUNTED = 1000

/** Rows newest first. With `stopped_at` there may be more, from right behind it. */
export type Newest<Row> = { readonly rows: readonly Row[]; readonly stopped_at?: Position }

/** How many rows a walk looks at for one page, when filters are left that its index knows nothing of. */
const LOOKED_AT_LEAST = 200
const LOOKED_AT_PER_ROW = 10
export const lookedAt = (limit: number): number => Math.max(LOOKED_AT_LEAST, LOOKED_AT_PER_ROW * limit)

/**
 * Rows newest first. The position is one in the list's own order, so pages stay right while rows are added. One walk leads
 * to the rows; filters that it does not answer are asked of what it finds, and it ends after so many rows. So no page costs
 * more than a few times what it could show, whatever the filters and however long the history.
 */
export async function selectNewest<Row extends { id: string; created_at: Date }>(
  db: Db,
  source: ListSource,
  filter: NewestFilter,
): Promise<Newest<Row>> {
  // No text in the database has a NUL in it, and it takes no question with one.
  if (Object.values(filter.filters).some((value) => value?.includes('\0'))) return { rows: [] }
  const { rows } = await db.query(statementOf(source, filter))
  const stop = rows.at(-1)?.stopped ? rows.pop() : undefined
  return stop ? { rows, stopped_at: { at: stop.created_at, id: stop.id } } : { rows }
}

function chooseWalk(source: ListSource, { filters }: NewestFilter): { walk: Walk; rest: Filters } {
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
  const fits = ({ by, stretches }: Walk) =>
    by.every((name) => given[name] !== undefined) && (!stretches || stretches(given, () => '') !== undefined)
  const walk = source.walks.find(fits)
  if (!walk) throw new Error(`no walk of ${source.table} can always be taken`)
  const rest = Object.entries(given).filter(([name]) => !walk.by.includes(name))
  return { walk, rest: Object.fromEntries(rest) }
}

function statementOf(source: ListSource, filter: NewestFilter): { text: string; values: unknown[] } {
  const { walk, rest } = chooseWalk(source, filter)
  const values: unknown[] = [filter.partner_id]
  const param: Param = (value) => `$${values.push(value)}`
  const walked = (columns: string, most: number) => walkSql(source, filter, { walk, columns, param, most })
  const conditions = Object.entries(rest).map(([name, value]) => conditionOf(source, name)(value!, param))
  const { limit } = filter
  if (conditions.length === 0) return { text: walked(source.columns, limit), values }
  const names = namesOf(source.columns)
  const key = source.id ? `created_at, ${source.id} AS id` : 'created_at, id'
  const most = lookedAt(limit)
  // When it found fewer than it was asked for, one row more tells where the walk ended, if that was before the list did.
  const text = `WITH found AS MATERIALIZED (
      SELECT ${names.join(', ')} FROM (${walked(source.columns, most)}) AS walked
      WHERE ${conditions.join(' AND ')} ORDER BY created_at DESC, id DESC LIMIT ${limit})
    SELECT ${names.join(', ')}, false AS stopped FROM found
    UNION ALL
    SELECT ${names.map((name) => (name === 'created_at' || name === 'id' ? name : 'NULL')).join(', ')}, true
    FROM (SELECT created_at, id FROM (${walked(key, most)}) AS walked OFFSET ${most - 1}) AS last WHERE (SELECT count(*) FROM found) < ${limit}`
  return { text, values }
}

/** Names become text of the statement, so only those are taken that the list itself has. */
function conditionOf(source: ListSource, name: string): (value: string, param: Param) => string {
  const { conditions = {} } = source
  if (Object.hasOwn(conditions, name)) return conditions[name]!
  if (!namesOf(source.columns).includes(name)) throw new Error(`${source.table} has no filter of that name`)
  return (value, param) => `${name} = ${param(value)}`
}

/** The number of rows is part of the text, so that the plan knows that it is small. */
function walkSql(
  source: ListSource,
  { filters, after, before, position }: NewestFilter,
  { walk, columns, param, most }: { walk: Walk; columns: string; param: Param; most: number },
): string {
  const { table, id = 'id' } = source
  const stretches = walk.stretches?.(filters, param) ?? [
    ['partner_id = $1', ...walk.by.map((name) => narrowly(name, param(filters[name])))].join(' AND '),
  ]
  const range = [
    ...(after ? [`created_at >= ${param(after)}`] : []),
    ...(before ? [`created_at < ${param(before)}`] : []),
    ...(position ? [`(created_at, ${id}) < (${param(position.at)}, ${param(position.id)})`] : []),
  ]
  const { through } = walk
  const selects = stretches.map((conditions) => {
    const walked = (what: string, from: string) =>
      `SELECT ${what} FROM ${from} WHERE ${[conditions, ...range].join(' AND ')} ORDER BY created_at DESC, ${id} DESC LIMIT ${most}`
    if (!through) return walked(columns, table)
    return `SELECT ${columns} FROM ${table} WHERE ${id} = ANY(ARRAY(${walked(id, through)})) ORDER BY created_at DESC, ${id} DESC`
  })
  return selects.length === 1
    ? selects[0]!
    : `SELECT ${namesOf(columns).join(', ')} FROM (${selects.map((select) => `(${select})`).join(' UNION ALL ')}) AS merged
       ORDER BY created_at DESC, id DESC LIMIT ${most}`
}

/**
 * An equality, said so that the planner expects few rows of it. A plan is made for any value, from how many values there
 * are: where nearly all rows have one and the same, it would take the index of the whole list for just as good, and walk
 * over everything to what is rare.
 */
export const narrowly = (column: string, place: string): string =>
  `${column} = ${place} AND ${column} >= ${place} AND ${column} <= ${place}`

/** The names under which columns come out. */
const namesOf = (columns: string): string[] =>
  columns.split(', ').map((column) => column.split(' AS ').at(-1)!)

/**
 * The rows of one customer. Whose customer it is, is asked once and before: the rows of somebody else's are not looked at.
 */
export const ofCustomer = (customer_id: string | undefined, param: Param): string => {
  const place = param(customer_id)
  return `customer_id = ${place} AND EXISTS (SELECT FROM customers c WHERE c.id = ${place} AND c.partner_id = $1)`
}
