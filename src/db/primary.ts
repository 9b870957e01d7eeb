import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type Address, type Host, hostName, parseAddress } from './address.ts'
import { bytesRead, cut, Heartbeat } from './heartbeat.ts'
import type { Login } from './login.ts'
import { discoverPrimary, type FoundPrimary } from './primary-discovery.ts'
import { CONNECT_MS, type Probed, probe, Silent } from './probe.ts'
import {
  askServer,
  checkSeat,
  faultOf,
  isPermanent,
  isThere,
  type KnownCluster,
  NoPrimary,
  type ServerState,
} from './server-state.ts'

/**
 * Every connection of the process is approved here. A connection is used only when its server says that it is the primary
 * of the right cluster, and its timeline shows that it was not replaced. All connections of a process share a heartbeat:
 * when the heartbeat finds the server gone, the *epoch* ends and all connections of that epoch are cut, so that statements
 * that wait for an answer fail at once.
 */

/** Time for probing one host of several. The probe of a single host may take CONNECT_MS. */
const PROBE_MS = 1500
const SEEK_MS = 2000
const SEEK_PAUSE_MS = 100
/** Delay of the first beat: a command that ends sooner needs no heartbeat. */
const FIRST_BEAT_MS = 1000
/** How often the other hosts are probed while the primary answers: one of them may have been promoted. */
const ROUND_MS = 10_000

type EpochEnd = { readonly epoch: number; readonly reason: string; readonly host: string | undefined }

export type PrimaryState = {
  readonly up: boolean
  readonly epoch: number
  readonly host: string | undefined
  readonly timeline: number | undefined
  /** Why there is no usable primary; undefined while there is one. */
  readonly trouble: string | undefined
}

export type SeatFacts = { readonly user: string; readonly schema: string }

const primaries = new Map<string, Primary>()

/** One `Primary` per address, kept for the life of the process: a forgotten timeline would let a former primary back in. */
export function primaryOf(url: string): Primary {
  const known = primaries.get(url) ?? new Primary(parseAddress(url))
  primaries.set(url, known)
  return known
}

export class Primary {
  readonly address: Address
  readonly #seen: KnownCluster = { system: undefined, timeline: undefined }
  readonly #open = new Set<pg.Client>()
  readonly #listeners = new Set<(news: EpochEnd) => void>()
  #epoch = 0
  #host: Host | undefined
  #lost: Host | undefined
  /** Whether a primary was approved since the last failure. */
  #met = false
  #trouble: string | undefined
  #heartbeat: Heartbeat | undefined
  #first_beat: NodeJS.Timeout | undefined
  #rounds: NodeJS.Timeout | undefined
  /** Start time of the server that the connections of this epoch lead to. */
  #started: string | undefined
  #seeking: Promise<Host> | undefined
  /** Login of the last caller of `hostOfPrimary`; probes use the same login. */
  #login: Login | undefined

  constructor(address: Address) {
    this.address = address
    if (address.hosts.length === 1) this.#host = address.hosts[0]
  }

