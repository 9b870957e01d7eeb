import type { Logger } from 'pino'
import { type Loop, openBell, openLoop } from '../core/loop.ts'

/**
 * Lets any number of callers wait for what is added to a log: one question to the database serves all of them, and is
 * asked only while somebody waits. It is asked at once when this node has added something, and every so often for what
 * other nodes add. Positions in the log must become visible in their own order.
 */
export type Lookout = {
  /** From when this resolves, everything of the partner that gets a position is told. */
  watch(partner_id: string): Promise<Watch>
  /** Something may have been added. */
  wake(): void
  /**
   * The node is about to stop: callers that wait are answered now, and later callers wait a second at most. Not zero: a
   * client that polls in a loop would use up its rate limit.
   */
  drain(): void
  /** Whoever waits is let go. */
  stop(): Promise<void>
}

export type LookoutSource = {
  /** A position that everything visible of these partners is below, or at; an earlier one only costs a look. */
  last(partners: readonly string[]): Promise<bigint>
  /** Who of these partners has something behind the position; may name others too. */
  since(position: bigint, partners: readonly string[]): Promise<News>
}

export type News = {
  /** Up to where it was looked. */
  readonly last: bigint | null
  readonly partners: ReadonlySet<string>
  /** There is more than was looked at. */
  readonly more: boolean
}

export type Watch = {
  /** True when there is news; false when the time is over, the caller is gone, or the node stops. */
  news(until: number, gone: AbortSignal): Promise<boolean>
  end(): void
}

const POLL_MS = 250
const DRAINING_WAIT_MS = 1000
/** Before a look that somebody asked for, so that what comes meanwhile is found too. */
const GATHER_MS = 20

export function openLookout(source: LookoutSource, log: Logger): Lookout {
  const watchers = new Set<Watcher>()
  /** Up to where everybody was told. */
  let seen = 0n
  let beginning: Promise<void> | undefined
  /** Looks for as long as somebody watches. */
  let looking: Loop | undefined
  let gathering: NodeJS.Timeout | undefined
  let draining = false
  let stopped = false

  const watched = () => [...new Set([...watchers].map(({ partner_id }) => partner_id))]

  async function begin(): Promise<void> {
    seen = await source.last(watched())
    if (stopped) return
    looking = openLoop(look, {
      poll_ms: POLL_MS,
      onError: (error) => log.debug({ err: error }, 'cannot look for what was added'),
    })
  }

  async function look(): Promise<void> {
    if (watchers.size === 0) return rest()
    const asked = new Set(watched())
    const { last, partners, more } = await source.since(seen, [...asked])
    seen = last ?? seen
    // Who came meanwhile was not asked about, and nobody looks there again.
    const isPassed = (partner_id: string) => last !== null && !asked.has(partner_id)
    for (const watcher of watchers)
      if (partners.has(watcher.partner_id) || isPassed(watcher.partner_id)) watcher.tell()
    if (more) wake()
  }

  function rest(): void {
    void looking?.stop()
    looking = undefined
    beginning = undefined
  }

  function wake(): void {
    gathering ??= setTimeout(() => {
      gathering = undefined
      looking?.wake()
    }, GATHER_MS).unref()
  }

  return {
    async watch(partner_id) {
      const watcher = openWatcher(partner_id)
      if (stopped) watcher.dismiss()
      watchers.add(watcher)
      const end = () => void watchers.delete(watcher)
      const begun = stopped ? undefined : (beginning ??= begin())
      try {
        await begun
      } catch (error) {
        if (beginning === begun) beginning = undefined
        end()
        throw error
      }
      const isCut = draining
      return {
        news: (until, gone) =>
          watcher.news(isCut ? Math.min(until, performance.now() + DRAINING_WAIT_MS) : until, gone),
        end,
      }
    },
    wake,
    drain() {
      draining = true
      for (const watcher of watchers) watcher.dismiss()
    },
    async stop() {
      stopped = true
      clearTimeout(gathering)
      for (const watcher of watchers) watcher.dismiss()
      await looking?.stop()
    },
  }
}

type Watcher = {
  readonly partner_id: string
  /** There is news. */
  tell(): void
  /** There will be none any more. */
  dismiss(): void
  readonly news: Watch['news']
}

/** What it was told while nobody asked is told to the next one who does. */
function openWatcher(partner_id: string): Watcher {
  const bell = openBell()
  let told = false
  let dismissed = false
  return {
    partner_id,
    tell() {
      told = true
      bell.ring()
    },
    dismiss() {
      dismissed = true
      bell.ring()
    },
    async news(until, gone) {
      const left = until - performance.now()
      if (!told && !dismissed && !gone.aborted && left > 0) {
        bell.hush()
        gone.addEventListener('abort', bell.ring)
        await bell.wait(left)
        gone.removeEventListener('abort', bell.ring)
      }
      const is_news = told && !dismissed && !gone.aborted
      told = false
      return is_news
    },
  }
}
