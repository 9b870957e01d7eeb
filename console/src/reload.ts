import { lazyRouteComponent } from '@tanstack/react-router'
import { heard } from './api/live.ts'

const KEPT_IN = 'trilho.reloaded'
const SOON_MS = 60_000

/** Loads the page anew, but never in a circle: false when that was just tried. */
export function reloadOnce(now: number = Date.now()): boolean {
  const last = Number(sessionStorage.getItem(KEPT_IN) ?? 0)
  if (now - last < SOON_MS) return false
  sessionStorage.setItem(KEPT_IN, String(now))
  window.location.reload()
  return true
}

/** Whether the console would be there if it were loaded anew. Where nobody answers, that would cost the tab. */
export async function isServed(): Promise<boolean> {
  const answer = await fetch(import.meta.env.BASE_URL, { cache: 'no-store' }).catch(() => undefined)
  heard(answer !== undefined)
  return answer?.ok ?? false
}

/** A file of the console did not come: nobody answers, or the service is of another version by now. */
export class MissedFile extends Error {
  constructor(cause?: unknown) {
    super('a file of this page could not be loaded', { cause })
    this.name = 'MissedFile'
  }
}

/** A browser does not ask twice for a file that it missed: from then on only loading anew brings new ones. */
let missed = false

/** The page of a route, loaded when it is opened. The frame says what is to be done when it does not come. */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(async () => {
    if (missed) throw new MissedFile()
    return load().catch((cause: unknown) => {
      missed = true
      throw new MissedFile(cause)
    })
  }, name)
