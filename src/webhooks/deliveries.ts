import { refuse } from '../core/errors.ts'
import { isId } from '../core/ids.ts'
import type { OwnedId } from '../core/owned.ts'
import { type Newest, type NewestFilter, selectNewest } from '../db/newest.ts'
import type { World } from '../world.ts'
import {
  type Delivery,
  type DeliveryLine,
  deliveryList,
  selectDeliveries,
  selectDeliveryLines,
} from './delivery-store.ts'
import { findEndpoint } from './endpoints.ts'
import type { WebhookEndpoint } from './store.ts'

/** Characters of a response body that are returned. */
const SHOWN_IN_LIST = 1024
const SHOWN_ALONE = 1_000_000

type Listed = { readonly id: string; readonly created_at: Date }

/** Deliveries to an endpoint. `found` has one row more than the page if there is a next page. */
export async function listDeliveries(
  world: World,
  { id: endpoint_id }: WebhookEndpoint,
  filter: NewestFilter,
): Promise<{ found: Newest<Listed>; deliveries: Delivery[] }> {
  const found = await selectNewest(world.db, deliveryList(endpoint_id), filter)
  const event_ids = found.rows.slice(0, filter.limit - 1).map(({ id }) => id)
  const deliveries = await selectDeliveries(world.db, { endpoint_id, event_ids, shown: SHOWN_IN_LIST })
  return { found, deliveries }
}

/** The same page as summaries, without requests and responses. */
export async function listDeliveryLines(
  world: World,
  { id: endpoint_id }: WebhookEndpoint,
  filter: NewestFilter,
): Promise<{ found: Newest<Listed>; lines: DeliveryLine[] }> {
  const found = await selectNewest<Listed>(world.db, deliveryList(endpoint_id), filter)
  const event_ids = found.rows.slice(0, filter.limit - 1).map(({ id }) => id)
  return { found, lines: await selectDeliveryLines(world.db, { endpoint_id, event_ids }) }
}

export async function findDelivery(world: World, endpoint: OwnedId, event_id: string): Promise<Delivery> {
  const { id: endpoint_id } = await findEndpoint(world, endpoint)
  const filter = { endpoint_id, event_ids: [event_id], shown: SHOWN_ALONE }
  const [delivery] = isId('event', event_id) ? await selectDeliveries(world.db, filter) : []
  return delivery ?? refuse('event_not_found', { param: 'event_id' })
}
