import type { Logger } from 'pino'
import { type Loop, openLoop, openWakeSignal } from '../core/loop.ts'

/**
 * Serves long polls: any number of callers wait for new entries in a log, and one query at a time serves all of them. The
 * poller queries only while a caller waits: at once when this node has added an entry, and every POLL_MS for entries of
 * other nodes. Positions in the log must become visible in ascending order.
 */
export type LogPoller = {
  /** Once this resolves, the watch reports every entry of the partner that gets a position from now on. */
  watch(partner_id: string): Promise<LogWatch>
  /** Call after this node may have added an entry. */
  wake(): void
  /**
   * The node is about to stop: callers that wait are answered now, and later callers wait a second at most. Not zero: a
   * client that polls in a loop would use up its rate limit.
   */
  drain(): void
  /** Answers every caller that waits, and stops polling. */
  stop(): Promise<void>
}

export type LogSource = {
  /** The highest visible position of these partners. A lower one is allowed; it only costs an additional query. */
  last(partners: readonly string[]): Promise<bigint>
  /** Which of these partners have entries after the position. The result may name other partners too. */
  since(position: bigint, partners: readonly string[]): Promise<NewEntries>
}

type NewEntries = {
  /** The highest position that was read; null when there are no new entries. */
  readonly last: bigint | null
  readonly partners: ReadonlySet<string>
  /** The log has further entries that this query did not read. */
  readonly more: boolean
}

type LogWatch = {
  /** True when there are new entries; false when the time is over, the caller is gone, or the node stops. */
  news(until: number, gone: AbortSignal): Promise<boolean>
  end(): void
}

const POLL_MS = 250
const DRAINING_WAIT_MS = 1000
/** Delay between a wake-up and its query, so that one query finds the entries of several commits. */
const GATHER_MS = 20

export function openLogPoller(source: LogSource, log: Logger): LogPoller {
  const watchers = new Set<Watcher>()
  /** Every watcher has been told of all entries up to this position. */
  let seen = 0n
  let beginning: Promise<void> | undefined
  /** Runs only while there are watchers. */
  let polling: Loop | undefined
  let gathering: NodeJS.Timeout | undefined
  let draining = false
  let stopped = false

  const watched = () => [...new Set([...watchers].map(({ partner_id }) => partner_id))]

  async function begin(): Promise<void> {
    seen = await source.last(watched())
    if (stopped) return
    polling = openLoop(poll, {
      poll_ms: POLL_MS,
      onError: (error) => log.debug({ err: error }, 'log poller: query failed; polling again'),
    })
  }

  async function poll(): Promise<void> {
    if (watchers.size === 0) return pause()
    const asked = new Set(watched())
    const { last, partners, more } = await source.since(seen, [...asked])
    seen = last ?? seen
    // The query did not ask about partners whose watch began meanwhile, and the next one starts after their entries.
    const isPassed = (partner_id: string) => last !== null && !asked.has(partner_id)
    for (const watcher of watchers)
      if (partners.has(watcher.partner_id) || isPassed(watcher.partner_id)) watcher.report()
    if (more) wake()
  }

  function pause(): void {
    void polling?.stop()
    polling = undefined
    beginning = undefined
  }

  function wake(): void {
    gathering ??= setTimeout(() => {
      gathering = undefined
      polling?.wake()
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
      await polling?.stop()
    },
  }
}

type Watcher = {
  readonly partner_id: string
  /** Reports new entries to the caller. */
  report(): void
  /** Ends the caller's wait, with no new entries. */
  dismiss(): void
  readonly news: LogWatch['news']
}

/** A `report` between two calls of `news` is kept: the next call returns true at once. */
function openWatcher(partner_id: string): Watcher {
  const wake_up = openWakeSignal()
  let has_news = false
  let dismissed = false
  return {
    partner_id,
    report() {
      has_news = true
      wake_up.notify()
    },
    dismiss() {
      dismissed = true
      wake_up.notify()
    },
    async news(until, gone) {
      const left = until - performance.now()
      if (!has_news && !dismissed && !gone.aborted && left > 0) {
        wake_up.clear()
        gone.addEventListener('abort', wake_up.notify)
        await wake_up.wait(left)
        gone.removeEventListener('abort', wake_up.notify)
      }
      const is_news = has_news && !dismissed && !gone.aborted
      has_news = false
      return is_news
    },
  }
}
