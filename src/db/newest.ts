import type { Db } from './pool.ts'

/** The filters of a list, by name; undefined matches any value. A name that the list does not have is refused. */
export type Filters = Readonly<Record<string, string | undefined>>

/** Adds a value to the statement and returns its placeholder. `$1` is always the partner. */
export type Param = (value: unknown) => string

/**
 * A walk over an index, newest first. The index begins with the columns of the filters in `by` and continues with created_at
 * and id, so the walk reads only matching rows, as long as no other filter is given.
 */
export type IndexWalk = {
  /** The filters that the index answers. The walk is possible when all of them are given. */
  readonly by: readonly string[]
  /**
   * The conditions of each range of the index; several ranges are merged. Returns undefined when the walk does not fit these
   * values. Absent: the partner's rows that match all filters in `by`.
   */
  readonly stretches?: (given: Filters, param: Param) => readonly string[] | undefined
  /** Another table to walk, which has the ids and times of the rows: the queue of open rows. */
  readonly through?: string
}

export type ListSource = {
  readonly table: string
  /** Columns to select; their names or aliases include `created_at` and `id`. */
  readonly columns: string
  /** The column that orders rows of the same time, if it is not `id`. */
  readonly id?: string
  /** The best walk first. The last one has an empty `by`, so that it is always possible. */
  readonly walks: readonly IndexWalk[]
  /** Conditions of filters that are more than an equality of a column, for rows that a walk has found. */
  readonly conditions?: Readonly<Record<string, (value: string, param: Param) => string>>
}

export type ListPosition = { readonly at: Date; readonly id: string }

export type NewestFilter = {
  readonly partner_id: string
  readonly filters: Filters
  readonly after: Date | undefined
  readonly before: Date | undefined
  /** Where the previous page ended. */
  readonly position: ListPosition | undefined
  readonly limit: number
  /** Absent: newest first. Either order walks the same index. */
  readonly order?: ListOrder
}

export type ListOrder = 'newest' | 'oldest'

/** The sort of a list by time, and the comparison of a row that follows a position. */
const directions = {
  newest: { sort: 'DESC', follows: '<' },
  oldest: { sort: 'ASC', follows: '>' },
} as const
const directionOf = ({ order = 'newest' }: Pick<NewestFilter, 'order'>) => directions[order]

/** Open rows are counted up to this number per state: nobody works through more by hand. */
export const COUNT_MAX = 1000

/** Rows in the order of the list. With `stopped_at`, the walk ended early, and more rows may follow after that position. */
export type Newest<Row> = { readonly rows: readonly Row[]; readonly stopped_at?: ListPosition }

/** How many rows a walk reads for one page, when there are filters that its index does not answer. */
const ROWS_READ_LEAST = 200
const ROWS_READ_PER_ROW = 10
export const mostRowsRead = (limit: number): number => Math.max(ROWS_READ_LEAST, ROWS_READ_PER_ROW * limit)

/**
 * Rows in the order of the filter. A position is one in the list's own order, so pages stay right while rows are added. One walk finds the
 * rows; filters that its index does not answer are applied to the rows it reads, and it stops after `mostRowsRead` rows. So a
 * page reads at most a few times as many rows as it can show, whatever the filters and however long the history.
 */
export async function selectNewest<Row extends { id: string; created_at: Date }>(
  db: Db,
  source: ListSource,
  filter: NewestFilter,
): Promise<Newest<Row>> {
  // No text in the database contains a NUL, and PostgreSQL refuses parameters with one.
  if (Object.values(filter.filters).some((value) => value?.includes('\0'))) return { rows: [] }
  const { rows } = await db.query(statementOf(source, filter))
  const stop = rows.at(-1)?.stopped ? rows.pop() : undefined
  return stop ? { rows, stopped_at: { at: stop.created_at, id: stop.id } } : { rows }
}

