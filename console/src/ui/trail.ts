import type { RouterHistory } from '@tanstack/react-router'

/** The paths visited in this tab, by position in the browser history. Paths from before a reload are unknown. */
const trail: string[] = []
let history: RouterHistory | undefined

export function keepTrail(of: RouterHistory): void {
  history = of
  trail[here()] = of.location.pathname
  of.subscribe(({ location, action }) => {
    trail[here()] = location.pathname
    if (action.type === 'PUSH') trail.length = here() + 1
  })
}

const here = (): number => history?.location.state.__TSR_index ?? 0

/** Goes back in the history to this path, with its query and scroll position; false if the person did not come from it. */
export function backTo(pathname: string): boolean {
  const own = trail[here()]
  let at = here() - 1
  // Tabs and dialogs of one page are separate history entries with the same path.
  while (at >= 0 && trail[at] === own) at--
  if (at < 0 || trail[at] !== pathname) return false
  history?.go(at - here())
  return true
}

/** The path of the page that the person came back from. */
export const cameBackFrom = (): string | undefined => trail[here() + 1]
