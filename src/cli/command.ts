import type { ParseArgsConfig } from 'node:util'
import { type Environment, environments } from '../core/environment.ts'
import type { Config } from '../node/config.ts'
import type { Office } from '../operator/office.ts'
import type { Shared } from '../partners/partners.ts'
import type { World, Worlds } from '../world.ts'

/** A command of `trilho`, declared as data: what it is called, what it takes, what it does. */
export type CliCommand = {
  /** As typed: "keys create". */
  readonly name: string
  /** Positional arguments, for the usage line: "KEY". */
  readonly takes?: string
  readonly about: string
  readonly options?: Readonly<Record<string, CliOption>>
} & (
  | { readonly run: (input: Input) => Promise<Output> }
  /** Needs the database: the server's own while it runs, or one that is started for the moment. */
  | { readonly runWith: (input: Input, reach: Reach) => Promise<Output> }
)

export type CliOption = {
  readonly type: 'string' | 'boolean'
  readonly value?: string
  readonly about: string
  readonly required?: true
  /** May be given several times. */
  readonly multiple?: true
}

export type Input = {
  readonly config: Config
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
}

export type Reach = {
  readonly url: string
  readonly shared: Shared
  readonly worlds: Worlds
  /** Where whatever changes something is done. */
  readonly office: Office
}

/** `json` is what --json prints; `text` is for people. */
export type Output =
  | { readonly json: unknown; readonly text: string; readonly exit_code?: number }
  | undefined

export type ParseOptions = NonNullable<ParseArgsConfig['options']>

/** A mistake in how a command was typed: shown with its usage. */
export class UsageError extends Error {}

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
