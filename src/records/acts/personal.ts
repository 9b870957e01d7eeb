import type { LogLine } from './line.ts'

/** Acts whose line contains the fields of a customer. Every other line holds ids, settings and terms only. */
const ABOUT_CUSTOMERS: readonly string[] = ['create_customer', 'edit_customer']
const PERSONAL = ['name', 'document', 'email', 'external_id', 'metadata']

const HIDDEN = '***'
const CHANGED = '*** (changed)'

type State = Readonly<Record<string, unknown>>

/**
 * The line as operators see it: without the personal data of a partner's customer, but with the names of the fields that
 * changed. The data itself is on the customer's page, and opening that page is logged as a `view` (decision 0050).
 */
export function withoutPersonalData<Line extends Pick<LogLine, 'action' | 'before' | 'after'>>(
  line: Line,
): Line {
  if (!ABOUT_CUSTOMERS.includes(line.action)) return line
  const [before, after] = [stateIn(line.before), stateIn(line.after)]
  return {
    ...line,
    before: before && JSON.stringify(masked(before)),
    after: after && JSON.stringify(masked(after, before)),
  }
}

function masked(state: State, earlier?: State | null): State {
  const hidden = PERSONAL.filter((name) => name in state || (earlier && name in earlier)).map((name) => [
    name,
    !earlier || textOf(state[name]) === textOf(earlier[name]) ? HIDDEN : CHANGED,
  ])
  return { ...state, ...Object.fromEntries(hidden) }
}

const textOf = (value: unknown): string | undefined => JSON.stringify(value)

/** A line that was changed by hand may hold anything, so nothing of it is shown. */
function stateIn(text: string | null): State | null {
  if (text === null) return null
  try {
    const state: unknown = JSON.parse(text)
    if (typeof state === 'object' && state !== null && !Array.isArray(state)) return state as State
  } catch {}
  return { unreadable: true }
}
