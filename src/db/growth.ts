import type pg from 'pg'

/** About the time that opening a connection takes on an idle server. */
const GROW_MS = 15
/** A connection that takes longer to open may never open: after this time another caller opens one too. */
const SLOW_MS = 500

/**
 * How a pool grows. A connection in use mostly comes back before a new one is open; opening one costs the server a process.
 * So a caller that finds no idle connection waits GROW_MS for a release; after that one of the waiting callers opens a
 * connection, one at a time. A burst, such as a start, is served by a few connections instead of the maximum.
 */
export class PoolGrowth {
  readonly #pool: pg.Pool
  readonly #max: number
  readonly #waiting: (() => void)[] = []
  /** Idle connections that other callers are about to take. */
  #promised = 0
  /** When the opening of the connection under way began. */
  #opening: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(pool: pg.Pool, max: number) {
    this.#pool = pool
    this.#max = max
    pool.on('release', () => this.#letIn())
  }

  async take<Taken>(take: () => Promise<Taken>): Promise<Taken> {
    if (this.#mustWait()) await this.#turn()
    return this.#isAtHand() ? this.#takeOne(take) : this.#openOne(take)
  }

  async #takeOne<Taken>(take: () => Promise<Taken>): Promise<Taken> {
    this.#promised++
    try {
      return await take()
    } finally {
      this.#promised--
    }
  }

  async #openOne<Taken>(take: () => Promise<Taken>): Promise<Taken> {
    const begun = performance.now()
    this.#opening = begun
    try {
      return await take()
    } finally {
      if (this.#opening === begun) this.#opening = undefined
    }
  }

  #isOpening(): boolean {
    return this.#opening !== undefined && performance.now() - this.#opening < SLOW_MS
  }

  #isAtHand(): boolean {
    return this.#pool.idleCount > this.#promised
  }

  /** The first caller opens at once. When the pool is full, the pool's own queue takes over. */
  #mustWait(): boolean {
    if (this.#pool.totalCount === 0 || this.#isDone()) return false
    return this.#waiting.length > 0 || !this.#isAtHand()
  }

  #isDone(): boolean {
    return this.#pool.ending || this.#pool.totalCount >= this.#max
  }

  #turn(): Promise<void> {
    this.#timer ??= this.#growLater()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #growLater(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined
      if (this.#isOpening() && !this.#isDone()) this.#timer = this.#growLater()
      else this.#letIn()
    }, GROW_MS)
  }

  #letIn(): void {
    clearTimeout(this.#timer)
    const next = this.#waiting.splice(0, this.#isDone() ? Infinity : 1)
    for (const enter of next) enter()
    this.#timer = this.#waiting.length > 0 ? this.#growLater() : undefined
  }
}
