import type { WindowState } from '../../http/headers.ts'
import type { Limiter } from '../../limits/limiter.ts'
import type { ConsoleEndpoint } from './endpoint.ts'
import { countCall, isWrite } from './writes.ts'

/**
 * Limits how much a user may read in the console: without a limit two viewers who read in a loop slow the payouts of other
 * partners. Users of a partner also share a window. Operators do not, so that one operator cannot block another.
 */
export type Reads = {
  /** Counts a read in all windows, or refuses it and counts nothing. Returns the user's window of this minute. */
  count(who: Parameters<typeof countCall>[1]): Promise<WindowState>
}

/** The limit of a whole team, as a multiple of one user's. */
const TEAM_FACTOR = 4

/** Every GET that is not counted as a write. A stream of hints is not counted: it has a bounded number of places. */
export const isCountedRead = (endpoint: ConsoleEndpoint): boolean =>
  !isWrite(endpoint) && endpoint.reply.type !== 'text/event-stream'

export function openReads(limiter: Pick<Limiter, 'take'>, per_minute: number): Reads {
  return {
    count: (who) =>
      countCall(limiter, who, {
        called: 'reads',
        windowLimitsOf: (whose, is_team) => [
          {
            name: `console reads of ${whose}, minute`,
            kind: 'minute',
            limit: is_team ? TEAM_FACTOR * per_minute : per_minute,
          },
        ],
      }),
  }
}
