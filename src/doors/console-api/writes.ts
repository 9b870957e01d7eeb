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
  count(endpoint: ConsoleEndpoint, who: Writer): Promise<WindowState>
}

type Writer = { readonly user_id: string; readonly partner_id?: string | null }

/** Per user. */
type WritesAllowed = { readonly per_minute: number; readonly per_day: number }

/** The limits of a whole team, as a multiple of one user's. */
const TEAM_FACTOR = 5

/** A counted call: every call but GET, exports, and receipts, which cost as much as an export of a few rows. */
export const isWrite = ({ route, reply }: ConsoleEndpoint): boolean =>
  !route.startsWith('GET ') || reply.type === 'text/csv' || reply.file !== undefined

export function openWrites(
  limiter: Pick<Limiter, 'take' | 'windowOf'>,
  { per_minute, per_day }: WritesAllowed,
): Writes {
  return {
    async count({ protects }, { user_id, partner_id }) {
      const kind = protects ? 'protective writes' : 'writes'
      const windowLimitsOf = (whose: string, factor: number): WindowLimit[] => [
        { name: `console ${kind} of ${whose}, minute`, kind: 'minute', limit: factor * per_minute },
        { name: `console ${kind} of ${whose}, day`, kind: 'day', limit: factor * per_day },
      ]
      const window_limits = [
        ...windowLimitsOf(user_id, 1),
        ...(partner_id ? windowLimitsOf('the team', TEAM_FACTOR) : []),
      ]
      // All windows have one subject, so they are judged together and a refusal counts in none.
      const { window, refused } = await limiter.take(partner_id ?? 'operator', window_limits)
      if (refused) throw tooManyWrites(window_limits.find(({ name }) => name === refused.name)!, refused)
      return window
    },
  }
}

function tooManyWrites(
  { name, kind }: WindowLimit,
  { limit, retry_after_seconds }: { limit: number; retry_after_seconds: number },
): Refusal {
  const who = name.includes(' of the team,') ? 'Your team' : 'You'
  return new Refusal('rate_limit_exceeded', {
    message: `${who} may make ${limit} changes and exports per ${kind === 'day' ? 'UTC day' : kind} in the console. Wait ${retry_after_seconds} s, then try again.`,
    retry_after_seconds,
    details: { window: kind, limit, retry_after_seconds },
  })
}
