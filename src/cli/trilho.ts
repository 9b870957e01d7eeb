import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { systemClock } from '../core/clock.ts'
import { describeError, messageOf } from '../core/error-report.ts'
import { Refusal } from '../core/errors.ts'
import { DataDirBusy } from '../db/embedded/folder.ts'
import { isUnreachable } from '../db/failure.ts'
import { MigrationBlocked, migrate } from '../db/migrate.ts'
import { openSealer, reachDatabase, seatsOf, secretKeysOf } from '../db/open.ts'
import { openPool, withOwner } from '../db/pool.ts'
import { UntrustedServer } from '../db/tls.ts'
import { PoolerInTheWay } from '../db/verdict.ts'
import { type Config, ConfigError, readConfig } from '../node/config.ts'
import { version } from '../node/version.ts'
import { openWorlds } from '../node/worlds.ts'
import { openShared } from '../partners/partners.ts'
import { assertSecretKey, keyCheckOf, reachedBy, WrongSecretKey } from '../secrets/check.ts'
import { benchCommands } from './bench.ts'
import { type CliCommand, type Input, type Output, type ParseOptions, UsageError } from './command.ts'
import { customerCommands } from './customers.ts'
import { eventCommands } from './events.ts'
import { exceptionCommands } from './exceptions.ts'
import { keyCommands } from './keys.ts'
import { moneyLimitCommands } from './money-limits.ts'
import { operatorCommands } from './operator.ts'
import { partnerCommands } from './partners.ts'
import { proposalCommands } from './proposals.ts'
import { RemoteRefusal } from './remote.ts'
import { secretCommands } from './secrets.ts'
import { serviceCommands } from './service.ts'
import { treasuryCommands } from './treasury.ts'

const commands: readonly CliCommand[] = [
  ...serviceCommands,
  ...secretCommands,
  ...partnerCommands,
  ...keyCommands,
  ...customerCommands,
  ...moneyLimitCommands,
  ...operatorCommands,
  ...proposalCommands,
  ...exceptionCommands,
  ...treasuryCommands,
  ...eventCommands,
  ...benchCommands,
]

async function main(argv: readonly string[]): Promise<number> {
  if (argv.length === 0 || argv[0] === 'help' || argv[0] === '--help' || argv[0] === '-h')
    return print(help(), 0)
  if (argv[0] === '--version') return print(`${version}\n`, 0)
  const command = commands.find(({ name }) => name.split(' ').every((word, i) => argv[i] === word))
  if (!command) return complain(`Unknown command: ${argv.slice(0, 2).join(' ')}. See: trilho help\n`)
  const rest = argv.slice(command.name.split(' ').length)
  if (rest.includes('--help') || rest.includes('-h')) return print(usageOf(command), 0)
  try {
    const { values, positionals } = parse(command, rest)
    const input: Input = { config: readConfig(process.env), positionals, options: values }
    const output = 'run' in command ? await command.run(input) : await runWithDatabase(command, input)
    if (output) process.stdout.write(values.json ? `${toJson(output.json)}\n` : output.text)
    return output?.exit_code ?? 0
  } catch (error) {
    return complain(explain(error, command))
  }
}

function parse(command: CliCommand, args: string[]) {
  const options: ParseOptions = { json: { type: 'boolean' }, as: { type: 'string' } }
  for (const [name, { type, multiple = false }] of Object.entries(command.options ?? {}))
    options[name] = { type, multiple }
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true })
    const most = command.takes?.split(' ').length ?? 0
    if (positionals.length > most) throw new UsageError(`Too much: ${positionals.slice(most).join(' ')}`)
    for (const [name, { required }] of Object.entries(command.options ?? {})) {
      if (required && values[name] === undefined) throw new UsageError(`--${name} is missing.`)
    }
    return { values: values as Input['options'], positionals }
  } catch (error) {
    throw error instanceof UsageError
      ? error
      : new UsageError((error as Error).message.split('. To specify')[0])
  }
}

async function runWithDatabase(
  command: Extract<CliCommand, { runWith: unknown }>,
  input: Input,
): Promise<Output> {
  const database = await reachDatabase(input.config)
  try {
    const seats = await seatsOf(database.url, input.config)
    if (database.embedded) await migrate(database.url, { seats, check: await keyCheckOf(input.config) })
    const db = openPool({ ...seats('shared', 'trilho command line'), max: 2 })
    const opened = openWorlds({
      seats,
      clock: systemClock(),
      log: pino({ level: 'silent' }),
      config: input.config,
      pool: 2,
    })
    try {
      return await command.runWith(input, {
        url: database.url,
        shared: openShared(db),
        worlds: opened.worlds,
      })
    } catch (error) {
      throw await reasonOfRefusal(error, database.url, input.config)
    } finally {
      await opened.stop()
      await db.end()
    }
  } finally {
    await database.stop()
  }
}

