import type { Logger } from 'pino'

/** Work that is done when somebody wakes it, and after a while anyway; never twice at once. */
export type Loop = {
  wake(): void
  /** Resolves when what is under way has ended. */
  stop(): Promise<void>
}

export function openLoop(
  work: () => Promise<void>,
  options: {
    readonly log: Logger
    /** How often to look without being told. */
    readonly poll_ms: number
    /** Between two looks while it is woken all the time, so that what comes meanwhile is done together. */
    readonly gather_ms: number
  },
): Loop {
  const { log, poll_ms, gather_ms } = options
  let stopped = false
  let woken = false
  let rouse: () => void = () => {}
  const ended = (async () => {
    while (!stopped) {
      woken = false
      await work().catch((error: unknown) => log.warn({ err: error }, 'webhooks'))
      if (woken) await sleep(gather_ms)
      else
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, poll_ms)
          rouse = () => {
            clearTimeout(timer)
            resolve()
          }
        })
    }
  })()
  const wake = () => {
    woken = true
    rouse()
  }
  return {
    wake,
    stop() {
      stopped = true
      wake()
      return ended
    },
  }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
