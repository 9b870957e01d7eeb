import pg from 'pg'
import { migrate } from '../../src/db/migrate.ts'
import { databaseRoleOf } from '../../src/db/pool.ts'
import { schemaNames } from '../../src/db/seat.ts'

/** A database with every table in place and no rights given. A copy of it is migrated in a moment: only its rights are missing. */
export const TEMPLATE = 'migrated'

export async function makeTemplate(admin_url: string): Promise<void> {
  const url = new URL(admin_url)
  url.pathname = `/${TEMPLATE}`
  await runAt(admin_url, [`CREATE DATABASE ${TEMPLATE}`])
  await migrate(url.href)
  // Otherwise its roles would have rights in every copy.
  const roles = schemaNames.map((schema) => databaseRoleOf(url.href, schema))
  await runAt(url.href, [`DROP OWNED BY ${roles.join(', ')}`, `DROP ROLE ${roles.join(', ')}`, 'VACUUM FULL'])
}

async function runAt(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
