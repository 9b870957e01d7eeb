import { QueueFull } from './fair-semaphore.ts'

/**
 * Groups items into batches without a timer: when idle, a batch starts at once; items that arrive while a batch runs go into
 * the next one. So a single item does not wait, and many items need few batches.
 */
export type Batching<Item, Answer> = {
  /**
   * Resolves to the item's answer. Rejects with the error of its batch, or with `QueueFull` when too many items wait or the
   * batching was stopped: then nothing was done.
   */
  add(item: Item): Promise<Answer>
  /** Resolves when no item waits and no batch is under way. */
  idle(): Promise<void>
  /** Accepts no more items, and resolves when all accepted items are answered. */
  stop(): Promise<void>
}

type BatchingOptions<Item, Answer> = {
  /** Returns an answer for each item, in their order; undefined when no item needs an answer. */
  run(batch: readonly Item[]): Promise<readonly Answer[] | undefined>
  /** The most items in a batch. */
  readonly batch_max?: number
  /** The most items that may wait for their batch to begin. */
  readonly waiting_max?: number
  /** The most batches under way at once. */
  readonly at_once?: number
  /** Delays each batch, so that more items arrive. A stop aborts the signal, and waits for the returned promise. */
  gather?(stopping: AbortSignal): Promise<unknown>
  /** Awaited when a run begins, before its first batch: items that arrive meanwhile go into that batch. Never rejects. */
  begin?(): Promise<unknown>
}

type Waiting<Item, Answer> = {
  readonly item: Item
  resolve(answer: Answer): void
  reject(error: unknown): void
}

export function openBatching<Item, Answer = void>(
  options: BatchingOptions<Item, Answer>,
): Batching<Item, Answer> {
  const { run, gather, begin, batch_max = Infinity, waiting_max = Infinity, at_once = 1 } = options
  const waiting: Waiting<Item, Answer>[] = []
  const stopping = new AbortController()

  async function runNext(): Promise<void> {
    await gather?.(stopping.signal).catch(() => {})
    // Another run may have taken the items meanwhile.
    const batch = waiting.splice(0, batch_max)
    if (batch.length === 0) return
    try {
      const answers = await run(batch.map(({ item }) => item))
      for (const [i, { resolve }] of batch.entries()) resolve(answers?.[i] as Answer)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  const pump = openPump({
    hasMore: () => waiting.length > 0,
    step: runNext,
    at_once,
    ...(begin && { begin }),
  })
  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        if (stopping.signal.aborted || waiting.length >= waiting_max)
          return reject(new QueueFull(stopping.signal.aborted ? 'stopped' : 'too many wait'))
        waiting.push({ item, resolve, reject })
        pump.start()
      }),
    idle: pump.idle,
    stop() {
      stopping.abort()
      return pump.idle()
    },
  }
}

/** The loop alone, for callers with their own queue: runs steps while there is more work, and then becomes idle. */
type Pump = {
  /** Starts a run. Does nothing while `at_once` runs are under way. */
  start(): void
  idle(): Promise<void>
}

export function openPump(options: {
  hasMore(): boolean
  /** Takes some of the work and does it. Never rejects. */
  step(): Promise<void>
  readonly at_once?: number
  /** Awaited when a run begins, before its first step: that step also gets the work that arrives meanwhile. Never rejects. */
  begin?(): Promise<unknown>
}): Pump {
  const { hasMore, step, at_once = 1, begin } = options
  let running = 0
  let resting: (() => void)[] = []

  async function run(): Promise<void> {
    // Also without `begin`, this await lets items that are added in the same tick share a batch.
    await begin?.()
    while (hasMore()) await step()
    // No await between the last `hasMore` and this line: an item added in between would start no run.
    running--
    if (running > 0) return
    const waiters = resting
    resting = []
    for (const resolve of waiters) resolve()
  }

  return {
    start() {
      if (running >= at_once) return
      running++
      void run()
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => resting.push(resolve))),
  }
}
