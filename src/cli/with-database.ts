import { pino } from 'pino'
import { openOffice } from '../control/operator/office.ts'
import { assertSecretKey, keyCheckOf, reachedBy, WrongSecretKey } from '../control/secrets/check.ts'
import { systemClock } from '../core/clock.ts'
import { migrate } from '../db/migrate.ts'
import { openSealer, reachDatabase, seatsOf, secretKeysOf } from '../db/open.ts'
import { openPool, withOwner } from '../db/pool.ts'
import type { Config } from '../node/config.ts'
import { openWorlds } from '../node/worlds.ts'
import { openShared } from '../parties/partners/partners.ts'
import { openLogKey } from '../records/acts/log.ts'
import type { CliCommand, Input, Output, Reach } from './command.ts'
import { isLoginRefused } from './service-error-output.ts'

/** Runs a command on the database of the running server, or on the embedded database, started for this command. */
export const runWithDatabase = (
  command: Extract<CliCommand, { runWith: unknown }>,
  input: Input,
): Promise<Output> => withDatabase(input.config, (reach) => command.runWith(input, reach))

export async function withDatabase<Result>(
  config: Config,
  work: (reach: Reach) => Promise<Result>,
): Promise<Result> {
  const database = await reachDatabase(config)
  try {
    const seats = await seatsOf(database.url, config)
    if (database.embedded) await migrate(database.url, { seats, check: await keyCheckOf(config) })
    const db = openPool({ ...seats('shared', 'trilho command line'), max: 2 })
    const sealer = openSealer(config, await secretKeysOf(config))
    const logKey = openLogKey({ shared: db, sealer })
    const opened = openWorlds({
      seats,
      clock: systemClock(),
      log: pino({ level: 'silent' }),
      config,
      pool: 2,
      logKey,
    })
    try {
      const { worlds, remote_signer } = opened
      const shared = openShared(db)
      const office = openOffice({ shared, worlds, sealer })
      return await work({ url: database.url, shared, worlds, office, logKey, remote_signer })
    } catch (error) {
      throw await reasonOfRefusal(error, database.url, config)
    } finally {
      await opened.stop()
      await db.end()
    }
  } finally {
    await database.stop()
  }
}

/**
 * PostgreSQL does not say why it refuses the password of a role. With the owner's connection this finds out whether SECRET_KEY
 * is wrong.
 */
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
