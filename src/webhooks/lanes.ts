/**
 * How many attempts an endpoint may have under way at once. What a receiver is trusted with follows from how long it
 * keeps us waiting, whatever it answers in the end: all its lanes together hold at most one `timeout_ms` of waiting. A
 * receiver that answers in 100 ms gets all the lanes there are, one that takes nearly the whole time has one.
 */
export type Lanes = {
  readonly count: number
  /** How long an attempt takes of late; null while nobody knows. */
  readonly usual_ms: number | null
  /** Which share of the last attempts failed, or was answered at length; the latest count most. */
  readonly wasted: number
}

export const LANES_FIRST = 2
export const LANES_MAX = 32
/** A receiver that refuses quickly holds nobody up, and may work again at any moment. */
const LANES_REFUSING = 2
/** How much of the usual time is what the last attempt took. */
const WEIGHT = 0.5

/** Above this share an endpoint is a costly one: after two failures in a row, and until two good answers in a row. */
const COSTLY_SHARE = 0.5

export const newLanes: Lanes = { count: LANES_FIRST, usual_ms: null, wasted: 0 }

/** Grows one by one with attempts that were taken quickly; shrinks at once when attempts take longer. */
export function lanesAfter(
  lanes: Lanes,
  made: { took_ms: number; delivered: boolean; lengthy: boolean },
  timeout_ms: number,
): Lanes {
  const usual_ms = lanes.usual_ms === null ? made.took_ms : mix(lanes.usual_ms, made.took_ms)
  const bearable = Math.floor(timeout_ms / Math.max(usual_ms, 1))
  const wanted = made.delivered ? lanes.count + 1 : Math.max(LANES_REFUSING, lanes.count - 1)
  const wasted = mix(lanes.wasted, made.delivered && !made.lengthy ? 0 : 1)
  return { count: Math.max(1, Math.min(wanted, bearable, LANES_MAX)), usual_ms, wasted }
}

/** Down to one lane: its last attempts kept us waiting. */
export const isSlow = ({ count }: Lanes): boolean => count === 1

/** Its attempts cost this node as much as others do, or more, and mostly for nothing. */
export const isCostly = ({ wasted }: Lanes): boolean => wasted > COSTLY_SHARE

const mix = (before: number, now: number) => before * (1 - WEIGHT) + now * WEIGHT
