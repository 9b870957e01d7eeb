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
  const bell = openBell()
  const stopping = new AbortController()
  const { signal } = stopping

  async function run(): Promise<void> {
    if (first_ms > 0) await bell.wait(first_ms)
    while (!signal.aborted) {
      bell.hush()
      await work().catch(onError)
      if (bell.hasRung()) await sleep(gather_ms, undefined, { signal }).catch(() => {})
      else await bell.wait(typeof poll_ms === 'number' ? poll_ms : poll_ms())
    }
  }

  const ended = run()
  return {
    wake: bell.ring,
    stop() {
      stopping.abort()
      bell.ring()
      return ended
    },
  }
}

/** A wake-up signal. A ring while no caller waits is kept: the next `wait` returns at once. */
type Bell = {
  ring(): void
  hasRung(): boolean
  /** Discards a kept ring. */
  hush(): void
  /** Waits for a ring, at most this long. */
  wait(ms: number): Promise<void>
}

export function openBell(): Bell {
  let rung = false
  let heard: (() => void) | undefined
  const hush = () => {
    rung = false
  }
  return {
    ring() {
      rung = true
      heard?.()
    },
    hasRung: () => rung,
    hush,
    async wait(ms) {
      if (!rung) {
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>((resolve) => {
          heard = resolve
          timer = setTimeout(resolve, ms).unref()
        })
        clearTimeout(timer)
        heard = undefined
      }
      hush()
    },
  }
}
