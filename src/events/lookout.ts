import type { Logger } from 'pino'
import type { World } from '../world.ts'
import { lastPosition, newsSince } from './store.ts'

/**
 * Lets any number of callers wait for events: one question to the database serves all of a world, and is asked only while
 * somebody waits. It is asked at once when this node has placed events, and every so often for those of other nodes.
 */
export type Lookout = {
  /** From when this resolves, every event of the partner that gets its place in the log is told. */
  watch(partner_id: string): Promise<Watch>
  /** Events may have got their places. */
  wake(): void
  /** Whoever waits is let go. */
  stop(): Promise<void>
}

export type Watch = {
  /** True when there is news; false when the time is over, the caller is gone, or the node stops. */
  news(until: number, gone: AbortSignal): Promise<boolean>
  end(): void
}

const POLL_MS = 250
/** Between two looks, however often it is woken. */
const GATHER_MS = 20
const LOOK_MAX = 5000

type Watcher = { readonly partner_id: string; told: boolean; rouse: () => void }

export function openLookout(world: World, log: Logger): Lookout {
  const watchers = new Set<Watcher>()
  /** Up to where everybody was told; undefined while nobody watches. */
  let seen: bigint | undefined
  let beginning: Promise<void> | undefined
  let woken = false
  let rouse: () => void = () => {}
  let stopped = false
  let ended: Promise<void> = Promise.resolve()

  async function begin(): Promise<void> {
    seen = await lastPosition(world.db)
    ended = look()
  }

  async function look(): Promise<void> {
    while (!stopped && watchers.size > 0) {
      woken = false
      await tellNews().catch((error: unknown) => log.debug({ err: error }, 'cannot look for events'))
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
    const { last, partners, looked_at } = await newsSince(world.db, seen!, LOOK_MAX)
    seen = last ?? seen
    for (const watcher of watchers) {
      if (!partners.has(watcher.partner_id)) continue
      watcher.told = true
      watcher.rouse()
    }
    if (looked_at === LOOK_MAX) woken = true
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
