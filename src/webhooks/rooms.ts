import { isCostly, isSlow, type Lanes } from './lanes.ts'

/**
 * Who may take how many deliveries now. A place is taken from then to the end of the attempt, and there are only so
 * many on a node; so the rules are about who holds them:
 *
 * - Partners take turns: the next place goes to the one that holds the fewest, and to the endpoint of it that waited longest.
 * - A partner holds no more places than there are free. However many partners take all they can get, there is as much
 *   left for the next one as each of them has.
 * - Slow endpoints hold few: some per partner, a quarter of the places in all.
 * - A partner begins only as many as its pace allows, and of attempts at costly endpoints only as many as a second, slower
 *   pace allows (pace.ts).
 */
export type Post = {
  readonly partner_id: string
  readonly lanes: Lanes
  /** Taken and not yet ended, whether under way or waiting for a lane. */
  readonly held: number
}

export const PLACES = 512
export const SLOW_PLACES = 128
export const SLOW_PLACES_OF_PARTNER = 16

/** `hungry`: endpoints that may have something to give, those that waited longest first. Returns room per endpoint. */
export function giveRooms(
  posts: Iterable<Post>,
  hungry: ReadonlyMap<string, Post>,
  leftOf: (partner_id: string) => number = () => PLACES,
  costlyLeftOf: (partner_id: string) => number = () => PLACES,
): Map<string, number> {
  const places = countPlaces(posts)
  for (const { partner_id } of hungry.values()) {
    places.left.set(partner_id, leftOf(partner_id))
    places.costly_left.set(partner_id, costlyLeftOf(partner_id))
  }
  const asking = [...hungry].map(([endpoint_id, post]) => ({
    endpoint_id,
    post,
    left: wantedOf(post),
    given: 0,
  }))
  const turns = groupBy(
    asking.filter(({ left }) => left > 0),
    ({ post }) => post.partner_id,
  )
  while (turns.size > 0) {
    const [partner_id, queue] = fewestHeld(turns, places)
    const next = queue.shift()
    if (!next) turns.delete(partner_id)
    // Refused now, refused for the rest of this round: what is free only becomes less.
    if (!next || !take(places, next.post)) continue
    next.given++
    if (--next.left > 0) queue.push(next)
  }
  return new Map(
    asking.filter(({ given }) => given > 0).map(({ endpoint_id, given }) => [endpoint_id, given]),
  )
}

/** What waits for the lanes of a quick endpoint lasts so long: longer than it takes to take and to write down. */
export const AHEAD_MS = 50
/** However quick it is. */
export const AHEAD_MAX = 240

/**
 * As much as its lanes are at; and some more to wait for them, when it is known to answer quickly. While half of that
 * waits nothing is asked for, so that deliveries are taken together.
 */
function wantedOf({ lanes, held }: Post): number {
  const ahead = aheadOf(lanes)
  return held > lanes.count + ahead / 2 ? 0 : lanes.count + ahead - held
}

/** At least as much again as the lanes are at. */
export function aheadOf(lanes: Lanes): number {
  const { count, usual_ms } = lanes
  if (usual_ms === null || isSlow(lanes)) return 0
  return Math.max(count, Math.min(AHEAD_MAX, Math.floor((count * AHEAD_MS) / Math.max(usual_ms, 1))))
}

type Places = {
  free: number
  slow_free: number
  readonly held: Map<string, number>
  readonly slow: Map<string, number>
  /** How many more each partner may begin. */
  readonly left: Map<string, number>
  /** And of those how many at costly endpoints. */
  readonly costly_left: Map<string, number>
}

function countPlaces(posts: Iterable<Post>): Places {
  const places: Places = {
    free: PLACES,
    slow_free: SLOW_PLACES,
    held: new Map(),
    slow: new Map(),
    left: new Map(),
    costly_left: new Map(),
  }
  for (const post of posts) hold(places, post, post.held)
  return places
}

function hold(places: Places, { partner_id, lanes }: Post, count: number): void {
  places.free -= count
  add(places.held, partner_id, count)
  if (!isSlow(lanes)) return
  places.slow_free -= count
  add(places.slow, partner_id, count)
}

function take(places: Places, post: Post): boolean {
  const { partner_id } = post
  const left = places.left.get(partner_id) ?? 0
  if (left <= 0) return false
  if (places.free <= (places.held.get(partner_id) ?? 0)) return false
  const slow = places.slow.get(partner_id) ?? 0
  if (isSlow(post.lanes) && (places.slow_free <= 0 || slow >= SLOW_PLACES_OF_PARTNER)) return false
  if (isCostly(post.lanes)) {
    const costly_left = places.costly_left.get(partner_id) ?? 0
    if (costly_left <= 0) return false
    places.costly_left.set(partner_id, costly_left - 1)
  }
  hold(places, post, 1)
  places.left.set(partner_id, left - 1)
  return true
}

/** The partner whose turn it is: of those that hold equally few, the one that asked first. */
function fewestHeld<T>(turns: ReadonlyMap<string, T>, { held }: Places): [string, T] {
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
