import type { Logger } from 'pino'

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
/** Between two looks, however often it is woken. */
const GATHER_MS = 20

type Watcher = { readonly partner_id: string; told: boolean; rouse: () => void }

export function openLookout(source: LookoutSource, log: Logger): Lookout {
  const watchers = new Set<Watcher>()
  /** Up to where everybody was told; undefined while nobody watches. */
  let seen: bigint | undefined
  let beginning: Promise<void> | undefined
  let woken = false
  let rouse: () => void = () => {}
  let stopped = false
  let ended: Promise<void> = Promise.resolve()

  const watched = () => [...new Set([...watchers].map(({ partner_id }) => partner_id))]

  async function begin(): Promise<void> {
    seen = await source.last(watched())
    ended = look()
  }

  async function look(): Promise<void> {
    while (!stopped && watchers.size > 0) {
      woken = false
      await tellNews().catch((error: unknown) => log.debug({ err: error }, 'cannot look for what was added'))
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, woken ? GATHER_MS : POLL_MS)
        rouse = () => {
          clearTimeout(timer)
          setTimeout(resolve, GATHER_MS)
        }
      })
      rouse = () => {}
    }
    seen = undefined
    beginning = undefined
  }

  async function tellNews(): Promise<void> {
    const { last, partners, more } = await source.since(seen!, watched())
    seen = last ?? seen
    for (const watcher of watchers) {
      if (!partners.has(watcher.partner_id)) continue
      watcher.told = true
      watcher.rouse()
    }
    if (more) woken = true
  }

  function waitFor(watcher: Watcher, until: number, gone: AbortSignal): Promise<boolean> {
    const left = until - performance.now()
    if (watcher.told || stopped || gone.aborted || left <= 0) {
      const { told } = watcher
      watcher.told = false
      return Promise.resolve(told && !stopped && !gone.aborted)
    }
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        gone.removeEventListener('abort', done)
        watcher.rouse = () => {}
        resolve(watcher.told && !stopped && !gone.aborted)
        watcher.told = false
      }
      const timer = setTimeout(done, left)
      gone.addEventListener('abort', done)
      watcher.rouse = done
    })
  }

  return {
    async watch(partner_id) {
      const watcher: Watcher = { partner_id, told: false, rouse: () => {} }
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
      return { news: (until, gone) => waitFor(watcher, until, gone), end }
    },
    wake() {
      woken = true
      rouse()
    },
    async stop() {
      stopped = true
      for (const watcher of watchers) watcher.rouse()
      rouse()
      await ended
    },
  }
}
