import { allotSlots, emptyLoad } from './capacity.ts'
import { type EndpointSender, type EndpointSenderOptions, openEndpointSender } from './endpoint-sender.ts'
import { isCostly } from './lanes.ts'
import type { Pace } from './pace.ts'
import type { TakenDelivery } from './queue.ts'

/**
 * One sender per endpoint that this node delivers to. An endpoint is *backlogged* while it may have due deliveries that this
 * node has not taken.
 */
type EndpointSenders = {
  /** Marks these endpoints as backlogged. */
  addBacklog(endpoints: Iterable<OwnedEndpoint>): void
  /** Whether any endpoint is backlogged. */
  hasBacklog(): boolean
  /** How many deliveries to take now, per backlogged endpoint. The caller takes them, and passes the result to `start`. */
  reserveSlots(): Map<string, number>
  /** Starts the deliveries that were taken for the reserved slots. */
  start(slots: ReadonlyMap<string, number>, taken: readonly TakenDelivery[]): void
  /** For an endpoint that was disabled or deleted: forgets its deliveries that wait for a lane. */
  drop(endpoint_id: string): void
  forgetIdle(): void
  /** Waits for the attempts under way, and returns the deliveries that were taken and never tried. */
  stop(): Promise<TakenDelivery[]>
}

type OwnedEndpoint = { readonly endpoint_id: string; readonly partner_id: string }

/** How long the speed of an idle endpoint is remembered. */
const IDLE_MS = 600_000

export function openEndpointSenders(
  options: EndpointSenderOptions & {
    readonly pace: Pace
    /** The pace of attempts at costly endpoints. */
    readonly costly_pace: Pace
    onSlotFree(): void
  },
): EndpointSenders {
  const { pace, costly_pace, onSlotFree } = options
  const senders = new Map<string, EndpointSender>()
  /** From endpoint to partner, longest waiting first. */
  const backlogged = new Map<string, string>()
  /** Endpoints with reserved slots, until `start`. */
  const reserved = new Set<string>()
  let stopped = false

  function openSender(endpoint_id: string, partner_id: string): EndpointSender {
    return openEndpointSender(
      { endpoint_id, partner_id },
      {
        ...options,
        onBacklog: () => void backlogged.set(endpoint_id, partner_id),
        // Another endpoint may be waiting for the slot.
        onEnd: () => void (backlogged.size > 0 && onSlotFree()),
      },
    )
  }

  return {
    addBacklog(endpoints) {
      for (const { endpoint_id, partner_id } of endpoints)
        if (!backlogged.has(endpoint_id)) backlogged.set(endpoint_id, partner_id)
    },
    hasBacklog: () => backlogged.size > 0,
    reserveSlots() {
      if (stopped || backlogged.size === 0) return new Map()
      const asking = new Map(
        [...backlogged].map(([id, partner_id]) => [id, senders.get(id)?.load() ?? emptyLoad(partner_id)]),
      )
      const loads = [...senders.values()].map((sender) => sender.load())
      const slots = allotSlots(loads, asking, pace.left, costly_pace.left)
      for (const id of slots.keys()) {
        // Opened before the deliveries are taken: `start` needs the partner, and the entry in `backlogged` goes now.
        if (!senders.has(id)) senders.set(id, openSender(id, backlogged.get(id)!))
        backlogged.delete(id)
        reserved.add(id)
      }
      return slots
    },
    start(slots, taken) {
      for (const [id, count] of slots) {
        // The endpoint was dropped meanwhile: canceling.ts ends the deliveries that were taken for it.
        if (!reserved.delete(id)) continue
        const sender = senders.get(id)!
        const { partner_id, lanes } = sender.load()
        const got = taken.filter(({ endpoint_id }) => endpoint_id === id)
        if (got.length === count) backlogged.set(id, partner_id)
        pace.spend(partner_id, got.length)
        if (isCostly(lanes)) costly_pace.spend(partner_id, got.length)
        sender.add(got)
      }
    },
    drop(id) {
      backlogged.delete(id)
      reserved.delete(id)
      senders.get(id)?.drop()
    },
    forgetIdle() {
      pace.forgetIdle()
      costly_pace.forgetIdle()
      for (const [id, sender] of senders) if (sender.isIdleFor(IDLE_MS)) senders.delete(id)
    },
    async stop() {
      stopped = true
      for (const sender of senders.values()) sender.stop()
      const untried = await Promise.all([...senders.values()].map((sender) => sender.ended()))
      return untried.flat()
    },
  }
}
