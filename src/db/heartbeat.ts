import type pg from 'pg'
import { openAwakeTime } from '../core/awake.ts'
import { askServer, type ServerState } from './server-state.ts'

const BEAT_MS = 500
/** A query without an answer for this long is doubted: other connections check the server. */
const SUSPECT_MS = 600
/** The check is repeated after every further DOUBT_MS without an answer. */
const DOUBT_MS = 500
/** The server is declared gone after this long without an answer. */
const DEAD_MS = 2000
const TICK_MS = 100

type HeartbeatOptions = {
  readonly client: pg.Client
  readonly onAnswer: (said: ServerState) => void
  /** Checks the server by other connections. Rejects when it is certain that waiting for this server is useless. */
  readonly secondOpinion: () => Promise<unknown>
  /** The server stopped answering, or the second opinion rejected it. */
  readonly onSilence: (reason: string) => void
  /** The connection of the heartbeat ended; the server itself may be well. */
  readonly onEnd: () => void
}

/**
 * Sends a query over one connection every BEAT_MS. A host that vanishes resets no connection, so a missing answer is the
 * only sign. Time during which this process's own event loop was blocked does not count, and other connections are tried
 * before the server is declared gone.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #timer: NodeJS.Timeout
  readonly #passed = openAwakeTime(TICK_MS)
  #waited = 0
  #asking = false
  #doubt_at = SUSPECT_MS
  #over = false

  constructor(options: HeartbeatOptions) {
    this.#options = options
    const { client } = options
    client.once('end', () => this.#finish(options.onEnd))
    unref(client)
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    this.#timer.unref()
  }

  /** Sends the query now instead of at the next beat. */
  checkNow(): void {
    if (!this.#asking && !this.#over) this.#ask()
  }

  close(): void {
    this.#finish(() => {})
  }

  #tick(): void {
    this.#waited += this.#passed()
    if (!this.#asking) return void (this.#waited >= BEAT_MS && this.#ask())
    if (this.#waited >= DEAD_MS)
      return this.#finish(() => this.#options.onSilence('the server has stopped answering'))
    if (this.#waited >= this.#doubt_at) this.#doubt()
  }

  #doubt(): void {
    this.#doubt_at += DOUBT_MS
    this.#options.secondOpinion().catch((error: Error) => {
      if (this.#asking) this.#finish(() => this.#options.onSilence(error.message))
    })
  }

  #ask(): void {
    this.#asking = true
    this.#waited = 0
    askServer(this.#options.client).then(
      (said) => {
        if (this.#over) return
        this.#asking = false
        this.#doubt_at = SUSPECT_MS
        this.#waited = 0
        this.#options.onAnswer(said)
      },
      // The 'end' event of the connection calls onEnd.
      () => this.#options.client.end().catch(() => {}),
    )
  }

  #finish(then: () => void): void {
    if (this.#over) return
    this.#over = true
    clearInterval(this.#timer)
    cut(this.#options.client)
    then()
  }
}

/** Runs `then` after `ms`, not counting time in which the event loop was blocked. Returns a function that cancels it. */
export function afterAwake(ms: number, then: () => void): () => void {
  const passed = openAwakeTime(TICK_MS)
  let waited = 0
  const timer = setInterval(() => {
    waited += passed()
    if (waited < ms) return
    clearInterval(timer)
    then()
  }, TICK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

type Wire = {
  connection: { stream: { destroy(error?: Error): void; readonly bytesRead?: number }; unref(): void }
}

/** Destroys the socket without PostgreSQL's terminate message: the server may be unreachable, and `end` would wait for it. */
export function cut(client: pg.Client, reason?: Error): void {
  ;(client as unknown as Wire).connection.stream.destroy(reason)
}

/** Bytes that the server has sent over this connection. */
export const bytesRead = (client: pg.Client): number =>
  (client as unknown as Wire).connection.stream.bytesRead ?? 0

const unref = (client: pg.Client) => (client as unknown as Wire).connection.unref()
