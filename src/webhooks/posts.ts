import type { Logger } from 'pino'
import { isSlow, type Lanes, lanesAfter, newLanes } from './lanes.ts'
import type { Pace } from './pace.ts'
import type { TakenDelivery } from './queue.ts'
import { giveRooms } from './rooms.ts'

/**
 * What this process has of each endpoint: how many attempts are under way, what was taken and waits for a lane, and how
 * the endpoint has been doing. An endpoint is *hungry* while it may have more to give than was taken.
 */
export type Posts = {
  /** These may have something to give. */
  expect(endpoints: Iterable<Owned>): void
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

export type Made = { readonly took_ms: number; readonly delivered: boolean }

type WaitingDelivery = TakenDelivery & { readonly taken_at: number }
type Post = {
  readonly partner_id: string
  lanes: Lanes
  under_way: number
  queue: WaitingDelivery[]
  ended_at: number
}

/** How the endpoint has been doing is remembered for so long. */
const IDLE_MS = 600_000

export function openPosts(options: {
  readonly log: Logger
  readonly timeout_ms: number
  readonly pace: Pace
  /** How long something taken may wait for a lane. */
  readonly wait_ms: number
  /** Never rejects but for a bug; undefined: nothing was learned. */
  deliver(taken: TakenDelivery): Promise<Made | undefined>
  /** Somebody else may have these. */
  release(taken: readonly TakenDelivery[]): void
  /** There is room again. */
  onRoom(): void
}): Posts {
  const { log, timeout_ms, pace, wait_ms, deliver, release, onRoom } = options
  const posts = new Map<string, Post>()
  /** With their partners; those that waited longest first. */
  const hungry = new Map<string, string>()
  const running = new Set<Promise<void>>()
  let stopped = false

  const newPost = (partner_id: string): Post => ({
    partner_id,
    lanes: newLanes,
    under_way: 0,
    queue: [],
    ended_at: 0,
  })
  const seenOf = ({ partner_id, lanes, under_way, queue }: Post) => ({
    partner_id,
    lanes,
    held: under_way + queue.length,
  })

  function postOf(id: string, partner_id: string): Post {
    const post = posts.get(id) ?? newPost(partner_id)
    posts.set(id, post)
    return post
  }

  function pump(id: string, post: Post): void {
    while (!stopped && post.under_way < post.lanes.count && post.queue.length > 0)
      begin(id, post, post.queue.shift()!)
    if (!stopped) giveBack(id, post)
  }

  function begin(id: string, post: Post, taken: TakenDelivery): void {
    post.under_way++
    const job = deliver(taken)
      .then((made) => {
        if (made) post.lanes = lanesAfter(post.lanes, made, timeout_ms)
      })
      .catch((error: unknown) => log.error({ err: error, endpoint_id: id }, 'webhooks: not tried'))
      .finally(() => {
        running.delete(job)
        post.under_way--
        post.ended_at = performance.now()
        pump(id, post)
        // A place that became free may be somebody else's.
        if (hungry.size > 0) onRoom()
      })
    running.add(job)
  }

  /** What waits behind an endpoint in trouble would lose its lease here: whoever has time may take it. */
  function giveBack(id: string, post: Post): void {
    const overdue = performance.now() - wait_ms
    const kept = post.queue.filter(({ taken_at }) => taken_at > overdue && !isSlow(post.lanes))
    if (kept.length === post.queue.length) return
    release(post.queue.filter((one) => !kept.includes(one)))
    post.queue = kept
    hungry.set(id, post.partner_id)
  }

  return {
    expect(endpoints) {
      for (const { endpoint_id, partner_id } of endpoints)
        if (!hungry.has(endpoint_id)) hungry.set(endpoint_id, partner_id)
    },
    rooms() {
      if (stopped || hungry.size === 0) return new Map()
      const asking = new Map(
        [...hungry].map(([id, partner_id]) => [id, seenOf(posts.get(id) ?? newPost(partner_id))]),
      )
      const rooms = giveRooms([...posts.values()].map(seenOf), asking, pace.left)
      for (const id of rooms.keys()) {
        // Made now: while the question is on its way the partner must be known.
        postOf(id, hungry.get(id)!)
        hungry.delete(id)
      }
      return rooms
    },
    take(rooms, taken) {
      const taken_at = performance.now()
      for (const [id, room] of rooms) {
        const post = posts.get(id)!
        const got = taken.filter(({ endpoint_id }) => endpoint_id === id)
        if (got.length === room) hungry.set(id, post.partner_id)
        pace.spend(post.partner_id, got.length)
        post.queue.push(...got.map((one) => ({ ...one, taken_at })))
        pump(id, post)
      }
    },
    drop(id) {
      hungry.delete(id)
      const post = posts.get(id)
      if (post) post.queue = []
    },
    forgetIdle() {
      pace.forgetIdle()
      const long_ago = performance.now() - IDLE_MS
      for (const [id, { under_way, queue, ended_at }] of posts)
        if (under_way === 0 && queue.length === 0 && ended_at < long_ago) posts.delete(id)
    },
    async stop() {
      stopped = true
      await Promise.all(running)
      return [...posts.values()].flatMap(({ queue }) => queue)
    },
  }
}
