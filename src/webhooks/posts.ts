import { isCostly } from './lanes.ts'
import type { Pace } from './pace.ts'
import { openPost, type Post, type PostOptions, unseen } from './post.ts'
import type { TakenDelivery } from './queue.ts'
import { giveRooms } from './rooms.ts'

/** The endpoints that this process has to do with. One is *hungry* while it may have more to give than was taken. */
export type Posts = {
  /** These may have something to give. */
  expect(endpoints: Iterable<Owned>): void
  /** Some endpoint may have more to give than was taken. */
  isHungry(): boolean
  /** As much as may be taken now; whoever asks is about to take it. */
  rooms(): Map<string, number>
  /** What came of taking that much. */
  take(rooms: ReadonlyMap<string, number>, taken: readonly TakenDelivery[]): void
  /** Nothing more goes there: what waits for a lane is let go. */
  drop(endpoint_id: string): void
  forgetIdle(): void
  /** Lets what is under way end, and returns what was taken and never tried. */
  stop(): Promise<TakenDelivery[]>
}

export type Owned = { readonly endpoint_id: string; readonly partner_id: string }

/** How the endpoint has been doing is remembered for so long. */
const IDLE_MS = 600_000

export function openPosts(
  options: PostOptions & {
    readonly pace: Pace
    /** Of attempts at costly endpoints. */
    readonly costly_pace: Pace
    onRoom(): void
  },
): Posts {
  const { pace, costly_pace, onRoom } = options
  const posts = new Map<string, Post>()
  /** With their partners; those that waited longest first. */
  const hungry = new Map<string, string>()
  /** Those that somebody is just taking for. */
  const asked = new Set<string>()
  let stopped = false

  function openPostOf(endpoint_id: string, partner_id: string): Post {
    return openPost(
      { endpoint_id, partner_id },
      {
        ...options,
        onHungry: () => void hungry.set(endpoint_id, partner_id),
        // A place that became free may be somebody else's.
        onEnd: () => void (hungry.size > 0 && onRoom()),
      },
    )
  }

  return {
    expect(endpoints) {
      for (const { endpoint_id, partner_id } of endpoints)
        if (!hungry.has(endpoint_id)) hungry.set(endpoint_id, partner_id)
    },
    isHungry: () => hungry.size > 0,
    rooms() {
      if (stopped || hungry.size === 0) return new Map()
      const asking = new Map(
        [...hungry].map(([id, partner_id]) => [id, posts.get(id)?.seen() ?? unseen(partner_id)]),
      )
      const all = [...posts.values()].map((post) => post.seen())
      const rooms = giveRooms(all, asking, pace.left, costly_pace.left)
      for (const id of rooms.keys()) {
        // Made now: while the taking is under way the partner must be known.
        if (!posts.has(id)) posts.set(id, openPostOf(id, hungry.get(id)!))
        hungry.delete(id)
        asked.add(id)
      }
      return rooms
    },
    take(rooms, taken) {
      for (const [id, room] of rooms) {
        // Dropped meanwhile: what was taken for it is canceled.
        if (!asked.delete(id)) continue
        const post = posts.get(id)!
        const { partner_id, lanes } = post.seen()
        const got = taken.filter(({ endpoint_id }) => endpoint_id === id)
        if (got.length === room) hungry.set(id, partner_id)
        pace.spend(partner_id, got.length)
        if (isCostly(lanes)) costly_pace.spend(partner_id, got.length)
        post.add(got)
      }
    },
    drop(id) {
      hungry.delete(id)
      asked.delete(id)
      posts.get(id)?.drop()
    },
    forgetIdle() {
      pace.forgetIdle()
      costly_pace.forgetIdle()
      for (const [id, post] of posts) if (post.hasRested(IDLE_MS)) posts.delete(id)
    },
    async stop() {
      stopped = true
      for (const post of posts.values()) post.stop()
      const untried = await Promise.all([...posts.values()].map((post) => post.ended()))
      return untried.flat()
    },
  }
}
