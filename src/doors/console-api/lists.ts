import type { PersonActor } from '../../core/actor.ts'
import { type IdKind, isId } from '../../core/ids.ts'
import {
  type ListOrder,
  type ListSource,
  type Newest,
  type NewestFilter,
  selectTotals,
  TOTAL_ROWS_MAX,
} from '../../db/newest.ts'
import type { Db } from '../../db/pool.ts'
import { type List, listOf, parseTime } from '../../http/page.ts'
import { customerById } from '../../parties/customers/store.ts'
import type { ActEntry } from '../../records/acts/line.ts'
import type { World } from '../../world.ts'
import { actIn, actInShared } from './act.ts'
import { type Column, type CsvLanguage, csvOf, everyRow } from './csv.ts'
import { type ConsoleEndpoint, TextStream } from './endpoint.ts'
import type { ConsoleParts } from './parts.ts'

const PAGE = '50'

type Query = {
  readonly limit?: string
  readonly cursor?: string
  readonly created_after?: string
  readonly created_before?: string
  readonly order?: ListOrder
}

/** A list of the console: 50 rows unless the page asks for another number. */
export const consoleList = (
  endpoint: ConsoleEndpoint,
  call: { world: World; actor: PersonActor; params?: unknown; query: Query },
): List => listOf(endpoint, { ...call, query: { limit: PAGE, ...call.query } })

/** Adds the customer's name to each row. */
export async function withCustomers<Row extends { customer_id: string }>(
  db: Db,
  rows: readonly Row[],
): Promise<(Row & { customer: { id: string; name: string } })[]> {
  const found = await Promise.all(rows.map(({ customer_id }) => customerById(db, customer_id)))
  return rows.map((row, i) => ({
    ...row,
    customer: { id: row.customer_id, name: found[i]?.name ?? '' },
  }))
}

type Read<Row> = (filter: NewestFilter) => Promise<Newest<Row>>

/** How many index walks one page may take if no index answers its filter; each is as long as a walk of the API. */
const WALKS = 20

/** Repeats the walk until the page is full or `WALKS` is reached. */
export async function fullPage<Row extends { id: string; created_at: Date }>(
  read: Read<Row>,
  filter: NewestFilter,
): Promise<Newest<Row>> {
  const rows: Row[] = []
  let { position } = filter
  for (let walk = 0; walk < WALKS; walk++) {
    const limit = filter.limit - rows.length
    const found = await read({ ...filter, position, limit })
    rows.push(...found.rows)
    if (rows.length === filter.limit || !found.stopped_at) return { rows }
    position = found.stopped_at
  }
  return position ? { rows, stopped_at: position } : { rows }
}

/** Payouts and transfers that are open since before this moment count as unanswered. */
export const silentSince = (world: World): Date => new Date(world.clock.now() - world.stuck_after_ms)

type Asked = { readonly status?: string; readonly failure_code?: string }

/** Translates the status `no_answer`, and a failure code without a status, into filters of the store. */
export function statusFilters(world: World, { status, failure_code }: Asked) {
  if (status === 'no_answer')
    return { status: undefined, failure_code, silent_since: silentSince(world).toISOString() }
  return { status: status ?? (failure_code === undefined ? undefined : 'failed'), failure_code }
}

type Found = { readonly count: number } & Readonly<Record<string, string | number | null>>

type TotalsAsked = {
  readonly group: readonly string[]
  readonly sums?: readonly string[]
  /** The names of the response for the columns of the list. */
  readonly as: (row: Found) => {
    readonly status?: string
    readonly asset?: string
    readonly to_asset?: string
    readonly amount?: string
    readonly to_amount?: string
  }
}

/** What the filters of a list match in all. */
export async function listTotals(
  { world, actor, query }: { world: World; actor: PersonActor; query: Query },
  source: ListSource,
  filters: NewestFilter['filters'],
  { group, sums = [], as }: TotalsAsked,
) {
  const filter = { partner_id: actor.partner_id, filters, ...rangeOf(query) }
  const { groups, complete } = await selectTotals<Found>(world.reads, source, filter, { group, sums })
  return totalsOf(
    groups.map((row) => ({ ...as(row), count: row.count })),
    complete,
  )
}

