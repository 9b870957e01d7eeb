import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isAnswer, isPassing, sqlState } from '../db/failure.ts'
import { type Channel, type Hints, sendHint } from '../db/hints.ts'
import { type Client, openClient, type Pool, type Seat } from '../db/pool.ts'
import { findBackend, type Ghosts, openGhosts } from './ghosts.ts'
import type { Heirs } from './heirs.ts'
import {
  isMarked,
  lockTogether,
  markAlone,
  tryLockAlone,
  unlockAlone,
  unlockTogether,
  unmarkAlone,
} from './store.ts'

/**
 * Who counts. One advisory lock settles it: a lone node holds it for itself, several hold it together, each on a
 * connection that it keeps for this. A lone node may lose its lock before it knows: so it puts a mark in the database
 * before it counts, and takes it away when everything it counted is saved. Nobody counts while another one's mark is there.
 * A mark is removed by others after HEIRS_WAIT_MS (heirs.ts), so a lone node counts only under a lease: the server has
 * confirmed lock and mark within the last LONE_LEASE_MS (decision 0100).
 *
 *   apart  → alone    nobody else holds the lock
 *   apart  → shared   others hold it; a lone one was asked to share, and did
 *   alone  → shared   another node asks
 *   shared → alone    the others have left
 *   any    → apart    the connection was lost, and the lock with it; another one is tried for
 */
export type Standing =
  /** This node counts, in its memory. */
  | 'alone'
  /** All nodes count, in the database. */
  | 'shared'
  /** Nobody here can say who counts. */
  | 'apart'
  /** Perhaps on its way from one to another. */
  | 'changing'

export type Membership = {
  standing(): Standing
  /** Whether this node counts alone and its lease holds. Renews the lease when that is due. */
  countsAlone(): boolean
  /** Until what is changing has changed, and no longer than this. */
  settle(ms: number): Promise<void>
  /** The first time. Waits for the database, and for a lone node that does not share yet. */
  enter(signal?: AbortSignal): Promise<void>
  /** Changes nothing any more; the lock is kept. */
  stop(ms: number): Promise<void>
  /** Gives the lock back. */
  leave(): Promise<void>
}

export type MembershipOptions = {
  readonly seat: Seat
  readonly settings: Record<string, string>
  readonly pool: Pool
  readonly hints: Hints
  readonly heirs: Heirs
  readonly log: Logger
  /** How often a node that shares looks whether it is alone again. */
  readonly try_alone_ms: number
  /** Writes down what was counted in memory. */
  save(): Promise<void>
  /** The same after the connection was lost, as soon as that can be done. */
  saveSoon(): Promise<void>
  /** Takes over what was counted in the database, once nothing is being counted there. */
  takeOver(): Promise<void>
  /** Until nothing of this node is being counted in the database. */
  counted(): Promise<void>
}

const SHARED: Channel = 'windows_shared'
const REJOIN_MS = 300
/** How long a lone node counts after the server last confirmed its lock. Renewed at half of it, and only while it counts. */
const LONE_LEASE_MS = 1000
/** How often it is looked whether the mark of another node is still there. */
const LOOK_MS = 20
const ASK_MS = 100
const MEMBER_QUERY_MS = 5000
const QUERY_CANCELED = '57014'

export const openMembership = (options: MembershipOptions): Membership => new Member(options)

class Member implements Membership {
  readonly #options: MembershipOptions
  readonly #self = randomUUID()
  readonly #ghosts: Ghosts
  readonly #timer: NodeJS.Timeout
  #rejoining: NodeJS.Timeout | undefined
  #client: Client | undefined
  /** This node's mark, while it may be in the database. A new value each time: see heirs.ts. */
  #mark: string | undefined
  /** When the question was sent whose answer confirmed lock and mark. */
  #confirmed_at = 0
  #confirming = false
  #held: 'alone' | 'shared' | 'apart' = 'apart'
  /** Changes happen one after the other. */
  #changing: Promise<void> = Promise.resolve()
  #changes = 0
  #stopped = false

