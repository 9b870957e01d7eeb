import { createHash } from 'node:crypto'
import type { PersonActor } from '../../../core/actor.ts'
import { decodeCursor, encodeCursor } from '../../../http/page.ts'
import { linesOfPartner } from '../../../records/acts/store.ts'
import { newestOf, type PlacedLine, readUpTo } from '../merged-lines.ts'
import type { ConsoleParts } from '../parts.ts'

const LIMIT = 50

/** Three logs merged into one list by time. A cursor says how far each log was read. */
export async function listActsOfPartner(
  { office: { shares, worlds } }: ConsoleParts,
  actor: PersonActor,
  query: { readonly limit?: string; readonly cursor?: string },
) {
  const { partner_id } = actor
  const pools = {
    production: shares.world(worlds.production, actor).reads,
    sandbox: shares.world(worlds.sandbox, actor).reads,
    shared: shares.shared(actor).db,
  }
  const limit = query.limit === undefined ? LIMIT : Number(query.limit)
  const tag = createHash('sha256').update(`acts ${partner_id}`).digest('base64url').slice(0, 12)
  const after = decodeCursor(query.cursor, readUpTo, { tag })
  const { lines, next } = await newestOf(
    (place, before, most) => linesOfPartner(pools[place], partner_id, { before, limit: most }),
    { limit, after },
  )
  return {
    data: lines.map(renderLine),
    has_more: next !== null,
    next_cursor: next && encodeCursor(next, tag),
  }
}

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