function chooseWalk(
  source: ListSource,
  { filters }: Pick<NewestFilter, 'filters'>,
): { walk: IndexWalk; rest: Filters } {
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
  const fits = ({ by, stretches }: IndexWalk) =>
    by.every((name) => given[name] !== undefined) && (!stretches || stretches(given, () => '') !== undefined)
  const walk = source.walks.find(fits)
  if (!walk) throw new Error(`${source.table}: the last walk must have an empty "by"`)
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
  const { sort } = directionOf(filter)
  if (conditions.length === 0) return { text: walked(source.columns, limit), values }
  const names = namesOf(source.columns)
  const key = `created_at, ${idOf(source)}`
  const most = mostRowsRead(limit)
  // When the page is not full, an additional row says where the walk stopped, unless it reached the end of the list.
  const text = `WITH found AS MATERIALIZED (
      SELECT ${names.join(', ')} FROM (${walked(source.columns, most)}) AS walked
      WHERE ${conditions.join(' AND ')} ORDER BY created_at ${sort}, id ${sort} LIMIT ${limit})
    SELECT ${names.join(', ')}, false AS stopped FROM found
    UNION ALL
    SELECT ${names.map((name) => (name === 'created_at' || name === 'id' ? name : 'NULL')).join(', ')}, true
    FROM (SELECT created_at, id FROM (${walked(key, most)}) AS walked OFFSET ${most - 1}) AS last WHERE (SELECT count(*) FROM found) < ${limit}`
  return { text, values }
}

/** How many rows a total reads at most. */
export const TOTAL_ROWS_MAX = 10_000

export type TotalsFilter = Pick<NewestFilter, 'partner_id' | 'filters' | 'after' | 'before'>

/** What a list has in all, in groups. `complete` is false if only the newest `TOTAL_ROWS_MAX` rows were read. */
export type Totals<Group> = { readonly groups: readonly Group[]; readonly complete: boolean }

/**
 * Counts and sums what a filter matches, among at most `TOTAL_ROWS_MAX` rows of the list's walk, newest first.
 * `group`: columns of the list. `sums`: columns of the list to add up, as text. An unbounded sum would read a partner's
 * whole history.
 */
export async function selectTotals<Group extends { readonly count: number }>(
  db: Db,
  source: ListSource,
  filter: TotalsFilter,
  { group, sums = [] }: { readonly group: readonly string[]; readonly sums?: readonly string[] },
): Promise<Totals<Group>> {
  if (Object.values(filter.filters).some((value) => value?.includes('\0')))
    return { groups: [], complete: true }
  const { walk, rest } = chooseWalk(source, filter)
  const values: unknown[] = [filter.partner_id]
  const param: Param = (value) => `$${values.push(value)}`
  const most = TOTAL_ROWS_MAX
  const conditions = Object.entries(rest).map(([name, value]) => conditionOf(source, name)(value!, param))
  const columns =
    conditions.length === 0 ? ['created_at', idOf(source), ...group, ...sums].join(', ') : source.columns
  const walked = walkSql(source, { ...filter, position: undefined }, { walk, columns, param, most })
  const matching = conditions.length === 0 ? '' : ` FILTER (WHERE ${conditions.join(' AND ')})`
  const { rows } = await db.query(
    `SELECT ${[
      ...group,
      'count(*)::integer AS rows_read',
      `count(*)${matching}::integer AS count`,
      ...sums.map((name) => `coalesce(sum(${name})${matching}, 0)::text AS ${name}`),
    ].join(', ')} FROM (${walked}) AS walked ${group.length === 0 ? '' : `GROUP BY ${group.join(', ')}`}`,
    values,
  )
  const read = rows.reduce((sum: number, { rows_read }) => sum + rows_read, 0)
  const groups = rows.filter(({ count }) => count > 0).map(({ rows_read: _, ...row }) => row)
  return { groups, complete: read < TOTAL_ROWS_MAX }
}

type IdSearch = Pick<NewestFilter, 'partner_id' | 'after' | 'before' | 'limit'> & {
  /** The beginning of the id with its prefix, and its end. */
  readonly begins: string
  readonly ends: string
}

/**
 * Ids that begin and end like this, among the newest `TOTAL_ROWS_MAX` rows of a list, or of a period of it. The indexes of lists
 * end with the id, so no row of the table is read; an index by the end of ids would be written with every payout.
 */
