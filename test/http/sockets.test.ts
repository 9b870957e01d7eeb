import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Api, checkReply, type Reply } from '../support/api.ts'
import { expectIntact } from '../support/intact.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { ask, type Conversation, converse, type Part, requestText } from '../support/sockets.ts'

let service: TestService
let api: Api
let auth: { readonly Host: string; readonly Authorization: string }
let customer_id: string
beforeAll(async () => {
  service = await startTestService()
  const partner = await service.partner()
  api = partner.api
  auth = { Host: 'localhost', Authorization: `Bearer ${partner.key}` }
  customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json.id
})
afterAll(() => service.stop())

afterEach(async () => {
  expect((await api.get(`/v1/customers/${customer_id}`)).status).toBe(200)
})

type Fields = Readonly<Record<string, string | readonly string[]>>
const get = (path: string, more: Fields = {}) => requestText(`GET ${path} HTTP/1.1`, { ...auth, ...more })
const post = (more: Fields, body = '') =>
  requestText('POST /v1/customers HTTP/1.1', { ...auth, 'Content-Type': 'application/json', ...more }, body)
const chunked = (body: string) => post({ 'Transfer-Encoding': 'chunked' }, body)

/** A refusal as the contract wants it: 4xx, the error object, the request id and the three rate-limit headers. */
function checkRefusal(reply: Reply, code?: string): void {
  expect(reply.status).toBeGreaterThanOrEqual(400)
  expect(reply.status).toBeLessThan(500)
  expect(reply.json?.error).toBeDefined()
  checkReply('ANY', '/v1', reply)
  if (code) expect(reply.json.error.code).toBe(code)
}

async function refused(parts: Part | readonly Part[], code?: string, options?: Parameters<typeof ask>[2]) {
  const reply = await ask(service.url, parts, options)
  checkRefusal(reply, code)
  return reply
}

/** Cases that need the key, and so are made when there is one. */
type Cases = Readonly<Record<string, () => Part | readonly Part[]>>
const each = (cases: Cases, check: (parts: Part | readonly Part[]) => Promise<unknown>) =>
  test.each(Object.entries(cases))('%s', async (_, parts) => void (await check(parts())))

describe('what is no HTTP request gets a 400 with an error object', () => {
  each(
    {
      'zero bytes': () => '\0\0\0\0\r\n\r\n',
      'one byte that begins nothing': () => '\xff',
      'a TLS hello': () => Buffer.from('16030100c8010000c40303', 'hex'),
      'an HTTP/2 preface': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'an SSH banner': () => 'SSH-2.0-OpenSSH_9.6\r\n',
      'JSON without HTTP': () => '{"amount":"1"}\r\n\r\n',
      'a response': () => 'HTTP/1.1 200 OK\r\n\r\n',
      'a method in lower case': () => requestText('get /v1/customers HTTP/1.1', auth),
      'an unknown method': () => requestText('STEAL /v1/customers HTTP/1.1', auth),
      'a method of 10 KB': () => requestText(`${'A'.repeat(10_000)} /v1/customers HTTP/1.1`, auth),
      'no target': () => requestText('GET HTTP/1.1', auth),
      'a target without a slash': () => requestText('GET v1/customers HTTP/1.1', auth),
      'a space inside the target': () => get('/v1/customers x'),
      'a NUL inside the target': () => get('/v1/customers\0'),
      'a tab inside the target': () => get('/v1/\tcustomers'),
      'bytes above 127 in the target': () => get('/v1/customers/\xff\xfe'),
      'HTTP/1.2': () => requestText('GET /v1/customers HTTP/1.2', auth),
      'HTTP/9.9': () => requestText('GET /v1/customers HTTP/9.9', auth),
      'HTTPS/1.1': () => requestText('GET /v1/customers HTTPS/1.1', auth),
      'HTTP/1.1 without a Host': () => requestText('GET /v1/customers HTTP/1.1'),
      'a header without a colon': () => get('/v1/customers').replace('\r\n\r\n', '\r\nNoColon\r\n\r\n'),
      'a header without a name': () => get('/v1/customers', { '': 'x' }),
      'a space before the colon': () => get('/v1/customers', { 'X ': 'x' }),
      'a NUL in a header': () => get('/v1/customers', { X: 'a\0b' }),
      'a bare carriage return in a header': () => get('/v1/customers', { X: 'a\rb' }),
      'a folded header': () => get('/v1/customers', { X: 'a\r\n b' }),
      'line feeds alone': () => get('/v1/customers').replaceAll('\r', ''),
      CONNECT: () => requestText('CONNECT localhost:5432 HTTP/1.1', auth),
    },
    (parts) => refused(parts, 'invalid_request'),
  )
})

