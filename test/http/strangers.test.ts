import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { revokeKey } from '../../src/parties/keys/keys.ts'
import { checkReply, openApi, type Reply } from '../support/api.ts'
import { asAdmin, holdLock } from '../support/database.ts'
import { expectIntact } from '../support/intact.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { ask, converse, requestText } from '../support/sockets.ts'
import { roomInMinute, until } from '../support/wait.ts'

/** What somebody without a key can do to a node: be turned away, soon and cheaply. */
let service: TestService
let key: string
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: '127.0.0.1' })
  key = (await service.partner()).key
})
afterAll(() => service.stop())

const VISITS = 1200
const STRANGERS = 100
const nobody = `svc_test_sk_${'x'.repeat(43)}`

type Fields = Readonly<Record<string, string>>
const request = (line: string, fields: Fields = {}) =>
  requestText(`${line} HTTP/1.1`, { Host: 'localhost', ...fields })

const codes = (replies: readonly Reply[]) => {
  const counted: Record<string, number> = {}
  for (const { status, json } of replies) {
    const code = json?.error?.code ?? status
    counted[code] = (counted[code] ?? 0) + 1
  }
  return counted
}

/** Many requests on a few connections, each told apart by what it asks for. */
async function flood(count: number, text: (i: number) => string): Promise<Reply[]> {
  const AT_ONCE = 50
  const replies: Reply[] = []
  for (let i = 0; i < count; i += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - i)
    const texts = Array.from({ length: size }, (_, j) => text(i + j))
    const told = await converse(service.url, [texts.join('')], { replies: size, timeout_ms: 20_000 })
    replies.push(...told.replies)
  }
  return replies
}

describe('what no route takes is answered before its body', () => {
  test.each([
    ['POST /nothing', 'route_not_found'],
    ['POST /v1/nothing', 'route_not_found'],
    ['PUT /v1/customers', 'method_not_allowed'],
    ['POST /docs', 'route_not_found'],
  ])('%s', async (line, code) => {
    for (const announced of [
      { 'Content-Length': '60000' },
      { 'Content-Length': '9000000' },
      { 'Transfer-Encoding': 'chunked' },
    ] as const) {
      const fields = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...announced }
      const reply = await ask(service.url, request(line, fields as Fields))
      expect(reply.json.error.code).toBe(code)
      checkReply('ANY', '/v1', reply)
    }
  })

  test('and who goes on sending can still read the answer, of which nothing after it is carried out', async () => {
    const before = (await openApi(service.url, key).get('/v1/customers')).json.data.length
    const body = JSON.stringify({ name: 'Ana', document: '52998224725' })
    const late = request('POST /v1/customers', {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
    })
    const chunk = `1000\r\n${' '.repeat(0x1000)}\r\n`
    const { replies, ended } = await converse(
      service.url,
      [
        request('POST /nothing', { 'Transfer-Encoding': 'chunked' }),
        chunk,
        50,
        chunk,
        50,
        `0\r\n\r\n${late}${body}`,
      ],
      { replies: 2 },
    )
    expect([replies.length, replies[0]?.status, ended]).toEqual([1, 404, true])
    expect(replies[0]?.headers.get('connection')).toBe('close')
    expect((await openApi(service.url, key).get('/v1/customers')).json.data).toHaveLength(before)
  })
})

