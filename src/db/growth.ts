import type pg from 'pg'

/** About as long as it takes to open a connection. */
const GROW_MS = 15

/**
 * How a pool grows. A connection that is in use is mostly back before another one is open, and costs nothing; opening one
 * takes the server a process. So whoever finds none at hand waits a moment for one to come back, and then one of those who
 * wait opens another. A burst, such as a start, is served by a few connections instead of as many as there may be.
 */
export class Growth {
  readonly #pool: pg.Pool
  readonly #max: number
  readonly #waiting: (() => void)[] = []
  /** How many of the connections at hand are somebody's already, who is about to take them. */
  #promised = 0
  #timer: NodeJS.Timeout | undefined

  constructor(pool: pg.Pool, max: number) {
    this.#pool = pool
    this.#max = max
    pool.on('release', () => this.#letIn())
  }

  async take<Taken>(take: () => Promise<Taken>): Promise<Taken> {
    if (this.#mustWait()) await this.#turn()
    const promised = this.#isAtHand() ? 1 : 0
    this.#promised += promised
    try {
      return await take()
    } finally {
      this.#promised -= promised
    }
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
    this.#timer ??= setTimeout(() => this.#letIn(), GROW_MS)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #letIn(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const next = this.#waiting.splice(0, this.#isDone() ? Infinity : 1)
    for (const enter of next) enter()
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#letIn(), GROW_MS)
  }
}
