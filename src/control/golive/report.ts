import type { Area, GoliveCheck, GoliveVerdict, LineState, Saying, Values } from './check.ts'
import { goliveChecks } from './checks.ts'
import type { GoliveFacts } from './facts.ts'

/** One line of the checklist, as the command prints it and the console shows it. */
export type GoliveLine = {
  readonly area: Area
  /** The name of the check. */
  readonly check: string
  /** The rail or folder that the line is about. */
  readonly subject: string | null
  readonly state: LineState
  readonly about: string
  readonly found: string
  readonly to_do: string | null
  readonly commands: readonly string[]
  /** The saying and its values, from which another language makes the sentences. */
  readonly says: string
  readonly values: Values
}

export type GoliveReport = {
  readonly at: Date
  /** No line is red or unknown. */
  readonly is_ready: boolean
  readonly lines: readonly GoliveLine[]
}

export const blocks = ({ state }: Pick<GoliveLine, 'state'>): boolean =>
  state === 'red' || state === 'unknown'

/** Pure: the facts were gathered before. */
export function judgeGolive(facts: GoliveFacts): GoliveReport {
  const lines = goliveChecks.flatMap((check) =>
    verdictsOf(check, facts).map(({ subject, verdict }) => lineOf(check, subject, verdict)),
  )
  return { at: facts.now, is_ready: !lines.some(blocks), lines }
}

function verdictsOf(check: GoliveCheck, facts: GoliveFacts) {
  if ('judge' in check) return [{ subject: null, verdict: check.judge(facts) }]
  if ('judgeEach' in check)
    return check.judgeEach(facts).map(({ subject, ...verdict }) => ({ subject, verdict }))
  return facts.rails.flatMap((rail) => {
    const verdict = check.judgeRail(rail, facts)
    return verdict ? [{ subject: rail.rail, verdict }] : []
  })
}

function lineOf(check: GoliveCheck, subject: string | null, { says, values }: GoliveVerdict): GoliveLine {
  const saying: Saying = check.says[says]!
  const all = subject === null ? values : { ...values, subject }
  return {
    ...{ area: check.area, check: check.name, subject, state: saying.state, about: check.about },
    found: fill(saying.found, all),
    to_do: saying.to_do === undefined ? null : fill(saying.to_do, all),
    commands: (saying.commands ?? []).map((command) => fill(command, all)),
    ...{ says, values: all },
  }
}

export const fill = (text: string, values: Values): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole))
