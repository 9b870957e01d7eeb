import { createHash } from 'node:crypto'
import { refuse } from '../core/errors.ts'
import type { ListOrder, ListPosition, Newest } from '../db/newest.ts'
import type { Call, Endpoint } from './endpoint.ts'

const LIMIT_DEFAULT = 20

/**
 * A page ends before its objects exceed this size as JSON, because parsing and writing JSON blocks the event loop. An object may
 * have 40 KB of metadata, so 100 objects could have 4 MB.
 */
export const PAGE_BYTES = 512 * 1024

type Page<Item> = { data: Item[]; has_more: boolean; next_cursor: string | null }

/** Which list a request reads, and how much of it (contract §2, §17.1). */
export type List = {
  readonly limit: number
  readonly after: Date | undefined
  readonly before: Date | undefined
  readonly cursor: string | undefined
  readonly order: ListOrder
  /** A digest of environment, partner, endpoint, path and filters: the same for every page of one list. */
  readonly tag: string
}

type ListCall = Pick<Call<Endpoint>, 'world'> & {
  readonly actor: { readonly partner_id: string }
  readonly params?: unknown
  readonly query: {
    readonly limit?: string
    readonly cursor?: string
    readonly created_after?: string
    readonly created_before?: string
    /** Lists of the console only. */
    readonly order?: ListOrder
  }
}

export function listOf({ name }: Pick<Endpoint, 'name'>, { world, actor, params, query }: ListCall): List {
  const { limit, cursor, ...filters } = query
  const sorted = Object.entries(filters).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const parts = [world.environment, actor.partner_id, name, params ?? null, sorted]
  return {
    limit: limit === undefined ? LIMIT_DEFAULT : Number(limit),
    after: timeOf(query.created_after, 'created_after'),
    before: timeOf(query.created_before, 'created_before'),
    cursor,
    order: query.order ?? 'newest',
    tag: createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12),
  }
}

/**
 * A cursor, opaque to the caller: a position in the list's own order, which stays right while rows are added, and behind `=`
 * the tag of the list.
 */
export function encodeCursor(position: Record<string, string>, tag?: string): string {
  const text = Buffer.from(JSON.stringify(position)).toString('base64url')
  return tag === undefined ? text : `${text}=${tag}`
}

/** Reads a cursor of `encodeCursor`: some of these parts, each in its form. Refuses anything else. */
export function decodeCursor<Key extends string>(
  cursor: string | undefined,
  parts: Readonly<Record<Key, RegExp>>,
  { tag, param = 'cursor' }: { tag?: string; param?: string } = {},
): Partial<Record<Key, string>> | undefined {
  if (cursor === undefined) return undefined
  const [text = '', tagged, ...more] = cursor.split('=')
  if (tag !== undefined && tagged === undefined) refuseCursor(param)
  if (tag !== undefined && tagged !== tag && more.length === 0) refuseForeign(param)
  try {
    const position: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    const entries = Object.entries(position as object)
    const fits = ([key, value]: [string, unknown]) =>
      Object.hasOwn(parts, key) && typeof value === 'string' && parts[key as Key].test(value)
    if (more.length === 0 && entries.length > 0 && entries.every(fits))
      return Object.fromEntries(entries) as Record<Key, string>
  } catch {}
  return refuseCursor(param)
}

function refuseCursor(param = 'cursor'): never {
  refuse('invalid_request', {
    param,
    message: `${param} must be the next_cursor of an earlier page of this list.`,
  })
}

function refuseForeign(param: string): never {
  refuse('invalid_request', {
    param,
    message: `${param} belongs to another list or to other filters. Send it with the path, the filters and the key that gave it, or leave it out to begin with the newest.`,
  })
}

/** The position after which a list by (created_at, id) continues. `prefix` is the prefix of its ids. */
function positionOf({ cursor, tag }: List, prefix: string): ListPosition | undefined {
  const id = new RegExp(`^${prefix}_[0-9a-z]+$`)
  const position = decodeCursor(cursor, { at: /^[0-9-]{10}T[0-9:.]{12}Z$/, id }, { tag })
  if (!position) return undefined
  const { at = '', id: last } = position
  return last !== undefined && isStorable(new Date(at)) ? { at: new Date(at), id: last } : refuseCursor()
}

/** The filter of a list by (created_at, id). It asks for one additional row, which only shows that there are more. */
export function filterOf(list: List, prefix: string) {
  const { after, before, limit, order } = list
  return { after, before, position: positionOf(list, prefix), limit: limit + 1, order }
}

/** Renders rows until a page is full by PAGE_BYTES. The result has at least one object if there are rows. */
export function renderPage<Row, Item>(
  rows: readonly Row[],
  render: (row: Row) => Item,
  bytesOf: (item: Item) => number = (item) => Buffer.byteLength(JSON.stringify(item) ?? ''),
): Item[] {
  const items: Item[] = []
  let bytes = 0
  for (const row of rows) {
    const item = render(row)
    bytes += bytesOf(item)
    if (bytes > PAGE_BYTES && items.length > 0) break
    items.push(item)
  }
  return items
}

export function pageOf<Row extends { id: string; created_at: Date }, Item>(
  { limit, tag }: List,
  { rows, stopped_at }: Newest<Row>,
  render: (row: Row) => Item,
): Page<Item> {
  const data = renderPage(rows.slice(0, limit), render)
  const last = rows[data.length - 1]
  const goes_on = rows.length > data.length && last ? { at: last.created_at, id: last.id } : stopped_at
  return {
    data,
    has_more: goes_on !== undefined,
    next_cursor: goes_on ? encodeCursor({ at: goes_on.at.toISOString(), id: goes_on.id }, tag) : null,
  }
}

/** A time that both JavaScript and the database can represent. */
function isStorable(time: Date): boolean {
  const year = time.getUTCFullYear()
  return year >= 1970 && year <= 9999
}

const timeOf = (text: string | undefined, param: string) =>
  text === undefined ? undefined : parseTime(text, param)

/** Stored times have milliseconds, so a finer bound is rounded up to the next millisecond: that changes no comparison. */
export function parseTime(text: string, param: string): Date {
  const between = /\.[0-9]{3}0*[1-9]/.test(text)
  const time = new Date(Date.parse(text) + (between ? 1 : 0))
  if (!isStorable(time)) {
    refuse('invalid_request', { param, message: `${param} must be a time such as 2026-11-15T12:00:00.000Z.` })
  }
  return time
}
