import type pg from 'pg'

/** About as long as it takes to open a connection, where nobody is in a hurry. */
const GROW_MS = 15
/** One that takes longer to open may never be open, and nobody waits for it. */
const SLOW_MS = 500

/**
 * How a pool grows. A connection that is in use is mostly back before another one is open, and costs nothing; opening one
 * takes the server a process. So whoever finds none at hand waits a moment for one to come back, and then one of those who
 * wait opens another, one at a time. A burst, such as a start, is served by a few connections instead of as many as there may be.
 */
export class Growth {
  readonly #pool: pg.Pool
  readonly #max: number
  readonly #waiting: (() => void)[] = []
  /** How many of the connections at hand are somebody's already, who is about to take them. */
  #promised = 0
  /** When the one that is being opened was begun. */
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

  /** Not for the first one; and where there are as many as there may be, the pool has a queue of its own. */
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
