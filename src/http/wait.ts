import { setTimeout as sleep } from 'node:timers/promises'
import { Type as T } from 'typebox'
import { refuse } from '../core/errors.ts'
import type { LogPoller } from '../db/log-poller.ts'
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

/** The point that a list is followed from; undefined: it is read newest first. Whoever follows it has said where to begin. */
export function followedFrom(query: FollowQuery): string | undefined {
  const from = query.after ?? (query.wait === undefined ? undefined : 'now')
  if (from === undefined) return undefined
  for (const param of ['cursor', 'created_after', 'created_before'] as const)
    if (query[param] !== undefined)
      refuse('invalid_request', { param, message: `Send after or ${param}, not both.` })
  return from
}

/** For how long a caller wants to wait. The query may not have been checked yet: what is no number is no wait. */
export function waitMsOf(endpoint: Endpoint | undefined, query: unknown): number {
  if (!endpoint?.waits) return 0
  const seconds = Number((query as { wait?: string } | undefined)?.wait ?? 0)
  return seconds > 0 ? Math.min(seconds, WAIT_MAX_SECONDS) * 1000 : 0
}

/** After the first others may follow at once: they are answered together. */
const GATHER_MS = 50
/** What a filter leaves out wakes a caller for nothing: then it looks less and less often. */
const GATHER_MAX_MS = 800

export type Wait = { readonly poller: LogPoller; readonly wait_ms: number; readonly gone: AbortSignal }

type Followed = { readonly rows: readonly unknown[]; readonly stopped_at?: bigint | undefined }

const isEmpty = ({ rows, stopped_at }: Followed) => rows.length === 0 && stopped_at === undefined

/** Reads again and again until there is something, or the wait is over. */
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
