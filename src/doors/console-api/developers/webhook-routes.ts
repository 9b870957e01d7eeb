import type { PersonActor } from '../../../core/actor.ts'
import { COUNTED_PER_DAY } from '../../../db/last-days.ts'
import { selectNewest } from '../../../db/newest.ts'
import { filterOf, pageOf, parseTime } from '../../../http/page.ts'
import { renderDelivery, renderEndpoint } from '../../../webhooks/contract.ts'
import { findDelivery, listDeliveryLines } from '../../../webhooks/deliveries.ts'
import {
  type DeliveryLine,
  deliveryList,
  queuesOf,
  selectDeliveryLines,
} from '../../../webhooks/delivery-store.ts'
import {
  createEndpoint,
  editEndpoint,
  findEndpoint,
  removeEndpoint,
  rotateSecret,
  sendTest,
} from '../../../webhooks/endpoints.ts'
import { healthOf } from '../../../webhooks/health.ts'
import { redeliverRangeOf, retryWaiting, tryNow } from '../../../webhooks/redelivery.ts'
import { endpointList, type WebhookEndpoint } from '../../../webhooks/store.ts'
import type { World } from '../../../world.ts'
import { actIn, assertProof } from '../act.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import { listTotals } from '../lists.ts'
import type { ConsoleParts } from '../parts.ts'
import { sendWebhooksIn } from '../webhook-sends.ts'
import { onReadPool, pageAsked } from './lists.ts'
import * as contract from './webhook-contract.ts'

export const webhookRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  ...webhookReads(parts),
  ...webhookWrites(parts),
  ...webhookSends(parts),
]

const webhookReads = ({ runtimes }: ConsoleParts): ConsoleHandler[] => [
  answer(contract.listWebhooks, async (call) => {
    const here = onReadPool(call.world)
    const { partner_id } = call.actor
    const list = pageAsked(contract.listWebhooks, call)
    const filter = { partner_id, filters: {}, ...filterOf(list, 'whe') }
    const found = await selectNewest<WebhookEndpoint>(here.db, endpointList, filter)
    const shown = await withQueues(here, found.rows.slice(0, list.limit))
    return { ...pageOf(list, found, () => undefined), data: shown }
  }),

  answer(contract.getWebhook, async ({ world, actor, params }) =>
    oneWithQueue(onReadPool(world), await findEndpoint(onReadPool(world), whereOf(actor, params))),
  ),

  answer(contract.listDeliveriesInConsole, async (call) => {
    const { actor, params, query } = call
    const here = onReadPool(call.world)
    const endpoint = await findEndpoint(here, whereOf(actor, params))
    const list = pageAsked(contract.listDeliveriesInConsole, call)
    const { status, event_id, type } = query
    const { found, lines } = await listDeliveryLines(here, endpoint, {
      partner_id: actor.partner_id,
      filters: { status, event_id, type },
      ...filterOf(list, 'evt'),
    })
    return { ...pageOf(list, found, () => undefined), data: lines.map(renderDeliveryLine) }
  }),

  answer(contract.totalDeliveries, async (call) => {
    const { actor, params, query } = call
    const endpoint = await findEndpoint(onReadPool(call.world), whereOf(actor, params))
    const { status, event_id, type } = query
    return listTotals(
      call,
      deliveryList(endpoint.id),
      { status, event_id, type },
      {
        group: ['status'],
        as: (row) => ({ status: String(row.status) }),
      },
    )
  }),

  answer(contract.getWebhookHealth, async ({ world, actor, params }) => {
    const endpoint = await findEndpoint(onReadPool(world), whereOf(actor, params))
    return { days: await healthOf(world.reads, endpoint.id), counted_most: COUNTED_PER_DAY }
  }),

  answer(contract.getDeliveryInConsole, async ({ world, actor, params }) => {
    const delivery = await findDelivery(onReadPool(world), whereOf(actor, params), params.event_id)
    const { retry_ms } = runtimes[world.environment].webhooks
    return {
      delivery: renderDelivery(delivery, world.environment, { scopes: ['read'] }),
      under_way: delivery.under_way,
      then_after_ms: delivery.status === 'pending' ? retry_ms.slice(delivery.tries) : [],
    }
  }),
]

