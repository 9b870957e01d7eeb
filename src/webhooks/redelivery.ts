import { refuse } from '../core/errors.ts'
import type { OwnedId } from '../core/owned.ts'
import { type Db, transaction } from '../db/pool.ts'
import { findEvent } from '../records/events/log.ts'
import { TEST_TYPE } from '../records/events/types.ts'
import type { World } from '../world.ts'
import { findDelivery } from './deliveries.ts'
import { enabledEndpoint, type Webhooks } from './endpoints.ts'
import {
  addDeliveries,
  earliestBehind,
  endOfLate,
  listenersOf,
  lockOutstanding,
  makeAllDueNow,
  makeDueNow,
  redeliverRange,
} from './queue.ts'

/**
 * Redelivery of events (contract §17.15). One call makes many deliveries, so three limits bound it: pending deliveries per
 * endpoint, events per call, and calls per key (limits/window-limits.ts).
 */
const OUTSTANDING_MAX = 50_000
const RANGE_PART = 2000
const RANGE_PARTS_MAX = 5

/** A guess: when the receiver will have worked off its queue is unknown. */
const ASK_AGAIN_SECONDS = 60

/** Redelivers an event to every enabled endpoint that is subscribed to its type, or to the named endpoint alone. */
export async function redeliverEvent(
  world: World,
  { worker }: Webhooks,
  where: OwnedId,
  endpoint_id?: string,
): Promise<number> {
  const event = await findEvent(world, where)
  const { partner_id } = event
  if (endpoint_id !== undefined) {
    await enabledEndpoint(world, { id: endpoint_id, partner_id })
    if (event.type === TEST_TYPE && event.object_id !== endpoint_id)
      refuse('invalid_request', {
        param: 'endpoint_id',
        message: 'endpoint_id: a test event goes to the endpoint that it was made for, and to no other.',
      })
  }
  const endpoints = await transaction(world.db, async (tx) => {
    const wanted = endpoint_id === undefined ? await listenersOf(tx, event) : [endpoint_id]
    for (const id of wanted) await quotaOrRefuse(tx, id)
    const added = await addDeliveries(tx, event.id, wanted)
    if (added < wanted.length) refuse('event_not_found', { param: 'event_id' })
    return wanted
  })
  worker.wake({ partner_id, endpoints })
  return endpoints.length
}

/** Makes a pending delivery due now. Redelivers one that has ended. */
export async function tryNow(
  world: World,
  webhooks: Webhooks,
  endpoint: OwnedId,
  event_id: string,
): Promise<void> {
  const { partner_id } = endpoint
  const { status } = await findDelivery(world, endpoint, event_id)
  if (status !== 'pending') {
    await redeliverEvent(world, webhooks, { id: event_id, partner_id }, endpoint.id)
    return
  }
  const { id } = await enabledEndpoint(world, endpoint)
  await makeDueNow(world.db, event_id, id)
  webhooks.worker.wake({ partner_id, endpoints: [id] })
}

/**
 * Makes the waiting deliveries of an endpoint due now, as many as one call may take. A delivery that was never tried is due
 * already, and one whose attempt is under way is left alone.
 */
export async function retryWaiting(
  world: World,
  { worker }: Webhooks,
  where: OwnedId,
): Promise<{ retried: number; more: boolean }> {
  const { id, partner_id } = await enabledEndpoint(world, where)
  let retried = 0
  for (let part = 0; part < RANGE_PARTS_MAX; part++) {
    const done = await makeAllDueNow(world.db, id, RANGE_PART)
    retried += done
    if (done < RANGE_PART) break
  }
  worker.wake({ partner_id, endpoints: [id] })
  return { retried, more: retried === RANGE_PART * RANGE_PARTS_MAX }
}

/** Redelivers the events from `from` up to, and without, `to`. If one call cannot take them all, the next one begins at `next_from`. */
export async function redeliverRangeOf(
  world: World,
  { worker }: Webhooks,
  where: OwnedId,
  asked: { from: Date; to: Date; only_failed?: boolean },
): Promise<{ redelivered: number; next_from: Date | undefined }> {
  if (!(asked.from < asked.to))
    refuse('invalid_request', { param: 'to', message: 'to must be later than from.' })
  const endpoint = await enabledEndpoint(world, where)
  const { id, partner_id } = endpoint
  // After a clock was set back, all events of a long time may have entered the log late.
  const rest = await endOfLate(world.db, partner_id, { ...asked, most: RANGE_PART })
  const range = { from: asked.from, to: rest ?? asked.to }
  const { only_failed = false } = asked
  let redelivered = 0
  let after: bigint | null = null
  const left = async () =>
    after === null ? range.from : await earliestBehind(world.db, partner_id, { ...range, after })
  for (let part = 0; ; part++) {
    if (part >= RANGE_PARTS_MAX) {
      const next_from = (await left()) ?? rest
      // More events in one instant than a call may take: go on, or the next call would begin where this one did.
      if (next_from === undefined || next_from > range.from) return { redelivered, next_from }
    }
    const done = await transaction(world.db, async (tx) => {
      // Only the first part refuses: later ones stop, so that the response tells what was redelivered so far.
      const quota = part === 0 ? await quotaOrRefuse(tx, id) : await quotaLeft(tx, id)
      const most = Math.min(RANGE_PART, quota)
      return (
        most > 0 && { ...(await redeliverRange(tx, endpoint, { ...range, after, most, only_failed })), most }
      )
    })
    if (!done) break
    redelivered += done.redelivered
    after = done.last ?? after
    worker.wake({ partner_id, endpoints: [id] })
    if (done.looked_at < done.most) return { redelivered, next_from: rest }
  }
  return { redelivered, next_from: (await left()) ?? rest }
}

const outstanding = (tx: Db, endpoint_id: string) => lockOutstanding(tx, endpoint_id, OUTSTANDING_MAX)

const quotaLeft = async (tx: Db, endpoint_id: string) =>
  OUTSTANDING_MAX - ((await outstanding(tx, endpoint_id)) ?? OUTSTANDING_MAX)

/** How many more deliveries may be pending for an endpoint; refuses if none. */
async function quotaOrRefuse(tx: Db, endpoint_id: string): Promise<number> {
  const waiting = await outstanding(tx, endpoint_id)
  if (waiting === undefined)
    refuse('too_many_redeliveries', {
      message: `Another redelivery to ${endpoint_id} is being made at this moment. Try again in a second.`,
      retry_after_seconds: 1,
    })
  if (waiting >= OUTSTANDING_MAX)
    refuse('too_many_redeliveries', {
      message: `${OUTSTANDING_MAX} deliveries wait for ${endpoint_id} already. Wait until the endpoint has received those, then try again.`,
      retry_after_seconds: ASK_AGAIN_SECONDS,
    })
  return OUTSTANDING_MAX - waiting
}