describe('request line and headers of more than 16 KiB are headers_too_large', () => {
  each(
    {
      'one header of 20 KB': () => get('/v1/customers', { X: 'a'.repeat(20_000) }),
      'one header of 2 MB': () => get('/v1/customers', { X: 'a'.repeat(2_000_000) }),
      'a header name of 20 KB': () => get('/v1/customers', { ['x'.repeat(20_000)]: 'a' }),
      'a thousand headers': () =>
        get(
          '/v1/customers',
          Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`X-${i}`, 'a'.repeat(20)])),
        ),
      'a target of 20 KB': () => get(`/${'a'.repeat(20_000)}`),
      'headers that never end': () => [
        get('/v1/customers').slice(0, -2),
        ...Array(40).fill(`X: ${'a'.repeat(1000)}\r\n`),
      ],
      'trailers of 20 KB': () => chunked(`2\r\n{}\r\n0\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`),
    },
    (parts) => refused(parts, 'headers_too_large'),
  )
})

describe('a body whose length is said wrongly, or twice, is refused', () => {
  each(
    {
      'Content-Length and Transfer-Encoding': () =>
        post({ 'Content-Length': '2', 'Transfer-Encoding': 'chunked' }, '2\r\n{}\r\n0\r\n\r\n'),
      'Transfer-Encoding and Content-Length': () =>
        post({ 'Transfer-Encoding': 'chunked', 'Content-Length': '2' }, '2\r\n{}\r\n0\r\n\r\n'),
      'two lengths': () => post({ 'Content-Length': ['2', '3'] }, '{}'),
      'the same length twice': () => post({ 'Content-Length': ['2', '2'] }, '{}'),
      'two lengths in one': () => post({ 'Content-Length': '2, 2' }, '{}'),
      'a negative length': () => post({ 'Content-Length': '-1' }),
      'a length with a plus': () => post({ 'Content-Length': '+2' }, '{}'),
      'a length in hexadecimal': () => post({ 'Content-Length': '0x2' }, '{}'),
      'a length that is a word': () => post({ 'Content-Length': 'two' }, '{}'),
      'an empty length': () => post({ 'Content-Length': '' }, '{}'),
      'a length beyond 64 bits': () => post({ 'Content-Length': '99999999999999999999999' }),
      'a chunk size that is none': () => chunked('zz\r\n{}\r\n0\r\n\r\n'),
      'a negative chunk size': () => chunked('-2\r\n{}\r\n0\r\n\r\n'),
      'an empty chunk size': () => chunked('\r\n{}\r\n0\r\n\r\n'),
      'a chunk size beyond 64 bits': () => chunked('ffffffffffffffffff\r\n{}\r\n'),
      'a chunk shorter than its size': () => chunked('5\r\n{}\r\n0\r\n\r\n'),
      'a chunk longer than its size': () => chunked('1\r\n{}\r\n0\r\n\r\n'),
      'a chunk extension of 40 KB': () => chunked(`2;${'a'.repeat(40_000)}\r\n{}\r\n0\r\n\r\n`),
      'a second chunk that is none, later': () => [chunked('1\r\n{\r\n'), 100, 'zz\r\n'],
      'an unknown transfer coding': () => post({ 'Transfer-Encoding': 'gzip' }, '{}'),
      'identity as transfer coding': () => post({ 'Transfer-Encoding': 'identity' }, '{}'),
      'chunked before another coding': () =>
        post({ 'Transfer-Encoding': 'chunked, gzip' }, '2\r\n{}\r\n0\r\n\r\n'),
    },
    (parts) => refused(parts, 'invalid_request'),
  )

  test('a body that ends before its length', async () => {
    await refused(post({ 'Content-Length': '10' }, '{}'), 'invalid_request', { half_close: true })
  })
})

