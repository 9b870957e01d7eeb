import type { Static } from 'typebox'
import { type NewestFilter, selectNewest, TOTAL_ROWS_MAX } from '../../../db/newest.ts'
import { filterOf, pageOf } from '../../../http/page.ts'
import { namesOfKeys } from '../../../parties/keys/store.ts'
import type { ActEntry } from '../../../records/acts/line.ts'
import { type EventObject, eventText } from '../../../records/events/contract.ts'
import { findEvent } from '../../../records/events/log.ts'
import { countEvents } from '../../../records/events/log-store.ts'
import { eventsOf, newestEvents } from '../../../records/events/routes.ts'
import type { StoredEvent } from '../../../records/events/store.ts'
import { renderRequest } from '../../../records/requests/contract.ts'
import { findRequest } from '../../../records/requests/log.ts'
import { type LoggedRequest, requestList } from '../../../records/requests/store.ts'
import { linesOfEvents } from '../../../webhooks/delivery-store.ts'
import { redeliverEvent } from '../../../webhooks/redelivery.ts'
import { urlsOf } from '../../../webhooks/store.ts'
import type { World } from '../../../world.ts'
import { type Column, PART, ROWS_MAX } from '../csv.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import { exportList, exportRows, listTotals, rangeOf, totalsOf } from '../lists.ts'
import type { ConsoleParts } from '../parts.ts'
import { sendWebhooksIn } from '../webhook-sends.ts'
import { onReadPool, pageAsked } from './lists.ts'
import * as contract from './log-contract.ts'
import { rebuildRequestBody, storedResponseOf } from './request-body.ts'
import { renderDeliveryLine } from './webhook-routes.ts'

export const logRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  ...eventRoutes(parts),
  answer(contract.listRequestsInConsole, async (call) => {
    const here = onReadPool(call.world)
    const { partner_id } = call.actor
    const list = pageAsked(contract.listRequestsInConsole, call)
    const found = await readRequests(here)({
      partner_id,
      filters: requestFilters(call.query),
      ...filterOf(list, 'req'),
    })
    const names = await namesOf(here, found.rows)
    return pageOf(list, found, (request) => renderNamed(request, names))
  }),

  answer(contract.exportRequests, async (call) => {
    const here = onReadPool(call.world)
    return exportList<LoggedRequest, NamedRequest>(parts, call, {
      endpoint: contract.exportRequests,
      noun: 'requests',
      query: call.query,
      columns: requestColumns,
      read: readRequests(here),
      filters: requestFilters(call.query),
      show: async (rows) => {
        const names = await namesOf(here, rows)
        return rows.map((row) => renderNamed(row, names))
      },
    })
  }),

  answer(contract.totalRequests, (call) =>
    listTotals(call, requestList, requestFilters(call.query), {
      group: ['status'],
      as: ({ status }) => ({ status: String(status) }),
    }),
  ),

  answer(contract.getRequestInConsole, async ({ world, actor, params }) => {
    const here = onReadPool(world)
    const request = await findRequest(here, { id: params.request_id, partner_id: actor.partner_id })
    const said = await rebuildRequestBody(here, request)
    return {
      request: renderNamed(request, await namesOf(here, [request])),
      said: said && JSON.stringify(said, null, 2),
      answer: await storedResponseOf(here, request, said),
    }
  }),
]

const eventRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(contract.listEventsInConsole, async (call) => {
    const here = onReadPool(call.world)
    const { partner_id } = call.actor
    const { type, object_id } = call.query
    const list = pageAsked(contract.listEventsInConsole, call)
    const page = await newestEvents(here, list, { partner_id, type, object_id })
    const events = page.data as Static<typeof EventObject>[]
    const lines = await linesOfEvents(
      here.db,
      events.map(({ id }) => id),
    )
    return {
      ...page,
      data: events.map(({ data, ...event }) => ({
        ...event,
        object_id: data.object.id as string,
        deliveries: lines.filter(({ event_id }) => event_id === event.id).map(renderDeliveryLine),
      })),
    }
  }),

  answer(contract.exportEvents, async (call) => {
    const { world, actor, query, gone } = call
    const rows = everyEvent(world, actor.partner_id, query, gone)
    const entry = { endpoint: contract.exportEvents, noun: 'events', query, object_id: null }
    return exportRows(parts, { world, actor }, entry, eventColumns, rows)
  }),

  answer(contract.totalEvents, async ({ world, actor, query }) => {
    const { type, object_id } = query
    const filter = { partner_id: actor.partner_id, type, object_id, time: rangeOf(query) }
    const { count, complete } = await countEvents(world.reads, filter, TOTAL_ROWS_MAX)
    return totalsOf([{ count }], complete)
  }),

  answer(contract.getEventInConsole, async ({ world, actor, params }) => {
    const here = onReadPool(world)
    const event = await findEvent(here, { id: params.event_id, partner_id: actor.partner_id })
    const lines = await linesOfEvents(here.db, [event.id])
    const urls = await urlsOf(
      here.db,
      lines.map(({ endpoint_id }) => endpoint_id),
    )
    return {
      id: event.id,
      type: event.type as never,
      created_at: event.created_at.toISOString(),
      environment: world.environment,
      sequence: event.sequence,
      object_id: event.object_id,
      body: eventText(event, world.environment),
      deliveries: lines.map((line) => ({
        ...renderDeliveryLine(line),
        url: urls.get(line.endpoint_id) ?? '',
      })),
    }
  }),

  answer(contract.redeliverEventInConsole, ({ world, actor, params, body }) => {
    const { event_id } = params
    const { endpoint_id } = body
    return sendWebhooksIn(parts, { world, actor }, async (here, webhooks) => {
      const where = { id: event_id, partner_id: actor.partner_id }
      const redelivered = await redeliverEvent(here, webhooks, where, endpoint_id)
      const after = { redelivered, ...(endpoint_id === undefined ? {} : { endpoint_id }) }
      const entry: ActEntry = { action: 'redeliver', object_id: event_id, before: null, after }
      return { result: { redelivered }, entry }
    })
  }),
]

const namesOf = ({ db }: World, requests: readonly LoggedRequest[]) =>
  namesOfKeys(db, [...new Set(requests.map(({ api_key_id }) => api_key_id))])

const renderNamed = (request: LoggedRequest, names: ReadonlyMap<string, string>) => ({
  ...renderRequest(request),
  key_name: names.get(request.api_key_id) ?? null,
  key_last_four: request.key_last_four,
})

type NamedRequest = ReturnType<typeof renderNamed>

type RequestQuery = {
  readonly status?: string
  readonly key_id?: string
  readonly route?: string
  readonly error_code?: string
  readonly refused?: string
}

const requestFilters = ({ status, key_id, route, error_code, refused }: RequestQuery) => ({
  status,
  api_key_id: key_id,
  route,
  error_code,
  refused,
})

const readRequests =
  ({ db }: World) =>
  (filter: NewestFilter) =>
    selectNewest<LoggedRequest>(db, requestList, filter)

const requestColumns: readonly Column<NamedRequest>[] = [
  { name: 'id', cell: ({ id }) => id },
  { name: 'created_at', cell: ({ created_at }) => created_at },
  { name: 'method', cell: ({ method }) => method },
  { name: 'route', cell: ({ route }) => route ?? null },
  { name: 'status', cell: ({ status }) => ({ number: String(status) }) },
  { name: 'error_code', cell: ({ error_code }) => error_code ?? null },
  { name: 'key_id', cell: ({ key_id }) => key_id },
  { name: 'key_name', cell: ({ key_name }) => key_name },
  { name: 'address', cell: ({ address }) => address },
  { name: 'object_id', cell: ({ object_id }) => object_id ?? null },
  { name: 'duration_ms', cell: ({ duration_ms }) => ({ number: String(duration_ms) }) },
]

type EventQuery = Parameters<typeof rangeOf>[0] & { readonly type?: string; readonly object_id?: string }

/** Reads the event log of a partner part by part, in the order of the list. */
async function* everyEvent(world: World, partner_id: string, query: EventQuery, gone: AbortSignal) {
  const { type, object_id, order = 'newest' } = query
  const list = { ...rangeOf(query), order }
  let position: bigint | undefined
  for (let left = ROWS_MAX; left > 0 && !gone.aborted; ) {
    const page = await eventsOf(
      onReadPool(world),
      list,
      { partner_id, type, object_id },
      position,
      Math.min(PART, left),
    )
    yield page.rows
    left -= page.rows.length
    const next = page.stopped_at ?? page.rows.at(-1)?.position
    if (next === undefined || (page.rows.length < PART && page.stopped_at === undefined)) return
    position = next
  }
}

const eventColumns: readonly Column<StoredEvent>[] = [
  { name: 'id', cell: ({ id }) => id },
  { name: 'created_at', cell: ({ created_at }) => created_at.toISOString() },
  { name: 'type', cell: ({ type }) => type },
  { name: 'object_id', cell: ({ object_id }) => object_id },
  { name: 'sequence', cell: ({ sequence }) => ({ number: String(sequence) }) },
]
