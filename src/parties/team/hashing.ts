import { openFairSemaphore, QueueFull, type Release } from '../../core/fair-semaphore.ts'
import type { Pool } from '../../db/pool.ts'
import { wholeOf } from '../../db/share.ts'
import { networkOf } from '../../http/ip.ts'
import { type HashThread, openHashThread } from './hash-thread.ts'

/**
 * All argon2 hashing of this process, in one thread of low priority: one hash at a time (decision 0026). Strangers
 * and known callers wait in two queues that take turns, so a flood of strangers does not block known callers. A
 * caller takes a turn before any work is done for it. The queues are bounded in length and in time; beyond that the
 * caller gets `Busy`.
 */
export type Hasher = HashThread

/** For whom a hash is computed. The kind selects the queue, the name or address the caller's part of it. */
export type HashCaller =
  /** A sign-in, or the use of a link, from an address. */
  | { readonly kind: 'stranger'; readonly address: string }
  /**
   * A session, or a sign-in from a known place. `name`: the partner or the operator whose part of the queue it uses. `person`: the
   * user, who has one place of that part at a time. `place`: what its attempts per minute are counted by.
   */
  | { readonly kind: 'known'; readonly name: string; readonly person: string; readonly place: string }
  /** The command line and acts of operators, which strangers cannot reach. */
  | { readonly kind: 'local' }

/** The queue is full, or this caller made too many attempts. Nothing was done. */
export class Busy extends Error {
  override name = 'Busy'
  readonly wait_seconds: number
  constructor(wait_seconds: number) {
    super(`the hashing queue is full, try again in ${wait_seconds} seconds`)
    this.wait_seconds = wait_seconds
  }
}

type HashQueue = {
  /** Runs `work` when its turn comes. Rejects with `Busy` if the queue has no place for this caller. */
  inTurn<Result>(caller: HashCaller, work: (hasher: Hasher) => Promise<Result>): Promise<Result>
}

/**
 * The connections for work in a turn. A caller that waited for its own share of the connections would keep all others waiting for the
 * turn; and few turns run at once.
 */
export const outsideShares = (db: Pool): Pool => wholeOf(db)

/** Places in each of the two queues. */
const WAITING_MOST = 48
/** How many of these places one site (an IPv4 /24, an IPv6 /48) or one known name may hold. */
const WAITING_PER_NAME = 8
/** Attempts of one address, or IPv6 /64, that may be waiting or running at once. */
const AT_ONCE_PER_ADDRESS = 4
const WAIT_MS = 5000
const BUSY_SECONDS = 2
const PAUSE_MOST_MS = 200

const WINDOW_MS = 60_000
/** Attempts per minute, right or wrong, of an address or /64, of a session's user or a known place; and of a /48. */
const PER_MINUTE = 120
const PER_MINUTE_OF_A_SITE = 600
/** About 5 MB when full. */
const COUNTED_MOST = 50_000

export function openHashQueue(options: {
  readonly thread: HashThread
  readonly now?: () => number
}): HashQueue {
  const { thread, now = Date.now } = options
  const bounded = {
    at_once: 1,
    per_name: 1,
    waiting_per_name: WAITING_PER_NAME,
    waiting_max: WAITING_MOST,
    wait_ms: WAIT_MS,
  }
  const strangers = openFairSemaphore(bounded)
  const known = openFairSemaphore(bounded)
  /** A person waits for its own turn first, so that many attempts of one person do not use up the part of its team. */
  const people = openFairSemaphore({ ...bounded, at_once: Infinity, waiting_max: Infinity })
  const local = openFairSemaphore({ at_once: 1, per_name: 1 })
  const at_once = openAddressSlots(AT_ONCE_PER_ADDRESS)
  const minutes = openMinutes(now)

  async function takeAsStranger(address: string): Promise<Release> {
    const here = networkOf(address, 64)
    const leaveAddress = at_once.enter(here)
    try {
      minutes.count([
        { name: here, most: PER_MINUTE },
        ...(isIPv6(here) ? [{ name: siteOf(address), most: PER_MINUTE_OF_A_SITE }] : []),
      ])
      const leave = await strangers.take(siteOf(address))
      const began = performance.now()
      return () => {
        leaveAddress()
        // After each turn strangers pause for as long as it took, so they use at most half of a core.
        setTimeout(leave, Math.min(performance.now() - began, PAUSE_MOST_MS)).unref()
      }
    } catch (error) {
      leaveAddress()
      throw error
    }
  }

  async function takeAsKnown({ name, person, place }: Extract<HashCaller, { kind: 'known' }>) {
    minutes.count([{ name: place, most: PER_MINUTE }])
    const until = performance.now() + WAIT_MS
    const leavePerson = await people.take(person)
    try {
      const leave = await known.take(name, Math.max(0, until - performance.now()))
      return () => {
        leave()
        leavePerson()
      }
    } catch (error) {
      leavePerson()
      throw error
    }
  }

  async function take(caller: HashCaller): Promise<Release> {
    if (caller.kind === 'stranger') return takeAsStranger(caller.address)
    if (caller.kind === 'local') return local.take('')
    return takeAsKnown(caller)
  }

  return {
    async inTurn(caller, work) {
      const leave = await take(caller).catch((error: unknown) => {
        throw error instanceof QueueFull ? new Busy(BUSY_SECONDS) : error
      })
      try {
        return await work(thread)
      } finally {
        leave()
      }
    },
  }
}

const isIPv6 = (address: string): boolean => address.includes(':')

/** The /48 of an IPv6 address, the /24 of an IPv4 address: what one owner usually has. */
const siteOf = (address: string): string =>
  isIPv6(networkOf(address, 48)) ? networkOf(address, 48) : address.split('.').slice(0, 3).join('.')

function openAddressSlots(most: number) {
  const taken = new Map<string, number>()
  return {
    enter(name: string): Release {
      const before = taken.get(name) ?? 0
      if (before >= most) throw new Busy(BUSY_SECONDS)
      taken.set(name, before + 1)
      return () => {
        const left = taken.get(name)! - 1
        if (left > 0) taken.set(name, left)
        else taken.delete(name)
      }
    },
  }
}

/** Counts in windows of a minute, in memory. When there is no more room, the oldest counts are forgotten. */
function openMinutes(now: () => number) {
  const counts = new Map<string, number>()
  let window = 0
  return {
    /** Counts one under each name, or throws `Busy` and counts nothing. */
    count(limits: readonly { readonly name: string; readonly most: number }[]): void {
      const at = now()
      if (Math.floor(at / WINDOW_MS) !== window) {
        window = Math.floor(at / WINDOW_MS)
        counts.clear()
      }
      if (limits.some(({ name, most }) => (counts.get(name) ?? 0) >= most))
        throw new Busy(Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - at) / 1000)))
      for (const { name } of limits) counts.set(name, (counts.get(name) ?? 0) + 1)
      if (counts.size > COUNTED_MOST) counts.delete(counts.keys().next().value!)
    },
  }
}

/** One per process, because the CPU is what must be shared. */
export const hashQueue: HashQueue = openHashQueue({ thread: openHashThread() })
