import type { LogPoller } from '../../db/log-poller.ts'
import { selectNewest } from '../../db/newest.ts'
import { type Handler, handle } from '../../http/endpoint.ts'
import { decodeCursor, encodeCursor, filterOf, listOf, pageOf } from '../../http/page.ts'
import { followedFrom } from '../../http/wait.ts'
import * as contract from './contract.ts'
import { findRequest, followRequests } from './log.ts'
import { type LoggedRequest, requestList } from './store.ts'

const { renderRequest } = contract

export const requestsRoutes = (poller: LogPoller): Handler[] => [
  handle(contract.listRequests, async (call) => {
    const { world, query, wait_ms, gone } = call
    const { status, key_id } = query
    const { partner_id } = call.actor
    const list = listOf(contract.listRequests, call)
    const { limit } = list
    const after = followedFrom(query)
    if (after === undefined) {
      const filter = { partner_id, filters: { status, api_key_id: key_id }, ...filterOf(list, 'req') }
      return pageOf(list, await selectNewest<LoggedRequest>(world.db, requestList, filter), renderRequest)
    }
    const filter = { partner_id, status, key_id, limit: limit + 1 }
    const found = await followRequests(world, filter, { after, readCursor }, { poller, wait_ms, gone })
    const shown = found.rows.slice(0, limit)
    const last = found.stopped_at ?? shown.at(-1)?.position ?? found.after
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

const readCursor = (text: string): bigint =>
  BigInt(decodeCursor(text, { logged: /^[0-9]{1,18}$/ }, { param: 'after' })!.logged!)
