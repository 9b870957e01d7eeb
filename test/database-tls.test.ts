import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { UntrustedServer } from '../src/db/tls.ts'
import { selfSigned } from './support/certificate.ts'
import { asAdmin, createDatabase, type TestDatabase } from './support/database.ts'
import { startNode } from './support/node.ts'
import { until } from './support/wait.ts'

/**
 * A PostgreSQL with a certificate, reached by an address that is not one of this machine's own: 0.0.0.0, which leads to it
 * all the same.
 */
const REMOTE = '0.0.0.0'
let database: TestDatabase
let folder: string
const server = (...statements: string[]) => asAdmin(inject('postgres_url'), statements)

beforeAll(async () => {
  database = await createDatabase()
  folder = await mkdtemp(join(tmpdir(), 'trilho-tls-'))
  await chmod(folder, 0o755)
})
afterAll(async () => {
  await encrypt(false)
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

/** Others that use the server meanwhile do not ask for TLS, and notice nothing. */
async function encrypt(on: boolean): Promise<void> {
  const settings = { ssl: 'on', ssl_cert_file: join(folder, 'cert'), ssl_key_file: join(folder, 'key') }
  if (on) {
    const [place] = await server('SHOW data_directory')
    const { uid, gid } = await stat(String(place!.data_directory))
    const { key, cert } = selfSigned(REMOTE)
    await writeFile(settings.ssl_cert_file, cert)
    await writeFile(settings.ssl_key_file, key, { mode: 0o600 })
    await chown(settings.ssl_key_file, uid, gid)
  }
  const change = ([name, value]: [string, string]) =>
    on ? `ALTER SYSTEM SET ${name} = '${value}'` : `ALTER SYSTEM RESET ${name}`
  await server(...Object.entries(settings).map(change), 'SELECT pg_reload_conf()')
  await until(async () => (await server('SHOW ssl'))[0]!.ssl === (on ? 'on' : 'off'), 10_000)
}

function urlBy(host: string, options: Record<string, string> = {}): string {
  const url = new URL(database.url)
  url.hostname = host
  for (const [name, value] of Object.entries(options)) url.searchParams.set(name, value)
  return url.href
}

/** Whether the connections of the service are encrypted, each of them. */
async function encrypted(url: string, env: Record<string, string> = {}): Promise<unknown> {
  const node = await startNode(url, env)
  onTestFinished(node.stop)
  const sessions = () =>
    asAdmin(database.url, [
      `SELECT application_name, ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    ])
  await until(
    async () => (await sessions()).some(({ application_name }) => application_name === 'trilho heartbeat'),
    15_000,
  )
  const found = await sessions()
  await node.stop()
  return [...new Set(found.map(({ ssl }) => ssl))]
}

test('a server on another machine that does not offer TLS is refused, unless that is switched off by name', async () => {
  const refused = await startNode(urlBy(REMOTE)).catch((error) => error)
  expect(refused).toBeInstanceOf(UntrustedServer)
  expect(refused.message).toMatch(/^The database server 0\.0\.0\.0:\d+ does not offer TLS\./)
  expect(refused.message).toMatch(/sslrootcert=FILE.*DATABASE_TLS=off/)
  expect(await encrypted(urlBy(REMOTE), { DATABASE_TLS: 'off' })).toEqual([false])
})

test('one that shows a certificate for its name is used, every connection encrypted; any other is refused', async () => {
  await encrypt(true)
  const sslrootcert = join(folder, 'cert')
  expect(await encrypted(urlBy(REMOTE, { sslrootcert }))).toEqual([true])
  const refusals: [string, RegExp][] = [
    [urlBy(REMOTE), /is not trusted: self-signed certificate/],
    [urlBy(REMOTE, { sslmode: 'require' }), /is not trusted: self-signed certificate/],
    [
      urlBy('127.0.0.1', { sslrootcert, sslmode: 'verify-full' }),
      /is not trusted: .*does not match certificate's altnames/,
    ],
  ]
  for (const [url, reason] of refusals) {
    const refused = await startNode(url).catch((error) => error)
    expect(refused).toBeInstanceOf(UntrustedServer)
    expect(refused.message).toMatch(reason)
  }
  expect(await encrypted(urlBy(REMOTE, { sslmode: 'disable' }))).toEqual([false])
})
