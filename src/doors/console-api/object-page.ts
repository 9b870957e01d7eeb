import { type Static, Type as T } from 'typebox'
import type { Db } from '../../db/pool.ts'
import { AssetName, Id, SignedUnits, Timestamp, Units } from '../../http/schema.ts'
import { entriesOf } from '../../ledger/balances.ts'
import { listKeys } from '../../parties/keys/store.ts'
import { selectEvents } from '../../records/events/log-store.ts'
import { requestById } from '../../records/requests/store.ts'
import { deliveriesOfEvents, deliveryStatuses } from '../../webhooks/delivery-store.ts'

/** Parts of the pages of a payout, transfer, trade or deposit. */

export const MovementObject = T.Object(
  {
    name: T.String({ description: 'accepted, completed, returned, …' }),
    created_at: Timestamp,
    entries: T.Array(
      T.Object({
        account: T.String({ description: 'customer, in_transit:pix, external:pix, …' }),
        owner: T.String({
          description: 'Whose it is: a customer or a partner; empty for those of the house',
        }),
        asset: AssetName,
        amount: SignedUnits,
        balance_after: T.Union([Units, T.Null()]),
      }),
    ),
  },
  { $id: 'Movement' },
)

/** Oldest first. The entries of each movement sum to zero per asset. */
export async function movementsOf(db: Db, cause_id: string): Promise<Static<typeof MovementObject>[]> {
  const movements: Static<typeof MovementObject>[] = []
  for (const { movement, created_at, account, owner, asset, ...entry } of await entriesOf(db, cause_id)) {
    const last = movements.at(-1)
    const shown = {
      account,
      owner,
      asset,
      amount: entry.amount.toString(),
      balance_after: entry.balance_after?.toString() ?? null,
    }
    if (last?.name === movement) last.entries.push(shown)
    else movements.push({ name: movement, created_at: created_at.toISOString(), entries: [shown] })
  }
  return movements
}

export const PublishedEvent = T.Object(
  {
    id: Id('event'),
    type: T.String(),
    sequence: T.Integer(),
    created_at: Timestamp,
    deliveries: T.Array(
      T.Object({
        endpoint_id: Id('webhook_endpoint'),
        url: T.String(),
        status: T.Enum([...deliveryStatuses]),
        attempts: T.Integer(),
        next_attempt_at: T.Union([Timestamp, T.Null()]),
        answer_status: T.Union([T.Integer(), T.Null()]),
        error: T.Union([T.String(), T.Null()]),
        duration_ms: T.Union([T.Integer(), T.Null()]),
      }),
    ),
  },
  { $id: 'PublishedEvent' },
)

const EVENTS_SHOWN = 50

/** The events about an object in the order of the log, each with its deliveries. */
export async function eventsAbout(
  db: Db,
  { id: object_id, partner_id }: { readonly id: string; readonly partner_id: string },
): Promise<Static<typeof PublishedEvent>[]> {
  const filter = { partner_id, object_id, type: undefined, from: { after: 0n }, limit: EVENTS_SHOWN }
  const { rows } = await selectEvents(db, filter)
  const deliveries = await deliveriesOfEvents(db, { partner_id, event_ids: rows.map(({ id }) => id) })
  return rows.map(({ id, type, sequence, created_at }) => ({
    id,
    type,
    sequence,
    created_at: created_at.toISOString(),
    deliveries: deliveries
      .filter(({ event_id }) => event_id === id)
      .map(({ event_id: _, next_attempt_at, ...delivery }) => ({
        ...delivery,
        next_attempt_at: delivery.status === 'pending' ? next_attempt_at.toISOString() : null,
      })),
  }))
}

export const ApiRequest = T.Object(
  {
    id: T.Union([Id('request'), T.Null()], { description: 'Null: made before requests were kept' }),
    route: T.String(),
    key: T.Object({ id: Id('key'), name: T.String(), last_four: T.String() }),
    /** From the log of requests, which is kept for some weeks. */
    logged: T.Union([T.Object({ address: T.String(), duration_ms: T.Integer() }), T.Null()]),
    body: T.Unknown({ description: 'What was asked for, as the row that came of it says' }),
    answer: T.Union([T.Object({ status: T.Integer(), body: T.Unknown() }), T.Null()], {
      description: 'What the first caller was told; null when that is not kept any more, or not known yet',
    }),
  },
  { $id: 'ApiRequest' },
)

type Made = { readonly partner_id: string; readonly api_key_id: string; readonly request_id: string | null }

/** The API call that created an object: the request from the object's row, the answer from its idempotency record. */
export async function apiRequestOf(
  db: Db,
  { partner_id, api_key_id, request_id }: Made,
  said: {
    readonly route: string
    readonly body: unknown
    readonly answer: { readonly status: number; readonly body: string } | null
  },
): Promise<Static<typeof ApiRequest>> {
  const [[key], logged] = await Promise.all([
    listKeys(db, { partner_id, id: api_key_id }),
    request_id === null ? undefined : requestById(db, { id: request_id, partner_id }),
  ])
  return {
    id: request_id,
    route: said.route,
    key: { id: api_key_id, name: key?.name ?? '', last_four: key?.last_four ?? '' },
    logged: logged ? { address: logged.address, duration_ms: logged.duration_ms } : null,
    body: said.body,
    answer: said.answer && { status: said.answer.status, body: JSON.parse(said.answer.body) },
  }
}
