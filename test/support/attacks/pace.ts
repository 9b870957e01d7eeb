import { setTimeout as sleep } from 'node:timers/promises'

/** What an attack counts while it runs: answers by status, and what else it did. */
export type Counts = Record<string, number>

type Assault = {
  readonly counts: Counts
  stopped(): boolean
  /** Runs as often as the pace allows, so many at once, until the attack ends. What fails is counted, not thrown. */
  often(options: { per_second: number; at_once: number }, act: () => Promise<string>): void
}

/**
 * A process that attacks until it is told to stop, then prints what it counted. It must not become the measurement
 * itself: everything it does has a pace, and whoever starts it gives it the lowest priority.
 */
export function openAssault(): Assault {
  const counts: Counts = {}
  let ended = false
  process.once('SIGTERM', () => {
    ended = true
    process.stdout.write(`${JSON.stringify(counts)}\n`, () => process.exit(0))
  })
  const count = (what: string) => {
    if (!ended && counts[what] === undefined) process.stdout.write(`first ${what}\n`)
    counts[what] = (counts[what] ?? 0) + 1
  }
  return {
    counts,
    stopped: () => ended,
    often({ per_second, at_once }, act) {
      const pause_ms = (1000 * at_once) / per_second
      const lane = async () => {
        await sleep(Math.random() * pause_ms)
        while (!ended) {
          const next = sleep(pause_ms)
          count(await act().catch((error: Error & { code?: string }) => error.code ?? error.name))
          await next
        }
      }
      for (let i = 0; i < at_once; i++) void lane()
    },
  }
}
