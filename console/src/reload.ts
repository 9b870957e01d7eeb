import { lazyRouteComponent } from '@tanstack/react-router'
import { noteReachable } from './api/live.ts'

const KEPT_IN = 'trilho.reloaded'
const SOON_MS = 60_000

/** Reloads the page unless it was reloaded a moment ago; returns false then, to avoid a loop. */
export function reloadOnce(now: number = Date.now()): boolean {
  const last = Number(sessionStorage.getItem(KEPT_IN) ?? 0)
  if (now - last < SOON_MS) return false
  sessionStorage.setItem(KEPT_IN, String(now))
  window.location.reload()
  return true
}

/** Whether a reload would succeed. If the service is down, a reload would lose the tab. */
export async function isServed(): Promise<boolean> {
  const answer = await fetch(import.meta.env.BASE_URL, { cache: 'no-store' }).catch(() => undefined)
  noteReachable(answer !== undefined)
  return answer?.ok ?? false
}

/** A file of the console failed to load: the service is down, or it runs another version now. */
export class MissedFile extends Error {
  constructor(cause?: unknown) {
    super('a file of this page could not be loaded', { cause })
    this.name = 'MissedFile'
  }
}

/** Set after a failed import: the browser does not fetch the same module again, so only a reload helps. */
let missed = false

/** Loads the component of a route on first use. `Crashed` shows what to do if that fails. */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(async () => {
    if (missed) throw new MissedFile()
    return load().catch((cause: unknown) => {
      missed = true
      throw new MissedFile(cause)
    })
  }, name)
