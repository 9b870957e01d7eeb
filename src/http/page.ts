import { refuse } from '../core/errors.ts'

const LIMIT_DEFAULT = 20

export type Page<Item> = { data: Item[]; has_more: boolean; next_cursor: string | null }

export function limitOf(query: { limit?: string }): number {
  return query.limit === undefined ? LIMIT_DEFAULT : Number(query.limit)
}

/** A cursor is a position in the list's own order, so it stays right while rows are added; opaque to the caller. */
export function encodeCursor(position: Record<string, string>): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** Reads back what `encodeCursor` wrote: some of these parts, each in its form. Anything else was never a cursor of ours. */
export function decodeCursor<Key extends string>(
  cursor: string | undefined,
  parts: Readonly<Record<Key, RegExp>>,
  param = 'cursor',
): Partial<Record<Key, string>> | undefined {
  if (cursor === undefined) return undefined
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const entries = Object.entries(position as object)
    const fits = ([key, value]: [string, unknown]) =>
      Object.hasOwn(parts, key) && typeof value === 'string' && parts[key as Key].test(value)
    if (entries.length > 0 && entries.every(fits)) return Object.fromEntries(entries) as Record<Key, string>
  } catch {}
  return refuseCursor(param)
}

function refuseCursor(param = 'cursor'): never {
  refuse('invalid_request', {
    param,
    message: `${param} must be the next_cursor of an earlier page of this list.`,
  })
}

/** Rows newest first, one more than asked for: the extra one only tells that there are more. */
export function pageOf<Row extends { id: string; created_at: Date }, Item>(
  rows: readonly Row[],
  limit: number,
  render: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const has_more = rows.length > limit
  return {
    data: shown.map(render),
    has_more,
    next_cursor: has_more && last ? encodeCursor({ at: last.created_at.toISOString(), id: last.id }) : null,
  }
}

/** The position after which a list by (created_at, id) goes on. */
export function positionOf(query: { cursor?: string }): { at: Date; id: string } | undefined {
  const position = decodeCursor(query.cursor, { at: /^[0-9-]{10}T[0-9:.]{12}Z$/, id: /^[a-z]+_[0-9a-z]+$/ })
  if (!position) return undefined
  const { at = '', id } = position
  return id !== undefined && isStorable(new Date(at)) ? { at: new Date(at), id } : refuseCursor()
}

/** A time that both JavaScript and the database can hold. */
function isStorable(time: Date): boolean {
  const year = time.getUTCFullYear()
  return year >= 1970 && year <= 9999
}

export function parseTime(text: string, param: string): Date {
  const time = new Date(text)
  if (!isStorable(time)) {
    refuse('invalid_request', { param, message: `${param} must be a time such as 2026-11-15T12:00:00.000Z.` })
  }
  return time
}

/** A list's own query fields, as the database wants them; one row more than asked for, which only tells that there are more. */
export function filterOf(query: {
  limit?: string
  cursor?: string
  created_after?: string
  created_before?: string
}) {
  return {
    after: query.created_after === undefined ? undefined : parseTime(query.created_after, 'created_after'),
    before:
      query.created_before === undefined ? undefined : parseTime(query.created_before, 'created_before'),
    position: positionOf(query),
    limit: limitOf(query) + 1,
  }
}
