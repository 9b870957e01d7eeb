import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type Address, type Host, hostName, parseAddress } from './address.ts'
import type { Login } from './login.ts'
import { type Found, lookAround } from './look-around.ts'
import { CONNECT_MS, type Probed, probe, Silent } from './probe.ts'
import { bytesRead, cut, Pulse } from './pulse.ts'
import {
  askServer,
  checkSeat,
  faultOf,
  isFinal,
  isThere,
  NoPrimary,
  type Said,
  type Seen,
} from './server-state.ts'

/**
 * The one place that opens connections. A connection is handed out only when the server at its end says that it is the
 * primary, of the right cluster, and not one that was replaced. All connections of a process share a heartbeat: when it
 * finds the server gone, the *epoch* ends, and every connection of it is cut, so that whatever waits for an answer hears
 * at once that there will be none.
 */

/** One look at a host among others; where there is nobody else to ask it may take as long as any connection. */
const PROBE_MS = 1500
const SEEK_MS = 2000
const SEEK_PAUSE_MS = 100
/** Who is done within this time needs no heartbeat. */
const FIRST_BEAT_MS = 1000
/** How often the other hosts are looked at while all is well: one of them may have been promoted. */
const ROUND_MS = 10_000

export type News = { readonly epoch: number; readonly reason: string; readonly host: string | undefined }

export type PrimaryState = {
  readonly up: boolean
  readonly epoch: number
  readonly host: string | undefined
  readonly timeline: number | undefined
  /** Why there is none to work with. */
  readonly trouble: string | undefined
}

export type SeatFacts = { readonly user: string; readonly schema: string }

const primaries = new Map<string, Primary>()

/** What this process knows of the database behind an address. Kept for as long as it lives: a timeline must not be forgotten. */
export function primaryOf(url: string): Primary {
  const known = primaries.get(url) ?? new Primary(parseAddress(url))
  primaries.set(url, known)
  return known
}

export class Primary {
  readonly address: Address
  readonly #seen: Seen = { system: undefined, timeline: undefined }
  readonly #open = new Set<pg.Client>()
  readonly #listeners = new Set<(news: News) => void>()
  #epoch = 0
  #host: Host | undefined
  #lost: Host | undefined
  /** Whether a primary was met since the last trouble. */
  #met = false
  #trouble: string | undefined
  #pulse: Pulse | undefined
  #first_beat: NodeJS.Timeout | undefined
  #rounds: NodeJS.Timeout | undefined
  /** When the server that the connections of this epoch lead to was started. */
  #started: string | undefined
  #seeking: Promise<Host> | undefined
  /** As whom the last one came in: whoever looks at a server comes in as nobody else. */
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

  /** Told whenever the connections of an epoch are cut. Returns how to stop listening. */
  onEpoch(listener: (news: News) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Looks at the server now: somebody has met with trouble. */
  hurry(): void {
    this.#pulse?.hurry()
  }

  /** Where to connect to. Known while all is well; otherwise looked for, for a moment. */
  async place(login?: Login): Promise<Host> {
    this.#login = login
    if (this.#trouble === undefined && this.#host) return this.#host
    this.#seeking ??= this.#seek().finally(() => {
      this.#seeking = undefined
    })
    return this.#seeking
  }

  /** Counts a connection from its first packet on, so that a cut reaches it too. */
  enter(client: pg.Client): void {
    this.#open.add(client)
    client.once('end', () => {
      this.leave(client)
      // It may have been the first to hear of something.
      this.hurry()
    })
  }

  leave(client: pg.Client): void {
    if (this.#open.delete(client) && this.#open.size === 0) this.#rest()
  }

  /** Nobody is connected any more, so nobody needs a heartbeat. */
  #rest(): void {
    clearTimeout(this.#first_beat)
    this.#first_beat = undefined
    this.#still()
  }

  /** Ends the heartbeat, and what goes with it. */
  #still(): void {
    clearInterval(this.#rounds)
    this.#pulse?.close()
    this.#pulse = undefined
  }

  /** Throws unless the server at the other end is the one to work with. */
  async approve(client: pg.Client, seat: SeatFacts | undefined): Promise<void> {
    const said = await askServer(client)
    if (!this.#open.has(client)) throw new Error('Connection terminated: its epoch has ended')
    if (seat) checkSeat(said, seat)
    this.#judge(said, this.#host, client)
    this.#settle()
    if (!this.#pulse) this.#planPulse()
  }

  #settle(): void {
    this.#met = true
    this.#trouble = undefined
  }

  #trip(reason: string): void {
    this.#met = false
    this.#trouble = reason
  }

  /** A connection could not be opened. While the heartbeat lives that is no news; otherwise the next one looks around. */
  failed(error: unknown): void {
    if (!this.#pulse && !isFinal(error)) this.#trip((error as Error).message)
    this.hurry()
  }

  /** `client`: the connection that it was said to. One that is refused is cut. */
  #judge(said: Said, host: Host | undefined, client?: pg.Client): void {
    const fault = faultOf(said, this.#seen)
    if (fault !== undefined) {
      if (client) cut(client)
      throw new NoPrimary(`${host ? hostName(host) : 'The server'} ${fault}`)
    }
    const { timeline } = this.#seen
    this.#seen.system ??= said.system
    this.#seen.timeline = said.timeline ?? timeline
    // Somebody was promoted: connections from before may still lead to the one that was replaced.
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

  /** The heartbeat has stopped for good. */
  #lose(reason: string): void {
    this.#still()
    this.#lost = this.#host
    this.#trip(reason)
    this.#endEpoch(reason)
  }

  #planPulse(tries = 0): void {
    if (this.#first_beat) return
    this.#first_beat = setTimeout(() => {
      this.#first_beat = undefined
      void this.#startPulse(tries)
    }, FIRST_BEAT_MS)
    this.#first_beat.unref()
  }