describe('outside /v1', () => {
  test('an address is refused beyond its window, for whatever it sends; health is never, and others are not', async () => {
    await roomInMinute(20)
    const paths = ['/nothing', '/docs/icon.svg', '/docs/style.css', '/docs/errors/nothing', '/v2/customers']
    const visits = await flood(VISITS, (i) =>
      request(`GET ${paths[i % 5]}`, { 'X-Forwarded-For': '127.0.0.1' }),
    )
    // All but those that the tests before this one have made from here.
    expect(visits.filter(({ status }) => status === 429).length).toBeLessThan(40)
    const here = { 'X-Forwarded-For': '127.0.0.1' }
    const refused = await ask(service.url, request('GET /docs', here))
    expect(refused.json.error).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { window: 'address', limit: VISITS, retry_after_seconds: expect.any(Number) },
    })
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
    checkReply('GET', '/docs', refused)
    const unframed = await ask(service.url, 'nonsense\r\n\r\n')
    expect(unframed.json.error.code).toBe('rate_limit_exceeded')
    checkReply('ANY', '/v1', unframed)
    for (const path of ['/healthz', '/readyz'])
      expect((await ask(service.url, request(`GET ${path}`, here))).status).toBe(200)
    expect((await ask(service.url, request('GET /docs', { 'X-Forwarded-For': '198.51.100.9' }))).status).toBe(
      200,
    )
    // What a key does is another matter.
    const keyed = request('GET /v1/usage', { ...here, Authorization: `Bearer ${key}` })
    expect((await ask(service.url, keyed)).status).toBe(200)
  })
})

describe('without a key that exists', () => {
  const guess = (address: string, value = nobody) =>
    request('GET /v1/customers', { 'X-Forwarded-For': address, Authorization: `Bearer ${value}` })

  test('an address past its window costs no question to the database, and a partner behind it is served', async () => {
    const address = '198.51.100.20'
    const partner = await service.partner()
    await roomInMinute(15)
    expect(codes(await flood(STRANGERS, () => guess(address)))).toEqual({ invalid_api_key: STRANGERS })
    const unlock = await holdLock(service.database.url, 'sandbox.api_key_values')
    try {
      expect(codes(await flood(20, () => guess(address)))).toEqual({ rate_limit_exceeded: 20 })
    } finally {
      await unlock()
    }
    // Its key was never seen before on this node.
    expect((await ask(service.url, guess(address, partner.key))).status).toBe(200)
    const { json } = await ask(service.url, guess(address))
    expect(json.error.details).toEqual({
      window: 'address',
      limit: STRANGERS,
      retry_after_seconds: expect.any(Number),
    })
  })

  test('past its window an address gets one answer per connection, unless others are behind it', async () => {
    const direct = await startTestService()
    try {
      await roomInMinute(15)
      const texts = Array.from({ length: 30 }, () => request('GET /v1/usage'))
      const pour = () => converse(direct.url, [texts.join('')], { replies: 30, timeout_ms: 20_000 })
      for (let poured = 0; poured < STRANGERS - 30; poured += 30)
        expect((await pour()).replies).toHaveLength(30)
      await pour()
      const { replies, ended } = await pour()
      expect([codes(replies), ended]).toEqual([{ rate_limit_exceeded: 1 }, true])
      expect(replies[0]!.headers.get('connection')).toBe('close')
    } finally {
      await direct.stop()
    }
  })

  test('a revoked key is told so until its address is past its window', async () => {
    const address = '198.51.100.21'
    const revoked = await service.partner()
    await revokeKey(service.worlds.sandbox, revoked.key_id)
    await roomInMinute(15)
    expect(codes(await flood(STRANGERS + 10, () => guess(address, revoked.key)))).toEqual({
      revoked_api_key: STRANGERS,
      rate_limit_exceeded: 10,
    })
  })

  test('all addresses of an IPv6 /64 are one, and no address leaves a row', async () => {
    await roomInMinute(15)
    const replies = await flood(STRANGERS + 20, (i) => guess(`2001:db8:1:2::${i.toString(16)}`))
    expect(codes(replies)).toEqual({ invalid_api_key: STRANGERS, rate_limit_exceeded: 20 })
    expect((await ask(service.url, guess('2001:db8:1:3::1'))).json.error.code).toBe('invalid_api_key')
    await until(async () => {
      const [row] = await asAdmin(service.database.url, [
        `SELECT count(*)::int AS keys FROM shared.windows WHERE subject LIKE 'key%'`,
      ])
      return Number(row?.keys) > 0
    }, 5000)
    const [row] = await asAdmin(service.database.url, [
      `SELECT count(*)::int AS rows FROM shared.windows WHERE subject NOT LIKE 'key%'`,
    ])
    expect(row?.rows).toBe(0)
  })
})

test('afterwards the books are right', () => expectIntact(service))
