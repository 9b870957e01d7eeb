/**
 * A semaphore with names: limits how many places are taken in all, and per name. A caller that finds no free place waits;
 * freed places go to the names in turn, however many callers wait under each. So a long queue under one name does not delay
 * the callers of another name.
 */
export type FairSemaphore = {
  /**
   * Resolves to a function that gives the place back. Rejects with `QueueFull` when no place became free in time. `wait_ms`: how long
   * this caller waits, in place of the semaphore's own time.
   */
  take(name: string, wait_ms?: number): Promise<Release>
  /** The numbers of taken places and of waiting callers. */
  facts(): { readonly busy: number; readonly waiting: number }
}

/** Gives the place back. Calling it again changes nothing. */
export type Release = () => void

/** No place was available: too many callers wait already, or the wait took too long. */
export class QueueFull extends Error {
  override name = 'QueueFull'
}

type FairSemaphoreOptions = {
  readonly at_once: number
  readonly per_name: number
  /** The most callers that may wait under one name. */
  readonly waiting_per_name?: number
  /** The most callers that may wait in all. */
  readonly waiting_max?: number
  /** How long a caller waits before it gives up; without a limit when absent. */
  readonly wait_ms?: number
}

type Waiting = { resolve(leave: Release): void; readonly timer: NodeJS.Timeout | undefined }
type Name = { busy: number; readonly waiting: Set<Waiting> }

export function openFairSemaphore(options: FairSemaphoreOptions): FairSemaphore {
  const { at_once, per_name, waiting_per_name = Infinity, waiting_max = Infinity, wait_ms } = options
  const names = new Map<string, Name>()
  /** Names with waiting callers, in the order of their next turns. */
  const queue = new Set<string>()
  let busy = 0
  let waiting = 0

  const hasFreeSlot = (name: Name) => busy < at_once && name.busy < per_name

  function nameOf(key: string): Name {
    const known = names.get(key)
    if (known) return known
    const name = { busy: 0, waiting: new Set<Waiting>() }
    names.set(key, name)
    return name
  }

  function forgetIdle(key: string, name: Name): void {
    if (name.waiting.size > 0) return
    queue.delete(key)
    if (name.busy === 0) names.delete(key)
  }

  function enter(key: string, name: Name): Release {
    busy++
    name.busy++
    let left = false
    return () => {
      if (left) return
      left = true
      busy--
      name.busy--
      forgetIdle(key, name)
      callNext()
    }
  }

  function callNext(): void {
    for (const key of queue) {
      if (busy >= at_once) return
      const name = names.get(key)!
      if (!hasFreeSlot(name)) continue
      const [next] = name.waiting
      // The name goes to the end of the queue.
      queue.delete(key)
      removeFromQueue(name, next!)
      if (name.waiting.size > 0) queue.add(key)
      next!.resolve(enter(key, name))
    }
  }

  function removeFromQueue(name: Name, one: Waiting): void {
    clearTimeout(one.timer)
    name.waiting.delete(one)
    waiting--
  }

  function wait(key: string, name: Name, wait_ms: number | undefined): Promise<Release> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        removeFromQueue(name, one)
        forgetIdle(key, name)
        reject(new QueueFull('no place became free within the wait'))
      }
      const timer = wait_ms === undefined ? undefined : setTimeout(giveUp, wait_ms)
      const one: Waiting = { resolve, timer }
      name.waiting.add(one)
      waiting++
      queue.add(key)
    })
  }

  return {
    async take(key, most_ms = wait_ms) {
      const name = nameOf(key)
      if (name.waiting.size === 0 && hasFreeSlot(name)) return enter(key, name)
      if (waiting >= waiting_max || name.waiting.size >= waiting_per_name) {
        forgetIdle(key, name)
        throw new QueueFull('too many callers wait')
      }
      return wait(key, name, most_ms)
    },
    facts: () => ({ busy, waiting }),
  }
}
