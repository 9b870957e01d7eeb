import { keyCheckOf } from '../../control/secrets/check.ts'
import { migrate } from '../../db/migrate.ts'
import { reachDatabase, seatsOf } from '../../db/open.ts'
import type { Input, Output } from '../command.ts'

export async function migrateDatabase({ config }: Input): Promise<Output> {
  // Other commands refuse a data folder without a database; this one creates the database.
  const database = await reachDatabase(config, { make: true })
  try {
    const seats = await seatsOf(database.url, config)
    const { retention } = config
    const applied = await migrate(database.url, { seats, retention, check: await keyCheckOf(config) })
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
}
