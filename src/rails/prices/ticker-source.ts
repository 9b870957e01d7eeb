import { type Dispatcher, request } from 'undici'
import type { Clock } from '../../core/clock.ts'
import { openLoop } from '../../core/loop.ts'
import type { Exchange } from './exchange-table.ts'
import type { Tick } from './guards.ts'
import { readTicker } from './ticker.ts'

/** One pair at one exchange, asked again and again. A failed poll leaves nothing behind: the source is absent until the next answer. */
export type TickerSource = {
  readonly name: string
  /** Of the last poll. Undefined before the first one, and after a failure. */
  tick(): Tick | undefined
  failure(): SourceFailure | undefined
  /** Resolves when the first poll has ended. */
  readonly first: Promise<void>
  /** The request under way ends with the dispatcher, or at its deadline. */
  stop(): Promise<void>
}

export type FailureKind = 'unreachable' | 'timeout' | 'http_status' | 'rate_limited' | 'too_long' | 'invalid'

export class SourceFailure extends Error {
  readonly kind: FailureKind
  /** When the exchange wants to be asked again. */
  readonly retry_after_ms: number | undefined

  constructor(kind: FailureKind, problem: string, retry_after_ms?: number) {
    super(problem)
    this.kind = kind
    this.retry_after_ms = retry_after_ms
  }
}

export type SourceOptions = {
  readonly name: string
  readonly exchange: Exchange
  readonly market: string
  /** In place of the exchange's own address. */
  readonly url: string
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly poll_ms: number
  readonly timeout_ms: number
  readonly truce: Truce
  onPolled(): void
}

/**
 * Shared by the sources of one exchange. An exchange limits an address, not a pair: after a 429 none of them asks before this time, of
 * performance.now().
 */
export type Truce = { until_ms: number }

/** After failures in a row the interval doubles up to this. */
const BACK_OFF_MOST_MS = 30_000
/** For an exchange that limits this node and does not say for how long. */
const RATE_LIMITED_MS = 60_000
const RETRY_AFTER_MOST_MS = 600_000
export const ANSWER_MOST_BYTES = 64 * 1024

export function openTickerSource(options: SourceOptions): TickerSource {
  const { name, clock, poll_ms, truce, onPolled } = options
  let is_stopped = false
  let tick: (() => Tick) | undefined
  let failure: SourceFailure | undefined
  let failures_in_row = 0
  let pause_ms = poll_ms
  let endFirst = () => {}
  const first = new Promise<void>((resolve) => {
    endFirst = resolve
  })

  async function poll(): Promise<void> {
    // The age counts from the request on: an answer that is delayed on its way must not look younger.
    const asked = { monotonic: performance.now(), wall: clock.now() }
    try {
      assertNoTruce(truce)
      const { stamp_ms, ...prices } = await askExchange(options)
      const lag_ms = stamp_ms === undefined ? {} : { lag_ms: clock.now() - stamp_ms }
      const { lag_most_ms } = options.exchange
      const said = { source: name, ...prices, ...lag_ms, ...(lag_most_ms !== undefined && { lag_most_ms }) }
      tick = () => ({ ...said, age_ms: ageOf(asked, clock) })
      failure = undefined
      failures_in_row = 0
      pause_ms = poll_ms
    } catch (error) {
      tick = undefined
      failure =
        error instanceof SourceFailure ? error : new SourceFailure('unreachable', 'the request failed')
      const { retry_after_ms } = failure
      if (retry_after_ms !== undefined)
        truce.until_ms = Math.max(truce.until_ms, performance.now() + retry_after_ms)
      pause_ms = retry_after_ms ?? Math.min(BACK_OFF_MOST_MS, poll_ms * 2 ** Math.min(failures_in_row++, 10))
    }
    endFirst()
    if (!is_stopped) onPolled()
  }

  const loop = openLoop(poll, { poll_ms: () => pause_ms, onError: () => {} })
  return {
    name,
    tick: () => tick?.(),
    failure: () => failure,
    first,
    async stop() {
      is_stopped = true
      await loop.stop()
    },
  }
}

function assertNoTruce({ until_ms }: Truce): void {
  const left_ms = until_ms - performance.now()
  if (left_ms > 0)
    throw new SourceFailure('rate_limited', 'the exchange has limited another question', left_ms)
}

/**
 * The longer one of two clocks. The wall clock may be set back; the other one stands still while the machine is suspended. Either
 * would make an old price look young.
 */
const ageOf = (asked: { monotonic: number; wall: number }, clock: Clock): number =>
  Math.max(performance.now() - asked.monotonic, clock.now() - asked.wall)

async function askExchange({ exchange, market, url, dispatcher, timeout_ms, clock }: SourceOptions) {
  const signal = AbortSignal.timeout(timeout_ms)
  const text = await answerOf()
  try {
    return readTicker(exchange, market, text)
  } catch (error) {
    throw new SourceFailure('invalid', `the answer is not valid: ${(error as Error).message}`)
  }

  async function answerOf(): Promise<string> {
    try {
      // Redirects are not followed: another host than the configured one sets no prices.
      const { statusCode, headers, body } = await request(`${url}${exchange.path(market)}`, {
        ...{ dispatcher, signal, headers: HEADERS },
      })
      if (statusCode === 200) return await body.text()
      await body.dump({ limit: ANSWER_MOST_BYTES, signal })
      throw refusalOf(statusCode, headers['retry-after'], clock)
    } catch (error) {
      if (error instanceof SourceFailure) throw error
      if (signal.aborted) throw new SourceFailure('timeout', `no answer within ${timeout_ms} ms`)
      const { code } = error as NodeJS.ErrnoException
      if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
        throw new SourceFailure('too_long', `the answer is longer than ${ANSWER_MOST_BYTES} bytes`)
      throw new SourceFailure('unreachable', `no whole answer (${code ?? 'unknown reason'})`)
    }
  }
}

/** Binance answers 418 to an address that went on after a 429. */
const limiting: readonly number[] = [429, 418]

function refusalOf(status: number, retry_after: string | string[] | undefined, clock: Clock): SourceFailure {
  const problem = `the answer has status ${status}`
  if (limiting.includes(status))
    return new SourceFailure('rate_limited', problem, pauseOf(retry_after, clock))
  return new SourceFailure('http_status', problem)
}

/** Retry-After is a number of seconds or a date. */
export function pauseOf(retry_after: string | string[] | undefined, clock: Pick<Clock, 'now'>): number {
  const text = typeof retry_after === 'string' ? retry_after : ''
  const ms = /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - clock.now()
  return ms > 0 ? Math.min(RETRY_AFTER_MOST_MS, ms) : RATE_LIMITED_MS
}

/** Some exchanges refuse requests without a user agent. */
const HEADERS = { accept: 'application/json', 'user-agent': 'trilho' }
