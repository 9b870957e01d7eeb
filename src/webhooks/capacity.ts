import { isCostly, isSlow, type Lanes, newLanes } from './lanes.ts'

/**
 * How many deliveries each endpoint may take now. A delivery holds one of the node's slots from the moment it is taken until
 * its result is recorded. The rules say who may hold the slots:
 *
 * - Partners take turns: the next slot goes to the partner that holds the fewest, for its endpoint that has waited longest.
 * - A partner gets another slot only while more slots are free than it holds, so some are left for the next partner.
 * - Slow endpoints hold at most SLOW_SLOTS_OF_PARTNER slots per partner, and a quarter of all slots together.
 * - A partner starts only as many attempts as its pace allows, and at costly endpoints only as many as a second, slower pace
 *   allows (pace.ts).
 */
export type EndpointLoad = {
  readonly partner_id: string
  readonly lanes: Lanes
  /** Deliveries that were taken and have not ended: under way, or waiting for a lane. */
  readonly held: number
}

/** The load of an endpoint that this node has not delivered to yet. */
export const emptyLoad = (partner_id: string): EndpointLoad => ({ partner_id, lanes: newLanes, held: 0 })

export const SLOTS = 512
export const SLOW_SLOTS = 128
export const SLOW_SLOTS_OF_PARTNER = 16

/** `backlogged`: endpoints that may have due deliveries, longest waiting first. Returns the number of slots per endpoint. */
export function allotSlots(
  loads: Iterable<EndpointLoad>,
  backlogged: ReadonlyMap<string, EndpointLoad>,
  leftOf: (partner_id: string) => number = () => SLOTS,
  costlyLeftOf: (partner_id: string) => number = () => SLOTS,
): Map<string, number> {
  const slots = countSlots(loads)
  for (const { partner_id } of backlogged.values()) {
    slots.left.set(partner_id, leftOf(partner_id))
    slots.costly_left.set(partner_id, costlyLeftOf(partner_id))
  }
  const asking = [...backlogged].map(([endpoint_id, load]) => ({
    endpoint_id,
    load,
    left: wantedOf(load),
    given: 0,
  }))
  const turns = groupBy(
    asking.filter(({ left }) => left > 0),
    ({ load }) => load.partner_id,
  )
  while (turns.size > 0) {
    const [partner_id, queue] = fewestHeld(turns, slots)
    const next = queue.shift()
    if (!next) turns.delete(partner_id)
    // An endpoint that is refused a slot gets none later in this loop: the free slots only become fewer.
    if (!next || !take(slots, next.load)) continue
    next.given++
    if (--next.left > 0) queue.push(next)
  }
  return new Map(
    asking.filter(({ given }) => given > 0).map(({ endpoint_id, given }) => [endpoint_id, given]),
  )
}

/**
 * Deliveries taken ahead for a quick endpoint keep its lanes busy for this long. Taking more from the database and recording
 * results takes less time.
 */
export const AHEAD_MS = 50
/** The most deliveries taken ahead for one endpoint. */
export const AHEAD_MAX = 240

/**
 * One delivery per lane, and some ahead for an endpoint that answers quickly. While more than half of those ahead still wait,
 * the endpoint asks for none, so that deliveries are taken in batches.
 */
function wantedOf({ lanes, held }: EndpointLoad): number {
  const ahead = aheadOf(lanes)
  return held > lanes.count + ahead / 2 ? 0 : lanes.count + ahead - held
}

/** How many deliveries to take ahead: at least one per lane, unless the endpoint is slow or its speed is unknown. */
export function aheadOf(lanes: Lanes): number {
  const { count, usual_ms } = lanes
  if (usual_ms === null || isSlow(lanes)) return 0
  return Math.max(count, Math.min(AHEAD_MAX, Math.floor((count * AHEAD_MS) / Math.max(usual_ms, 1))))
}

type Slots = {
  free: number
  slow_free: number
  readonly held: Map<string, number>
  readonly slow: Map<string, number>
  /** How many more attempts each partner may start. */
  readonly left: Map<string, number>
  /** How many of those may go to costly endpoints. */
  readonly costly_left: Map<string, number>
}

function countSlots(loads: Iterable<EndpointLoad>): Slots {
  const slots: Slots = {
    free: SLOTS,
    slow_free: SLOW_SLOTS,
    held: new Map(),
    slow: new Map(),
    left: new Map(),
    costly_left: new Map(),
  }
  for (const load of loads) hold(slots, load, load.held)
  return slots
}

function hold(slots: Slots, { partner_id, lanes }: EndpointLoad, count: number): void {
  slots.free -= count
  add(slots.held, partner_id, count)
  if (!isSlow(lanes)) return
  slots.slow_free -= count
  add(slots.slow, partner_id, count)
}

function take(slots: Slots, load: EndpointLoad): boolean {
  const { partner_id } = load
  const left = slots.left.get(partner_id) ?? 0
  if (left <= 0) return false
  if (slots.free <= (slots.held.get(partner_id) ?? 0)) return false
  const slow = slots.slow.get(partner_id) ?? 0
  if (isSlow(load.lanes) && (slots.slow_free <= 0 || slow >= SLOW_SLOTS_OF_PARTNER)) return false
  if (isCostly(load.lanes)) {
    const costly_left = slots.costly_left.get(partner_id) ?? 0
    if (costly_left <= 0) return false
    slots.costly_left.set(partner_id, costly_left - 1)
  }
  hold(slots, load, 1)
  slots.left.set(partner_id, left - 1)
  return true
}

/** The partner that holds the fewest slots; among equals, the one that asked first. */
function fewestHeld<T>(turns: ReadonlyMap<string, T>, { held }: Slots): [string, T] {
  let best: [string, T] | undefined
  let fewest = Number.POSITIVE_INFINITY
  for (const turn of turns) {
    const count = held.get(turn[0]) ?? 0
    if (count >= fewest) continue
    best = turn
    fewest = count
  }
  return best!
}

const add = (counts: Map<string, number>, key: string, count: number) =>
  counts.set(key, (counts.get(key) ?? 0) + count)

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) {
    const group = groups.get(keyOf(one))
    if (group) group.push(one)
    else groups.set(keyOf(one), [one])
  }
  return groups
}