type Group = ReturnType<TotalsAsked['as']> & { readonly count: number }

export const totalsOf = (groups: readonly Group[], complete: boolean) => ({
  complete,
  rows_most: TOTAL_ROWS_MAX,
  groups: groups.map((group) => ({
    status: null,
    asset: null,
    to_asset: null,
    amount: null,
    to_amount: null,
    ...group,
  })),
})

type Export<Row, Shown> = {
  readonly endpoint: ConsoleEndpoint
  readonly noun: string
  readonly query: Query & { readonly language?: CsvLanguage }
  readonly columns: readonly Column<Shown>[]
  readonly read: Read<Row>
  readonly filters: NewestFilter['filters']
  /** Adds related data to the rows of a part. */
  show(rows: readonly Row[]): Promise<readonly Shown[]>
}

type ExportCall = { world: World; actor: PersonActor; gone: AbortSignal }

/** Exports a list as CSV. */
export async function exportList<Row extends { id: string; created_at: Date }, Shown>(
  parts: ConsoleParts,
  { world, actor, gone }: ExportCall,
  { endpoint, noun, query, columns, read, filters, show }: Export<Row, Shown>,
): Promise<TextStream> {
  const range = rangeOf(query)
  const { partner_id } = actor
  const { order = 'newest' } = query
  async function* shown() {
    const from = everyRow(
      (position, limit) => read({ partner_id, filters, ...range, position, limit, order }),
      gone,
    )
    for await (const rows of from) yield await show(rows)
  }
  const entry = { endpoint, noun, query, object_id: null }
  return exportRows(parts, { world, actor }, entry, columns, shown())
}

type Exported = {
  readonly endpoint: ConsoleEndpoint
  readonly noun: string
  readonly query: Query & { readonly language?: CsvLanguage }
  /** The object whose rows are exported, if they belong to one object. */
  readonly object_id: string | null
}

/**
 * Reads the first rows before anything is sent, so that an invalid query is refused with an error. The export is
 * logged before the first line leaves, in the log of the environment, or in that of `shared` if the rows are of no environment.
 */
export async function exportRows<Shown>(
  { office }: ConsoleParts,
  { world, actor }: { world?: World; actor: PersonActor },
  { endpoint, noun, query, object_id }: Exported,
  columns: readonly Column<Shown>[],
  rows: AsyncGenerator<readonly Shown[]>,
): Promise<TextStream> {
  const first = await rows.next()
  async function* all() {
    if (!first.done) yield first.value
    yield* rows
  }
  const after = { what: noun, filters: notedFilters(endpoint, query) }
  const entry: ActEntry = { action: 'export', object_id, before: null, after }
  const done = async () => ({ result: undefined, entry })
  await (world ? actIn(office, actor, world, done) : actInShared(office, actor, done))
  const { clock } = world ?? office.worlds.production
  const named = fileName([noun, object_id, world?.environment ?? null], clock.now())
  return new TextStream(csvOf(columns, all(), query.language), named)
}

export const rangeOf = ({ created_after, created_before }: Query) => ({
  after: created_after === undefined ? undefined : parseTime(created_after, 'created_after'),
  before: created_before === undefined ? undefined : parseTime(created_before, 'created_before'),
})

/** The act log keeps its lines for ever, so documents and names of people are left out of the filters. */
function notedFilters({ query: schema }: ConsoleEndpoint, query: object): Record<string, string> {
  const noted = Object.entries(query).map(([name, value]) => {
    const { enum: names, format, 'x-id': kind } = (schema?.properties[name] ?? {}) as Record<string, unknown>
    const plain = names || format === 'date-time' || (kind && isId(kind as IdKind, value))
    return [name, plain ? value : 'set']
  })
  return Object.fromEntries(noted)
}

/** Such as `statement-cus_…-sandbox-2026-11-15.csv`: the rows of one object have its id in the name. */
const fileName = (of: readonly (string | null)[], now: number): string =>
  [...of, new Date(now).toISOString().slice(0, 10)]
    .filter((part) => part !== null)
    .join('-')
    .concat('.csv')
