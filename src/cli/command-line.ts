import type { Config } from '../node/config.ts'
import { version } from '../node/version.ts'
import type { CliCommand, Input, Output } from './command.ts'
import { type ErrorOutput, errorOutputOf, notShown, renderErrorOutput, typedWrong } from './error-output.ts'
import { exit } from './exit.ts'
import { type FoundCommand, findCommand, nearest, nounsOf, verbsOf } from './find-command.ts'
import { help, helpOfNoun, usageText } from './help.ts'
import type { Io } from './io.ts'
import { formatAsked, parse } from './parse.ts'
import { print } from './print.ts'
import { retryLine } from './retry-line.ts'

const asksForHelp = (word: string | undefined) => word === 'help' || word === '--help' || word === '-h'

type WithDatabase = Extract<CliCommand, { runWith: unknown }>

/** A table of commands, and what its commands need beside an API. */
export type CommandLine = {
  readonly commands: readonly CliCommand[]
  /** The settings of the service on this machine. */
  readonly readConfig: (env: Io['env']) => Config
  readonly runWithDatabase: (command: WithDatabase, input: Input) => Promise<Output>
  /** The address of the server that runs on this machine's data folder. */
  readonly findLocalServer: (env: Io['env']) => Promise<string | undefined>
  /** The report of an error that is neither a mistake in typing nor a refused permission. */
  readonly reportError: (error: unknown, command: CliCommand) => Promise<ErrorOutput>
}

/** Runs what was typed and returns its exit code (exit.ts). */
export async function runCommandLine(line: CommandLine, argv: readonly string[], io: Io): Promise<number> {
  const { commands } = line
  const [first, ...more] = argv
  if (first === undefined || asksForHelp(first))
    return more.length > 0 ? runCommandLine(line, [...more, '--help'], io) : say(io, help(commands))
  if (first === '--version') return say(io, `${version}\n`)
  const found = findCommand(commands, argv)
  if ('command' in found) return run(line, found.command, found.rest, io)
  if ('noun' in found && found.verb === undefined) return say(io, helpOfNoun(found.noun, commands))
  return printError(io, argv, unknownCommand(commands, found))
}

function unknownCommand(
  commands: readonly CliCommand[],
  found: Exclude<FoundCommand, { command: unknown }>,
): ErrorOutput {
  const { typed, meant, list } =
    'noun' in found
      ? {
          typed: `${found.noun} ${found.verb}`,
          meant: nearest(found.verb ?? '', verbsOf(commands, found.noun)),
          list: found.noun,
        }
      : { typed: found.unknown, meant: nearest(found.unknown, nounsOf(commands)), list: 'help' }
  const instead = meant === undefined ? undefined : 'noun' in found ? `${found.noun} ${meant}` : meant
  const way = instead === undefined ? `See: trilho ${list}` : `Did you mean: trilho ${instead}`
  return typedWrong(
    `Unknown command: ${typed}. ${way}`,
    'noun' in found ? helpOfNoun(found.noun, commands) : undefined,
  )
}

async function run(line: CommandLine, command: CliCommand, rest: readonly string[], io: Io): Promise<number> {
  const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest
  if (own.includes('--help') || own.includes('-h')) return say(io, usageText(command))
  const made_up = new Map<string, string>()
  try {
    const typed = parse(command, rest)
    let config: Config | undefined
    const output = await perform(line, command, {
      io,
      commands: line.commands,
      findLocalServer: () => line.findLocalServer(io.env),
      ...typed,
      made_up,
      get config() {
        config ??= line.readConfig(io.env)
        return config
      },
    })
    if (output) print(io, typed.format, output)
    await io.shown()
    return output?.exit_code ?? exit.done
  } catch (error) {
    const output = errorOutputOf(error, command) ?? (await line.reportError(error, command))
    const is_safe = output.exit === exit.unknown && isKeyed(command)
    return printError(io, rest, is_safe ? safeAgain(output, retryLine(command, rest, made_up)) : output)
  }
}

/** Whether the command takes an idempotency key, so that it can be repeated safely. */
const isKeyed = ({ options = {} }: CliCommand) => 'idempotency-key' in options

const safeAgain = (output: ErrorOutput, line: string): ErrorOutput => ({
  ...output,
  behind: `${output.behind ?? ''}This line is safe to run: it happens once.\n  ${line}\n`,
  more: { ...output.more, run_again: line },
})

function perform(line: CommandLine, command: CliCommand, input: Input): Promise<Output> {
  return 'run' in command ? command.run(input) : line.runWithDatabase(command, input)
}

function say(io: Io, text: string): Promise<number> {
  io.stdout.write(text)
  return io.shown().then(
    () => exit.done,
    (error) => printError(io, [], notShown(error)),
  )
}

function printError(io: Io, argv: readonly string[], output: ErrorOutput): number {
  io.stderr.write(renderErrorOutput(output, ['json', 'jsonl'].includes(formatAsked(argv))))
  return output.exit
}