  state(): PrimaryState {
    const { timeline } = this.#seen
    const host = this.#host && hostName(this.#host)
    return { up: this.#met, epoch: this.#epoch, host, timeline, trouble: this.#trouble }
  }

  /** Calls the listener whenever the connections of an epoch are cut. Returns a function that removes the listener. */
  onEpoch(listener: (news: EpochEnd) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Sends a heartbeat now, because a connection failed or met a read-only server. */
  checkNow(): void {
    this.#heartbeat?.checkNow()
  }

  /** The host of the primary. If it is not known, one search of at most a few seconds serves all callers. */
  async hostOfPrimary(login?: Login): Promise<Host> {
    this.#login = login
    if (this.#trouble === undefined && this.#host) return this.#host
    this.#seeking ??= this.#seek().finally(() => {
      this.#seeking = undefined
    })
    return this.#seeking
  }

  /** Registers a connection before its first packet, so that the end of the epoch cuts it too. */
  enter(client: pg.Client): void {
    this.#open.add(client)
    client.once('end', () => {
      this.leave(client)
      // The end of one connection may be the first sign that the server is gone.
      this.checkNow()
    })
  }

  leave(client: pg.Client): void {
    if (this.#open.delete(client) && this.#open.size === 0) this.#cancelHeartbeat()
  }

  /** The last connection has ended: no heartbeat is needed. */
  #cancelHeartbeat(): void {
    clearTimeout(this.#first_beat)
    this.#first_beat = undefined
    this.#stopHeartbeat()
  }

  /** Ends the heartbeat and the rounds over the other hosts. */
  #stopHeartbeat(): void {
    clearInterval(this.#rounds)
    this.#heartbeat?.close()
    this.#heartbeat = undefined
  }

  /** Throws unless the server at the other end is the primary to use. */
  async approve(client: pg.Client, seat: SeatFacts | undefined): Promise<void> {
    const said = await askServer(client)
    if (!this.#open.has(client)) throw new Error('Connection terminated: its epoch has ended')
    if (seat) checkSeat(said, seat)
    this.#judge(said, this.#host, client)
    this.#settle()
    if (!this.#heartbeat) this.#planHeartbeat()
  }

  #settle(): void {
    this.#met = true
    this.#trouble = undefined
  }

  #trip(reason: string): void {
    this.#met = false
    this.#trouble = reason
  }

  /** A connection could not be opened. While the heartbeat is answered that changes nothing; otherwise `hostOfPrimary` searches again. */
  failed(error: unknown): void {
    if (!this.#heartbeat && !isPermanent(error)) this.#trip((error as Error).message)
    this.checkNow()
  }

  /** Throws when the server must not be used, and cuts `client`, the connection that it answered on. Records its timeline. */
  #judge(said: ServerState, host: Host | undefined, client?: pg.Client): void {
    const fault = faultOf(said, this.#seen)
    if (fault !== undefined) {
      if (client) cut(client)
      throw new NoPrimary(`${host ? hostName(host) : 'The server'} ${fault}`)
    }
    const { timeline } = this.#seen
    this.#seen.system ??= said.system
    this.#seen.timeline = said.timeline ?? timeline
    // A standby was promoted: older connections may still lead to the primary that it replaced.
    if (timeline !== undefined && said.timeline !== undefined && said.timeline > timeline)
      this.#endEpoch(`a new primary, on timeline ${said.timeline}`, client)
  }

  #endEpoch(reason: string, but?: pg.Client): void {
    this.#epoch++
    this.#started = undefined
    const cutting = [...this.#open].filter((client) => client !== but)
    for (const client of cutting) this.#open.delete(client)
    for (const client of cutting) cut(client, new Error(`Connection terminated: ${reason}`))
    const news = { epoch: this.#epoch, reason, host: this.#host && hostName(this.#host) }
    for (const listener of this.#listeners) listener(news)
  }

  /** The server is gone or must not be used: cuts all connections, and the next caller of `hostOfPrimary` searches. */
  #lose(reason: string): void {
    this.#stopHeartbeat()
    this.#lost = this.#host
    this.#trip(reason)
    this.#endEpoch(reason)
  }

  #planHeartbeat(tries = 0): void {
    if (this.#first_beat) return
    this.#first_beat = setTimeout(() => {
      this.#first_beat = undefined
      void this.#startHeartbeat(tries)
    }, FIRST_BEAT_MS)
    this.#first_beat.unref()
  }

  async #startHeartbeat(tries: number): Promise<void> {
    const host = this.#host
    if (!host || this.#heartbeat || this.#open.size === 0) return
    const received = this.#bytesReceived()
    try {
      const { client, said } = await this.#probe(host, CONNECT_MS)
      if (this.#heartbeat || this.#open.size === 0) return cut(client)
      this.#judge(said, host, client)
      if (this.#started !== undefined && said.started !== this.#started)
        this.#endEpoch('the server was started anew')
      this.#beat({ host, client, said })
    } catch (error) {
      // Another heartbeat has begun meanwhile, or the last connection has ended.
      if (this.#heartbeat || this.#open.size === 0) return
      const there = isThere(error) || (error instanceof Silent && this.#answers(received))
      if (there || tries === 0) return this.#planHeartbeat(there ? 0 : 1)
      this.#lose((error as Error).message)
    }
  }

  /** Bytes received by each connection so far. */
  #bytesReceived(): ReadonlyMap<pg.Client, number> {
    return new Map([...this.#open].map((client) => [client, bytesRead(client)]))
  }

  /** Whether a connection has received bytes since: then the server is alive, even if it lets no new connection in. */
  #answers(since: ReadonlyMap<pg.Client, number>): boolean {
    return [...this.#open].some((client) => bytesRead(client) > (since.get(client) ?? 0))
  }

  #beat({ host, client, said }: FoundPrimary): void {
    // Two searches may have ended at the same time.
    this.#stopHeartbeat()
    this.#host = host
    this.#lost = undefined
    this.#started = said.started
    this.#settle()
    const heartbeat = new Heartbeat({
      client,
      onAnswer: (said) => {
        try {
          this.#judge(said, host)
        } catch (error) {
          this.#lose((error as Error).message)
        }
      },
      secondOpinion: () => this.#doubt(host),
      onSilence: (reason) => this.#lose(reason),
      // Only this connection may have ended, or the server with it: connecting again tells which.
      onEnd: () => {
        this.#stopHeartbeat()
        void this.#startHeartbeat(1)
      },
    })
    this.#heartbeat = heartbeat
    if (this.address.hosts.length > 1) {
      this.#rounds = setInterval(() => void this.#makeRound(host, heartbeat), ROUND_MS)
      this.#rounds.unref()
    }
  }

  /** A former primary that keeps running answers every heartbeat. Only the promoted host knows that it was replaced. */
  async #makeRound(host: Host, heartbeat: Heartbeat): Promise<void> {
    try {
      await this.#assertNewest(host, CONNECT_MS)
    } catch (error) {
      if (this.#heartbeat === heartbeat) this.#lose((error as Error).message)
    }
  }

  /**
   * The heartbeat is not answered. Throws when the server refuses connections, or when another host has been promoted:
   * then waiting for this server is useless.
   */
  async #doubt(silent: Host): Promise<void> {
    await Promise.all([
      this.#probe(silent, PROBE_MS).then(
        ({ client }) => cut(client),
        (error: unknown) => {
          // A host that is silent on a new connection too may still answer the heartbeat before DEAD_MS.
          if (!(error instanceof Silent) && !isThere(error)) throw error
        },
      ),
      this.#assertNewest(silent, PROBE_MS),
    ])
  }

  /** Throws when another host has been promoted, and records its timeline, so that `current` is not used again. */
  async #assertNewest(current: Host, ms: number): Promise<void> {
    const others = this.address.hosts.filter((host) => host !== current)
    const probes = others.map(async (host) => {
      const answer = await this.#probe(host, ms).catch(() => undefined)
      if (!answer) return
      cut(answer.client)
      const { said } = answer
      const { timeline } = this.#seen
      if (timeline === undefined || said.timeline === undefined || said.timeline <= timeline) return
      if (faultOf(said, this.#seen) !== undefined) return
      this.#seen.timeline = said.timeline
      throw new Error(`${hostName(host)} has been promoted`)
    })
    await Promise.all(probes)
  }

  async #seek(): Promise<Host> {
    const until = performance.now() + SEEK_MS
    let probe_ms = this.address.hosts.length === 1 ? CONNECT_MS : PROBE_MS
    for (;;) {
      const hosts = [...this.address.hosts].sort((a, b) => this.#rank(a) - this.#rank(b))
      const found = await discoverPrimary(hosts, this.#seen, (host) => this.#probe(host, probe_ms))
      if ('client' in found) {
        this.#judge(found.said, found.host, found.client)
        this.#beat(found)
        // The callers of `hostOfPrimary` connect in a moment. If none does, the heartbeat is not needed.
        setTimeout(() => this.#open.size === 0 && this.#cancelHeartbeat(), FIRST_BEAT_MS).unref()
        return found.host
      }
      this.#trip(found.reasons.join('; '))
      if (performance.now() > until) throw new NoPrimary(`No primary to be found: ${this.#trouble}`)
      // All hosts may be slow, and one of them the primary.
      if (found.all_silent) probe_ms = CONNECT_MS
      await sleep(SEEK_PAUSE_MS)
    }
  }

  /** The last known primary comes first, a host that has just been lost comes last. */
  #rank(host: Host): number {
    if (host === this.#lost) return 2
    return host === this.#host ? 0 : 1
  }

  #probe(host: Host, ms: number): Promise<Probed> {
    return probe(this.address, host, { login: this.#login, ms })
  }
}
