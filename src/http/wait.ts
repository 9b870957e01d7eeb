import { setTimeout as sleep } from 'node:timers/promises'
import { Type as T } from 'typebox'
import { refuse } from '../core/errors.ts'
import type { LogPoller } from '../db/log-poller.ts'
import type { Endpoint } from './endpoint.ts'

/**
 * Long polls: lists that are followed take `?wait=`. The response comes as soon as there are entries, or empty when the wait
 * ends. A waiting caller holds a socket and a place here, and no connection to the database.
 */
const WAIT_MAX_SECONDS = 30

export const waitQuery = {
  wait: T.Optional(
    T.String({
      pattern: '^([0-9]|[12][0-9]|30)$',
      'x-read': { type: 'integer', minimum: 0, maximum: WAIT_MAX_SECONDS, default: 0 },
      'x-must-be': `a whole number from 0 to ${WAIT_MAX_SECONDS}`,
      description: `Seconds to wait when there is nothing yet, 0 to ${WAIT_MAX_SECONDS}`,
      examples: ['0'],
    }),
  ),
}

type FollowQuery = {
  readonly after?: string
  readonly wait?: string
  readonly cursor?: string
  readonly created_after?: string
  readonly created_before?: string
}

/** The point after which a list is followed; undefined: the list is read newest first. Other starting points are refused. */
export function followedFrom(query: FollowQuery): string | undefined {
  const from = query.after ?? (query.wait === undefined ? undefined : 'now')
  if (from === undefined) return undefined
  for (const param of ['cursor', 'created_after', 'created_before'] as const)
    if (query[param] !== undefined)
      refuse('invalid_request', { param, message: `Send after or ${param}, not both.` })
  return from
}

/** How long the caller wants to wait. The query may not be validated yet: anything but a number means no wait. */
export function waitMsOf(endpoint: Endpoint | undefined, query: unknown): number {
  if (!endpoint?.waits) return 0
  const seconds = Number((query as { wait?: string } | undefined)?.wait ?? 0)
  return seconds > 0 ? Math.min(seconds, WAIT_MAX_SECONDS) * 1000 : 0
}

/** Delay after the first new entry, so that entries that follow at once go into the same response. */
const GATHER_MS = 50
/** An entry that the caller's filter leaves out wakes it for nothing: then the delay doubles, up to this. */
const GATHER_MAX_MS = 800

export type Wait = { readonly poller: LogPoller; readonly wait_ms: number; readonly gone: AbortSignal }

type Followed = { readonly rows: readonly unknown[]; readonly stopped_at?: bigint | undefined }

const isEmpty = ({ rows, stopped_at }: Followed) => rows.length === 0 && stopped_at === undefined

/** Reads after each wake-up until there are entries, or the wait is over. */
export async function readOrWait<Found extends Followed>(
  read: () => Promise<Found>,
  partner_id: string,
  wait: Wait,
): Promise<Found> {
  if (wait.wait_ms === 0) return read()
  const until = performance.now() + wait.wait_ms
  const watch = await wait.poller.watch(partner_id)
  try {
    let found = await read()
    for (let gather_ms = GATHER_MS; isEmpty(found); gather_ms = Math.min(2 * gather_ms, GATHER_MAX_MS)) {
      if (!(await watch.news(until, wait.gone))) break
      await sleep(Math.max(0, Math.min(gather_ms, until - performance.now())))
      found = await read()
    }
    return found
  } finally {
    watch.end()
  }
}
