import type { FoundOut, GoliveFacts, RailFacts } from './facts.ts'

/** `red` and `unknown` forbid going live: a fact that could not be found out never counts as good. `unused` only informs. */
export type LineState = 'ok' | 'red' | 'unknown' | 'unused'

/** One sentence of a check. `{name}` stands for a value of the verdict. */
export type Saying = {
  readonly state: LineState
  readonly found: string
  /** Every saying that is `red` or `unknown` has it. */
  readonly to_do?: string
  /** To be typed as they are, except for words in capitals. Not translated. */
  readonly commands?: readonly string[]
}

export type Values = Readonly<Record<string, string | number>>

export type GoliveVerdict<Says extends string = string> = { readonly says: Says; readonly values: Values }

export const areas = ['settings', 'rails', 'round_trips', 'people', 'database', 'watching', 'clock'] as const
export type Area = (typeof areas)[number]

type Row<Says extends string> = {
  readonly name: string
  readonly area: Area
  /** What must be true, as a title. */
  readonly about: string
  readonly says: Readonly<Record<Says, Saying>>
}

export type GoliveCheck = Row<string> &
  (
    | { readonly judge: (facts: GoliveFacts) => GoliveVerdict }
    /** Judged for each configured rail. Undefined: the check is not about this rail. */
    | { readonly judgeRail: (rail: RailFacts, facts: GoliveFacts) => GoliveVerdict | undefined }
    /** Judged for each folder, or whatever else has several lines. */
    | {
        readonly judgeEach: (facts: GoliveFacts) => readonly (GoliveVerdict & { readonly subject: string })[]
      }
  )

export const check = <Says extends string>(
  row: Row<Says> & { readonly judge: (facts: GoliveFacts) => GoliveVerdict<NoInfer<Says>> },
): GoliveCheck => row

export const railCheck = <Says extends string>(
  row: Omit<Row<Says>, 'area'> &
    Partial<Pick<Row<Says>, 'area'>> & {
      readonly judgeRail: (rail: RailFacts, facts: GoliveFacts) => GoliveVerdict<NoInfer<Says>> | undefined
    },
): GoliveCheck => ({ area: 'rails', ...row })

export const eachCheck = <Says extends string>(
  row: Row<Says> & {
    readonly judgeEach: (
      facts: GoliveFacts,
    ) => readonly (GoliveVerdict<NoInfer<Says>> & { readonly subject: string })[]
  },
): GoliveCheck => row

export const says = <Says extends string>(name: Says, values: Values = {}): GoliveVerdict<Says> => ({
  says: name,
  values,
})

/** Judges a fact that was found out. For any other fact the verdict is `unknown`, with the reason. */
export const known = <T, Says extends string>(
  asked: FoundOut<T>,
  judge: (value: T) => GoliveVerdict<Says>,
): GoliveVerdict<Says | 'unknown'> =>
  'known' in asked ? judge(asked.known) : says('unknown', { why: asked.unknown })

/** The saying of a check whose fact could not be found out. */
export const unknown = (to_do: string, commands: readonly string[] = []): Saying => ({
  state: 'unknown',
  found: 'Not known: {why}.',
  to_do,
  ...(commands.length > 0 ? { commands } : {}),
})

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** A length of time, in a form that needs no translation. */
export function span(ms: number): string {
  const most = Math.abs(ms)
  if (most < 1000) return `${Math.round(ms)} ms`
  if (most < 2 * MINUTE_MS) return `${Math.round(ms / 1000)} s`
  if (most < 2 * HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`
  return most < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.round(ms / DAY_MS)} d`
}
