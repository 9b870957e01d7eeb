import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { checkReply, openApi } from '../../test/support/api.ts'
import { startTestService, type TestService } from '../../test/support/service.ts'
import { ask, converse, requestText } from '../../test/support/sockets.ts'
import { until } from '../../test/support/wait.ts'
import { guardSockets, PIPELINED_MAX, type SocketLimits } from './sockets.ts'

const get = (path: string, key?: string) =>
  requestText(`GET ${path} HTTP/1.1`, {
    Host: 'localhost',
    ...(key ? { Authorization: `Bearer ${key}` } : {}),
  })

const roomy: SocketLimits = {
  max: 100,
  per_address: 100,
  pipelined: 64,
  stall_ms: 60_000,
  unread: 1e9,
  unread_per_address: 1e9,
}

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  await once(socket, 'connect')
  onTestFinished(() => void socket.destroy())
  return socket
}

const openMany = async (url: string, count: number) => {
  const sockets = await Promise.all(Array.from({ length: count }, () => open(url)))
  // After a response, the server has counted the connection.
  await Promise.all(
    sockets.map(async (socket) => {
      const answered = once(socket, 'data')
      socket.write(get('/healthz'))
      await answered
    }),
  )
  return sockets
}

describe('connections', () => {
  test('of one address are limited; the next one gets a refusal, and works when another has closed', async () => {
    const service = await startTestService({ CONNECTIONS_PER_ADDRESS: '5' })
    onTestFinished(() => service.stop())
    const sockets = await openMany(service.url, 5)
    const refused = await ask(service.url, get('/healthz'))
    expect(refused.json.error).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { window: 'address', limit: 5, retry_after_seconds: 1 },
    })
    expect(refused.headers.get('connection')).toBe('close')
    checkReply('ANY', '/v1', refused)
    // A connection that sends nothing is closed too.
    expect((await converse(service.url, [])).ended).toBe(true)
    sockets[0]!.destroy()
    await until(async () => (await ask(service.url, get('/healthz'))).status === 200, 5000)
  })

  test('of a trusted proxy have only the overall limit; beyond it the response is 503', async () => {
    const service = await startTestService({
      CONNECTIONS_PER_ADDRESS: '5',
      CONNECTIONS_MAX: '12',
      TRUST_PROXY: '127.0.0.1',
    })
    onTestFinished(() => service.stop())
    const { key } = await service.partner()
    const sockets = await openMany(service.url, 12)
    const body = JSON.stringify({ name: 'Ana', document: '52998224725' })
    const create = requestText(
      'POST /v1/customers HTTP/1.1',
      {
        Host: 'localhost',
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Content-Length': String(body.length),
      },
      body,
    )
    const refused = await ask(service.url, create)
    expect([refused.status, refused.json.error.code]).toEqual([503, 'service_unavailable'])
    expect(refused.headers.get('retry-after')).toBe('1')
    checkReply('ANY', '/v1', refused)
    for (const socket of sockets) socket.destroy()
    const api = openApi(service.url, key)
    await until(async () => (await ask(service.url, get('/healthz'))).status === 200, 5000)
    // The refused requests were not carried out.
    expect((await api.get('/v1/customers')).json.data).toEqual([])
  })
})

