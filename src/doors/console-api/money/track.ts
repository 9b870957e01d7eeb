import type { RailStep } from '../../../records/steps/store.ts'

/** The track of a payout or transfer: its acceptance, the exchanges with the rail, and its end. */

export const trackKinds = [
  'accepted',
  'sent',
  'asked',
  'unknown',
  'answered',
  'completed',
  'confirmed',
  'failed',
] as const
type TrackKind = (typeof trackKinds)[number]

type Order = {
  readonly status: string
  readonly created_at: Date
  readonly completed_at: Date | null
  readonly rail_code: string | null
}

/** Final answers, which the end repeats. */
const FINAL = /^(settled|refused|confirmed|failed)\b/

const isFinal = (step: RailStep | undefined) =>
  step?.kind === 'answered' && step.said !== null && FINAL.test(step.said)

/** Merges a non-final answer to a send into the step of the send. */
const folded = (steps: readonly RailStep[]): RailStep[] =>
  steps.flatMap((step, i) => {
    const next = steps[i + 1]
    if (step.kind === 'sent' && next?.kind === 'answered' && !isFinal(next))
      return [{ ...step, said: next.said }]
    return step.kind === 'answered' && steps[i - 1]?.kind === 'sent' && !isFinal(step) ? [] : [step]
  })

/** `name`: the rail's id of a payment that succeeded. */
export function trackOf(order: Order, steps: readonly RailStep[], name: string | null) {
  const { status, created_at, completed_at, rail_code } = order
  const moment = (kind: TrackKind, at: Date, said: string | null = null) => ({
    kind,
    at: at.toISOString(),
    said,
    times: 1,
    last_at: at.toISOString(),
  })
  const between = folded(steps).filter(
    (step, i, all) =>
      completed_at === null || !(isFinal(step) || (step.kind === 'asked' && isFinal(all[i + 1]))),
  )
  return [
    moment('accepted', created_at),
    ...between.map(({ kind, at, said, times, last_at }) => ({
      kind,
      at: at.toISOString(),
      // Why nothing is signed, such as a wallet that is too empty, is for operators: the desk shows it.
      said: said?.startsWith('later ') ? 'later' : said,
      times,
      last_at: last_at.toISOString(),
    })),
    ...(completed_at
      ? [moment(status as TrackKind, completed_at, status === 'failed' ? rail_code : name)]
      : []),
  ]
}
