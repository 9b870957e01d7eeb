import type { Office } from '../control/operator/office.ts'
import { type Environment, environments } from '../core/environment.ts'
import type { Config } from '../node/config.ts'
import type { OpenWorlds } from '../node/worlds.ts'
import type { Shared } from '../parties/partners/partners.ts'
import type { World, Worlds } from '../world.ts'
import type { Row } from './csv.ts'
import type { Io } from './io.ts'

/**
 * A command of `trilho`, declared as data. The parser, the help, shell completion and the pages docs/cli.md and
 * docs/operate/cli.md are derived from it. The code of a command is imported when the command runs, so that the table loads
 * fast.
 */
export type CliCommand = {
  /** As typed: "keys create". */
  readonly name: string
  /** Positional arguments, for the usage line: "KEY". Arguments in brackets are optional. */
  readonly takes?: string
  readonly about: string
  readonly who: Who
  readonly options?: Readonly<Record<string, CliOption>>
  /** Complete command lines. */
  readonly examples: readonly string[]
  /** Environment variables that this command reads, beside those that all commands of its kind read (see `variablesOf`). */
  readonly variables?: Readonly<Record<string, string>>
  /** Needs neither the service nor the database, so the shared options of its kind do not apply. */
  readonly alone?: true
  /** Takes a program to start after `--`. */
  readonly takes_program?: true
  /** Prints a list, also as CSV. */
  readonly lists?: true
} & (
  | { readonly run: (input: Input) => Promise<Output> }
  /** Needs the database: that of the running server, or the embedded one, started for this command. */
  | { readonly runWith: (input: Input, reach: Reach) => Promise<Output> }
)

/** Who may run a command: the holder of an API key, an operator, or the person who runs the service on this machine. */
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
  /** The table that this command is a row of. */
  readonly commands: readonly CliCommand[]
  /** The address of the server that runs on this machine's data folder, if there is one. */
  readonly findLocalServer: () => Promise<string | undefined>
  /** The settings of the service, read on first access: commands with an API key do not need them. */
  readonly config: Config
  readonly format: Format
  /** The program and its arguments, given after `--`. */
  readonly program: readonly string[]
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  /** Option values that the command generated. The line printed for a retry must include them. */
  readonly made_up: Map<string, string>
}

export type Reach = {
  readonly url: string
  readonly shared: Shared
  readonly worlds: Worlds
  /** Commands that change something act through the office, which checks permits and writes the audit log. */
  readonly office: Office
  /** The key of the audit log, from which the seal key is derived. */
  readonly logKey: () => Promise<Buffer>
  /** The signer in a process of its own, with SIGNER_URL. */
  readonly remote_signer: OpenWorlds['remote_signer']
}

/**
 * `json` is printed with --json, `text` for people, `rows` as CSV. A command that prints while it runs returns only its exit
 * code.
 */
export type Output =
  | {
      readonly json: unknown
      readonly text: string
      readonly rows?: readonly Row[]
      readonly exit_code?: number
    }
  | { readonly exit_code: number; readonly json?: never; readonly text?: never; readonly rows?: never }
  | undefined

export type Format = 'table' | 'json' | 'jsonl' | 'csv'

/** The command line is malformed: the message is shown with the usage of the command. */
export class UsageError extends Error {}

/** Nobody is signed in, or the signed-in operator lacks the permit. */
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

/** Finds the world that has an id. Ids are unique across production and sandbox. */
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

/** The output of a command that prints a list. */
export const listed = (json: unknown, rows: readonly Row[]): NonNullable<Output> => ({
  json,
  text: table(rows),
  rows,
})

/** A text table with aligned columns. */
export function table(rows: readonly Row[]): string {
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