  async #startPulse(tries: number): Promise<void> {
    const host = this.#host
    if (!host || this.#pulse || this.#open.size === 0) return
    const heard = this.#heard()
    try {
      const { client, said } = await this.#probe(host, CONNECT_MS)
      if (this.#pulse || this.#open.size === 0) return cut(client)
      this.#judge(said, host, client)
      if (this.#started !== undefined && said.started !== this.#started)
        this.#endEpoch('the server was started anew')
      this.#beat({ host, client, said })
    } catch (error) {
      // Somebody else has met it meanwhile, or nobody needs it any more.
      if (this.#pulse || this.#open.size === 0) return
      const there = isThere(error) || (error instanceof Silent && this.#answers(heard))
      if (there || tries === 0) return this.#planPulse(there ? 0 : 1)
      this.#lose((error as Error).message)
    }
  }

  /** How much each connection has been told until now. */
  #heard(): ReadonlyMap<pg.Client, number> {
    return new Map([...this.#open].map((client) => [client, bytesRead(client)]))
  }

  /** Whether a connection has been told something since: then the server is there, whoever else it keeps waiting. */
  #answers(since: ReadonlyMap<pg.Client, number>): boolean {
    return [...this.#open].some((client) => bytesRead(client) > (since.get(client) ?? 0))
  }

  #beat({ host, client, said }: Found): void {
    // Two may have looked at once.
    this.#still()
    this.#host = host
    this.#lost = undefined
    this.#started = said.started
    this.#settle()
    const pulse = new Pulse({
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
      // It alone has ended, or the server with it.
      onEnd: () => {
        this.#still()
        void this.#startPulse(1)
      },
    })
    this.#pulse = pulse
    if (this.address.hosts.length > 1) {
      this.#rounds = setInterval(() => void this.#makeRound(host, pulse), ROUND_MS)
      this.#rounds.unref()
    }
  }

  /** A former primary that goes on is as well as ever. That it was replaced is known elsewhere. */
  async #makeRound(host: Host, pulse: Pulse): Promise<void> {
    try {
      await this.#assertNewest(host, CONNECT_MS)
    } catch (error) {
      if (this.#pulse === pulse) this.#lose((error as Error).message)
    }
  }

  /**
   * The heartbeat goes unanswered. Throws when the server cannot be connected to, or when another host has been
   * promoted: then there is nothing left to wait for.
   */
  async #doubt(silent: Host): Promise<void> {
    await Promise.all([
      this.#probe(silent, PROBE_MS).then(
        ({ client }) => cut(client),
        (error: unknown) => {
          // A host that says nothing to a new connection either is given the rest of its time.
          if (!(error instanceof Silent) && !isThere(error)) throw error
        },
      ),
      this.#assertNewest(silent, PROBE_MS),
    ])
  }

  /** Throws when another host has been promoted since. It is remembered: the one before it is not to be used again. */
  async #assertNewest(current: Host, ms: number): Promise<void> {
    const others = this.address.hosts.filter((host) => host !== current)
    const looks = others.map(async (host) => {
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
    await Promise.all(looks)
  }

  async #seek(): Promise<Host> {
    const until = performance.now() + SEEK_MS
    let look_ms = this.address.hosts.length === 1 ? CONNECT_MS : PROBE_MS
    for (;;) {
      const hosts = [...this.address.hosts].sort((a, b) => this.#rank(a) - this.#rank(b))
      const found = await lookAround(hosts, this.#seen, (host) => this.#probe(host, look_ms))
      if ('client' in found) {
        this.#judge(found.said, found.host, found.client)
        this.#beat(found)
        // Whoever was looking comes in a moment. If nobody does, the heartbeat is not needed.
        setTimeout(() => this.#open.size === 0 && this.#rest(), FIRST_BEAT_MS).unref()
        return found.host
      }
      this.#trip(found.reasons.join('; '))
      if (performance.now() > until) throw new NoPrimary(`No primary to be found: ${this.#trouble}`)
      // They may all be slow, and one of them well.
      if (found.all_silent) look_ms = CONNECT_MS
      await sleep(SEEK_PAUSE_MS)
    }
  }

  /** The last good one comes first, and one that has just been lost last. */
  #rank(host: Host): number {
    if (host === this.#lost) return 2
    return host === this.#host ? 0 : 1
  }

  #probe(host: Host, ms: number): Promise<Probed> {
    return probe(this.address, host, { login: this.#login, ms })
  }
}
