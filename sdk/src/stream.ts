import type { Page } from './call.js'
import { ApiError, ConnectionError } from './errors.js'
import type { Event, EventMap, EventsListParams, EventType } from './generated/types.js'
import { sleep } from './runtime.js'
import { isRetryable, retryDelay } from './send.js'

export type StreamOptions = {
  /** Where to begin if `load` returns nothing: `now` (the default), `start`, an event id or a cursor. */
  readonly after?: string | undefined
  /** Returns the cursor that `save` stored. */
  readonly load?: (() => MaybePromise<string | null | undefined>) | undefined
  /** Stores the cursor to continue from. Called after the loop body, so that an event whose handling fails comes again. */
  readonly save?: ((cursor: string) => MaybePromise<unknown>) | undefined
  /** Only events of these types. */
  readonly types?: readonly EventType[] | undefined
  /** Only events of this object. */
  readonly object_id?: string | undefined
  /** Aborting ends the loop. */
  readonly signal?: AbortSignal | undefined
}
type MaybePromise<T> = T | Promise<T>

export type Stream = {
  /** Iterates over all events from a point on, oldest first, each at least once, until you leave the loop. */
  <Type extends EventType>(
    options: StreamOptions & { readonly types: readonly Type[] },
  ): AsyncGenerator<EventMap[Type], void, undefined>
  (options?: StreamOptions): AsyncGenerator<Event, void, undefined>
}

type ReadPage = (query: EventsListParams, signal: AbortSignal | undefined) => PromiseLike<Page<Event>>

const WAIT_SECONDS = 30
const PAGE = 100

export async function* stream(
  read: ReadPage,
  { load, save, types, object_id, signal, after = 'now' }: StreamOptions = {},
): AsyncGenerator<Event, void, undefined> {
  const [only] = types?.length === 1 ? types : []
  const filter = { limit: PAGE, object_id, type: only }
  const pace = createTokenBucket()
  // An unexpected response is an error if the address has never been Trilho's; afterwards it is a temporary fault of a proxy.
  let connected = false
  const isTemporary = (error: ApiError | ConnectionError) =>
    isRetryable(error) || (connected && 'code' in error && error.code === 'unexpected_response')
  const next = async (query: EventsListParams) => {
    const page = await retryUntilRead(() => read({ ...filter, ...query }, signal), {
      pace,
      passes: isTemporary,
      signal,
    })
    connected = true
    return page
  }
  try {
    let cursor = (await load?.()) || after
    if (cursor === 'now') {
      // Fixes the starting point, so that no event is lost if the program ends before the first event.
      cursor = (await next({ after: 'now' })).next_cursor!
      await save?.(cursor)
    }
    for (;;) {
      const page = await next({ after: cursor, wait: WAIT_SECONDS })
      let saved = page.next_cursor
      for (const event of page.data) {
        if (types && !(types as readonly string[]).includes(event.type)) continue
        yield event
        await save?.((saved = event.id))
      }
      // A page without matching events is not read again after a restart.
      if (saved === page.next_cursor && saved !== cursor) await save?.(saved!)
      cursor = page.next_cursor!
    }
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}

type RetryOptions = {
  readonly pace: () => number
  readonly passes: (error: ApiError | ConnectionError) => boolean
  readonly signal: AbortSignal | undefined
}

/** Retries until there is a page: a restart of the server, a cut connection or an exhausted limit does not end the stream. */
async function retryUntilRead<T>(
  read: () => PromiseLike<T>,
  { pace, passes, signal }: RetryOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    await sleep(pace(), signal)
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof ConnectionError) || !passes(error)) throw error
      await sleep(retryDelay(attempt, error), signal)
    }
  }
}

const AT_ONCE = 30
const REFILL_MS = 10_000

/** A token bucket for requests: a burst of 30, then one per 10 s, so that a busy stream stays within the daily limit. */
export function createTokenBucket(now: () => number = () => performance.now()): () => number {
  /** When the bucket is full again. */
  let full = now()
  return () => {
    const at = now()
    full = Math.max(full, at) + REFILL_MS
    return Math.max(0, full - at - AT_ONCE * REFILL_MS)
  }
}
