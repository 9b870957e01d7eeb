import { randomBytes, randomInt } from 'node:crypto'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Office, openOffice } from '../../src/control/operator/office.ts'
import { systemClock } from '../../src/core/clock.ts'
import { makeCpf } from '../../src/core/document.ts'
import { createSealer } from '../../src/core/seal.ts'
import { openPool } from '../../src/db/pool.ts'
import { type AuditReport, audit } from '../../src/ledger/audit.ts'
import { readConfig } from '../../src/node/config.ts'
import { startService } from '../../src/node/serve.ts'
import { openWorlds, sliceChecks } from '../../src/node/worlds.ts'
import { createKey, type NewKey } from '../../src/parties/keys/keys.ts'
import { createPartner, editPartner, openShared, type Shared } from '../../src/parties/partners/partners.ts'
import { openLogKey } from '../../src/records/acts/log.ts'
import type { Worlds } from '../../src/world.ts'
import { type Api, openApi } from './api.ts'
import { compiledCli } from './compiled.ts'
import { createDatabase, seatsAt, TEST_KEY, type TestDatabase } from './database.ts'
import { METRICS_TOKEN } from './metrics.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

/**
 * A real server over a database of its own, and direct access to its database to set up what a test needs. Limits are lifted for the test's own
 * partners unless it says otherwise.
 */
export type TestService = {
  readonly url: string
  readonly database: TestDatabase
  readonly shared: Shared
  readonly worlds: Worlds
  readonly office: Office
  /** A new partner with a sandbox key, and a client that uses it. */
  partner(options?: PartnerOptions): Promise<{ partner_id: string; key: string; key_id: string; api: Api }>
  audit(): Promise<{ production: AuditReport; sandbox: AuditReport }>
  stop(): Promise<void>
}

type PartnerOptions = Partial<Omit<NewKey, 'partner_id'>> & {
  environment?: 'production' | 'sandbox'
  limited?: boolean
  partner_id?: string
}

export const testEnv = (database_url: string, more: Record<string, string> = {}): Record<string, string> => ({
  DATABASE_URL: database_url,
  SECRET_KEY: '00'.repeat(32),
  PORT: '0',
  LOG_LEVEL: 'silent',
  DRAIN_MS: '0',
  METRICS_TOKEN,
  CONSOLE_WRITES_PER_MINUTE: '100000',
  CONSOLE_WRITES_PER_DAY: '1000000',
  CONSOLE_READS_PER_MINUTE: '1000000',
  ...more,
})

export async function startTestService(env: Record<string, string> = {}): Promise<TestService> {
  const database = await createDatabase({ prepared: env.MIGRATE === 'false' })
  const config = readConfig(testEnv(database.url, env))
  const service = await startService({
    config,
    print: () => {},
    onFatal: (error) => {
      throw error
    },
  })
  const direct = openDirectAccess(database, config.secret_key && [config.secret_key])
  return {
    ...direct,
    url: service.url,
    partner: (options) => direct.partner(service.url, options),
    async stop() {
      await service.stop()
      await direct.stop()
    },
  }
}

/** Works on the database itself, beside whatever servers use it. `settings`: rails of production, if operators need to ask them. */
export function openDirectAccess(
  database: TestDatabase,
  keys?: readonly Buffer[],
  settings: Record<string, string> = {},
) {
  const seats = seatsAt(database.url, keys)
  const db = openPool({ ...seats('shared', 'test'), max: 2 })
  const shared = openShared(db)
  const { worlds, stop } = openWorlds({
    seats,
    clock: systemClock(),
    log: pino({ level: 'silent' }),
    // An operator must wait for as long as a call may take: in tests that is short.
    config: readConfig({ RAIL_TIMEOUT_MS: '500', ...settings }),
    pool: 4,
    logKey: openLogKey({ shared: db, sealer: createSealer(keys ?? [TEST_KEY]) }),
  })
  return {
    database,
    shared,
    worlds,
    office: openOffice({ shared, worlds, sealer: createSealer(keys ?? [TEST_KEY]) }),
    async partner(
      url: string,
      { environment = 'sandbox', limited = false, partner_id, ...key }: PartnerOptions = {},
    ) {
      const id = partner_id ?? (await createPartner(shared, `Partner ${randomBytes(3).toString('hex')}`)).id
      if (!limited && !partner_id) {
        await editPartner(shared, id, {
          per_minute: 10_000_000,
          per_day: 10_000_000,
          endpoint_per_minute: 10_000_000,
          lookup_per_minute: 10_000_000,
        })
      }
      const made = await createKey(worlds[environment], { partner_id: id, name: 'test', ...key })
      return { partner_id: id, key: made.value, key_id: made.key.id, api: openApi(url, made.value) }
    },
    async audit() {
      const [production, sandbox] = await Promise.all([
        audit(worlds.production.db, sliceChecks),
        audit(worlds.sandbox.db, sliceChecks),
      ])
      return { production, sandbox }
    },
    async stop() {
      await stop()
      await db.end()
      await database.drop()
    },
  }
}

/** A server in a process of its own, which can be killed; from the sources of another version, if their folder is given. */
export const spawnServer = async (env: Record<string, string>, sources?: string): Promise<ServerProcess> =>
  startServerProcess({
    program: sources ? ['--import', 'tsx', join(sources, 'src/cli/trilho.ts')] : [await compiledCli()],
    env,
    ...(sources === undefined ? {} : { cwd: sources }),
  })

/** A valid CPF that no other test has. */
export function someCpf(): string {
  return makeCpf(String(randomInt(100_000_000, 999_999_999)))
}
