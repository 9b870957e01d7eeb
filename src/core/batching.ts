import { Crowded } from './turns.ts'

/**
 * Gathers while one runs: an idle one starts at once, and whatever comes while a batch is under way goes into the next. So
 * a lone item waits for nobody, and a flood of them costs few batches. There is no timer.
 */
export type Batching<Item, Answer> = {
  /**
   * The answer to this one. Rejects with whatever its batch failed with, or with `Crowded` when too many wait or it was
   * stopped: then nothing was done.
   */
  add(item: Item): Promise<Answer>
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>
  /** Takes nothing more, and resolves when all that was taken is answered. */
  stop(): Promise<void>
}

export type BatchingOptions<Item, Answer> = {
  /** An answer for each, in their order; undefined when there is nothing to tell any of them. */
  run(batch: readonly Item[]): Promise<readonly Answer[] | undefined>
  /** How many a batch may have. */
  readonly batch_max?: number
  /** How many may wait for their batch to begin. */
  readonly waiting_max?: number
  /** How many batches may be under way at once. */
  readonly at_once?: number
  /** Lets more come before a batch is taken. A stop aborts the signal, and waits for what is returned. */
  gather?(stopping: AbortSignal): Promise<unknown>
  /** Awaited after a rest, before the first batch: what comes meanwhile goes together. Never rejects. */
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
    // Another one may have taken them meanwhile.
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
          return reject(new Crowded(stopping.signal.aborted ? 'stopped' : 'too many wait'))
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

/** The loop by itself, for whoever has a queue of its own: runs for as long as there is more, and then rests. */
export type Pump = {
  /** There is more. Changes nothing while as many run as may. */
  start(): void
  idle(): Promise<void>
}

export function openPump(options: {
  hasMore(): boolean
  /** Takes some of it and does it. Never rejects. */
  step(): Promise<void>
  readonly at_once?: number
  /** Awaited after a rest, before the first step: what comes meanwhile goes together. Never rejects. */
  begin?(): Promise<unknown>
}): Pump {
  const { hasMore, step, at_once = 1, begin } = options
  let running = 0
  let resting: (() => void)[] = []

  async function run(): Promise<void> {
    // Without it, what is added in one go goes together all the same.
    await begin?.()
    while (hasMore()) await step()
    // Nothing may come between the last look and this, or it would be left lying.
    running--
    if (running > 0) return
    const told = resting
    resting = []
    for (const tell of told) tell()
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
