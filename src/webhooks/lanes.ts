/**
 * An endpoint's lanes are its limit of concurrent attempts. The limit follows from the time that an attempt takes, whether it
 * succeeds or fails: lanes × usual time is at most `timeout_ms`. A receiver that answers in 100 ms gets up to LANES_MAX lanes,
 * one that answers just before the time-out gets one.
 */
export type Lanes = {
  readonly count: number
  /** Moving average of the duration of attempts; null before the first. */
  readonly usual_ms: number | null
  /** Moving average: the share of attempts that failed or got a long response. */
  readonly wasted: number
}

const LANES_FIRST = 2
export const LANES_MAX = 32
/** Lanes of a receiver that fails quickly: it holds no slot for long, and may recover at any moment. */
const LANES_REFUSING = 2
/** Weight of the last attempt in the moving averages. */
const WEIGHT = 0.5

/** An endpoint above this share is costly: from two failures in a row until two good answers in a row. */
const COSTLY_SHARE = 0.5

export const newLanes: Lanes = { count: LANES_FIRST, usual_ms: null, wasted: 0 }

/** Each quick success adds a lane. Slower attempts take lanes away at once. */
export function lanesAfter(
  lanes: Lanes,
  answer: { took_ms: number; delivered: boolean; lengthy: boolean },
  timeout_ms: number,
): Lanes {
  const usual_ms = lanes.usual_ms === null ? answer.took_ms : mix(lanes.usual_ms, answer.took_ms)
  const bearable = Math.floor(timeout_ms / Math.max(usual_ms, 1))
  const wanted = answer.delivered ? lanes.count + 1 : Math.max(LANES_REFUSING, lanes.count - 1)
  const wasted = mix(lanes.wasted, answer.delivered && !answer.lengthy ? 0 : 1)
  return { count: Math.max(1, Math.min(wanted, bearable, LANES_MAX)), usual_ms, wasted }
}

/** Whether the endpoint is down to one lane because its last attempts took long. */
export const isSlow = ({ count }: Lanes): boolean => count === 1

/** Whether most of the last attempts cost this node work without a useful result. */
export const isCostly = ({ wasted }: Lanes): boolean => wasted > COSTLY_SHARE

const mix = (before: number, now: number) => before * (1 - WEIGHT) + now * WEIGHT
