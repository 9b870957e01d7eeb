import { type Environment, environments } from '../core/environment.ts'
import type { Config } from '../node/config.ts'
import type { Office } from '../operator/office.ts'
import type { Shared } from '../partners/partners.ts'
import type { World, Worlds } from '../world.ts'
import type { Io } from './io.ts'

/**
 * A command of `trilho`, declared as data: what it is called, what it takes, who may run it. The parser, the help, completion
 * and docs/cli.md come from it. What it does is loaded when it runs, so that the table stays light.
 */
export type CliCommand = {
  /** As typed: "keys create". */
  readonly name: string
  /** Positional arguments, for the usage line: "KEY". Those in brackets may be left out. */
  readonly takes?: string
  readonly about: string
  readonly who: Who
  readonly options?: Readonly<Record<string, CliOption>>
  /** Whole lines, as somebody would type them. */
  readonly examples: readonly string[]
  /** What it reads from the environment, beyond what everything of its kind does (see `variablesOf`). */
  readonly variables?: Readonly<Record<string, string>>
  /** Speaks to no service and no database: takes nothing of what others of its kind take. */
  readonly alone?: true
  /** Starts what stands behind `--`. */
  readonly takes_program?: true
} & (
  | { readonly run: (input: Input) => Promise<Output> }
  /** Needs the database: the server's own while it runs, or one that is started for the moment. */
  | { readonly runWith: (input: Input, reach: Reach) => Promise<Output> }
)

/** Whoever has an API key, an operator who is signed in, or whoever runs the service on this machine. */
export type Who = 'key' | 'operator' | 'machine'

export type CliOption = {
  readonly type: 'string' | 'boolean'
  readonly value?: string
  readonly about: string
  readonly required?: true
  /** May be given several times. */
  readonly multiple?: true
}

export type Input = {
  readonly io: Io
  /** The settings of the service, read when they are asked for: what has an API key needs none of them. */
  readonly config: Config
  readonly format: Format
  /** What stood behind `--`. */
  readonly program: readonly string[]
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  /** Values of options that were not typed, made by the command itself: the line to type again must have them. */
  readonly made_up: Map<string, string>
}

export type Reach = {
  readonly url: string
  readonly shared: Shared
  readonly worlds: Worlds
  /** Where whatever changes something is done. */
  readonly office: Office
}

/** `json` is what --json prints; `text` is for people. What printed by itself only says how it ended. */
export type Output =
  | { readonly json: unknown; readonly text: string; readonly exit_code?: number }
  | { readonly exit_code: number; readonly json?: never; readonly text?: never }
  | undefined

export type Format = 'table' | 'json' | 'jsonl'

/** A mistake in how a command was typed: shown with its usage. */
export class UsageError extends Error {}

/** Nobody is signed in, or whoever is may not. */
export class NotAllowed extends Error {}

export function argument(input: Input, index: number, name: string): string {
  return input.positionals[index] ?? usage(`${name} is missing.`)
}

export function option(input: Input, name: string): string | undefined {
  return input.options[name] as string | undefined
}

/** Every value of an option that may be repeated. */
export function options(input: Input, name: string): readonly string[] {
  return (input.options[name] as readonly string[] | undefined) ?? []
}

export function requiredOption(input: Input, name: string): string {
  return option(input, name) ?? usage(`--${name} is missing.`)
}

export function integerOption(input: Input, name: string, min: number, max: number): number | undefined {
  const text = option(input, name)
  if (text === undefined) return undefined
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) usage(`--${name} must be a whole number from ${min} to ${max}.`)
  return value
}

export function environmentOption(input: Input): Environment | undefined {
  const text = option(input, 'environment')
  if (text !== undefined && !environments.includes(text as Environment))
    usage('--environment must be production or sandbox.')
  return text as Environment | undefined
}

/** Ids are unique over both worlds: the one that knows it is meant. */
export async function worldThatHas<T>(
  worlds: Worlds,
  find: (world: World) => Promise<T | undefined>,
): Promise<{ world: World; found: T } | undefined> {
  for (const world of [worlds.sandbox, worlds.production] as const) {
    const found = await find(world)
    if (found) return { world, found }
  }
  return undefined
}

export function usage(message: string): never {
  throw new UsageError(message)
}

const cellOf = (value: unknown): string =>
  value instanceof Date ? value.toISOString() : String(value ?? '-')

/** Columns for people. */
export function table(rows: readonly Readonly<Record<string, unknown>>[]): string {
  if (rows.length === 0) return '(none)\n'
  const names = Object.keys(rows[0]!)
  const cells = [names, ...rows.map((row) => names.map((name) => cellOf(row[name])))]
  const widths = names.map((_, i) => Math.max(...cells.map((line) => line[i]!.length)))
  return cells
    .map(
      (line) =>
        `${line
          .map((cell, i) => cell.padEnd(widths[i]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