describe('a body over 64 KiB is cut off with body_too_large', () => {
  const spaces = ' '.repeat(8192)
  each(
    {
      'announced, 100 MB, nothing sent': () => post({ 'Content-Length': '104857600' }),
      'announced, 2^53, nothing sent': () => post({ 'Content-Length': '9007199254740992' }),
      'announced, and asked whether to go on': () =>
        post({ 'Content-Length': '104857600', Expect: '100-continue' }),
      'one byte too many': () => post({ 'Content-Length': '65537' }, ' '.repeat(65_537)),
      'in chunks': () => [chunked(''), ...Array(9).fill(`2000\r\n${spaces}\r\n`)],
      'in chunks that never end': () => [chunked(''), ...Array(128).fill(`2000\r\n${spaces}\r\n`)],
      'in one chunk of which the size alone is too much': () => [
        chunked('7fffffff\r\n'),
        ...Array(20).fill(spaces),
      ],
      'in chunks of one byte': () => chunked('1\r\n \r\n'.repeat(65_537)),
    },
    (parts) => refused(parts, 'body_too_large'),
  )
})

test('a compressed body is not unpacked', async () => {
  const packed = gzipSync(JSON.stringify({ name: 'Ana', document: someCpf() }))
  const bomb = gzipSync(Buffer.alloc(10_000_000))
  for (const body of [packed, bomb]) {
    for (const more of [
      { 'Content-Encoding': 'gzip' },
      { 'Content-Encoding': 'br' },
      { 'Content-Encoding': 'identity' },
    ])
      await refused(
        [post({ ...more, 'Content-Length': String(body.length) }), body],
        'unsupported_media_type',
      )
  }
  const size = packed.length.toString(16)
  const coded = [post({ 'Transfer-Encoding': 'gzip, chunked' }, `${size}\r\n`), packed, '\r\n0\r\n\r\n']
  await refused(coded, 'unsupported_media_type')
})

