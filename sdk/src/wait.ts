import type { Trilho } from './client.js'
import { ApiError, ConnectionError } from './errors.js'
import type { OnchainTransfer, PixPayout, Trade } from './generated/types.js'
import { sleep } from './runtime.js'
import { isRetryable, retryDelay } from './send.js'

/** A payment that comes to an end. */
export type Payment = PixPayout | OnchainTransfer | Trade

export type WaitOptions = {
  /** Milliseconds in all; then `StillOpenError`. Default: one hour. */
  readonly timeout?: number | undefined
  /** Aborting ends the wait with the reason of the signal. The payment goes on. */
  readonly signal?: AbortSignal | undefined
}

/** The payment had not ended when the time was up. This is not a failure: the payment may still complete. */
export class StillOpenError extends Error {
  override readonly name = 'StillOpenError'
  /** The payment as it was read last; undefined if it could not be read. */
  readonly last: Payment | undefined

  constructor(id: string, last: Payment | undefined, cause?: unknown) {
    const seen = last ? `is still ${last.status}` : 'could not be read'
    super(`${id} ${seen}. It goes on, and may complete: wait again, or listen to its events.`, { cause })
    this.last = last
  }
}

const HOUR_MS = 3_600_000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000

const FINAL: readonly string[] = ['completed', 'confirmed', 'failed']

/** Whether a payment has ended. */
export const isEnded = ({ status }: { readonly status: string }): boolean => FINAL.includes(status)

/** The part of a client that reads payments. */
export type Reader = Pick<Trilho, 'pix' | 'onchain' | 'trades'>

/**
 * Reads a payout, transfer or trade until it has ended, and returns it: look at `status`, because a payment that failed is
 * returned too, not thrown. Cut connections, limits and restarts of the server are waited out.
 */
export function waitForEnd<T extends Payment>(trilho: Reader, payment: T, options?: WaitOptions): Promise<T>
export function waitForEnd(trilho: Reader, id: string, options?: WaitOptions): Promise<Payment>
export async function waitForEnd(
  trilho: Reader,
  payment: Payment | string,
  { timeout = HOUR_MS, signal }: WaitOptions = {},
): Promise<Payment> {
  const id = typeof payment === 'string' ? payment : payment.id
  const read = readerOf(trilho, id)
  let last = typeof payment === 'string' ? undefined : payment
  if (last && isEnded(last)) return last
  const until = Date.now() + timeout
  let failure: ApiError | ConnectionError | undefined
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted) throw signal.reason
    const seen = await read(signal, Math.max(until - Date.now(), 1)).catch((error: unknown) => {
      if (signal?.aborted || !passes(error)) throw error
      failure = error
    })
    if (seen) {
      if (isEnded(seen)) return seen
      last = seen
      failure = undefined
    }
    const left = until - Date.now()
    if (left <= 0) throw new StillOpenError(id, last, failure)
    await sleep(Math.min(pauseAfter(attempt, failure), left), signal)
  }
}

/** Whether the next attempt to read may succeed. Once a payment exists, a foreign response is a fault of a proxy. */
export const passes = (error: unknown): error is ApiError | ConnectionError =>
  error instanceof ConnectionError ||
  (error instanceof ApiError && (isRetryable(error) || error.code === 'unexpected_response'))

/** Backoff with jitter; never shorter than the `Retry-After` of a failure. */
export function pauseAfter(attempt: number, failure?: ApiError | ConnectionError): number {
  const most = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS)
  return Math.max(most * (0.5 + Math.random() / 2), failure ? retryDelay(attempt, failure) : 0)
}

type Read = (signal: AbortSignal | undefined, timeout: number) => Promise<Payment>

/** The kind of a payment is the prefix of its id. */
function readerOf({ pix, onchain, trades }: Reader, id: string): Read {
  const place = { po_: pix.payouts, tr_: onchain.transfers, td_: trades }[/^[a-z]+_/.exec(id)?.[0] ?? '']
  if (!place)
    throw new TypeError(`'${id}' is not the id of a payout (po_…), a transfer (tr_…) or a trade (td_…).`)
  // Retries are made here, where the time is known.
  return async (signal, timeout) =>
    place.get(id, { signal, maxRetries: 0, timeout: Math.min(timeout, LONGEST_READ_MS) })
}

const LONGEST_READ_MS = 30_000
