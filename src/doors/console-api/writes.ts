import { Refusal } from '../../core/errors.ts'
import type { WindowState } from '../../http/headers.ts'
import type { Limiter } from '../../limits/limiter.ts'
import type { WindowLimit } from '../../limits/windows.ts'
import type { ConsoleEndpoint } from './endpoint.ts'

/**
 * Limits how much a user may change in the console. Each change is a line of the act log, which is kept for ever:
 * without a limit one viewer could write gigabytes a day. Users of a partner also share a window. Operators do not,
 * so that one operator cannot block another.
 */
export type Writes = {
  /** Counts a change in all windows, or refuses it and counts nothing. Returns the user's window of this minute. */
  count(endpoint: ConsoleEndpoint, who: Caller): Promise<WindowState>
}

type Caller = { readonly user_id: string; readonly partner_id?: string | null }

/** Per user. */
type WritesAllowed = { readonly per_minute: number; readonly per_day: number }

/** The limits of a whole team, as a multiple of one user's. */
const TEAM_FACTOR = 5

/** A counted call: every call but GET, exports, and receipts, which cost as much as an export of a few rows. */
export const isWrite = ({ route, reply }: ConsoleEndpoint): boolean =>
  !route.startsWith('GET ') || reply.type === 'text/csv' || reply.file !== undefined

export function openWrites(limiter: Pick<Limiter, 'take'>, { per_minute, per_day }: WritesAllowed): Writes {
  return {
    count({ protects }, who) {
      const kind = protects ? 'protective writes' : 'writes'
      return countCall(limiter, who, {
        called: 'changes and exports',
        windowLimitsOf: (whose, is_team) => {
          const factor = is_team ? TEAM_FACTOR : 1
          return [
            { name: `console ${kind} of ${whose}, minute`, kind: 'minute', limit: factor * per_minute },
            { name: `console ${kind} of ${whose}, day`, kind: 'day', limit: factor * per_day },
          ]
        },
      })
    },
  }
}

/** Counts a call in the windows of its user and of the user's team, or refuses it and counts nothing. */
export async function countCall(
  limiter: Pick<Limiter, 'take'>,
  { user_id, partner_id }: Caller,
  {
    called,
    windowLimitsOf,
  }: {
    /** What the refusal calls these calls. */
    readonly called: string
    readonly windowLimitsOf: (whose: string, is_team: boolean) => readonly WindowLimit[]
  },
): Promise<WindowState> {
  const of_person = windowLimitsOf(user_id, false)
  const of_team = partner_id ? windowLimitsOf('the team', true) : []
  // All windows have one subject, so they are judged together and a refusal counts in none.
  const { window, refused } = await limiter.take(partner_id ?? 'operator', [...of_person, ...of_team])
  if (!refused) return window
  const { limit, retry_after_seconds } = refused
  const full = [...of_person, ...of_team].find(({ name }) => name === refused.name)!
  const { kind } = full
  throw new Refusal('rate_limit_exceeded', {
    message: `${of_team.includes(full) ? 'Your team' : 'You'} may make ${limit} ${called} per ${kind === 'day' ? 'UTC day' : kind} in the console. Wait ${retry_after_seconds} s, then try again.`,
    retry_after_seconds,
    details: { window: kind, limit, retry_after_seconds },
  })
}
