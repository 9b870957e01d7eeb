import { setTimeout as sleep } from 'node:timers/promises'

/** Work that is done when somebody wakes it, and after a while anyway; never twice at once. Keeps no process alive. */
export type Loop = {
  wake(): void
  /** Resolves when what is under way has ended. */
  stop(): Promise<void>
}

export type LoopOptions = {
  /** How long it rests after it has worked, unless it is woken. Asked for each time when it is a function. */
  readonly poll_ms: number | (() => number)
  /** Between two times while it is woken all the time, so that what comes meanwhile is done together. */
  readonly gather_ms?: number
  /** Before the first time, unless it is woken. */
  readonly first_ms?: number
  /** What the work threw. It is done again after a rest. */
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

/** What rings while nobody waits is heard by the next one who does. */
export type Bell = {
  ring(): void
  hasRung(): boolean
  /** Forgets that it rang. */
  hush(): void
  /** Until it rings, and no longer than this. */
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
