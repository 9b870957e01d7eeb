import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isAnswer, isPassing, sqlState } from '../db/failure.ts'
import { type Channel, type Hints, sendHint } from '../db/hints.ts'
import { type Client, openClient, type Pool, type Seat } from '../db/pool.ts'
import { findBackend, type OrphanedConnections, openOrphanedConnections } from './orphaned-connections.ts'
import type { StaleMarks } from './stale-marks.ts'
import {
  hasMark,
  lockShared,
  putMark,
  removeMark,
  tryLockExclusive,
  unlockExclusive,
  unlockShared,
} from './store.ts'

/**
 * Where requests are counted. One advisory lock decides: a single node holds it exclusively and counts in memory; several
 * nodes hold it shared and count in the database. Each node keeps one connection for the lock.
 *
 * An exclusive node may lose its lock before it notices. So it puts a mark into `lone_node` before it counts, and removes the
 * mark when all its counts are saved. No other node counts while the mark is there. Other nodes remove a mark after
 * MARK_WAIT_MS (stale-marks.ts), so an exclusive node counts only under a lease: the server has confirmed lock and mark within
 * the last LEASE_MS (decision 0018).
 *
 *   disconnected → exclusive      no other node holds the lock
 *   disconnected → shared         other nodes hold it; an exclusive one was asked to share, and did
 *   exclusive    → shared         another node asks to share
 *   shared       → exclusive      the other nodes have left
 *   any          → disconnected   the connection was lost, and the lock with it; the node connects again
 */
type CountingMode =
  /** This node counts, in memory, and no other node does. */
  | 'exclusive'
  /** All nodes count in the database. */
  | 'shared'
  /** This node does not hold the lock, and does not know which nodes count. */
  | 'disconnected'
  /** The mode may be changing. */
  | 'switching'

export type Membership = {
  mode(): CountingMode
  /** Whether this node is exclusive and its lease is valid. Renews the lease when that is due. */
  holdsLease(): boolean
  /** Waits until the switch of mode is over, for `ms` at most. */
  settle(ms: number): Promise<void>
  /** Joins at the start of the node. Waits for the database, and for an exclusive node to share. */
  enter(signal?: AbortSignal): Promise<void>
  /** Switches no more; keeps the lock. */
  stop(ms: number): Promise<void>
  /** Releases the lock. */
  leave(): Promise<void>
}

type MembershipOptions = {
  readonly seat: Seat
  readonly settings: Record<string, string>
  readonly pool: Pool
  readonly hints: Hints
  readonly stale_marks: StaleMarks
  readonly log: Logger
  /** How often a node in shared mode tries to become exclusive. */
  readonly try_exclusive_ms: number
  /** Saves the counts in memory to the database. */
  save(): Promise<void>
  /** The same after the connection was lost: retries until it succeeds or its time is over. */
  saveSoon(): Promise<void>
  /** Loads the counts from the database into memory. */
  takeOver(): Promise<void>
  /** Resolves when no request of this node is being counted in the database. */
  counted(): Promise<void>
}

const SHARED: Channel = 'windows_shared'
const REJOIN_MS = 300
/** How long a node counts in memory after the server confirmed its lock. Renewed at half of it, only while requests come. */
const LEASE_MS = 1000
/** How often a waiting node checks whether the other node's mark is still there. */
const MARK_POLL_MS = 20
const ASK_MS = 100
const MEMBER_QUERY_MS = 5000
const QUERY_CANCELED = '57014'

export const openMembership = (options: MembershipOptions): Membership => new Member(options)

class Member implements Membership {
  readonly #options: MembershipOptions
  readonly #self = randomUUID()
  readonly #orphaned: OrphanedConnections
  readonly #timer: NodeJS.Timeout
  #rejoining: NodeJS.Timeout | undefined
  #client: Client | undefined
  /** This node's mark, while it may be in the database. Each mark is new: see stale-marks.ts. */
  #mark: string | undefined
  /** When the query was sent whose answer last confirmed lock and mark. */
  #confirmed_at = 0
  #confirming = false
  #mode: 'exclusive' | 'shared' | 'disconnected' = 'disconnected'
  /** Switches run one after the other. */
  #switching: Promise<void> = Promise.resolve()
  #switches = 0
  #stopped = false