describe('a target means what it says', () => {
  const found: Readonly<Record<string, string>> = {
    'the plain form': '/v1/customers',
    'the absolute form': 'http://localhost/v1/customers',
    'the absolute form of another host': 'http://evil.example/v1/customers',
    'an escaped letter': '/v1/%63ustomers',
    'an empty query': '/v1/customers?',
  }
  test.each(Object.entries(found))('%s is found', async (_, target) => {
    const reply = await ask(service.url, get(target))
    expect(reply.status).toBe(200)
    checkReply('GET', '/v1/customers', reply)
    checkRefusal(
      await ask(service.url, requestText(`GET ${target} HTTP/1.1`, { Host: 'x' })),
      'missing_authorization',
    )
  })

  const absent: Readonly<Record<string, string>> = {
    'two slashes in front': '//v1/customers',
    'two slashes between': '/v1//customers',
    'a slash at the end': '/v1/customers/',
    'going up and back': '/v1/../v1',
    'going up and back to a list': '/v1/../v1/customers',
    'a dot': '/v1/./customers',
    'escaped dots': '/v1/%2e%2e/v1/customers',
    'an escaped slash': '/v1%2fcustomers',
    'a backslash': '/v1\\customers',
    capitals: '/V1/CUSTOMERS',
    'a semicolon': '/v1/customers;x=1',
    'nothing after the version': '/v1',
    'another version': '/v2/customers',
    'a target outside': '/etc/passwd',
    'the absolute form of another scheme': 'ftp://localhost/v1/customers',
  }
  test('the absolute form without a path is the root', async () => {
    const { status, headers } = await ask(service.url, get('http://localhost'))
    expect([status, headers.get('location')]).toEqual([302, '/docs'])
  })

  test.each(Object.entries(absent))('%s is not', async (_, target) => {
    expect((await refused(get(target))).status).toBe(404)
  })

  const strange: Readonly<Record<string, string>> = {
    'an escaped slash': 'cus_%2f',
    'an escaped NUL': '%00',
    'an escaped line end': '%0d%0aX:%20y',
    'an escape that is none': '%zz',
    'half an escape': '%',
    'an escape of no UTF-8': '%ff',
    'an overlong escape': '%c0%ae',
    'an escaped surrogate': '%ed%a0%80',
    '201 characters': 'a'.repeat(201),
    '8,000 characters': 'a'.repeat(8000),
    SQL: "'%20OR%201=1--",
    'a prototype': '__proto__',
    'a colon': ':customer_id',
    'a star': '*',
  }
  test.each(Object.entries(strange))('%s for an id is nobody’s id', async (_, id) => {
    for (const path of [
      `/v1/customers/${id}`,
      `/v1/customers/${id}/balances`,
      `/v1/customers/${id}/statement`,
    ]) {
      expect((await refused(get(path))).status).toBe(404)
    }
    // Also where the router itself gives up, a key is asked for first.
    await refused(requestText(`GET /v1/customers/${id} HTTP/1.1`, { Host: 'x' }), 'missing_authorization')
    expect((await refused(get(`/docs/errors/${id}`))).status).toBe(404)
  })

  const queries: Readonly<Record<string, string>> = {
    'a NUL in a value': 'external_id=%00',
    'a NUL behind a value': 'limit=10%00',
    'a NUL in a name': 'limit%00=10',
    'a line end in a value': 'external_id=a%0d%0ab',
    '8 KB in a value': `external_id=${'a'.repeat(8000)}`,
    '8 KB in a name': `${'a'.repeat(8000)}=1`,
    '2,000 names': 'a=1&'.repeat(2000),
    'a name twice': 'limit=1&limit=2',
    brackets: 'limit[]=1',
    'a nested name': 'limit[a]=1',
    'a prototype': '__proto__=1',
    'a constructor': 'constructor[prototype][x]=1',
    'a name without a value': 'limit',
    'a value without a name': '=1',
    'a fragment': 'limit=1#x',
    'a second question mark': 'limit=1?limit=2',
  }
  test.each(Object.entries(queries))('%s in the query is refused by name', async (_, query) => {
    const { json } = await refused(get(`/v1/customers?${query}`), 'invalid_request')
    expect(json.error.param).toEqual(expect.any(String))
    expect(json.error.param.length).toBeLessThan(100)
  })
})

