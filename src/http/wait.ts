import { Type as T } from 'typebox'
import type { Endpoint } from './endpoint.ts'

/**
 * Lists that are read as they grow take `?wait=`: the answer comes as soon as there is something, or empty when the wait
 * ends. Whoever waits holds a socket and a place here, and no connection to the database.
 */
export const WAIT_MAX_SECONDS = 30

export const waitQuery = {
  wait: T.Optional(
    T.String({
      pattern: '^([0-9]|[12][0-9]|30)$',
      description: `Seconds to wait when there is nothing yet, 0 to ${WAIT_MAX_SECONDS}`,
      examples: ['0'],
    }),
  ),
}

/** For how long a caller wants to wait. The query may not have been checked yet: what is no number is no wait. */
export function waitMsOf(endpoint: Endpoint | undefined, query: unknown): number {
  if (!endpoint?.waits) return 0
  const seconds = Number((query as { wait?: string } | undefined)?.wait ?? 0)
  return seconds > 0 ? Math.min(seconds, WAIT_MAX_SECONDS) * 1000 : 0
}