test('an IPv6 /48 may have four times the connections of one of its /64s, however many of those call', async () => {
  const server = createServer((_, response) => response.end('yes'))
  guardSockets(server, {
    limits: { ...roomy, per_address: 2 },
    isTrusted: () => false,
    log: { warn: () => {} },
    sendRefusal: (_, socket) => socket.end('HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\n\r\n'),
  })
  let site = '2001:db8:77'
  let calls = 0
  server.prependListener('connection', (socket) =>
    Object.defineProperty(socket, 'remoteAddress', { value: `${site}:${++calls}::1` }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sockets = await openMany(url, 8)
  expect((await ask(url, get('/healthz'))).status).toBe(429)
  site = '2001:db8:78'
  expect((await ask(url, get('/healthz'))).status).toBe(200)
  site = '2001:db8:77'
  sockets[0]!.destroy()
  await until(async () => (await ask(url, get('/healthz'))).status === 200, 5000)
})

describe('requests that wait on one connection', () => {
  let service: TestService
  let key: string
  beforeAll(async () => {
    service = await startTestService()
    key = (await service.partner()).key
  })
  afterAll(() => service.stop())

  test('are limited; the next one is refused in its turn, and nothing after it is carried out', async () => {
    const sent = PIPELINED_MAX + 50
    const { replies, ended } = await converse(service.url, [get('/v1/usage', key).repeat(sent)], {
      replies: sent,
    })
    expect(replies.map(({ status }) => status)).toEqual([...Array(PIPELINED_MAX).fill(200), 429])
    expect(ended).toBe(true)
    const last = replies.at(-1)!
    expect(last.headers.get('connection')).toBe('close')
    checkReply('ANY', '/v1', last)
    const usage = (await openApi(service.url, key).get('/v1/usage')).json
    expect(usage.day.used).toBe(PIPELINED_MAX + 1)
  })

  test('cause no warning of too many listeners', async () => {
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    onTestFinished(() => void process.off('warning', note))
    const { replies } = await converse(service.url, [get('/v1/requests?wait=1', key).repeat(15)], {
      replies: 15,
    })
    expect(replies.map(({ status }) => status)).toEqual(Array(15).fill(200))
    expect(warnings).toEqual([])
  })
})

describe('a client that never reads', () => {
  const LONG = 'x'.repeat(4_000_000)

  async function serve(
    answer: RequestListener,
    limits: Partial<SocketLimits>,
    isTrusted: () => boolean = () => false,
  ) {
    const server = createServer(answer)
    const warnings: string[] = []
    guardSockets(server, {
      limits: { ...roomy, stall_ms: 400, ...limits },
      isTrusted,
      sendRefusal: (_, socket) => socket.destroy(),
      log: { warn: (_, message) => void warnings.push(message) },
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    let open = 0
    server.on('connection', (socket) => {
      open++
      socket.once('close', () => open--)
    })
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, open: () => open, warnings }
  }

  test.each([1, 40])('is cut off, with %d requests', async (count) => {
    const server = await serve((_, response) => response.end(LONG), {})
    const socket = await open(server.url)
    socket.pause()
    socket.write(get('/').repeat(count))
    await until(() => server.open() === 1, 5000)
    await until(() => server.open() === 0, 20_000)
  })

  test('is cut off also when it reads a few bytes now and then', async () => {
    const server = await serve((_, response) => response.end(LONG.repeat(3)), {})
    const socket = await open(server.url)
    socket.pause()
    socket.write(get('/'))
    const sip = setInterval(() => socket.read(1), 50)
    onTestFinished(() => clearInterval(sip))
    await until(() => server.open() === 1, 5000)
    await until(() => server.open() === 0, 20_000)
  })

  test('is not cut off when it only reads slowly, or waits for a slow response', async () => {
    // Long enough for a client that a busy machine holds up, and shorter than the response and the whole reading take.
    const stall_ms = 2500
    const server = await serve(
      (request, response) =>
        void setTimeout(() => response.end(request.url === '/late' ? 'late' : LONG), 1.5 * stall_ms),
      { stall_ms },
    )
    const late = await ask(server.url, get('/late'))
    expect(late.text).toBe('late')
    const socket = await open(server.url)
    socket.write(get('/'))
    const began = performance.now()
    let read = 0
    socket.on('data', (bytes) => {
      read += bytes.length
      socket.pause()
      setTimeout(() => socket.resume(), 80)
    })
    await until(() => read > LONG.length, 60_000)
    expect(performance.now() - began).toBeGreaterThan(stall_ms + 1.5 * stall_ms)
  })

  test('is not cut off when the whole node stood still for longer than a client has', async () => {
    const stall_ms = 60_000
    const server = await serve((_, response) => response.end(LONG), { stall_ms })
    const socket = await open(server.url)
    socket.pause()
    socket.write(get('/'))
    await until(() => server.open() === 1, 5000)
    // The connections are looked at once a second.
    await sleep(2500)
    const real = performance.now.bind(performance)
    const later = vi.spyOn(performance, 'now').mockImplementation(() => real() + 2 * stall_ms)
    onTestFinished(() => later.mockRestore())
    await sleep(2500)
    let read = 0
    socket.on('data', (bytes) => (read += bytes.length))
    socket.resume()
    await until(() => read > LONG.length, 20_000)
  })

  test.each([
    { bound: 'one address', limits: { unread_per_address: 40e6 }, trusted: false, said: 'by 127.0.0.1' },
    { bound: 'the node', limits: { unread: 40e6 }, trusted: true, said: 'on this node' },
  ])('is cut off when more waits than $bound may have; others are not', async ({ limits, trusted, said }) => {
    const server = await serve(
      (_, response) => response.end(LONG),
      { stall_ms: 60_000, ...limits },
      () => trusted,
    )
    const [modest, greedy] = [await open(server.url), await open(server.url)]
    for (const [socket, requests] of [
      [modest, 4],
      [greedy, 20],
    ] as const) {
      socket.pause()
      socket.write(get('/').repeat(requests))
    }
    await until(() => server.open() === 2, 5000)
    await until(() => server.open() === 1, 20_000)
    expect(server.warnings).toEqual([expect.stringContaining(said)])
    expect(server.warnings[0]).toMatch(
      /^http: \d+ MB of responses waited to be read .* 1 connection was closed$/,
    )
    let read = 0
    modest.on('data', (bytes) => (read += bytes.length))
    modest.resume()
    await until(() => read > 4 * LONG.length, 60_000)
  })
})
