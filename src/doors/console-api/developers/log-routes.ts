import type { Static } from 'typebox'
import { selectNewest } from '../../../db/newest.ts'
import { filterOf, pageOf } from '../../../http/page.ts'
import { namesOfKeys } from '../../../parties/keys/store.ts'
import { type EventObject, eventText } from '../../../records/events/contract.ts'
import { findEvent } from '../../../records/events/log.ts'
import { newestEvents } from '../../../records/events/routes.ts'
import { renderRequest } from '../../../records/requests/contract.ts'
import { findRequest } from '../../../records/requests/log.ts'
import { type LoggedRequest, requestList } from '../../../records/requests/store.ts'
import { linesOfEvents } from '../../../webhooks/delivery-store.ts'
import { redeliverEvent } from '../../../webhooks/redelivery.ts'
import { urlsOf } from '../../../webhooks/store.ts'
import type { World } from '../../../world.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
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
    const { status, key_id, route, error_code, refused } = call.query
    const list = pageAsked(contract.listRequestsInConsole, call)
    const found = await selectNewest<LoggedRequest>(here.db, requestList, {
      partner_id,
      filters: { status, api_key_id: key_id, route, error_code, refused },
      ...filterOf(list, 'req'),
    })
    const names = await namesOf(here, found.rows)
    return pageOf(list, found, (request) => renderNamed(request, names))
  }),

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
      const entry = { action: 'redeliver', object_id: event_id, before: null, after }
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
