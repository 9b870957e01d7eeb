import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, type Request as LoggedRequest } from '#sdk'
import type { Input, Output } from '../command.ts'
import { exitOfStop } from '../exit.ts'
import { coloured, type Io } from '../io.ts'
import { toJson } from '../print.ts'
import { openApiClient } from './client.ts'
import { reportingFetch } from './reporting-fetch.ts'
import { fieldsOf } from './show.ts'

const WAIT_SECONDS = 30
/**
 * Each read of the request log is itself logged and wakes other tails of the same log, so a token bucket limits the reads: a
 * burst of 30, then one per refill.
 */
const AT_ONCE = 30
const REFILL_MS = 10_000
const SHORT_WAIT_S = 60
const LONGEST_WAIT_S = 86_400

export async function requestsTail(input: Input): Promise<Output> {
  const { io, format } = input
  const stopped = io.stopped()
  const seen = reportingFetch(io, () => stopped.aborted)
  /** Ids of the requests that this command made: they are left out of the output. */
  const own = new Set<string>()
  const { trilho } = await openApiClient(input, {
    maxRetries: Number.POSITIVE_INFINITY,
    fetch: async (...given) => {
      const response = await seen(...given)
      own.add(response.headers.get('x-request-id') ?? '')
      return response
    },
  })
  const filters = fieldsOf(input, ['status', 'key-id'])
  const pace = createTokenBucket()
  try {
    let after = 'now'
    for (let first = true; ; first = false) {
      await sleep(pace(), undefined, { signal: stopped })
      const wait = first ? {} : { wait: WAIT_SECONDS }
      const query = { ...filters, after, ...wait, limit: 100 }
      const page = await onceOpen(() => trilho.requests.list(query, { signal: stopped }), stopped)
      if (first) io.stderr.write('Waiting for requests.\n')
      for (const one of page.data)
        if (!own.delete(one.id)) io.stdout.write(format === 'table' ? lineOf(io, one) : `${toJson(one)}\n`)
      after = page.next_cursor ?? after
    }
  } catch (error) {
    if (!stopped.aborted) throw error
    return { exit_code: exitOfStop(stopped.reason) }
  }
}

/**
 * The SDK does not wait out a `Retry-After` of hours, such as that of the daily limit; a tail waits and goes on the next day.
 */
async function onceOpen<T>(read: () => PromiseLike<T>, stopped: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 429)) throw error
      const seconds = Math.min(error.retryAfter ?? SHORT_WAIT_S, LONGEST_WAIT_S)
      await sleep(seconds * 1000, undefined, { signal: stopped })
    }
  }
}

function lineOf(io: Io, one: LoggedRequest): string {
  const status = coloured(
    io,
    one.status < 300 ? 'green' : one.status < 500 ? 'yellow' : 'red',
    String(one.status),
  )
  const code = one.error_code === undefined ? '' : `  ${one.error_code}`
  const object = one.object_id === undefined ? '' : `  ${one.object_id}`
  return `${one.created_at}  ${one.id}  ${status}  ${one.method} ${one.route ?? '(no route)'}${code}${object}  (${one.duration_ms} ms)\n`
}

function createTokenBucket(): () => number {
  let full = performance.now()
  return () => {
    const at = performance.now()
    full = Math.max(full, at) + REFILL_MS
    return Math.max(0, full - at - AT_ONCE * REFILL_MS)
  }
}
