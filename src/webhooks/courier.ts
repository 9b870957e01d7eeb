import type { Logger } from 'pino'
import { crashPoint } from '../core/crash-point.ts'
import type { Sealer } from '../core/seal.ts'
import { eventText } from '../events/contract.ts'
import type { World } from '../world.ts'
import { type Answer, attempt, isDelivered } from './attempt.ts'
import type { Outside } from './outside.ts'
import {
  type Claimed,
  claimDue,
  dispatchFresh,
  endpointsWithDue,
  type Outcome,
  releaseClaims,
} from './queue.ts'
import { openRecorder, type Recorder } from './recorder.ts'
import { retryDelay } from './schedule.ts'
import { signatureHeaders } from './signature.ts'
import { sealedFor } from './store.ts'

/**
 * Brings events to their receivers, at least once. Claimed with a lease, posted outside of any transaction, recorded in
 * a new one; whoever dies in between leaves a lease that ends, and another one posts again. Any number of processes may
 * do this at once.
 *
 * Every endpoint has lanes of its own: more while it answers, one while it keeps us waiting. So a receiver that is dead,
 * slow or endless is in nobody's way but its own.
 */
export type Courier = {
  /** There is something new: fresh events, or deliveries of these endpoints. */
  wake(endpoints?: readonly string[]): void
  stop(): Promise<void>
}

export type CourierOptions = {
  readonly outside: Outside
  readonly sealer: Sealer
  readonly log: Logger
  /** For one attempt, from the first packet to the last byte. */
  readonly timeout_ms: number
  /** How long to wait after the first failure, the second, and so on. */
  readonly retry_ms: readonly number[]
  readonly onAttempt?: (attempt: {
    outcome: 'delivered' | 'failed' | 'exhausted'
    lag_seconds: number | null
  }) => void
  /** Told when what came of an attempt could not be written down; `kept`: that it was made is known all the same. */
  readonly onLost?: (loss: { kept: boolean }) => void
}

const DISPATCH_BATCH = 500
/** How often to look without being told. */
const POLL_MS = 250
/** Between two looks while events pour in, so that they are placed together; and while deliveries do. */
const GATHER_EVENTS_MS = 20
const GATHER_DELIVERIES_MS = 5
const LANES_FIRST = 4
const LANES_MAX = 16
/** Over all endpoints; those in trouble may take half of it. */
const AT_ONCE_MAX = 256
/** What is under way at a stop may take this long to end by itself. */
const STOP_MS = 1500

/** What this process has of one endpoint. */
type Post = { lanes: number; under_way: number; queue: Waiting[] }
type Waiting = Claimed & { readonly claimed_at: number }

