import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { systemClock } from '../core/clock.ts'
import { describeError } from '../core/error-report.ts'
import { migrate } from '../db/migrate.ts'
import { openSealer, reachDatabase, seatsOf, secretKeysOf } from '../db/open.ts'
import { openPool, withOwner } from '../db/pool.ts'
import { type Config, readConfig } from '../node/config.ts'
import { version } from '../node/version.ts'
import { openWorlds } from '../node/worlds.ts'
import { openOffice } from '../operator/office.ts'
import { openShared } from '../partners/partners.ts'
import { assertSecretKey, keyCheckOf, reachedBy, WrongSecretKey } from '../secrets/check.ts'
import { backupCommands } from './backup.ts'
import { benchCommands } from './bench.ts'
import { type CliCommand, type Input, type Output, type ParseOptions, UsageError } from './command.ts'
import { type Complaint, complaintOf, isLoginRefused, renderComplaint } from './complaint.ts'
import { customerCommands } from './customers.ts'
import { databaseCommands } from './database.ts'
import { eventCommands } from './events.ts'
import { exceptionCommands } from './exceptions.ts'
import { help, helpOfGroup, usageOf } from './help.ts'
import { keyCommands } from './keys.ts'
import { logCommands } from './log.ts'
import { loginCommands } from './login.ts'
import { moneyLimitCommands } from './money-limits.ts'
import { operatorCommands } from './operator.ts'
import { partnerCommands } from './partners.ts'
import { peopleCommands } from './people.ts'
import { proposalCommands } from './proposals.ts'
import { secretCommands } from './secrets.ts'
import { serviceCommands } from './service.ts'
import { treasuryCommands } from './treasury.ts'

const commands: readonly CliCommand[] = [
  ...serviceCommands,
  ...backupCommands,
  ...databaseCommands,
  ...secretCommands,
  ...loginCommands,
  ...peopleCommands,
  ...partnerCommands,
  ...keyCommands,
  ...customerCommands,
  ...moneyLimitCommands,
  ...operatorCommands,
  ...proposalCommands,
  ...exceptionCommands,
  ...logCommands,
  ...treasuryCommands,
  ...eventCommands,
  ...benchCommands,
]

async function main(argv: readonly string[]): Promise<number> {
  const json = argv.includes('--json')
  const [first = 'help', second] = argv
  if (first === 'help' || first === '--help' || first === '-h') return print(help(commands), 0)
  if (first === '--version') return print(`${version}\n`, 0)
  const command = commands.find(({ name }) => name.split(' ').every((word, i) => argv[i] === word))
  if (!command) {
    const group = helpOfGroup(first, commands)
    if (group && (second === undefined || second === '--help' || second === '-h')) return print(group, 0)
    const words = argv.slice(0, 2).filter((word) => !word.startsWith('-'))
    const message = `Unknown command: ${words.join(' ')}. See: trilho help`
    return complain({ code: 'usage', message, ...(group ? { usage: group } : {}) }, json)
  }
  const rest = argv.slice(command.name.split(' ').length)
  if (rest.includes('--help') || rest.includes('-h')) return print(usageOf(command), 0)
  try {
    const { values, positionals } = parse(command, rest)
    const input: Input = { config: readConfig(process.env), positionals, options: values }
    const output = 'run' in command ? await command.run(input) : await runWithDatabase(command, input)
    if (output) process.stdout.write(json ? `${toJson(output.json)}\n` : output.text)
    return output?.exit_code ?? 0
  } catch (error) {
    return complain(complaintOf(error, command), json)
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
      const { worlds } = opened
      const shared = openShared(db)
      const sealer = openSealer(input.config, await secretKeysOf(input.config))
      const office = openOffice({ shared, worlds, sealer })
      return await command.runWith(input, { url: database.url, shared, worlds, office })
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

const toJson = (value: unknown) =>
  JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? item.toString() : item))

function print(text: string, code: number): number {
  process.stdout.write(text)
  return code
}

function complain(complaint: Complaint, json: boolean): number {
  process.stderr.write(renderComplaint(complaint, json))
  return 1
}

// Node would print every field of an error that nobody caught, and those of the database quote rows.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${describeError(error)}\n`)
  process.exit(1)
})

process.exitCode = await main(process.argv.slice(2))