  constructor(options: MembershipOptions) {
    this.#options = options
    this.#ghosts = openGhosts(options.seat)
    // A node that takes its time to join hears itself ask.
    options.hints.on(SHARED, (from) => void (from !== this.#self && this.#change(() => this.#share())))
    this.#timer = setInterval(() => {
      if (this.#held === 'shared') void this.#change(async () => void (await this.#tryAlone()))
    }, options.try_alone_ms)
    this.#timer.unref()
  }

  standing(): Standing {
    return this.#changes > 0 ? 'changing' : this.#held
  }

  countsAlone(): boolean {
    if (this.standing() !== 'alone') return false
    const age = performance.now() - this.#confirmed_at
    // Without a lease nobody is admitted until the server has answered.
    if (age >= LONE_LEASE_MS) void this.#change(() => this.#confirm())
    else if (age >= LONE_LEASE_MS / 2 && !this.#confirming) void this.#confirm()
    return age < LONE_LEASE_MS
  }

  async settle(ms: number): Promise<void> {
    const enough = new AbortController()
    const late = sleep(ms, undefined, { signal: enough.signal }).catch(() => {})
    await (this.#changes > 0 ? Promise.race([this.#changing, late]) : late)
    enough.abort()
  }

  async enter(signal?: AbortSignal): Promise<void> {
    for (;;) {
      try {
        return await this.#join()
      } catch (error) {
        signal?.throwIfAborted()
        if (!isPassing(error) && sqlState(error) !== QUERY_CANCELED) throw error
        this.#options.log.warn({ err: error }, 'limits: cannot join the other nodes yet; trying again')
        await sleep(REJOIN_MS)
      }
    }
  }

  async stop(ms: number): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#rejoining)
    clearInterval(this.#timer)
    await Promise.race([this.#changing, sleep(ms, undefined, { ref: false })])
  }

  async leave(): Promise<void> {
    await this.#handOver().catch(() => {})
    await this.#client?.end().catch(() => {})
  }

  #change(work: () => Promise<void>): Promise<void> {
    this.#changes++
    this.#changing = this.#changing
      .then(work)
      .catch((error: unknown) => this.#options.log.warn({ err: error }, 'limits: cannot change mode'))
      .finally(() => this.#changes--)
    return this.#changing
  }

  /** Alone if nobody else is there; otherwise the lone node is told, and this one waits until it shares. */
  async #join(): Promise<void> {
    if (this.#client) return
    const { pool } = this.#options
    await this.#handOver()
    await this.#ghosts.release()
    const client = await this.#connect()
    this.#client = client
    const ask = () => sendHint(pool, SHARED, this.#self)
    const asking = setInterval(() => ask().catch(() => {}), ASK_MS)
    try {
      if (await this.#tryAlone()) return
      await ask()
      await lockTogether(client)
      if (this.#client === client) this.#held = 'shared'
    } catch (error) {
      if (this.#client === client) this.#client = undefined
      client.end().catch(() => {})
      throw error
    } finally {
      clearInterval(asking)
    }
  }

  async #connect(): Promise<Client> {
    const { seat, settings } = this.#options
    const client = await openClient(seat, { settings, query_timeout_ms: MEMBER_QUERY_MS })
    const backend = await findBackend(client).catch((error: unknown) => {
      client.end().catch(() => {})
      throw error
    })
    client.once('end', () => {
      this.#ghosts.add(backend)
      if (!this.#stopped && this.#client === client) this.#lose()
    })
    return client
  }

  /** Whoever lost the lock cannot know who counts now. */
  #lose(): void {
    this.#client = undefined
    this.#held = 'apart'
    void this.#change(async () => {
      await this.#options.saveSoon()
      await this.#handOver()
    })
    this.#rejoin()
  }

  #rejoin(): void {
    clearTimeout(this.#rejoining)
    if (this.#stopped) return
    this.#rejoining = setTimeout(
      () => this.#change(() => this.#join()).then(() => this.#client ?? this.#rejoin()),
      REJOIN_MS,
    )
    this.#rejoining.unref()
  }

  /** Asked over the connection that holds the lock: while the server answers on it, the lock is held. */
  async #confirm(): Promise<void> {
    const client = this.#client
    if (this.#held !== 'alone' || !client) return
    const asked_at = performance.now()
    this.#confirming = true
    const is_marked = await isMarked(client, this.#mark ?? '').catch(() => false)
    this.#confirming = false
    if (this.#client !== client || this.#held !== 'alone') return
    if (is_marked) {
      this.#confirmed_at = asked_at
      return
    }
    this.#lose()
    client.end().catch(() => {})
  }

  async #tryAlone(): Promise<boolean> {
    const client = this.#client
    if (!client || this.#held === 'alone') return this.#held === 'alone'
    // What is being counted in the database holds the lock too, and must be in there before it is read.
    await this.#options.counted()
    if (!(await tryLockAlone(client))) return false
    try {
      await unlockTogether(client)
      // A start does not wait for a node that may have been killed; the requests do.
      if (await this.#putMark(client)) await this.#begin(client)
      else void this.#change(() => this.#inherit(client))
    } catch (error) {
      // A lock is counted: taken once more at the next try, it could not be given back in one go.
      client.end().catch(() => {})
      throw error
    }
    return true
  }

  /** On the connection with the lock: when the mark is put, the lock is held. False while another node's mark is there. */
  async #putMark(client: Client): Promise<boolean> {
    const mark = randomUUID()
    const asked_at = performance.now()
    this.#mark = mark
    const found = await markAlone(client, mark)
    if (found === mark) {
      this.#confirmed_at = asked_at
      return true
    }
    this.#mark = undefined
    await this.#options.heirs.meet(found)
    return false
  }

  async #begin(client: Client): Promise<void> {
    await this.#options.takeOver()
    if (this.#client === client) this.#held = 'alone'
  }

  async #inherit(client: Client): Promise<void> {
    try {
      while (this.#client === client && !this.#stopped) {
        if (await this.#putMark(client)) return await this.#begin(client)
        await sleep(LOOK_MS)
      }
    } catch (error) {
      client.end().catch(() => {})
      throw error
    }
  }

  /** Everything that was counted here is saved, and nobody has to wait for it. */
  async #handOver(): Promise<void> {
    await this.#options.save()
    if (this.#mark === undefined) return
    await unmarkAlone(this.#options.pool, this.#mark)
    this.#mark = undefined
  }

  async #share(): Promise<void> {
    const client = this.#client
    if (this.#held !== 'alone' || !client) return
    this.#held = 'shared'
    try {
      await this.#handOver()
      await lockTogether(client)
      await unlockAlone(client)
    } catch (error) {
      // Lock and mark are still there, unless the connection went with them: the next hint tries again.
      if (this.#mark === undefined || !isAnswer(error)) client.end().catch(() => {})
      else if (this.#client === client) this.#held = 'alone'
      throw error
    }
    this.#options.log.info('limits: another node joined, counting in the database')
  }
}
