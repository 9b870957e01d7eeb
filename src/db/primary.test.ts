import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { asAdmin, createDatabase, type TestDatabase } from '../../test/support/database.ts'
import { openSlowProxy } from '../../test/support/slow-proxy.ts'
import { until } from '../../test/support/wait.ts'
import { type Client, openOwner } from './pool.ts'
import { primaryOf } from './primary.ts'

let database: TestDatabase
/** A separate login, so that its connections can be counted and limited. */
let login: string
beforeAll(async () => {
  database = await createDatabase({ migrated: false })
  login = `${new URL(database.url).pathname.slice(1)}_user`
  await admin(`CREATE ROLE ${login} LOGIN PASSWORD 'x'`)
})
afterAll(async () => {
  await database.drop()
  await asAdmin(inject('postgres_url'), [`DROP ROLE ${login}`])
})

const admin = (...statements: string[]) => asAdmin(database.url, statements)

let addresses = 0
/** A new address, of which the process knows nothing yet. */
function newUrl(): string {
  const url = new URL(database.url)
  Object.assign(url, { username: login, password: 'x' })
  url.searchParams.set('fallback_application_name', `a${++addresses}`)
  return url.href
}

async function beats(): Promise<number[]> {
  const rows = await admin(
    `SELECT pid FROM pg_stat_activity WHERE application_name = 'trilho heartbeat' AND usename = '${login}'`,
  )
  return rows.map(({ pid }) => Number(pid))
}

/** Runs a long statement. Resolves to 'done', or to the message of its error. */
const work = (client: Client, seconds: number) =>
  client.query(`SELECT pg_sleep(${seconds})`).then(
    () => 'done',
    (error: Error) => error.message,
  )

async function open(url: string): Promise<Client> {
  const client = await openOwner(url, 'at work')
  onTestFinished(() => client.end().catch(() => {}))
  return client
}

describe('a server whose connections are all in use counts as alive', () => {
  async function openBeating() {
    const url = newUrl()
    const client = await open(url)
    await until(async () => (await beats()).length === 1, 10_000)
    onTestFinished(async () => {
      await admin(`ALTER ROLE ${login} CONNECTION LIMIT -1`)
    })
    const [beat] = await beats()
    return { client, beat: beat!, primary: primaryOf(url) }
  }

  test('also when it keeps the heartbeat waiting', async () => {
    const { client, beat, primary } = await openBeating()
    await admin(`ALTER ROLE ${login} CONNECTION LIMIT 2`)
    const working = work(client, 3)
    process.kill(beat, 'SIGSTOP')
    await sleep(1100)
    process.kill(beat, 'SIGCONT')
    expect(await working).toBe('done')
    expect(primary.state()).toMatchObject({ up: true, epoch: 0 })
    await client.end()
    await until(async () => (await beats()).length === 0, 10_000)
  })

  test('also when the heartbeat’s own connection has ended; the heartbeat reconnects as soon as it can', async () => {
    const { client, beat, primary } = await openBeating()
    await admin(`ALTER ROLE ${login} CONNECTION LIMIT 1`)
    const working = work(client, 3)
    await admin(`SELECT pg_terminate_backend(${beat})`)
    expect(await working).toBe('done')
    expect(primary.state()).toMatchObject({ up: true, epoch: 0 })
    await admin(`ALTER ROLE ${login} CONNECTION LIMIT -1`)
    await until(async () => (await beats()).length === 1, 10_000)
    await client.end()
    await until(async () => (await beats()).length === 0, 10_000)
  })
})

describe('a server that is slow to let a connection in', () => {
  test('is not declared gone, and is found again', async () => {
    const door = await openSlowProxy(newUrl(), 1700)
    onTestFinished(door.stop)
    const client = await open(door.url)
    expect(await work(client, 6)).toBe('done')
    const primary = primaryOf(door.url)
    expect(primary.state()).toMatchObject({ up: true, epoch: 0 })
    await client.end()
    // A failed connection makes the next caller search for the primary.
    primary.failed(new Error('Connection terminated unexpectedly'))
    await (await open(door.url)).end()
  })

  test('is not declared gone while it accepts no connection, as long as it answers the open ones', async () => {
    const door = await openSlowProxy(newUrl(), 0)
    onTestFinished(door.stop)
    const client = await open(door.url)
    door.slow(60_000)
    const asking = setInterval(() => client.query('SELECT 1').catch(() => {}), 100)
    await sleep(9000)
    clearInterval(asking)
    expect(primaryOf(door.url).state()).toMatchObject({ up: true, epoch: 0 })
    expect((await client.query('SELECT 1 AS n')).rows[0].n).toBe(1)
  })

  test('is found among several hosts', async () => {
    const door = await openSlowProxy(newUrl(), 1700)
    onTestFinished(door.stop)
    const url = door.url.replace(`127.0.0.1:${door.port}`, `127.0.0.1:${door.port},127.0.0.1:${door.port}`)
    await until(() => open(url).then(Boolean, () => false), 15_000)
  })
})

test('there is one heartbeat, also after two searches at once, and none when the last connection has ended', async () => {
  const door = await openSlowProxy(newUrl(), 300)
  onTestFinished(door.stop)
  const client = await open(door.url)
  const primary = primaryOf(door.url)
  const connections = door.connections()
  // While the first heartbeat connects, a caller that could not connect searches for the primary.
  await until(() => door.connections() > connections, 10_000)
  primary.failed(new Error('Connection terminated unexpectedly'))
  await primary.hostOfPrimary()
  await sleep(1000)
  await until(async () => (await beats()).length === 1, 20_000)
  await client.end()
  await until(async () => (await beats()).length === 0, 10_000)
})
