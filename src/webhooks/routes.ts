import type { TSchema } from 'typebox'
import { refuse } from '../core/errors.ts'
import { isId } from '../core/ids.ts'
import { renderEvent } from '../events/contract.ts'
import { type EventType, eventTypes } from '../events/events.ts'
import { type Caller, type Handler, handle } from '../http/endpoint.ts'
import { limitOf, pageOf, parseTime, positionOf } from '../http/page.ts'
import type { World } from '../world.ts'
import * as contract from './contract.ts'
import {
  addSample,
  createEndpoint,
  editEndpoint,
  findEndpoint,
  removeEndpoint,
  rotateSecret,
  sendAgain,
  sendRangeAgain,
  sendTest,
  type Webhooks,
} from './endpoints.ts'
import { overrideFields } from './override.ts'
import { selectDeliveries } from './queue.ts'
import { selectEndpoints } from './store.ts'

const { renderDelivery, renderEndpoint } = contract

const SHOWN_IN_LIST = 1024
const SHOWN_ALONE = 1_000_000
const GRACE_HOURS = 24

/** A made-up object of the kind that an event is about. */
export type SampleOf = (type: EventType, world: World) => { object: { id: string }; schema: TSchema }

export const webhooksRoutes = (webhooks: Webhooks, sampleOf: SampleOf): Handler[] => [
  handle(contract.createWebhookEndpoint, async ({ world, caller, body }) => {
    const { partner_id } = caller
    const wanted = { ...body, partner_id, description: body.description ?? null }
    const { endpoint, secret } = await createEndpoint(world, webhooks, wanted)
    return { ...renderEndpoint(endpoint), secret }
  }),

  handle(contract.listWebhookEndpoints, async ({ world, caller, query }) => {
    const filter = { partner_id: caller.partner_id, position: positionOf(query), limit: limitOf(query) + 1 }
    return pageOf(await selectEndpoints(world.db, filter), limitOf(query), renderEndpoint)
  }),

  handle(contract.getWebhookEndpoint, async ({ world, caller, params }) =>
    renderEndpoint(await findEndpoint(world, whereOf(caller, params))),
  ),

  handle(contract.updateWebhookEndpoint, async ({ world, caller, params, body }) =>
    renderEndpoint(await editEndpoint(world, webhooks, whereOf(caller, params), body)),
  ),

  handle(contract.deleteWebhookEndpoint, async ({ world, caller, params }) => {
    await removeEndpoint(world, whereOf(caller, params))
    return undefined
  }),

  handle(contract.rotateWebhookSecret, async ({ world, caller, params, query }) => {
    const grace_hours = Number(query.grace_hours ?? GRACE_HOURS)
    const { endpoint, secret } = await rotateSecret(world, webhooks, whereOf(caller, params), grace_hours)
    return { ...renderEndpoint(endpoint), secret }
  }),

  handle(contract.listDeliveries, async ({ world, caller, params, query }) => {
    const { id: endpoint_id } = await findEndpoint(world, whereOf(caller, params))
    const deliveries = await selectDeliveries(world.db, {
      endpoint_id,
      status: query.status,
      position: positionOf(query),
      limit: limitOf(query) + 1,
      shown: SHOWN_IN_LIST,
    })
    const rows = deliveries.map((delivery) => ({
      delivery,
      id: delivery.id,
      created_at: delivery.delivery_created_at,
    }))
    return pageOf(rows, limitOf(query), ({ delivery }) => renderDelivery(delivery, world.environment, caller))
  }),

  handle(contract.getDelivery, async ({ world, caller, params }) => {
    const { id: endpoint_id } = await findEndpoint(world, whereOf(caller, params))
    const { event_id } = params
    const filter = { endpoint_id, event_id, limit: 1, shown: SHOWN_ALONE }
    const [delivery] = isId('event', event_id) ? await selectDeliveries(world.db, filter) : []
    return renderDelivery(
      delivery ?? refuse('event_not_found', { param: 'event_id' }),
      world.environment,
      caller,
    )
  }),

  handle(contract.testWebhookEndpoint, async ({ world, caller, params }) =>
    renderDelivery(await sendTest(world, webhooks, whereOf(caller, params)), world.environment, caller),
  ),

  handle(contract.redeliverRangeOfEvents, async ({ world, caller, params, body }) => {
    const range = { from: parseTime(body.from, 'from'), to: parseTime(body.to, 'to') }
    const { redelivered, next_from } = await sendRangeAgain(world, webhooks, whereOf(caller, params), range)
    return { redelivered, ...(next_from ? { next_from: next_from.toISOString() } : {}) }
  }),

  handle(contract.redeliverOneEvent, async ({ world, caller, params }) => {
    const where = { id: params.event_id, partner_id: caller.partner_id }
    return { redelivered: await sendAgain(world, webhooks, where) }
  }),

  handle(contract.createSampleEvent, async ({ world, caller, params, body }) => {
    const type = params.kind
    if (!eventTypes.includes(type))
      refuse('invalid_request', { param: 'kind', message: `kind must be one of ${eventTypes.join(', ')}.` })
    const { object, schema } = sampleOf(type, world)
    const wanted = overrideFields(object, body.override ?? {}, schema)
    const sample = { partner_id: caller.partner_id, type, object: wanted }
    return renderEvent(await addSample(world, webhooks, sample), world.environment)
  }),
]

const whereOf = ({ partner_id }: Caller, { endpoint_id }: { endpoint_id: string }) => ({
  partner_id,
  id: endpoint_id,
})
