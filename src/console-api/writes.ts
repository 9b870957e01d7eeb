import { Refusal } from '../core/errors.ts'
import type { WindowState } from '../http/headers.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Want } from '../limits/windows.ts'
import type { ConsoleEndpoint } from './endpoint.ts'

/**
 * How much people may change in the console. Each change is a line of the log of acts, which is kept for ever: without a
 * window one viewer could write gigabytes a day. People of a partner also share a window; operators do not, so that one
 * operator keeps no other from acting.
 */
export type Writes = {
  /** Counts a change in all windows, or refuses it and counts nothing. Returns the person's window of this minute. */
  count(endpoint: ConsoleEndpoint, who: Writer): Promise<WindowState>
}

type Writer = { readonly user_id: string; readonly partner_id?: string | null }

/** Of one person. */
export type WritesAllowed = { readonly per_minute: number; readonly per_day: number }

/** How many times a person's figures all people of a partner have together. */
const TEAM_FACTOR = 5

/** A call that leaves a line in the log of acts: whatever is no GET, and exports. */
export const isWrite = ({ route, reply }: ConsoleEndpoint): boolean =>
  !route.startsWith('GET ') || reply.type === 'text/csv'

export function openWrites(
  limiter: Pick<Limiter, 'take' | 'windowOf'>,
  { per_minute, per_day }: WritesAllowed,
): Writes {
  return {
    async count({ protects }, { user_id, partner_id }) {
      const kind = protects ? 'protective writes' : 'writes'
      const wantsOf = (whose: string, factor: number): Want[] => [
        { name: `console ${kind} of ${whose}, minute`, kind: 'minute', limit: factor * per_minute },
        { name: `console ${kind} of ${whose}, day`, kind: 'day', limit: factor * per_day },
      ]
      const wants = [...wantsOf(user_id, 1), ...(partner_id ? wantsOf('the team', TEAM_FACTOR) : [])]
      // All windows under one subject: they are judged together, and a refusal counts in none of them.
      const { window, refused } = await limiter.take(partner_id ?? 'operator', wants)
      if (refused) throw tooManyWrites(wants.find(({ name }) => name === refused.name)!, refused)
      return window
    },
  }
}

function tooManyWrites(
  { name, kind }: Want,
  { limit, retry_after_seconds }: { limit: number; retry_after_seconds: number },
): Refusal {
  const who = name.includes(' of the team,') ? 'Your team' : 'You'
  return new Refusal('rate_limit_exceeded', {
    message: `${who} may make ${limit} changes and exports per ${kind === 'day' ? 'UTC day' : kind} in the console. Wait ${retry_after_seconds} s, then go on.`,
    retry_after_seconds,
    details: { window: kind, limit, retry_after_seconds },
  })
}
