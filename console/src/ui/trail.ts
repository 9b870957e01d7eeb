import type { RouterHistory } from '@tanstack/react-router'

/** The addresses of this tab, by their place in the browser's history; those of before a reload are not known. */
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

/** Goes back to this page as one left it, with its query and its place; false where one did not come from it. */
export function backTo(pathname: string): boolean {
  const own = trail[here()]
  let at = here() - 1
  // Tabs and dialogs of a page are steps of their own.
  while (at >= 0 && trail[at] === own) at--
  if (at < 0 || trail[at] !== pathname) return false
  history?.go(at - here())
  return true
}

/** The page from which one came back to this one. */
export const cameBackFrom = (): string | undefined => trail[here() + 1]
