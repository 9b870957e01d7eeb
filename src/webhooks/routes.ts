import type { PartnerActor } from '../core/actor.ts'
import { refuse } from '../core/errors.ts'
import { selectNewest } from '../db/newest.ts'
import { type Handler, handle } from '../http/endpoint.ts'
import { filterOf, listOf, pageOf, parseTime } from '../http/page.ts'
import { worldOf } from '../parties/keys/keys.ts'
import * as contract from './contract.ts'
import { findDelivery, listDeliveries } from './deliveries.ts'
import {
  createEndpoint,
  editEndpoint,
  findEndpoint,
  removeEndpoint,
  rotateSecret,
  sendTest,
  type Webhooks,
} from './endpoints.ts'
import { redeliverEvent, redeliverRangeOf } from './redelivery.ts'
import { endpointList, type WebhookEndpoint } from './store.ts'

const { renderDelivery, renderEndpoint } = contract

const GRACE_HOURS = 24

export const webhooksRoutes = (webhooks: Webhooks): Handler[] => [
  handle(contract.createWebhookEndpoint, async ({ world, actor, body }) => {
    const { partner_id } = actor
    const wanted = { ...body, partner_id, description: body.description ?? null }
    const { endpoint, secret } = await createEndpoint(worldOf(actor, world), webhooks, wanted)
    return { ...renderEndpoint(endpoint), secret }
  }),

  handle(contract.listWebhookEndpoints, async (call) => {
    const list = listOf(contract.listWebhookEndpoints, call)
    const { partner_id } = call.actor
    const filter = { partner_id, filters: {}, ...filterOf(list, 'whe') }
    return pageOf(
      list,
      await selectNewest<WebhookEndpoint>(call.world.db, endpointList, filter),
      renderEndpoint,
    )
  }),

  handle(contract.getWebhookEndpoint, async ({ world, actor, params }) =>
    renderEndpoint(await findEndpoint(world, whereOf(actor, params))),
  ),

  handle(contract.updateWebhookEndpoint, async ({ world, actor, params, body }) =>
    renderEndpoint(await editEndpoint(worldOf(actor, world), webhooks, whereOf(actor, params), body)),
  ),

  handle(contract.deleteWebhookEndpoint, async ({ world, actor, params }) => {
    await removeEndpoint(worldOf(actor, world), webhooks, whereOf(actor, params))
    return undefined
  }),

  handle(contract.rotateWebhookSecret, async ({ world, actor, params, query, body }) => {
    const grace_hours = graceOf(query.grace_hours, body.grace_hours)
    const { endpoint, secret } = await rotateSecret(
      worldOf(actor, world),
      webhooks,
      whereOf(actor, params),
      grace_hours,
    )
    return { ...renderEndpoint(endpoint), secret }
  }),

  handle(contract.listDeliveries, async (call) => {
    const { world, actor, params, query } = call
    const endpoint = await findEndpoint(world, whereOf(actor, params))
    const list = listOf(contract.listDeliveries, call)
    const { partner_id } = actor
    const filter = { partner_id, filters: { status: query.status }, ...filterOf(list, 'evt') }
    return pageOf(list, await listDeliveries(world, endpoint, filter), ({ delivery }) =>
      renderDelivery(delivery, world.environment, actor),
    )
  }),

  handle(contract.getDelivery, async ({ world, actor, params }) => {
    const delivery = await findDelivery(world, whereOf(actor, params), params.event_id)
    return renderDelivery(delivery, world.environment, actor)
  }),

  handle(contract.testWebhookEndpoint, async ({ world, actor, params }) =>
    renderDelivery(
      await sendTest(worldOf(actor, world), webhooks, whereOf(actor, params)),
      world.environment,
      actor,
    ),
  ),

  handle(contract.redeliverRangeOfEvents, async ({ world, actor, params, body }) => {
    const range = { from: parseTime(body.from, 'from'), to: parseTime(body.to, 'to') }
    const { redelivered, next_from } = await redeliverRangeOf(
      worldOf(actor, world),
      webhooks,
      whereOf(actor, params),
      range,
    )
    return { redelivered, ...(next_from ? { next_from: next_from.toISOString() } : {}) }
  }),

  handle(contract.redeliverOneEvent, async ({ world, actor, params, body }) => {
    const where = { id: params.event_id, partner_id: actor.partner_id }
    return { redelivered: await redeliverEvent(worldOf(actor, world), webhooks, where, body.endpoint_id) }
  }),
]

/** `grace_hours` belongs in the body. The older query parameter still works. */
function graceOf(in_query: string | undefined, in_body: number | undefined): number {
  if (in_query !== undefined && in_body !== undefined && Number(in_query) !== in_body)
    refuse('invalid_request', {
      param: 'grace_hours',
      message: `grace_hours is ${in_query} in the query and ${in_body} in the body. Send one of them.`,
    })
  return in_body ?? Number(in_query ?? GRACE_HOURS)
}

const whereOf = ({ partner_id }: PartnerActor, { endpoint_id }: { endpoint_id: string }) => ({
  partner_id,
  id: endpoint_id,
})