const webhookWrites = ({ office, runtimes }: ConsoleParts): ConsoleHandler[] => [
  answer(contract.createWebhook, async ({ world, actor, body }) => {
    const { form_id, ...wanted } = body
    const { partner_id } = actor
    const { webhooks } = runtimes[world.environment]
    const made = await actIn(
      office,
      actor,
      world,
      async (here) => {
        const description = wanted.description ?? null
        const result = await createEndpoint(here, webhooks, { ...wanted, partner_id, description })
        const after = renderEndpoint(result.endpoint)
        return { result, entry: { action: 'create_webhook', object_id: after.id, before: null, after } }
      },
      { form_id },
    )
    return { endpoint: await oneWithQueue(world, made.endpoint), secret: made.secret }
  }),

  answer(contract.changeWebhook, async ({ world, actor, params, body }) => {
    const where = whereOf(actor, params)
    const { webhooks } = runtimes[world.environment]
    const endpoint = await actIn(
      office,
      actor,
      world,
      async (here) => {
        const before = renderEndpoint(await findEndpoint(here, where))
        if (world.environment === 'production' && sendsElsewhere(before, body))
          await assertProof(office, actor)
        const result = await editEndpoint(here, webhooks, where, body)
        const after = renderEndpoint(result)
        return { result, entry: { action: 'change_webhook', object_id: where.id, before, after } }
      },
      { object_id: where.id },
    )
    return oneWithQueue(world, endpoint)
  }),

  answer(contract.deleteWebhook, async ({ world, actor, params }) => {
    const where = whereOf(actor, params)
    const { webhooks } = runtimes[world.environment]
    await actIn(
      office,
      actor,
      world,
      async (here) => {
        const before = renderEndpoint(await findEndpoint(here, where))
        const result = await removeEndpoint(here, webhooks, where)
        return { result, entry: { action: 'delete_webhook', object_id: where.id, before, after: null } }
      },
      { object_id: where.id },
    )
    return undefined
  }),

  answer(contract.rotateWebhookSecretInConsole, async ({ world, actor, params, body }) => {
    const where = whereOf(actor, params)
    const { grace_hours, form_id } = body
    const { webhooks } = runtimes[world.environment]
    const rotated = await actIn(
      office,
      actor,
      world,
      async (here) => {
        const before = renderEndpoint(await findEndpoint(here, where))
        const result = await rotateSecret(here, webhooks, where, grace_hours)
        const after = renderEndpoint(result.endpoint)
        return { result, entry: { action: 'rotate_webhook_secret', object_id: where.id, before, after } }
      },
      { form_id, object_id: where.id },
    )
    return { endpoint: await oneWithQueue(world, rotated.endpoint), secret: rotated.secret }
  }),
]

type Destination = { readonly url?: string; readonly events?: readonly string[] }

/** Whether the change sends events to another URL, or more types of events to the same one. */
const sendsElsewhere = (before: Required<Destination>, { url, events = [] }: Destination): boolean =>
  (url !== undefined && url !== before.url) ||
  (!before.events.includes('*') && events.some((kind) => !before.events.includes(kind)))

const webhookSends = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(contract.testWebhook, ({ world, actor, params }) => {
    const where = whereOf(actor, params)
    return sendWebhooksIn(parts, { world, actor }, async (here, webhooks) => {
      const { id: event_id } = await sendTest(here, webhooks, where)
      const after = { event_id }
      return { result: after, entry: { action: 'test_webhook', object_id: where.id, before: null, after } }
    })
  }),

  answer(contract.redeliverRangeInConsole, async ({ world, actor, params, body }) => {
    const where = whereOf(actor, params)
    const { only_failed = false } = body
    const range = { from: parseTime(body.from, 'from'), to: parseTime(body.to, 'to'), only_failed }
    const { redelivered, next_from } = await sendWebhooksIn(
      parts,
      { world, actor },
      async (here, webhooks) => {
        const result = await redeliverRangeOf(here, webhooks, where, range)
        const { only_failed, ...times } = range
        const after = { ...times, ...(only_failed ? { only_failed } : {}), redelivered: result.redelivered }
        return { result, entry: { action: 'redeliver', object_id: where.id, before: null, after } }
      },
    )
    return { redelivered, ...(next_from ? { next_from: next_from.toISOString() } : {}) }
  }),

  answer(contract.retryWaitingInConsole, ({ world, actor, params }) => {
    const where = whereOf(actor, params)
    return sendWebhooksIn(parts, { world, actor }, async (here, webhooks) => {
      const result = await retryWaiting(here, webhooks, where)
      const after = { retried: result.retried }
      return { result, entry: { action: 'retry_waiting', object_id: where.id, before: null, after } }
    })
  }),

  answer(contract.tryDeliveryNow, async ({ world, actor, params }) => {
    const where = whereOf(actor, params)
    const { event_id } = params
    await sendWebhooksIn(parts, { world, actor }, async (here, webhooks) => {
      const result = await tryNow(here, webhooks, where, event_id)
      const after = { endpoint_id: where.id }
      return { result, entry: { action: 'try_delivery', object_id: event_id, before: null, after } }
    })
    const [line] = await selectDeliveryLines(world.db, { endpoint_id: where.id, event_ids: [event_id] })
    return renderDeliveryLine(line!)
  }),
]

const whereOf = ({ partner_id }: PersonActor, { endpoint_id }: { endpoint_id: string }) => ({
  partner_id,
  id: endpoint_id,
})

export const renderDeliveryLine = (line: DeliveryLine) => ({
  ...line,
  next_attempt_at: line.status === 'pending' ? line.next_attempt_at.toISOString() : null,
  created_at: line.created_at.toISOString(),
})

async function withQueues(world: World, webhooks: readonly WebhookEndpoint[]) {
  const queues = await queuesOf(
    world.db,
    webhooks.map(({ id }) => id),
  )
  return webhooks.map((webhook) => {
    const { waiting, next_attempt_at, last } = queues.find(({ id }) => id === webhook.id)!
    return {
      ...renderEndpoint(webhook),
      waiting,
      next_attempt_at: next_attempt_at?.toISOString() ?? null,
      last: last && renderDeliveryLine(last),
    }
  })
}

async function oneWithQueue(world: World, webhook: WebhookEndpoint) {
  return (await withQueues(world, [webhook]))[0]!
}