export async function findIds(db: Db, source: ListSource, search: IdSearch): Promise<string[]> {
  const values: unknown[] = [search.partner_id]
  const param: Param = (value) => `$${values.push(value)}`
  const { walk } = chooseWalk(source, { filters: {} })
  const walked = walkSql(
    source,
    { ...search, filters: {}, position: undefined },
    { walk, columns: `created_at, ${idOf(source)}`, param, most: TOTAL_ROWS_MAX },
  )
  const matches = `starts_with(id, ${param(search.begins)}) AND right(id, ${param(search.ends.length)}) = ${param(search.ends)}`
  const { rows } = await db.query(
    `SELECT id FROM (${walked}) AS walked WHERE ${matches} ORDER BY created_at DESC, id DESC LIMIT ${search.limit}`,
    values,
  )
  return rows.map(({ id }) => id)
}

const idOf = ({ id }: ListSource): string => (id === undefined ? 'id' : `${id} AS id`)

/** Names become part of the statement's text, so only names that the list itself has are accepted. */
function conditionOf(source: ListSource, name: string): (value: string, param: Param) => string {
  const { conditions = {} } = source
  if (Object.hasOwn(conditions, name)) return conditions[name]!
  if (!namesOf(source.columns).includes(name)) throw new Error(`${source.table} has no filter "${name}"`)
  return (value, param) => `${name} = ${param(value)}`
}

/** The limit is part of the text and not a parameter, so that the planner knows that it is small. */
function walkSql(
  source: ListSource,
  filter: Omit<NewestFilter, 'limit'>,
  { walk, columns, param, most }: { walk: IndexWalk; columns: string; param: Param; most: number },
): string {
  const { table, id = 'id' } = source
  const { filters, after, before, position } = filter
  const { sort, follows } = directionOf(filter)
  const stretches = walk.stretches?.(filters, param) ?? [
    ['partner_id = $1', ...walk.by.map((name) => narrowly(name, param(filters[name])))].join(' AND '),
  ]
  const range = [
    ...(after ? [`created_at >= ${param(after)}`] : []),
    ...(before ? [`created_at < ${param(before)}`] : []),
    ...(position ? [`(created_at, ${id}) ${follows} (${param(position.at)}, ${param(position.id)})`] : []),
  ]
  const { through } = walk
  const selects = stretches.map((conditions) => {
    const walked = (what: string, from: string) =>
      `SELECT ${what} FROM ${from} WHERE ${[conditions, ...range].join(' AND ')} ORDER BY created_at ${sort}, ${id} ${sort} LIMIT ${most}`
    if (!through) return walked(columns, table)
    return `SELECT ${columns} FROM ${table} WHERE ${id} = ANY(ARRAY(${walked(id, through)})) ORDER BY created_at ${sort}, ${id} ${sort}`
  })
  return selects.length === 1
    ? selects[0]!
    : `SELECT ${namesOf(columns).join(', ')} FROM (${selects.map((select) => `(${select})`).join(' UNION ALL ')}) AS merged
       ORDER BY created_at ${sort}, id ${sort} LIMIT ${most}`
}

/**
 * An equality, written so that the planner expects few rows. A generic plan is made from the number of distinct values:
 * where nearly all rows have the same value, the planner would take the index of the whole list for equally good, and read
 * the whole list to find a rare value.
 */
export const narrowly = (column: string, place: string): string =>
  `${column} = ${place} AND ${column} >= ${place} AND ${column} <= ${place}`

/** The result names of the columns. */
const namesOf = (columns: string): string[] =>
  columns.split(', ').map((column) => column.split(' AS ').at(-1)!)

/**
 * The rows of one customer. The owner is checked once and first, so rows of another partner's customer are not read.
 */
export const ofCustomer = (customer_id: string | undefined, param: Param): string => {
  const place = param(customer_id)
  return `customer_id = ${place} AND EXISTS (SELECT FROM customers c WHERE c.id = ${place} AND c.partner_id = $1)`
}
