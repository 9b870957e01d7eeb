import { createHash } from 'node:crypto'
import type { PersonActor } from '../../../core/actor.ts'
import type { ListOrder } from '../../../db/newest.ts'
import { TOTAL_ROWS_MAX } from '../../../db/newest.ts'
import type { Db } from '../../../db/pool.ts'
import type { StoragePlace } from '../../../db/sealing.ts'
import { decodeCursor, encodeCursor } from '../../../http/page.ts'
import { logPlaces } from '../../../records/acts/line.ts'
import { countLinesOfPartner, linesOfPartner } from '../../../records/acts/store.ts'
import { type Column, type CsvLanguage, PART, ROWS_MAX } from '../csv.ts'
import { exportRows, rangeOf, totalsOf } from '../lists.ts'
import { newestOf, type PlacedLine, readUpTo } from '../merged-lines.ts'
import type { ConsoleParts } from '../parts.ts'
import { exportActs } from './contract.ts'

const LIMIT = 50

type Range = { readonly created_after?: string; readonly created_before?: string }
type Sorted = Range & { readonly order?: ListOrder }

/** Three logs merged into one list by time. A cursor says how far each log was read, in one order and one period. */
export async function listActsOfPartner(
  parts: ConsoleParts,
  actor: PersonActor,
  query: Sorted & { readonly limit?: string; readonly cursor?: string },
) {
  const { limit = String(LIMIT), cursor, order = 'newest', created_after, created_before } = query
  const asked = ['acts', actor.partner_id, order, created_after, created_before].join(' ')
  const tag = createHash('sha256').update(asked).digest('base64url').slice(0, 12)
  const after = decodeCursor(cursor, readUpTo, { tag })
  const { lines, next } = await readLines(parts, actor, query, { limit: Number(limit), after })
  return {
    data: lines.map(renderLine),
    has_more: next !== null,
    next_cursor: next && encodeCursor(next, tag),
  }
}

export async function countActsOfPartner(parts: ConsoleParts, actor: PersonActor, query: Range) {
  const pools = poolsOf(parts, actor)
  const asked = { partner_id: actor.partner_id, ...rangeOf(query) }
  const counts = await Promise.all(
    logPlaces.map((place) => countLinesOfPartner(pools[place], asked, TOTAL_ROWS_MAX)),
  )
  const groups = logPlaces.map((place, i) => ({ status: place, count: counts[i]! }))
  return totalsOf(
    groups.filter(({ count }) => count > 0),
    counts.every((count) => count < TOTAL_ROWS_MAX),
  )
}

/** Exports the audit log of a partner as CSV. */
export function exportActsOfPartner(
  parts: ConsoleParts,
  { actor, query, gone }: { actor: PersonActor; query: ExportQuery; gone: AbortSignal },
) {
  const entry = { endpoint: exportActs, noun: 'audit-log', query, object_id: null }
  return exportRows(parts, { actor }, entry, columns, everyLine(parts, actor, query, gone))
}

type ExportQuery = Sorted & { readonly language?: CsvLanguage }

async function* everyLine(parts: ConsoleParts, actor: PersonActor, query: Sorted, gone: AbortSignal) {
  let after: Record<string, string> | undefined
  for (let left = ROWS_MAX; left > 0 && !gone.aborted; left -= PART) {
    const { lines, next } = await readLines(parts, actor, query, { limit: PART, after })
    yield lines.map(renderLine)
    if (next === null) return
    after = next
  }
}

type Place = Partial<Record<StoragePlace, string>> | undefined

function readLines(
  parts: ConsoleParts,
  actor: PersonActor,
  { order = 'newest', ...range }: Sorted,
  page: { readonly limit: number; readonly after: Place },
) {
  const pools = poolsOf(parts, actor)
  const asked = { partner_id: actor.partner_id, ...rangeOf(range) }
  return newestOf(
    (place, position, limit) => linesOfPartner(pools[place], asked, { order, position, limit }),
    { ...page, order },
  )
}

const poolsOf = (
  { office: { shares, worlds } }: ConsoleParts,
  actor: PersonActor,
): Readonly<Record<StoragePlace, Db>> => ({
  production: shares.world(worlds.production, actor).reads,
  sandbox: shares.world(worlds.sandbox, actor).reads,
  shared: shares.shared(actor).db,
})

function renderLine({
  place,
  seq,
  at,
  actor_id,
  actor_email,
  session_id,
  action,
  object_id,
  ...line
}: PlacedLine) {
  const { origin, ...after } = JSON.parse(line.after ?? '{}')
  return {
    place,
    seq: String(seq),
    at: at.toISOString(),
    actor: { id: actor_id, email: actor_email },
    session_id,
    address: origin?.address ?? null,
    action,
    object_id,
    before: line.before === null ? null : JSON.parse(line.before),
    after: Object.keys(after).length === 0 ? null : after,
    hash: line.hash,
  }
}

const columns: readonly Column<ReturnType<typeof renderLine>>[] = [
  { name: 'place', cell: ({ place }) => place },
  { name: 'line', cell: ({ seq }) => ({ number: seq }) },
  { name: 'at', cell: ({ at }) => at },
  { name: 'actor_email', cell: ({ actor }) => actor.email },
  { name: 'actor_id', cell: ({ actor }) => actor.id },
  { name: 'action', cell: ({ action }) => action },
  { name: 'object_id', cell: ({ object_id }) => object_id },
  { name: 'address', cell: ({ address }) => address },
  { name: 'session_id', cell: ({ session_id }) => session_id },
  { name: 'before', cell: ({ before }) => before && JSON.stringify(before) },
  { name: 'after', cell: ({ after }) => after && JSON.stringify(after) },
  { name: 'hash', cell: ({ hash }) => hash },
]
