import type { WindowState } from '../http/headers.ts'

/** Contract §6, §17.5. Windows are fixed minutes and UTC days; the per-minute window goes into the headers. */
type WindowKind = 'minute' | 'day'

const LENGTH_MS: Readonly<Record<WindowKind, number>> = { minute: 60_000, day: 86_400_000 }

/** A window that a request must fit into. The first window_limit of a request goes into the headers. */
export type WindowLimit = { readonly name: string; readonly kind: WindowKind; readonly limit: number }

export type Counter = {
  readonly subject: string
  readonly name: string
  readonly starts_at: number
  readonly ends_at: number
  count: number
}

/** A window in which a request was counted. */
export type Counted = Pick<Counter, 'name' | 'starts_at' | 'ends_at'>

export type Verdict = {
  readonly window: WindowState
  /** The windows in which the request was counted. */
  readonly counted?: readonly Counted[]
  /** Set when a window is full: then the request was counted in no window. */
  readonly refused?: { readonly name: string; readonly limit: number; readonly retry_after_seconds: number }
}

export type CountedRequest = {
  readonly subject: string
  readonly window_limits: readonly WindowLimit[]
  /** Earlier counts of the same request, taken back if it is refused now: a refusal consumes nothing. */
  readonly back?: readonly Counted[] | undefined
  readonly now: number
}

/** The counts that can be taken back: those in windows that have not ended. */
export const openBack = ({ back = [] }: CountedRequest, now: number): readonly Counted[] =>
  back.filter(({ ends_at }) => ends_at > now)

export const windowStart = (kind: WindowKind, now: number): number => now - (now % LENGTH_MS[kind])

export const windowEnd = (kind: WindowKind, now: number): number => windowStart(kind, now) + LENGTH_MS[kind]

export function counterKey(subject: string, name: string): string {
  return `${subject} ${name}`
}

export const byKey = (counters: readonly Counter[]): Map<string, Counter> =>
  new Map(counters.map((counter) => [counterKey(counter.subject, counter.name), counter]))

/** The counter of the current window, if it has any count. */
function current(
  counters: ReadonlyMap<string, Counter>,
  subject: string,
  window_limit: WindowLimit,
  now: number,
): Counter | undefined {
  const counter = counters.get(counterKey(subject, window_limit.name))
  return counter?.starts_at === windowStart(window_limit.kind, now) ? counter : undefined
}

export function openCounter(subject: string, window_limit: WindowLimit, now: number): Counter {
  return {
    subject,
    name: window_limit.name,
    starts_at: windowStart(window_limit.kind, now),
    ends_at: windowEnd(window_limit.kind, now),
    count: 0,
  }
}

export function windowOf(
  counters: ReadonlyMap<string, Counter>,
  { subject, window_limits, now }: CountedRequest,
): WindowState {
  return stateOf(window_limits[0]!, current(counters, subject, window_limits[0]!, now)?.count ?? 0, now)
}

function stateOf(window_limit: WindowLimit, count: number, now: number): WindowState {
  return {
    limit: window_limit.limit,
    remaining: Math.max(0, window_limit.limit - count),
    resets_at: windowEnd(window_limit.kind, now) / 1000,
  }
}

function takeBack(counters: ReadonlyMap<string, Counter>, request: CountedRequest): void {
  for (const { name, starts_at } of openBack(request, request.now)) {
    const counter = counters.get(counterKey(request.subject, name))
    if (counter?.starts_at === starts_at && counter.count > 0) counter.count--
  }
}

/** Counts the request in all of its windows, or in none. Of several full windows, the one with the longest wait is reported. */
export function judgeRequest(counters: Map<string, Counter>, request: CountedRequest): Verdict {
  const { subject, window_limits, now } = request
  const open = window_limits.map(
    (window_limit) =>
      current(counters, subject, window_limit, now) ?? openCounter(subject, window_limit, now),
  )
  const full = window_limits
    .map((window_limit, i) => ({ window_limit, counter: open[i]! }))
    .filter(({ window_limit, counter }) => counter.count >= window_limit.limit)
    .sort((a, b) => b.counter.ends_at - a.counter.ends_at)[0]
  if (full) {
    takeBack(counters, request)
    const retry_after_seconds = Math.max(1, Math.ceil((full.counter.ends_at - now) / 1000))
    return {
      window: windowOf(counters, request),
      refused: { name: full.window_limit.name, limit: full.window_limit.limit, retry_after_seconds },
    }
  }
  for (const counter of open) {
    counter.count++
    counters.set(counterKey(subject, counter.name), counter)
  }
  const counted = open.map(({ name, starts_at, ends_at }) => ({ name, starts_at, ends_at }))
  return { window: stateOf(window_limits[0]!, open[0]!.count, now), counted }
}
