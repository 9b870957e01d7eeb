import { setTimeout as sleep } from 'node:timers/promises'

/** Runs work when it is woken, and after an interval anyway; never twice at once. Does not keep the process alive. */
export type Loop = {
  wake(): void
  /** Resolves when the run under way has ended. */
  stop(): Promise<void>
}

export type LoopOptions = {
  /** Interval after each run, unless the loop is woken. A function is called after each run. */
  readonly poll_ms: number | (() => number)
  /** Pause between two runs while the loop is woken all the time, so that one run does the work of several wake-ups. */
  readonly gather_ms?: number
  /** Delay before the first run, unless the loop is woken. */
  readonly first_ms?: number
  /** Receives an error of the work. The loop continues after the interval. */
  onError(error: unknown): void
}

export function openLoop(work: () => Promise<void>, options: LoopOptions): Loop {
  const { poll_ms, gather_ms = 0, first_ms = 0, onError } = options
  const wake_up = openWakeSignal()
  const stopping = new AbortController()
  const { signal } = stopping

  async function run(): Promise<void> {
    if (first_ms > 0) await wake_up.wait(first_ms)
    while (!signal.aborted) {
      wake_up.clear()
      await work().catch(onError)
      if (wake_up.isPending()) await sleep(gather_ms, undefined, { signal }).catch(() => {})
      else await wake_up.wait(typeof poll_ms === 'number' ? poll_ms : poll_ms())
    }
  }

  const ended = run()
  return {
    wake: wake_up.notify,
    stop() {
      stopping.abort()
      wake_up.notify()
      return ended
    },
  }
}

/** A wake-up signal. A notification while no caller waits is kept: the next `wait` returns at once. */
type WakeSignal = {
  notify(): void
  isPending(): boolean
  /** Discards a kept notification. */
  clear(): void
  /** Waits for a notification, at most this long. */
  wait(ms: number): Promise<void>
}

export function openWakeSignal(): WakeSignal {
  let pending = false
  let wakeWaiter: (() => void) | undefined
  const clear = () => {
    pending = false
  }
  return {
    notify() {
      pending = true
      wakeWaiter?.()
    },
    isPending: () => pending,
    clear,
    async wait(ms) {
      if (!pending) {
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>((resolve) => {
          wakeWaiter = resolve
          timer = setTimeout(resolve, ms).unref()
        })
        clearTimeout(timer)
        wakeWaiter = undefined
      }
      clear()
    },
  }
}