export function openCourier(world: World, options: CourierOptions): Courier {
  const { log, outside } = options
  const lease_ms = options.timeout_ms + world.lease_ms
  const posts = new Map<string, Post>()
  /** Endpoints that may have more to give than was taken. */
  const hungry = new Set<string>()
  const running = new Set<Promise<void>>()
  const recorder: Recorder = openRecorder(world.db, {
    log,
    ...(options.onLost ? { onLost: options.onLost } : {}),
  })
  /** Of what is under way. */
  const cutters = new Set<AbortController>()
  let cut = false
  let stopped = false
  /** When endpoints with something due were last looked for. */
  let looked_at = Number.NEGATIVE_INFINITY

  const dispatching = openLoop(dispatch, GATHER_EVENTS_MS)
  const claiming = openLoop(claim, GATHER_DELIVERIES_MS)

  async function dispatch(): Promise<void> {
    for (let placed = DISPATCH_BATCH; placed === DISPATCH_BATCH && !stopped; ) {
      const done = await dispatchFresh(world.db, DISPATCH_BATCH)
      placed = done.placed
      wakeEndpoints(done.endpoints)
    }
  }

  function wakeEndpoints(endpoints: readonly string[]): void {
    for (const id of endpoints) hungry.add(id)
    if (endpoints.length > 0) claiming.wake()
  }

  async function claim(): Promise<void> {
    // Also when others keep waking us: what was to be tried again is told by nobody.
    if (performance.now() - looked_at > POLL_MS / 2) {
      looked_at = performance.now()
      for (const id of await endpointsWithDue(world.db)) hungry.add(id)
    }
    for (let rooms = roomsOf(); rooms.size > 0 && !stopped; rooms = roomsOf()) {
      const claimed_at = performance.now()
      const claimed = await claimDue(world.db, rooms, lease_ms)
      for (const [id, room] of rooms) {
        const own = claimed.filter(({ endpoint_id }) => endpoint_id === id)
        if (own.length < room) hungry.delete(id)
        if (own.length === 0) continue
        postOf(id).queue.push(...own.map((one) => ({ ...one, claimed_at })))
        pump(id)
      }
    }
  }

  /** As much as each hungry endpoint may be given now: what its lanes are at, and as much again to wait for them. */
  function roomsOf(): Map<string, number> {
    const load = ({ under_way, queue }: Post) => under_way + queue.length
    const all = [...posts.values()]
    let free = AT_ONCE_MAX - all.reduce((sum, post) => sum + load(post), 0)
    let free_for_failing = AT_ONCE_MAX / 2 - all.filter(isFailing).reduce((sum, post) => sum + load(post), 0)
    const rooms = new Map<string, number>()
    for (const id of hungry) {
      const post = posts.get(id) ?? newPost()
      const failing = isFailing(post)
      const wanted = (failing ? 1 : 2 * post.lanes) - load(post)
      const room = Math.min(wanted, free, failing ? free_for_failing : free)
      if (room <= 0) continue
      rooms.set(id, room)
      free -= room
      if (failing) free_for_failing -= room
    }
    return rooms
  }

  function postOf(id: string): Post {
    const post = posts.get(id) ?? newPost()
    posts.set(id, post)
    return post
  }

  function pump(id: string): void {
    const post = postOf(id)
    while (!stopped && post.under_way < post.lanes && post.queue.length > 0) {
      const claimed = post.queue.shift()!
      post.under_way++
      const job = deliver(claimed)
        .then((verdict) => {
          post.lanes = lanesAfter(post.lanes, verdict)
        })
        .catch((error: unknown) => log.error({ err: error, endpoint_id: id }, 'webhooks: not tried'))
        .finally(() => {
          running.delete(job)
          post.under_way--
          pump(id)
          if (hungry.has(id)) claiming.wake()
          else if (post.under_way === 0 && post.queue.length === 0 && !isFailing(post)) posts.delete(id)
        })
      running.add(job)
    }
    if (!stopped) giveBack(id, post)
  }

  /** What waits behind an endpoint in trouble would lose its lease here: whoever has time may take it. */
  function giveBack(id: string, post: Post): void {
    const overdue = performance.now() - world.lease_ms / 2
    const kept = post.queue.filter(({ claimed_at }) => claimed_at > overdue && !isFailing(post))
    const returned = post.queue.filter((one) => !kept.includes(one))
    if (returned.length === 0) return
    post.queue = kept
    hungry.add(id)
    releaseClaims(world.db, returned).catch((error: unknown) => log.warn({ err: error }, 'webhooks'))
  }

  async function deliver(claimed: Claimed): Promise<Verdict> {
    const body = eventText(claimed, world.environment)
    const started_at = new Date(world.clock.now())
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Trilho-Webhooks/1',
      ...signatureHeaders({ id: claimed.id, body, at: started_at, secrets: secretsOf(claimed, started_at) }),
    }
    const { url } = claimed
    const begun = performance.now()
    const cutter = new AbortController()
    cutters.add(cutter)
    const { timeout_ms } = options
    const answer = await attempt(outside.agent, { url, headers, body, timeout_ms, cutter })
    cutters.delete(cutter)
    // Cut off by our own stop: nobody's fault, and nothing is known.
    if (cut && answer.error !== null) {
      await releaseClaims(world.db, [claimed])
      return 'failed'
    }
    if (isDelivered(answer)) crashPoint('after_delivery')
    const outcome: Outcome = {
      event_id: claimed.id,
      endpoint_id: claimed.endpoint_id,
      attempt: claimed.attempts,
      url,
      headers: JSON.stringify(headers),
      status: answer.status,
      answer_headers: answer.headers && JSON.stringify(answer.headers),
      answer_body: answer.body,
      error: answer.error,
      started_at,
      duration_ms: Math.round(performance.now() - begun),
      ...verdictOf(claimed, answer),
    }
    const lag_ms = started_at.getTime() - claimed.created_at.getTime()
    options.onAttempt?.({
      outcome: outcome.delivered ? 'delivered' : outcome.retry_ms === null ? 'exhausted' : 'failed',
      lag_seconds: claimed.attempts === 1 ? lag_ms / 1000 : null,
    })
    await recorder.record(outcome, {
      gone: answer.status === 410,
      was_failing: claimed.failing_since !== null,
    })
    if (outcome.delivered) return 'delivered'
    return outcome.duration_ms >= options.timeout_ms / 2 ? 'held_up' : 'failed'
  }

  function verdictOf({ tries }: Claimed, answer: Answer): Pick<Outcome, 'delivered' | 'retry_ms'> {
    if (isDelivered(answer)) return { delivered: true, retry_ms: null }
    const retry_after = answer.headers?.['retry-after']
    const now = world.clock.now()
    return {
      delivered: false,
      retry_ms: retryDelay({ tries, retry_ms: options.retry_ms, retry_after, now }) ?? null,
    }
  }

  function secretsOf(claimed: Claimed, now: Date): Buffer[] {
    const open = (sealed: Buffer) =>
      options.sealer.open(sealed, sealedFor(world.environment, claimed.endpoint_id))
    const { secret, previous_secret, previous_secret_until } = claimed
    const rotating = previous_secret && previous_secret_until && previous_secret_until > now
    return [open(secret), ...(rotating ? [open(previous_secret)] : [])]
  }

  /** Runs when woken, and after a while anyway; never twice at once. */
  function openLoop(work: () => Promise<void>, gather_ms: number) {
    let woken = false
    let rouse: () => void = () => {}
    const ended = (async () => {
      while (!stopped) {
        woken = false
        await work().catch((error: unknown) => log.warn({ err: error }, 'webhooks'))
        if (woken) await sleep(gather_ms)
        else
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, POLL_MS)
            rouse = () => {
              clearTimeout(timer)
              resolve()
            }
          })
      }
    })()
    return {
      ended,
      wake() {
        woken = true
        rouse()
      },
    }
  }

  return {
    wake(endpoints) {
      if (endpoints) wakeEndpoints(endpoints)
      else dispatching.wake()
    },
    async stop() {
      stopped = true
      for (const loop of [dispatching, claiming]) loop.wake()
      await Promise.all([dispatching.ended, claiming.ended])
      const timer = setTimeout(() => {
        cut = true
        for (const cutter of cutters) cutter.abort()
      }, STOP_MS)
      await Promise.all(running)
      clearTimeout(timer)
      const untried = [...posts.values()].flatMap(({ queue }) => queue)
      if (untried.length > 0) await releaseClaims(world.db, untried)
      await recorder.stop()
    },
  }
}

const newPost = (): Post => ({ lanes: LANES_FIRST, under_way: 0, queue: [] })

type Verdict = 'delivered' | 'failed' | 'held_up'

/** Who answers gets more lanes. Who refuses is asked a little less; who keeps us waiting is soon left with one. */
function lanesAfter(lanes: number, verdict: Verdict): number {
  if (verdict === 'delivered') return Math.min(lanes + 1, LANES_MAX)
  return verdict === 'failed' ? Math.max(2, lanes - 1) : Math.max(1, lanes >> 1)
}

/** Down to one lane: its last attempts kept us waiting. */
const isFailing = ({ lanes }: Post): boolean => lanes === 1
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
