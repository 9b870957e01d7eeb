import type pg from 'pg'
import { askServer, type Said } from './server-state.ts'

/** How long a server may keep a question waiting that costs it nothing. */
const BEAT_MS = 500
const SUSPECT_MS = 600
/** While it stays silent, the doubt is looked into again. */
const DOUBT_MS = 500
const DEAD_MS = 2000
const TICK_MS = 100

export type PulseOptions = {
  readonly client: pg.Client
  readonly onAnswer: (said: Said) => void
  /** Looks by other connections. Fails when the server is certainly no longer the one to wait for. */
  readonly secondOpinion: () => Promise<unknown>
  /** The server is gone, or the connections to it are. */
  readonly onSilence: (reason: string) => void
  readonly onEnd: () => void
}

/**
 * Asks one connection again and again. A host that vanishes resets nothing: its silence is all there is to go by. Time
 * is counted as this process lived it, so a loop that was itself blocked for seconds takes no server for dead; and
 * before the verdict a second connection is tried.
 */
export class Pulse {
  readonly #options: PulseOptions
  readonly #timer: NodeJS.Timeout
  #last = performance.now()
  #waited = 0
  #asking = false
  #doubt_at = SUSPECT_MS
  #over = false

  constructor(options: PulseOptions) {
    this.#options = options
    const { client } = options
    client.once('end', () => this.#finish(options.onEnd))
    unref(client)
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    this.#timer.unref()
  }

  /** Asks at once instead of at the next beat. */
  hurry(): void {
    if (!this.#asking && !this.#over) this.#ask()
  }

  close(): void {
    this.#finish(() => {})
  }

  #tick(): void {
    const now = performance.now()
    this.#waited += Math.min(now - this.#last, 2 * TICK_MS)
    this.#last = now
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
      // The end of the connection tells the rest.
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

/** Runs `then` after so much time of this process's own: what it was blocked for does not count. Returns how to cancel. */
export function afterAwake(ms: number, then: () => void): () => void {
  let last = performance.now()
  let waited = 0
  const timer = setInterval(() => {
    const now = performance.now()
    waited += Math.min(now - last, 2 * TICK_MS)
    last = now
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

/** Lets go of a connection without a word: nobody may be there to take leave of. */
export function cut(client: pg.Client, reason?: Error): void {
  ;(client as unknown as Wire).connection.stream.destroy(reason)
}

/** What the server has sent by it. */
export const bytesRead = (client: pg.Client): number =>
  (client as unknown as Wire).connection.stream.bytesRead ?? 0

const unref = (client: pg.Client) => (client as unknown as Wire).connection.unref()
