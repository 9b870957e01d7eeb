import { randomBytes } from 'node:crypto'
import { chown, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { hasCode, readIfThere, syncFolder, writePrivately } from './files.ts'
import { type Installation, ownerOf } from './installation.ts'
import { failure, NOBODY, run } from './process.ts'

const MAJOR_VERSION = '18'

/** Makes the cluster if there is none. Returns the password of its superuser. */
export async function ensureCluster(installation: Installation): Promise<string> {
  const file = passwordFile(installation.data_dir)
  const known = (await readIfThere(file))?.trim()
  if ((await ownerOf(installation.cluster)) !== undefined) {
    await checkVersion(installation.cluster)
    if (known) return known
    throw new Error(`The password of the database in ${installation.cluster} is lost: ${file} is missing.`)
  }
  // The password is on disk before the cluster that needs it exists.
  const password = known || randomBytes(32).toString('base64url')
  if (!known) await writePrivately(file, password)
  await makeCluster(installation, password)
  return password
}

async function checkVersion(cluster: string): Promise<void> {
  const version = (await readIfThere(join(cluster, 'PG_VERSION')))?.trim()
  if (version === undefined) throw new Error(`${cluster} exists but holds no PostgreSQL database.`)
  if (version === MAJOR_VERSION) return
  throw new Error(
    `The database in ${cluster} was made by PostgreSQL ${version}, and this server has PostgreSQL ` +
      `${MAJOR_VERSION}. Move it over with pg_dump of version ${version}, or start on another data folder.`,
  )
}

async function makeCluster({ cluster, bin, run_as }: Installation, password: string): Promise<void> {
  const folder = dirname(cluster)
  for (const name of await readdir(folder)) {
    if (!name.startsWith('postgres.new')) continue
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 })
  }
  // A unique name: the initdb of a process killed a moment ago may still be writing its own folder.
  const draft = await mkdtemp(join(folder, 'postgres.new-'))
  const pwfile = join(draft, 'password')
  const data = join(draft, 'data')
  try {
    await writeFile(pwfile, password, { mode: 0o600 })
    if (run_as === 'nobody') for (const path of [draft, pwfile]) await chown(path, NOBODY, NOBODY)
    const ending = await run(run_as, [
      join(bin, 'initdb'),
      `--pgdata=${data}`,
      '--username=trilho',
      `--pwfile=${pwfile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
    ])
    if (!ending.ok) throw failure(`PostgreSQL could not make its files in ${draft}`, ending)
    await rename(data, cluster)
    await syncFolder(folder)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

export function urlOf(password: string, port: number, database = 'trilho'): string {
  return `postgresql://trilho:${password}@127.0.0.1:${port}/${database}`
}

/** Makes the database in the running cluster if there is none. */
export async function ensureDatabase(data_dir: string, password: string, port: number): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(password, port, 'postgres'), ssl: false })
  client.on('error', () => {}) // a lost connection also fails the query
  try {
    await client.connect()
    const found = await client.query("select from pg_database where datname = 'trilho'")
    if (found.rowCount === 0) await client.query('create database trilho')
    // The roles of the service need no access to the default databases of the cluster.
    await client.query('revoke all on database postgres, template1 from public')
  } catch (error) {
    if (!hasCode(error, '28P01')) throw error
    throw new Error(`The password in ${passwordFile(data_dir)} is not that of the database.`)
  } finally {
    await client.end()
  }
}

const passwordFile = (data_dir: string) => join(data_dir, 'postgres.password')