/** A server does not say why it refuses a role's password. Where we are the owner, we can see whether the key is wrong. */
async function reasonOfRefusal(error: unknown, url: string, config: Config): Promise<unknown> {
  if (!isLoginRefused(error) || !config.migrate) return error
  try {
    const sealer = openSealer(config, await secretKeysOf(config))
    await withOwner(url, (owner) => assertSecretKey(reachedBy(owner), sealer))
  } catch (reason) {
    if (reason instanceof WrongSecretKey) return reason
  }
  return error
}

const isLoginRefused = (error: unknown) =>
  (error as { code?: string }).code === '28P01' &&
  /_(live|sandbox|shared)\b/.test(messageOf(error as Error & { readonly [name: string]: unknown }))

const NOT_SET_UP = 'The database is not set up yet. Run: trilho migrate\n'
/** A server does not say which it is. */
const NO_LOGIN =
  'The database is not set up yet, or it was with another SECRET_KEY than this one. Run: trilho migrate\n'

/** What a person at a terminal reads: the mistake and the way out, no stack, unless nobody foresaw it. */
function explain(error: unknown, command: CliCommand): string {
  if (error instanceof UsageError) return `${error.message}\n\n${usageOf(command)}`
  if (error instanceof Refusal || error instanceof RemoteRefusal) return `${error.message}\n`
  if (error instanceof ConfigError || error instanceof DataDirBusy || error instanceof MigrationBlocked)
    return `${error.message}\n`
  if (error instanceof PoolerInTheWay || error instanceof UntrustedServer || error instanceof WrongSecretKey)
    return `${error.message}\n`
  const { code } = error as { code?: string }
  const message = messageOf(error as Error & { readonly [name: string]: unknown })
  if (code === '28000') return NOT_SET_UP
  if (isLoginRefused(error)) return NO_LOGIN
  if (isUnreachable(error)) return `The database cannot be reached: ${message || code}\n`
  if (code === 'EADDRINUSE')
    return `The port is taken by another program. Set PORT to a free one, or stop the other program.\n`
  if (code === 'EADDRNOTAVAIL')
    return 'HOST is not an address of this machine. Set it to one, or to 0.0.0.0 for all of them.\n'
  if (code === 'EACCES' && 'port' in (error as Error))
    return 'PORT may not be used without special rights. Set it to one above 1023.\n'
  if (code === '42P01' || code === '3F000') return NOT_SET_UP
  return error instanceof Error && error.constructor === Error && code === undefined
    ? `${message}\n`
    : `${describeError(error)}\n`
}

function help(): string {
  const width = Math.max(...commands.map((command) => headOf(command).length))
  const lines = commands.map((command) => `  ${headOf(command).padEnd(width)}  ${command.about}\n`)
  return `trilho ${version}\n\n${lines.join('')}\nEach takes --json, and --help for its options.\n`
}

function usageOf(command: CliCommand): string {
  const options = Object.entries(command.options ?? {}).map(([name, { value, about, required }]) => ({
    head: `--${name}${value ? ` ${value}` : ''}`,
    about: required ? `${about} (required)` : about,
  }))
  const all = [
    ...options,
    { head: '--as EMAIL', about: 'Who acts; the password is read from OPERATOR_PASSWORD' },
    { head: '--json', about: 'Print JSON' },
  ]
  const width = Math.max(...all.map(({ head }) => head.length))
  return `trilho ${headOf(command)}\n${command.about}\n\n${all.map(({ head, about }) => `  ${head.padEnd(width)}  ${about}\n`).join('')}`
}

const headOf = ({ name, takes }: CliCommand) => (takes ? `${name} ${takes}` : name)
const toJson = (value: unknown) =>
  JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? item.toString() : item))

function print(text: string, code: number): number {
  process.stdout.write(text)
  return code
}

function complain(text: string): number {
  process.stderr.write(text)
  return 1
}

// Node would print every field of an error that nobody caught, and those of the database quote rows.
process.on('uncaughtException', (error) => {
  complain(`${describeError(error)}\n`)
  process.exit(1)
})

process.exitCode = await main(process.argv.slice(2))