describe('a method that a route does not take', () => {
  const others = [
    'PUT',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'LOCK',
    'SEARCH',
    'PURGE',
    'M-SEARCH',
    'LINK',
  ]
  test.each(others)('%s is refused, and the right ones are told', async (method) => {
    const reply = await refused(requestText(`${method} /v1/customers HTTP/1.1`, auth), 'method_not_allowed')
    expect(reply.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST'])
  })

  test.each(others)('%s asks for a key first', async (method) => {
    await refused(requestText(`${method} /v1/customers HTTP/1.1`, { Host: 'x' }), 'missing_authorization')
  })

  test('is never a 5xx, whatever comes with it', async () => {
    for (const method of [...others, 'QUERY', 'PATCH', 'POST']) {
      for (const more of [
        {},
        { 'Content-Length': '0' },
        { 'Content-Type': 'application/json', 'Content-Length': '1' },
      ])
        await refused(requestText(`${method} /v1/nothing HTTP/1.1`, { ...auth, ...more }, '{'))
    }
  })

  test('OPTIONS * is refused', () => refused(requestText('OPTIONS * HTTP/1.1', auth)))

  test('HEAD answers like GET, without a body', async () => {
    const wanted = { '/v1/customers': 200, '/v1/nothing': 404, '/v1/customers?limit=0': 400 }
    for (const [path, status] of Object.entries(wanted)) {
      const request = requestText(`HEAD ${path} HTTP/1.1`, { ...auth, Connection: 'close' })
      const reply = await ask(service.url, request, { head: true })
      expect(reply.status).toBe(status)
      checkReply('HEAD', path, { ...reply, json: status === 200 ? (await api.get(path)).json : undefined })
      // Whoever waits for the body that the length announces sees the connection end instead.
      const { replies, ended } = await converse(service.url, [request])
      expect([replies.length, ended]).toEqual([0, true])
    }
  })
})

describe('what a client may ask of the connection', () => {
  test('HTTP/1.0 is answered and closed', async () => {
    const { replies, ended } = await converse(
      service.url,
      [requestText('GET /v1/customers HTTP/1.0', { Authorization: auth.Authorization })],
      { replies: 2 },
    )
    expect([replies.length, replies[0]?.status, ended]).toEqual([1, 200, true])
  })

  test('Expect: 100-continue is told to go on, other expectations are ignored', async () => {
    const body = JSON.stringify({ name: 'Ana', document: someCpf() })
    const head = post({ 'Content-Length': String(body.length), Expect: '100-continue' })
    expect((await ask(service.url, [head, 100, body])).status).toBe(201)
    expect((await ask(service.url, get('/v1/customers', { Expect: 'tea' }))).status).toBe(200)
    await refused(get('/v1/nothing', { Expect: 'tea' }), 'route_not_found')
  })

  test('an upgrade is not taken up', async () => {
    for (const protocol of ['websocket', 'h2c', 'TLS/1.0']) {
      const reply = await ask(
        service.url,
        get('/v1/customers', {
          Connection: 'Upgrade',
          Upgrade: protocol,
          'Sec-WebSocket-Key': 'x',
          'Sec-WebSocket-Version': '13',
          'HTTP2-Settings': 'x',
        }),
      )
      expect(reply.status).toBe(200)
      checkReply('GET', '/v1/customers', reply)
    }
  })

  test('requests sent without waiting are answered in their order', async () => {
    const paths = Array.from({ length: 40 }, (_, i) =>
      i % 3 === 0 ? '/v1/usage' : i % 3 === 1 ? '/v1/nothing' : '/v1/customers',
    )
    const { replies } = await converse(service.url, [paths.map((path) => get(path)).join('')], {
      replies: 40,
    })
    for (const [i, reply] of replies.entries()) checkReply('GET', paths[i]!, reply)
    expect(replies.map(({ status }) => status)).toEqual(
      paths.map((path) => (path === '/v1/nothing' ? 404 : 200)),
    )
  })

  test('what is broken behind a good request never takes the place of its answer', async () => {
    const body = JSON.stringify({ customer_id, asset: 'BRL', amount: '1' })
    const deposit = requestText(
      'POST /v1/sandbox/deposits HTTP/1.1',
      { ...auth, 'Content-Type': 'application/json', 'Content-Length': String(body.length) },
      body,
    )
    for (const broken of [
      '\0',
      'nonsense\r\n\r\n',
      get('/v1/customers', { X: 'a'.repeat(20_000) }),
      chunked('zz\r\n'),
    ]) {
      const { replies, ended } = await converse(service.url, [deposit + deposit + broken], { replies: 4 })
      expect(replies.map(({ status }) => status)).toEqual([201, 201, expect.any(Number)])
      checkRefusal(replies[2]!)
      expect(ended).toBe(true)
    }
  })

  test('a client that has shut down its side still gets its answer', async () => {
    for (const request of [
      get('/v1/customers'),
      get('/v1/nothing'),
      get('/healthz'),
      post({ 'Content-Length': '2' }, '{}'),
    ]) {
      const reply = await ask(service.url, request, { half_close: true })
      expect(reply.status).toBeLessThan(500)
    }
    await refused(get('/v1/customers').slice(0, -2), 'invalid_request', { half_close: true })
    expect((await converse(service.url, [], { half_close: true })).ended).toBe(true)
  })

  test('a client that goes away in the midst of it does no harm', async () => {
    const heads = [
      get('/v1/customers'),
      get('/v1/customers').slice(0, 30),
      post({ 'Content-Length': '10' }, '{'),
      chunked('1\r\n{\r\n'),
      '\0',
      requestText('CONNECT x:1 HTTP/1.1', auth),
    ]
    for (const head of heads) {
      for (const wait_ms of [0, 5]) {
        const socket = await open()
        socket.write(head, 'latin1')
        await new Promise((done) => setTimeout(done, wait_ms))
        socket.resetAndDestroy()
      }
    }
    // Whoever leaves is no fault of the service: nothing of it may look like one to its operator.
    await expectIntact(service)
  })
})

test('a client that sends a byte per second is cut off after about 15 seconds, and nobody else waits for it', async () => {
  const slowly = (text: string) => [...text].flatMap((byte) => [byte, 1000])
  const slow: readonly (readonly Part[])[] = [
    [],
    slowly('GET /v1/customers HTTP/1.1\r\nHost: localhost\r\n'),
    [get('/v1/customers').slice(0, -2), ...slowly('X-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaa')],
    [post({ 'Content-Length': '1000' }), ...slowly('{"name":"aaaaaaaaaaaaaaaaaaaaaaaaaaaa')],
    [chunked(''), ...Array(20).fill(['1\r\n \r\n', 1000]).flat()],
    [get('/v1/customers'), 1000, ...slowly('GET /v1/customers HTTP/1.1\r\nHost')],
  ]
  const conversations = Promise.all(
    slow.map((parts) => converse(service.url, parts, { replies: 3, timeout_ms: 60_000 })),
  )
  const waits: number[] = []
  let done = false
  const health = (async () => {
    while (!done) {
      const asked = performance.now()
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
      waits.push(performance.now() - asked)
      await new Promise((next) => setTimeout(next, 50))
    }
  })()
  const ends: readonly Conversation[] = await conversations
  done = true
  await health
  for (const { replies, ended, seconds } of ends) {
    expect(ended).toBe(true)
    expect(seconds).toBeGreaterThan(9)
    expect(seconds).toBeLessThan(40)
    const last = replies.at(-1)!
    expect(last.status).toBe(408)
    checkRefusal(last, 'request_timeout')
    expect(last.headers.get('connection')).toBe('close')
  }
  expect(ends.map(({ replies }) => replies.length)).toEqual([1, 1, 1, 1, 1, 2])
  // Whoever had to wait for the slow ones would wait for ten seconds.
  expect(waits.length).toBeGreaterThan(20)
  expect(waits.sort((a, b) => a - b)[Math.floor(waits.length / 2)]).toBeLessThan(1000)
})

test('a client that never closes its side does not keep the server from stopping', async () => {
  const own = await startTestService()
  const sockets: Socket[] = []
  for (const bytes of [
    '\0',
    'CONNECT x:1 HTTP/1.1\r\n\r\n',
    requestText('GET /healthz HTTP/1.1', { Host: 'x' }),
  ]) {
    const socket = await open(own.url)
    socket.write(bytes)
    await once(socket, 'data')
    sockets.push(socket)
  }
  const started = performance.now()
  await own.stop()
  expect(performance.now() - started).toBeLessThan(20_000)
  for (const socket of sockets) socket.destroy()
})

test('afterwards the books are right', () => expectIntact(service))

async function open(url = service.url): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}