  constructor(options: MembershipOptions) {
    this.#options = options
    this.#orphaned = openOrphanedConnections(options.seat)
    // A node hears its own hint too, and must not act on it.
    options.hints.on(SHARED, (from) => void (from !== this.#self && this.#switch(() => this.#share())))
    this.#timer = setInterval(() => {
      if (this.#mode === 'shared') void this.#switch(async () => void (await this.#tryExclusive()))
    }, options.try_exclusive_ms)
    this.#timer.unref()
  }

  mode(): CountingMode {
    return this.#switches > 0 ? 'switching' : this.#mode
  }

  holdsLease(): boolean {
    if (this.mode() !== 'exclusive') return false
    const age = performance.now() - this.#confirmed_at
    // An expired lease admits no request until the server has answered.
    if (age >= LEASE_MS) void this.#switch(() => this.#confirmLease())
    else if (age >= LEASE_MS / 2 && !this.#confirming) void this.#confirmLease()
    return age < LEASE_MS
  }

  async settle(ms: number): Promise<void> {
    const enough = new AbortController()
    const late = sleep(ms, undefined, { signal: enough.signal }).catch(() => {})
    await (this.#switches > 0 ? Promise.race([this.#switching, late]) : late)
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
    await Promise.race([this.#switching, sleep(ms, undefined, { ref: false })])
  }

  async leave(): Promise<void> {
    await this.#handOver().catch(() => {})
    await this.#client?.end().catch(() => {})
  }

  #switch(work: () => Promise<void>): Promise<void> {
    this.#switches++
    this.#switching = this.#switching
      .then(work)
      .catch((error: unknown) =>
        this.#options.log.warn(
          { err: error },
          'limits: cannot switch between counting in memory and in the database; trying again',
        ),
      )
      .finally(() => this.#switches--)
    return this.#switching
  }

  /** Becomes exclusive if no other node holds the lock; otherwise asks the exclusive node to share, and waits until it does. */
  async #join(): Promise<void> {
    if (this.#client) return
    const { pool } = this.#options
    await this.#handOver()
    await this.#orphaned.release()
    const client = await this.#connect()
    this.#client = client
    const ask = () => sendHint(pool, SHARED, this.#self)
    const asking = setInterval(() => ask().catch(() => {}), ASK_MS)
    try {
      if (await this.#tryExclusive()) return
      await ask()
      await lockShared(client)
      if (this.#client === client) this.#mode = 'shared'
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
      this.#orphaned.add(backend)
      if (!this.#stopped && this.#client === client) this.#disconnect()
    })
    return client
  }

  /** The lock went with the connection: from now on other nodes may count. */
  #disconnect(): void {
    this.#client = undefined
    this.#mode = 'disconnected'
    void this.#switch(async () => {
      await this.#options.saveSoon()
      await this.#handOver()
    })
    this.#rejoin()
  }

  #rejoin(): void {
    clearTimeout(this.#rejoining)
    if (this.#stopped) return
    this.#rejoining = setTimeout(
      () => this.#switch(() => this.#join()).then(() => this.#client ?? this.#rejoin()),
      REJOIN_MS,
    )
    this.#rejoining.unref()
  }

  /** Asks over the connection that holds the lock: an answer proves that the lock is still held. */
  async #confirmLease(): Promise<void> {
    const client = this.#client
    if (this.#mode !== 'exclusive' || !client) return
    const asked_at = performance.now()
    this.#confirming = true
    const is_marked = await hasMark(client, this.#mark ?? '').catch(() => false)
    this.#confirming = false
    if (this.#client !== client || this.#mode !== 'exclusive') return
    if (is_marked) {
      this.#confirmed_at = asked_at
      return
    }
    this.#disconnect()
    client.end().catch(() => {})
  }

  async #tryExclusive(): Promise<boolean> {
    const client = this.#client
    if (!client || this.#mode === 'exclusive') return this.#mode === 'exclusive'
    // Counting in the database holds the shared lock too, and must be committed before the counts are loaded.
    await this.#options.counted()
    if (!(await tryLockExclusive(client))) return false
    try {
      await unlockShared(client)
      // Another node's mark is there. The start does not wait for it, as that node may have been killed; requests do.
      if (await this.#putMark(client)) await this.#begin(client)
      else void this.#switch(() => this.#waitForMark(client))
    } catch (error) {
      // PostgreSQL counts advisory locks per session: a second lock would need a second unlock. So the session ends.
      client.end().catch(() => {})
      throw error
    }
    return true
  }

  /** On the connection with the lock, so the mark is put only while the lock is held. False while another node's mark is there. */
  async #putMark(client: Client): Promise<boolean> {
    const mark = randomUUID()
    const asked_at = performance.now()
    this.#mark = mark
    const found = await putMark(client, mark)
    if (found === mark) {
      this.#confirmed_at = asked_at
      return true
    }
    this.#mark = undefined
    await this.#options.stale_marks.found(found)
    return false
  }

  async #begin(client: Client): Promise<void> {
    await this.#options.takeOver()
    if (this.#client === client) this.#mode = 'exclusive'
  }

  async #waitForMark(client: Client): Promise<void> {
    try {
      while (this.#client === client && !this.#stopped) {
        if (await this.#putMark(client)) return await this.#begin(client)
        await sleep(MARK_POLL_MS)
      }
    } catch (error) {
      client.end().catch(() => {})
      throw error
    }
  }

  /** Saves all counts of this node, then removes its mark, so that other nodes need not wait. */
  async #handOver(): Promise<void> {
    await this.#options.save()
    if (this.#mark === undefined) return
    await removeMark(this.#options.pool, this.#mark)
    this.#mark = undefined
  }

  async #share(): Promise<void> {
    const client = this.#client
    if (this.#mode !== 'exclusive' || !client) return
    this.#mode = 'shared'
    try {
      await this.#handOver()
      await lockShared(client)
      await unlockExclusive(client)
    } catch (error) {
      // If lock and mark are still there, the node stays exclusive, and the next hint tries again.
      if (this.#mark === undefined || !isAnswer(error)) client.end().catch(() => {})
      else if (this.#client === client) this.#mode = 'exclusive'
      throw error
    }
    this.#options.log.info('limits: another node joined, counting in the database')
  }
}
