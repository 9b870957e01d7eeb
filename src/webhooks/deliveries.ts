import { refuse } from '../core/errors.ts'
import { isId } from '../core/ids.ts'
import type { OwnedId } from '../core/owned.ts'
import { type Newest, type NewestFilter, selectNewest } from '../db/newest.ts'
import { PAGE_BYTES } from '../http/page.ts'
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

/** Deliveries of a list are read in parts, until a page is full: one may have an event of 40 KB and 20 attempts. */
const PART = 20

/** Deliveries to an endpoint, for one page. */
export async function listDeliveries(
  { db }: World,
  { id: endpoint_id }: WebhookEndpoint,
  filter: NewestFilter,
): Promise<Newest<Listed & { readonly delivery: Delivery }>> {
  const found = await selectNewest<Listed>(db, deliveryList(endpoint_id), filter)
  const wanted = found.rows.slice(0, filter.limit - 1)
  const rows: (Listed & { delivery: Delivery })[] = []
  let read = 0
  for (let bytes = 0; read < wanted.length && bytes < PAGE_BYTES; ) {
    const part = wanted.slice(read, read + PART)
    const event_ids = part.map(({ id }) => id)
    const deliveries = await selectDeliveries(db, { endpoint_id, event_ids, shown: SHOWN_IN_LIST })
    for (const row of part) {
      const delivery = deliveries.find(({ id }) => id === row.id)
      if (delivery) rows.push({ ...row, delivery })
    }
    for (const { data, attempts } of deliveries) bytes += data.length + JSON.stringify(attempts).length
    read += part.length
  }
  const last = wanted[read - 1]
  if (read === found.rows.length || !last) return { ...found, rows }
  return { rows, stopped_at: { at: last.created_at, id: last.id } }
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
