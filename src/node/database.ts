import type { Logger } from 'pino'
import { checkSecretKey, type Reached, reachedBy, withReach } from '../control/secrets/check.ts'
import type { Sealer } from '../core/seal.ts'
import { awaitPrimary } from '../db/await-primary.ts'
import { clusterFolder } from '../db/embedded/folder.ts'
import { holdIdentity, identityOf } from '../db/embedded/identity.ts'
import { assertNotSuperseded } from '../db/embedded/superseded.ts'
import { assertMigrated, migrate } from '../db/migrate.ts'
import { type Database, openSealer, seatsOf, secretKeysOf, startDatabase } from '../db/open.ts'
import { openClient, openOwner } from '../db/pool.ts'
import { type Primary, primaryOf } from '../db/primary.ts'
import type { Seats } from '../db/seat.ts'
import type { Closing } from './closing.ts'
import type { Config } from './config.ts'

/** A database that is reachable, migrated, and sealed under a key that this node has. */
export type OpenDatabase = {
  readonly database: Database
  readonly seats: Seats
  readonly sealer: Sealer
  readonly primary: Primary
}

type DatabaseOptions = {
  readonly config: Config
  readonly log: Logger
  readonly closing: Closing
  readonly onFatal: (error: Error) => void
  readonly signal: AbortSignal | undefined
}

export async function openDatabase(options: DatabaseOptions): Promise<OpenDatabase> {
  const { config, log, closing, onFatal, signal } = options
  if (!config.database_url) await assertNotSuperseded(config.data_dir)
  const database = await startDatabase(config, (line) => log.debug({ postgres: line }), onFatal)
  closing.add({ 'the database': database.stop })
  if (database.embedded) {
    const identity = await identityOf(await clusterFolder(config.data_dir))
    if (identity)
      closing.add({ 'the identity of the database': await holdIdentity(identity, config.data_dir) })
  }
  const sealer = openSealer(config, await secretKeysOf(config))
  const seats = await seatsOf(database.url, config)
  const primary = primaryOf(database.url)
  const unlisten = primary.onEpoch((news) => log.warn(news, 'connections to the database are renewed'))
  closing.add({ 'news of the database': async () => unlisten() })
  const opened = { database, seats, sealer, primary }
  await bringUpToDate(opened, options)
  signal?.throwIfAborted()
  return opened
}

/** The owner migrates and disconnects; after that every connection logs in as the role of its seat. */
async function bringUpToDate(
  { database, seats, sealer }: OpenDatabase,
  { config, log, signal }: DatabaseOptions,
): Promise<void> {
  const migrates = config.migrate || database.embedded
  const openOnce = () =>
    migrates ? openOwner(database.url, 'trilho start') : openClient(seats('shared', 'trilho start'))
  await awaitPrimary(openOnce, { log, signal, give_up_ms: config.start_wait_ms })
  const check = (reached: Reached) => checkKey(reached, sealer, log)
  if (!migrates) {
    await assertMigrated(seats)
    return withReach(seats, check)
  }
  const { retention } = config
  const applied = await migrate(database.url, {
    seats,
    signal,
    retention,
    check: (owner) => check(reachedBy(owner)),
  })
  if (applied.length > 0) log.info({ applied }, 'database migrated')
}

async function checkKey(reached: Reached, sealer: Sealer, log: Logger): Promise<void> {
  const in_force = await checkSecretKey(reached, sealer)
  if (in_force !== sealer.keyIds()[0])
    log.warn(
      { in_force, known: sealer.keyIds() },
      'secrets: the database is sealed under another key than SECRET_KEY; run: trilho secrets rotate',
    )
}
