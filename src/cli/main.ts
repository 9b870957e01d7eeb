import { type Config, readConfig } from '../node/config.ts'
import { version } from '../node/version.ts'
import type { CliCommand, Input, Output } from './command.ts'
import { commands } from './commands/all.ts'
import { type ErrorOutput, errorOutputOf, notShown, renderErrorOutput, typedWrong } from './error-output.ts'
import { exit } from './exit.ts'
import { type FoundCommand, findCommand, nearest, nounsOf, verbsOf } from './find-command.ts'
import { help, helpOfNoun, usageText } from './help.ts'
import type { Io } from './io.ts'
import { formatAsked, parse } from './parse.ts'
import { print } from './print.ts'
import { retryLine } from './retry-line.ts'

const asksForHelp = (word: string | undefined) => word === 'help' || word === '--help' || word === '-h'

/** Runs a command line and returns its exit code (exit.ts). */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...more] = argv
  if (first === undefined || asksForHelp(first))
    return more.length > 0 ? main([...more, '--help'], io) : say(io, help(commands))
  if (first === '--version') return say(io, `${version}\n`)
  const found = findCommand(commands, argv)
  if ('command' in found) return run(found.command, found.rest, io)
  if ('noun' in found && found.verb === undefined) return say(io, helpOfNoun(found.noun, commands))
  return printError(io, argv, unknownCommand(found))
}

function unknownCommand(found: Exclude<FoundCommand, { command: unknown }>): ErrorOutput {
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

async function run(command: CliCommand, rest: readonly string[], io: Io): Promise<number> {
  const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest
  if (own.includes('--help') || own.includes('-h')) return say(io, usageText(command))
  const made_up = new Map<string, string>()
  try {
    const typed = parse(command, rest)
    let config: Config | undefined
    const output = await perform(command, {
      io,
      ...typed,
      made_up,
      get config() {
        config ??= readConfig(io.env)
        return config
      },
    })
    if (output) print(io, typed.format, output)
    await io.shown()
    return output?.exit_code ?? exit.done
  } catch (error) {
    const output = await errorOutputOf(error, command)
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

async function perform(command: CliCommand, input: Input): Promise<Output> {
  if ('run' in command) return command.run(input)
  const { runWithDatabase } = await import('./with-database.ts')
  return runWithDatabase(command, input)
}

function say(io: Io, text: string): Promise<number> {
  io.stdout.write(text)
  return io.shown().then(
    () => exit.done,
    (error) => printError(io, [], notShown(error)),
  )
}

function printError(io: Io, argv: readonly string[], output: ErrorOutput): number {
  io.stderr.write(renderErrorOutput(output, formatAsked(argv) !== 'table'))
  return output.exit
}
