import { refuse } from '../core/errors.ts'
import { isId } from '../core/ids.ts'
import type { Lookout } from '../db/lookout.ts'
import { selectNewest } from '../db/newest.ts'
import { type Handler, handle } from '../http/endpoint.ts'
import { decodeCursor, encodeCursor, filterOf, listOf, pageOf } from '../http/page.ts'
import { readOrWait } from '../http/wait.ts'
import type { World } from '../world.ts'
import * as contract from './contract.ts'
import { type LoggedRequest, lastRequest, requestById, requestList, selectRequestsAfter } from './store.ts'

const { renderRequest } = contract

export const requestsRoutes = (lookout: Lookout): Handler[] => [
  handle(contract.listRequests, async (call) => {
    const { world, actor, query, wait_ms, gone } = call
    const { partner_id } = actor
    const { status, key_id } = query
    const list = listOf(contract.listRequests, call)
    const { limit } = list
    const after = query.after ?? (query.wait === undefined ? undefined : 'now')
    if (after === undefined) {
      const filters = { status, api_key_id: key_id }
      const filter = { partner_id, filters, ...filterOf(list, 'req') }
      return pageOf(list, await selectNewest<LoggedRequest>(world.db, requestList, filter), renderRequest)
    }
    refuseBeside(query)
    const position = await positionAfter(world, partner_id, after)
    // What is no id of a key is nobody's, and may be text that the database does not take.
    const made_with = key_id === undefined || isId('key', key_id) ? key_id : ''
    const filter = { partner_id, after: position, status, key_id: made_with, limit: limit + 1 }
    const read = () => selectRequestsAfter(world.db, filter)
    const found = await readOrWait(read, {
      isEmpty: ({ rows, stopped_at }) => rows.length === 0 && stopped_at === undefined,
      lookout,
      partner_id,
      wait_ms,
      gone,
    })
    const shown = found.rows.slice(0, limit)
    const last = found.stopped_at ?? shown.at(-1)?.position ?? position
    return {
      data: shown.map(renderRequest),
      has_more: found.rows.length > limit || found.stopped_at !== undefined,
      next_cursor: encodeCursor({ logged: last.toString() }),
    }
  }),

  handle(contract.getRequest, async ({ world, actor, params }) =>
    renderRequest(await findRequest(world, { id: params.request_id, partner_id: actor.partner_id })),
  ),
]

/** Whoever reads on from a point has said where to begin. */
function refuseBeside(query: Readonly<Record<string, string | undefined>>): void {
  for (const param of ['cursor', 'created_after', 'created_before'])
    if (query[param] !== undefined)
      refuse('invalid_request', { param, message: `Send after or ${param}, not both.` })
}

async function positionAfter(world: World, partner_id: string, after: string): Promise<bigint> {
  if (after === 'start') return 0n
  if (after === 'now') return lastRequest(world.db, [partner_id])
  if (after.startsWith('req_')) return (await findRequest(world, { id: after, partner_id }, 'after')).position
  return BigInt(decodeCursor(after, { logged: /^[0-9]{1,18}$/ }, { param: 'after' })!.logged!)
}

async function findRequest(world: World, where: { id: string; partner_id: string }, param = 'request_id') {
  const found = isId('request', where.id) ? await requestById(world.db, where) : undefined
  return found ?? refuse('request_not_found', { param })
}
