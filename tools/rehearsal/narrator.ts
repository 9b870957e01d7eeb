import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../test/support/wait.ts'

/** Prints the timeline, one line at a time, and remembers what the report shows of it. */
export type Narrator = ReturnType<typeof openNarrator>

export type PlayedScene = {
  readonly title: string
  readonly told: string[]
  readonly checked: string[]
  seconds: number
}

const PAUSE_MS = 200

export function openNarrator(print: (line: string) => void, signal: AbortSignal) {
  const began = performance.now()
  const scenes: PlayedScene[] = []
  const secondsSince = (since: number) => Math.round((performance.now() - since) / 1000)

  function line(text: string): void {
    const seconds = secondsSince(began)
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
    print(`${time.padStart(6)}  ${text}`)
  }

  return {
    scenes: scenes as readonly PlayedScene[],
    seconds: () => secondsSince(began),
    line,
    async scene(title: string, play: () => Promise<void>): Promise<void> {
      const since = performance.now()
      const played: PlayedScene = { title, told: [], checked: [], seconds: 0 }
      scenes.push(played)
      print('')
      line(`Scene ${scenes.length}. ${title}`)
      await play()
      played.seconds = secondsSince(since)
    },
    /** What happens. */
    tell(text: string): void {
      scenes.at(-1)?.told.push(text)
      line(`  ${text}`)
    },
    /** What was compared, and held. */
    checked(text: string): void {
      scenes.at(-1)?.checked.push(text)
      line(`  ok: ${text}`)
    },
    /** Asks until the answer is yes. `what` is the reason of a run that ends here. */
    async waitFor(what: string, ask: () => Promise<boolean> | boolean, within_ms = 240_000): Promise<void> {
      const isSo = async () => {
        signal.throwIfAborted()
        if (await ask()) return true
        await sleep(PAUSE_MS)
        return false
      }
      try {
        await until(isSo, within_ms)
      } catch (error) {
        signal.throwIfAborted()
        throw new Error(`waited in vain: ${what} (${(error as Error).message})`, { cause: error })
      }
    },
  }
}

/** Ends the run if a figure is not what it must be. */
export function mustEqual<T>(what: string, found: T, expected: T): void {
  const [shown, wanted] = [textOf(found), textOf(expected)]
  if (shown !== wanted) throw new Error(`${what}: expected ${wanted}, found ${shown}`)
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part))
