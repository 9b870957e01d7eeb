import { writeSync } from 'node:fs'
import { prove } from '../audit/proofs.ts'
import { connectionFile } from '../db/embedded/folder.ts'
import { runningEmbedded } from '../db/embedded/start.ts'
import { migrate } from '../db/migrate.ts'
import { reachDatabase, seatsOf, secretKeyFile } from '../db/open.ts'

import { type Config, describeConfig } from '../node/config.ts'
import { type Role, roles } from '../node/role.ts'
import { sliceChecks } from '../node/worlds.ts'
import { logChecks } from '../operator/verify.ts'
import { keyCheckOf } from '../secrets/check.ts'
import type { World } from '../world.ts'
import { type CliCommand, environmentOption, type Input, option, table, usage } from './command.ts'

const SLOW_STOP_MS = 25_000

export const serviceCommands: CliCommand[] = [
  {
    name: 'serve',
    about: 'Run the service until it is told to stop',
    options: {
      role: {
        type: 'string',
        value: roles.join('|'),
        about: 'What this node does; what ROLE says when absent',
      },
    },
    async run(input) {
      const config = withRole(input)
      let fail: (error: Error) => void = () => {}
      const failed = new Promise<never>((_, reject) => {
        fail = reject
      })
      failed.catch(() => {})
      const stopping = new Promise<void>((resolve) => {
        process.once('SIGTERM', resolve)
        process.once('SIGINT', resolve)
      })
      // Only this command needs the whole server; the others should not wait for it to load.
      const { startService } = await import('../node/serve.ts')
      const told = new AbortController()
      void stopping.then(() => told.abort())
      void Promise.race([stopping, failed.catch(() => {})]).then(forceLater)
      const starting = startService({
        config,
        print: (text) => void writeSync(1, text),
        onFatal: fail,
        signal: told.signal,
      }).catch((error: unknown) => {
        // Told to stop while it waited for something: there is nothing to stop any more.
        if (!told.signal.aborted) throw error
      })
      const service = await Promise.race([starting, failed])
      if (!service) return undefined
      await Promise.race([stopping, failed]).finally(() => service.stop())
      return undefined
    },
  },
  {
    name: 'migrate',
    about: 'Bring the database up to date',
    async run({ config }) {
      const database = await reachDatabase(config)
      try {
        const seats = await seatsOf(database.url, config)
        const applied = await migrate(database.url, { seats, check: await keyCheckOf(config) })
        return {
          json: { applied },
          text:
            applied.length === 0
              ? 'Nothing to do.\n'
              : `Applied:\n${applied.map((name) => `  ${name}\n`).join('')}`,
        }
      } finally {
        await database.stop()
      }
    },
  },
  {
    name: 'audit',
    about: 'Prove the ledger from its entries; exits 1 on the smallest difference',
    options: {
      environment: { type: 'string', value: 'production|sandbox', about: 'Only this one; both when absent' },
    },
    async runWith(input, { office, worlds }) {
      const only = environmentOption(input)
      const chosen = Object.values(worlds as Record<string, World>).filter(
        (world) => only === undefined || world.environment === only,
      )
      const reports = await Promise.all(
        chosen.map(async (world) => ({
          environment: world.environment,
          ...(await prove(world, {
            checks: [...sliceChecks, ...logChecks(office, world.environment)],
            by: 'shell',
          })),
        })),
      )
      const ok = reports.every((report) => report.ok)
      const text = reports.map(({ environment, entries, customers, assets, findings }) => {
        const head = `${environment}: ${entries} entries, ${customers} customers, ${findings.length === 0 ? 'all checks hold' : `${findings.length} CHECKS FAIL`}\n`
        const sums = Object.entries(assets).flatMap(([asset, accounts]) =>
          Object.entries(accounts).map(([account, sum]) => ({ asset, account, sum })),
        )
        const wrong = findings.map(
          (f) =>
            `  ${f.check}: ${f.found} found\n${f.examples.map((example) => `    ${toJson(example)}\n`).join('')}`,
        )
        return head + (sums.length > 0 ? table(sums) : '') + wrong.join('')
      })
      return {
        json: {
          ok,
          environments: Object.fromEntries(
            reports.map(({ environment, ...report }) => [environment, report]),
          ),
        },
        text: text.join('\n'),
        exit_code: ok ? 0 : 1,
      }
    },
  },
  {
    name: 'config check',
    about: 'Print the settings in force, secrets masked',
    async run({ config }) {
      const settings = describeConfig(process.env)
      const running = config.database_url ? undefined : await runningEmbedded(config.data_dir)
      const json = {
        ok: true,
        settings: Object.fromEntries(settings.map(({ name, value, source }) => [name, { value, source }])),
        ...(running ? whereabouts(running, config) : {}),
      }
      return { json, text: table(settings) }
    },
  },
]

function withRole(input: Input): Config {
  const role = option(input, 'role')
  if (role === undefined) return input.config
  if (!roles.includes(role as Role)) usage(`--role must be one of ${roles.join(', ')}.`)
  return { ...input.config, role: role as Role }
}

/** Of the embedded database: what another node needs is in these files, for their owner only. */
const whereabouts = (url: string, { data_dir }: Config) => ({
  database_url: withoutPassword(url),
  connection_file: connectionFile(data_dir),
  secret_key_file: secretKeyFile(data_dir),
})

function withoutPassword(text: string): string {
  const url = new URL(text)
  if (url.password !== '') url.password = '********'
  return url.href
}

/** Whoever asks twice, or waits too long, gets an end without ceremony: everything acknowledged is on disk. */
function forceLater(): void {
  const force = () => process.exit(1)
  process.once('SIGTERM', force)
  process.once('SIGINT', force)
  setTimeout(force, SLOW_STOP_MS).unref()
}

const toJson = (value: unknown) =>
  JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? item.toString() : item))
