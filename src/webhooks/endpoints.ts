import { refuse } from '../core/errors.ts'
import { isId } from '../core/ids.ts'
import { findOwned, type OwnedId } from '../core/owned.ts'
import type { Sealer } from '../core/seal.ts'
import { transaction } from '../db/pool.ts'
import { sealInForce } from '../db/sealing.ts'
import { recordEvent } from '../records/events/events.ts'
import { TEST_TYPE } from '../records/events/types.ts'
import type { World } from '../world.ts'
import type { EgressRules } from './address.ts'
import { renderEndpoint } from './contract.ts'
import { type Delivery, selectDeliveries } from './delivery-store.ts'
import { recordDisabled } from './disabled.ts'
import { addDeliveries, cancelPending } from './queue.ts'
import { newSecret, showSecret } from './signature.ts'
import {
  changeEndpoint,
  countEndpointEvent,
  deleteEndpoint,
  type EndpointChange,
  insertEndpoint,
  lockEndpoint,
  replaceSecret,
  type SealSecret,
  secretSealContext,
  selectEndpoint,
  type WebhookEndpoint,
} from './store.ts'
import { refusalOfUrl } from './url.ts'
import type { WebhookWorker } from './worker.ts'

/**
 * Webhook endpoints (contract §12). The clear secret exists in the responses of create and rotate, and in memory for signing;
 * the database has it sealed.
 */
export type Webhooks = {
  readonly sealer: Sealer
  readonly worker: WebhookWorker
  readonly reach: EgressRules
  /** Backoff after the first failure, the second, and so on. */
  readonly retry_ms: readonly number[]
}

const ENDPOINTS_MAX = 20
const PENDING_ENDED_AT_ONCE = 1000

type NewEndpoint = {
  readonly partner_id: string
  readonly url: string
  readonly events: readonly string[]
  readonly description: string | null
}

type ShownEndpoint = { readonly endpoint: WebhookEndpoint; readonly secret: string }

export async function createEndpoint(
  world: World,
  webhooks: Webhooks,
  wanted: NewEndpoint,
): Promise<ShownEndpoint> {
  checkUrl(world, webhooks, wanted.url)
  const id = world.newId('webhook_endpoint')
  const secret = newSecret()
  const seal = sealing(world, webhooks, secret, id)
  const events = [...new Set(wanted.events)]
  const endpoint = await insertEndpoint(world.db, { ...wanted, id, events }, seal, ENDPOINTS_MAX)
  return { endpoint: endpoint ?? refuse('too_many_webhook_endpoints'), secret: showSecret(secret) }
}

/** Seals under the key in force, which the transaction reads: it may change while a request is under way. */
const sealing =
  ({ environment }: World, { sealer }: Webhooks, secret: Buffer, id: string): SealSecret =>
  (tx) =>
    sealInForce(tx, sealer, secret, secretSealContext(environment, id))

function checkUrl(world: World, { reach }: Webhooks, url: string): void {
  const reason = refusalOfUrl(url, { allow_http: world.plain_http_webhooks, ...reach })
  if (reason !== undefined) refuse('invalid_request', { param: 'url', message: `url ${reason}` })
}

const missing = () => refuse('webhook_endpoint_not_found', { param: 'endpoint_id' })

export const findEndpoint = (world: World, where: OwnedId): Promise<WebhookEndpoint> =>
  findOwned('webhook_endpoint', where, () => selectEndpoint(world.db, where), 'endpoint_id')

export async function enabledEndpoint(world: World, where: OwnedId): Promise<WebhookEndpoint> {
  const endpoint = await findEndpoint(world, where)
  if (endpoint.status !== 'enabled') refuse('webhook_endpoint_disabled')
  return endpoint
}

export async function editEndpoint(
  world: World,
  webhooks: Webhooks,
  where: OwnedId,
  change: EndpointChange,
): Promise<WebhookEndpoint> {
  if (change.url !== undefined) checkUrl(world, webhooks, change.url)
  const unique = change.events ? { events: [...new Set(change.events)] } : {}
  const known = isId('webhook_endpoint', where.id)
  if (!known) return missing()
  const endpoint = await transaction(world.db, async (tx) => {
    const before = (await lockEndpoint(tx, where)) ?? missing()
    const after = (await changeEndpoint(tx, where, { ...change, ...unique })) ?? missing()
    if (before.status === 'enabled' && after.status === 'disabled') await recordDisabled(tx, world, where)
    return after
  })
  if (endpoint.status === 'disabled') await endPending(world, webhooks, where.id)
  return endpoint
}

export async function removeEndpoint(world: World, webhooks: Webhooks, where: OwnedId): Promise<void> {
  if (!isId('webhook_endpoint', where.id) || !(await deleteEndpoint(world.db, where))) missing()
  await endPending(world, webhooks, where.id)
}

/** Cancels the first PENDING_ENDED_AT_ONCE pending deliveries at once; the worker cancels the rest. */
async function endPending(world: World, { worker }: Webhooks, id: string): Promise<void> {
  worker.abandon(id)
  await cancelPending(world.db, [id], PENDING_ENDED_AT_ONCE)
}

export async function rotateSecret(
  world: World,
  webhooks: Webhooks,
  where: OwnedId,
  grace_hours: number,
): Promise<ShownEndpoint> {
  const secret = newSecret()
  const seal = sealing(world, webhooks, secret, where.id)
  const known = isId('webhook_endpoint', where.id)
  const endpoint = known ? await replaceSecret(world.db, where, seal, grace_hours * 3600) : undefined
  return { endpoint: endpoint ?? missing(), secret: showSecret(secret) }
}

/** Sends a test event: it is in the event log, but goes to this endpoint alone. */
export async function sendTest(world: World, { worker }: Webhooks, where: OwnedId): Promise<Delivery> {
  const { id } = await enabledEndpoint(world, where)
  // Read in the same transaction, before a worker can take it: the response shows the delivery before its first attempt.
  const [delivery] = await transaction(world.db, async (tx) => {
    const endpoint = (await countEndpointEvent(tx, where)) ?? missing()
    const event_id = await recordEvent(tx, world, {
      partner_id: endpoint.partner_id,
      type: TEST_TYPE,
      object: renderEndpoint(endpoint),
      sequence: endpoint.tests,
    })
    await addDeliveries(tx, event_id, [id])
    return selectDeliveries(tx, { endpoint_id: id, event_ids: [event_id], shown: 0 })
  })
  worker.wake({ partner_id: where.partner_id, endpoints: [id] })
  return delivery!
}
