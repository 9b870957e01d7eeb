import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPool } from '../../src/db/pool.ts'
import { primaryOf } from '../../src/db/primary.ts'
import { openApi } from '../support/api.ts'
import { startCluster } from '../support/cluster.ts'
import { createDatabase, prepareDatabase, seatAt, type TestDatabase } from '../support/database.ts'
import { startNode } from '../support/node.ts'
import { openDirectAccess, someCpf } from '../support/service.ts'
import { openSilencingProxy } from '../support/silencing-proxy.ts'
import { size } from '../support/size.ts'
import { until } from '../support/wait.ts'

/** Nobody waits longer than this, whatever happens to the database; a busy machine may add a little. */
const OPEN_MS = size(12_000, 30_000)

let database: TestDatabase
let direct: ReturnType<typeof openDirectAccess>
beforeAll(async () => {
  database = await createDatabase()
  direct = openDirectAccess(database)
})
afterAll(() => direct.stop())

async function holeToDatabase() {
  const hole = await openSilencingProxy(Number(new URL(database.url).port))
  onTestFinished(hole.stop)
  return hole
}

describe('a database that vanishes without a word', () => {
  test('leaves no request unanswered, is told by /readyz, and is used again when it is back', async () => {
    const hole = await holeToDatabase()
    const nodes = [await startNode(hole.urlOf(database.url)), await startNode(hole.urlOf(database.url))]
    for (const node of nodes) onTestFinished(node.stop)
    const { key } = await direct.partner(nodes[0]!.url)
    const apis = nodes.map(({ url }) => openApi(url, key))
    const ask = async (i: number) => {
      const started = performance.now()
      const api = apis[i % 2]!
      const reply =
        i % 4 < 2
          ? await api.get('/v1/customers')
          : await api.post('/v1/customers', { name: 'Ana', document: someCpf() })
      return { status: reply.status, ms: performance.now() - started }
    }
    await Promise.all(Array.from({ length: 8 }, (_, i) => ask(i)))
    await sleep(1500)
    hole.silence()
    const asked = Array.from({ length: 40 }, async (_, i) => {
      await sleep(i * 50)
      return ask(i)
    })
    const is = (status: number) => async () =>
      (await Promise.all(nodes.map(({ url }) => fetch(`${url}/readyz`)))).every((r) => r.status === status)
    await until(is(503), 8000)
    const answers = await Promise.all(asked)
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(OPEN_MS)
    for (const { status } of answers) expect([200, 201, 503]).toContain(status)
    expect(answers.filter(({ status }) => status === 503).length).toBeGreaterThan(0)
    hole.restore()
    await until(is(200), 8000)
    await until(async () => (await ask(0)).status === 200 && (await ask(3)).status === 201, 8000)
  })

  test('for a moment shows as latency, not as errors', { timeout: 300_000 }, async () => {
    const hole = await holeToDatabase()
    const node = await startNode(hole.urlOf(database.url), { DATABASE_WAIT_MS: '8000' })
    onTestFinished(node.stop)
    const { key } = await direct.partner(node.url)
    const api = openApi(node.url, key)
    // On a busy machine the new connections may take longer than a request waits, so the scene is played until it holds.
    await until(async () => {
      hole.restore()
      await until(async () => (await api.get('/v1/customers')).status === 200, 30_000)
      await sleep(1500)
      // The connections are lost, and the server is there.
      hole.silence({ but_new: true })
      const replies = await Promise.all(Array.from({ length: 10 }, () => api.get('/v1/customers')))
      return replies.every(({ status }) => status === 200)
    }, 60_000)
  })
})

test('a process that was blocked for seconds takes no server for dead', async () => {
  const pool = openPool({ ...seatAt(database.url, 'shared', 'blocked'), max: 2 })
  onTestFinished(() => pool.end())
  await pool.query('SELECT 1')
  const primary = primaryOf(database.url)
  await sleep(2000)
  const { epoch } = primary.state()
  const blocked = performance.now() + 4000
  while (performance.now() < blocked);
  await sleep(1000)
  expect(primary.state()).toMatchObject({ epoch, up: true })
  expect((await pool.query('SELECT 1 AS n')).rows[0].n).toBe(1)
})

describe('a former primary that goes on beside the one that replaced it', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>
  beforeAll(async () => {
    cluster = await startCluster()
    await prepareDatabase(cluster.url)
    cluster.pause()
    await cluster.promote()
    cluster.resume()
  })
  afterAll(() => cluster?.stop())

  /** By an address that this process has not used before, as if it had just been started. */
  function openFresh(url: string) {
    const pool = openPool({ ...seatAt(url, 'shared', 'fresh'), max: 2 })
    onTestFinished(() => pool.end())
    const place = async () =>
      (await pool.query(`SELECT setting FROM pg_settings WHERE name = 'cluster_name'`)).rows[0].setting
    return { place, primary: primaryOf(url) }
  }

  test('is not taken by a node that starts, whatever the order of the hosts', async () => {
    const ways = /127\.0\.0\.1:\d+,127\.0\.0\.1:\d+/
    const turned = cluster.url.replace(ways, (hosts) => hosts.split(',').reverse().join(','))
    for (const url of [cluster.url, turned]) {
      const { place, primary } = openFresh(`${url}&fallback_application_name=fresh`)
      expect(await place()).toBe('b')
      expect(primary.state()).toMatchObject({ up: true, timeline: 2 })
    }
  })

  test('is left by a node that could see no other when it started', async () => {
    const newer = Number(/,127\.0\.0\.1:(\d+)/.exec(cluster.url)![1])
    const hole = await openSilencingProxy(newer)
    onTestFinished(hole.stop)
    hole.silence()
    const { place, primary } = openFresh(cluster.url.replace(`:${newer}`, `:${hole.port}`))
    expect(await place()).toBe('a')
    hole.restore()
    await until(async () => (await place()) === 'b', 40_000)
    expect(primary.state()).toMatchObject({ up: true, timeline: 2 })
  })
})
