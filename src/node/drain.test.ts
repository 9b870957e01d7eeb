import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openApi } from '../../test/support/api.ts'
import { signedIn } from '../../test/support/console.ts'
import { createDatabase } from '../../test/support/database.ts'
import { openDirectAccess, spawnServer, testEnv } from '../../test/support/service.ts'
import { until } from '../../test/support/wait.ts'
import { readConfig } from './config.ts'
import { startService } from './serve.ts'

/** No test waits until this drain is over: `hurry` and signals end it. */
const DRAIN_MS = '600000'

/** A keep-alive connection, with everything that was received on it. */
async function openSocket(url: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let text = ''
  let isClosed = false
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  await once(socket, 'connect')
  onTestFinished(() => void socket.destroy())
  const answers = () => text.split(/(?=HTTP\/1\.1 \d)/).filter(Boolean)
  return {
    send: (...paths: string[]) =>
      void socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: trilho\r\n\r\n`).join('')),
    answers,
    until: (count: number) => until(() => answers().length === count, 30_000),
    untilClosed: () => until(() => isClosed, 30_000),
  }
}

async function startDraining() {
  const direct = openDirectAccess(await createDatabase())
  const hurry = new AbortController()
  const service = await startService({
    config: readConfig(testEnv(direct.database.url, { DRAIN_MS })),
    print: () => {},
    onFatal: (error) => {
      throw error
    },
    hurry: hurry.signal,
  })
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= service.stop())
  onTestFinished(async () => {
    hurry.abort('end of the test')
    await stop()
    await direct.stop()
  })
  return { direct, url: service.url, hurry, stop }
}

test('contract §17.16: a node that drains answers 503 on /readyz and serves on, over old and new connections', async () => {
  const { direct, url, hurry, stop } = await startDraining()
  const { key } = await direct.partner(url)
  const [idle, pipelining, silent] = [await openSocket(url), await openSocket(url), await openSocket(url)]
  idle.send('/healthz')
  await idle.until(1)
  expect(idle.answers()[0]).toMatch(/^connection: keep-alive\r$/im)
  const stopping = stop()
  let isStopped = false
  void stopping.then(() => {
    isStopped = true
  })
  expect((await fetch(`${url}/readyz`)).status).toBe(503)
  // The classic race: a request on a connection that was idle when the stop began.
  idle.send('/healthz')
  await idle.untilClosed()
  expect(idle.answers()[1]).toMatch(/^HTTP\/1\.1 200 /)
  expect(idle.answers()[1]).toMatch(/^connection: close\r$/im)
  // Requests that were sent together are all answered, and the last answer ends the connection.
  pipelining.send('/healthz', '/healthz', '/healthz')
  await pipelining.untilClosed()
  const said = pipelining.answers().map((answer) => /^connection: (\S+)\r$/im.exec(answer)?.[1])
  expect(said).toHaveLength(3)
  expect(said[2]).toBe('close')
  for (let i = 0; i < 3; i++) expect((await openApi(url, key).get('/v1/usage')).status).toBe(200)
  expect(isStopped).toBe(false)
  hurry.abort('test')
  await stopping
  await silent.untilClosed()
  await expect(fetch(`${url}/healthz`)).rejects.toThrow()
})

test('a drain ends long polls and streams of hints at once, and lets a poll that comes later wait for a second only', async () => {
  const { direct, url, stop } = await startDraining()
  const { api, partner_id } = await direct.partner(url)
  const { cookie } = await signedIn({ ...direct, url }, { partner_id, role: 'owner' })
  const stream = await fetch(`${url}/console/api/sandbox/stream`, { headers: { cookie: cookie! } })
  expect(stream.status).toBe(200)
  const poll = api.get('/v1/events?after=now&wait=30')
  const requests = api.get('/v1/requests?after=now&wait=30')
  await sleep(500)
  void stop()
  const later = api.get('/v1/events?after=now&wait=30')
  const read = stream.text()
  // None of them ends by itself before the drain does, except the polls, after thirty seconds.
  const begun = performance.now()
  expect(await read).toContain(': live')
  expect((await poll).status).toBe(200)
  expect((await requests).status).toBe(200)
  expect((await later).status).toBe(200)
  expect(performance.now() - begun).toBeLessThan(25_000)
})

test('a second signal cuts the drain short, and the stop stays an orderly one', async () => {
  const database = await createDatabase()
  const server = await spawnServer(testEnv(database.url, { DRAIN_MS, LOG_LEVEL: 'info' }))
  onTestFinished(async () => {
    await server.kill('SIGKILL')
    await database.drop()
  })
  server.process.kill('SIGTERM')
  await until(() => server.output().includes('stopping: draining for 600 s'), 30_000)
  // A second signal within half a second counts as a duplicate of the first.
  await sleep(1000)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
  await server.kill('SIGTERM')
  expect(server.process.exitCode).toBe(0)
  expect(server.output()).toContain('stopping: drain cut short (a second signal, SIGTERM)')
})

test('a worker has no callers to send elsewhere: it stops without a drain', async () => {
  const database = await createDatabase()
  const server = await spawnServer(testEnv(database.url, { DRAIN_MS, ROLE: 'worker', LOG_LEVEL: 'info' }))
  onTestFinished(async () => {
    await server.kill('SIGKILL')
    await database.drop()
  })
  await server.kill('SIGTERM')
  expect(server.process.exitCode).toBe(0)
  expect(server.output()).not.toContain('draining')
})
