import type { Page } from './call.js'
import { ApiError, ConnectionError } from './errors.js'
import type { Event, EventMap, EventsListParams, EventType } from './generated/types.js'
import { sleep } from './runtime.js'
import { isPassing, waitBefore } from './send.js'

export type StreamOptions = {
  /** Where to begin when `load` has nothing: `now` (the default), `start`, an event's id or a cursor. */
  readonly after?: string | undefined
  /** The cursor that `save` kept. */
  readonly load?: (() => MaybePromise<string | null | undefined>) | undefined
  /** Keeps where to go on from. Runs when the loop's body has ended, so that what breaks off inside comes again. */
  readonly save?: ((cursor: string) => MaybePromise<unknown>) | undefined
  /** Only events of these types. */
  readonly types?: readonly EventType[] | undefined
  /** Only events of this object. */
  readonly object_id?: string | undefined
  /** Ends the loop. */
  readonly signal?: AbortSignal | undefined
}
type MaybePromise<T> = T | Promise<T>

export type Stream = {
  /** Every event from a point on, oldest first, each at least once; it goes on until you leave the loop. */
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
  const pace = createPace()
  // An address that never was Trilho's is a mistake; one that was has something in front of it for a while.
  let met = false
  const passes = (error: ApiError | ConnectionError) =>
    isPassing(error) || (met && 'code' in error && error.code === 'unexpected_response')
  const next = async (query: EventsListParams) => {
    const page = await insist(() => read({ ...filter, ...query }, signal), { pace, passes, signal })
    met = true
    return page
  }
  try {
    let cursor = (await load?.()) || after
    if (cursor === 'now') {
      // From here on nothing is lost, also when the program ends before the first event.
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
      // A page of nothing but other types: it is not to be read again.
      if (saved === page.next_cursor && saved !== cursor) await save?.(saved!)
      cursor = page.next_cursor!
    }
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}

type Patience = {
  readonly pace: () => number
  readonly passes: (error: ApiError | ConnectionError) => boolean
  readonly signal: AbortSignal | undefined
}

/** Asks until there is a page: a server that restarts, a cut wire and a used up limit end no stream. */
async function insist<T>(read: () => PromiseLike<T>, { pace, passes, signal }: Patience): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    await sleep(pace(), signal)
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof ConnectionError) || !passes(error)) throw error
      await sleep(waitBefore(attempt, error), signal)
    }
  }
}

const AT_ONCE = 30
const REFILL_MS = 10_000

/** How long to wait before the next request: 30 at once, then one per 10 s, so that a day has room for a busy stream. */
export function createPace(now: () => number = () => performance.now()): () => number {
  /** When all 30 are there again. */
  let full = now()
  return () => {
    const at = now()
    full = Math.max(full, at) + REFILL_MS
    return Math.max(0, full - at - AT_ONCE * REFILL_MS)
  }
}
