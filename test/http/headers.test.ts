import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkReply, type Reply } from '../support/api.ts'
import { headerOf, headers } from '../support/corpora.ts'
import { expectIntact } from '../support/intact.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { ask, requestText } from '../support/sockets.ts'
import { roomInMinute } from '../support/wait.ts'

const ADDRESS_LIMIT = 100

type Fields = Readonly<Record<string, string | readonly string[]>>

/** Over a socket: a header as it stands, however a client would object to it. */
async function get(service: TestService, fields: Fields, path = '/v1/customers'): Promise<Reply> {
  const reply = await ask(service.url, requestText(`GET ${path} HTTP/1.1`, { Host: 'localhost', ...fields }))
  checkReply('GET', path, reply)
  return reply
}

const outcome = ({ status, json }: Reply): string => (status === 200 ? 'works' : json.error.code)

describe('behind a trusted proxy', () => {
  let service: TestService
  let key: string
  beforeAll(async () => {
    service = await startTestService({ TRUST_PROXY: '127.0.0.1' })
    key = (await service.partner()).key
  })
  afterAll(() => service.stop())

  let callers = 0
  /** An address that nobody has called from before. */
  const newAddress = () => {
    callers++
    return `198.51.${callers >> 8}.${callers & 255}`
  }

  describe('a key is taken as Authorization: Bearer <key>, and in no other way', () => {
    test.each(headers)('$name', async ({ value, code }) => {
      const sent = value === null ? undefined : [value].flat().map((each) => headerOf(each, key))
      const reply = await get(service, {
        'X-Forwarded-For': newAddress(),
        ...(sent ? { Authorization: sent } : {}),
      })
      expect(outcome(reply)).toBe(code ?? 'works')
      expect(reply.headers.get('x-ratelimit-limit')).toBe(code === null ? '10000000' : String(ADDRESS_LIMIT))
      expect(reply.headers.get('www-authenticate')).toBe(reply.status === 401 ? 'Bearer' : null)
      expect(reply.headers.get('x-ratelimit-reset')).toMatch(/^[0-9]{10}$/)
      if (code !== null && code !== 'invalid_request')
        expect(reply.headers.get('x-ratelimit-remaining')).toBe('99')
    })
  })

  test('a header that does not exist for HTTP is no Authorization', async () => {
    for (const name of ['X-Authorization', 'Proxy-Authorization', 'X-Api-Key', 'Cookie', 'Authorization-']) {
      const reply = await get(service, { 'X-Forwarded-For': newAddress(), [name]: `Bearer ${key}` })
      expect(outcome(reply)).toBe('missing_authorization')
    }
    for (const name of ['AUTHORIZATION', 'authorization', 'aUTHORIZATION'])
      expect(outcome(await get(service, { [name]: `Bearer ${key}` }))).toBe('works')
  })

  test('a key in the query, or in the path, opens nothing', async () => {
    for (const path of [
      `/v1/customers?api_key=${key}`,
      `/v1/customers?authorization=Bearer%20${key}`,
      `/v1/${key}`,
    ]) {
      const reply = await get(service, { 'X-Forwarded-For': newAddress() }, path)
      expect(outcome(reply)).toBe('missing_authorization')
      expect(reply.text).not.toContain(key)
    }
  })

  test('wrong keys from one address are stopped after 100 in a minute; the address next door and good keys are not', async () => {
    const guess = (address: string) =>
      get(service, { 'X-Forwarded-For': address, Authorization: 'Bearer svc_test_sk_guess' })
    const address = newAddress()
    const replies = await withinOneMinute(() => inTurns(130, 10, () => guess(address)))
    const count = (code: string) => replies.filter((reply) => outcome(reply) === code).length
    expect([count('invalid_api_key'), count('rate_limit_exceeded')]).toEqual([ADDRESS_LIMIT, 30])
    for (const reply of replies.filter(({ status }) => status === 429)) {
      expect(reply.headers.get('x-ratelimit-remaining')).toBe('0')
      expect(Number(reply.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    }
    expect(outcome(await guess(newAddress()))).toBe('invalid_api_key')
    expect(outcome(await get(service, { 'X-Forwarded-For': address, Authorization: `Bearer ${key}` }))).toBe(
      'works',
    )
  })

  describe('the caller is who the proxy says, not who the caller says', () => {
    let listed: string
    beforeAll(async () => {
      listed = (await service.partner({ ip_allowlist: ['203.0.113.7', '2001:db8::/32'] })).key
    })
    const long = `${'10.0.0.1, '.repeat(900)}203.0.113.7`
    const cases: readonly (readonly [Fields, string])[] = [
      [{ 'X-Forwarded-For': '203.0.113.7' }, 'works'],
      [{ 'X-Forwarded-For': ' 203.0.113.7 ' }, 'works'],
      [{ 'x-forwarded-for': '203.0.113.7' }, 'works'],
      [{ 'X-Forwarded-For': '203.0.113.7:4711' }, 'works'],
      [{ 'X-Forwarded-For': '::ffff:203.0.113.7' }, 'works'],
      [{ 'X-Forwarded-For': '[2001:db8::1]:443' }, 'works'],
      [{ 'X-Forwarded-For': '2001:DB8:0:0::1' }, 'works'],
      [{ 'X-Forwarded-For': '198.51.100.1, 203.0.113.7' }, 'works'],
      [{ 'X-Forwarded-For': '203.0.113.7, 127.0.0.1' }, 'works'],
      [{ 'X-Forwarded-For': ['198.51.100.1', '203.0.113.7'] }, 'works'],
      [{ 'X-Forwarded-For': long }, 'works'],
      [{}, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': '' }, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': '203.0.113.7, 198.51.100.1' }, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': ['203.0.113.7', '198.51.100.1'] }, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': '203.0.113.7, nonsense' }, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': '203.0.113.7,' }, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': '203.0.113.7 198.51.100.1' }, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': '203.0.113.07' }, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': '203.0.113.7/32' }, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': '3405803783' }, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': '203.0.113.7:99999' }, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': 'unknown' }, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': '\xff\xfe' }, 'ip_not_allowed'],
      [{ 'X-Forwarded-For': '2001:db9::1' }, 'ip_not_allowed'],
      [{ 'X-Real-IP': '203.0.113.7' }, 'ip_not_allowed'],
      [{ Forwarded: 'for=203.0.113.7' }, 'ip_not_allowed'],
      [
        { 'X-Client-IP': '203.0.113.7', 'CF-Connecting-IP': '203.0.113.7', 'True-Client-IP': '203.0.113.7' },
        'ip_not_allowed',
      ],
    ]
    test.each(
      cases.map(([fields, expected]) => ({ said: JSON.stringify(fields).slice(0, 80), fields, expected })),
    )('$said: $expected', async ({ fields, expected }) => {
      expect(outcome(await get(service, { ...fields, Authorization: `Bearer ${listed}` }))).toBe(expected)
    })
  })

  describe('a header that comes twice never confuses', () => {
    const twice: readonly Fields[] = [
      { 'X-Forwarded-For': Array.from({ length: 50 }, () => '198.51.100.1') },
      { Accept: ['application/json', 'text/html'] },
      { Connection: ['keep-alive', 'close'] },
      { Cookie: Array.from({ length: 100 }, (_, i) => `a${i}=b`) },
      { 'X-Request-Id': ['req_mine', 'req_yours'] },
      { 'User-Agent': ['a', 'b'] },
    ]
    test.each(twice.map((fields) => ({ name: Object.keys(fields)[0]!, fields })))(
      '$name',
      async ({ fields }) => {
        const reply = await get(service, { Authorization: `Bearer ${key}`, ...fields })
        expect(reply.status).toBe(200)
        expect(reply.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
      },
    )

    test.each(['Host', 'Content-Length', 'Content-Type', 'Authorization', 'Transfer-Encoding'])(
      '%s is refused, whatever it says and whatever is asked for',
      async (name) => {
        const values = {
          Host: ['localhost', 'evil.example'],
          'Content-Length': ['0', '0'],
          'Content-Type': ['application/json', 'application/json'],
          Authorization: [`Bearer ${key}`, `Bearer ${key}`],
          'Transfer-Encoding': ['chunked', 'identity'],
        }
        for (const path of ['/v1/customers', '/v1/nothing', '/healthz', '/nothing']) {
          const fields = { Authorization: `Bearer ${key}`, [name]: values[name as keyof typeof values] }
          const reply = await get(service, fields, path)
          expect([reply.status, reply.json.error.code]).toEqual([400, 'invalid_request'])
          expect(reply.text).not.toContain('evil.example')
        }
      },
    )
  })

  test('afterwards the books are right', () => expectIntact(service))
})

describe('without a trusted proxy', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service.stop())

  test('X-Forwarded-For changes nothing: all callers share the window of their connection’s address', async () => {
    let i = 0
    const replies = await withinOneMinute(() =>
      inTurns(5, 1, () => get(service, { 'X-Forwarded-For': `198.51.100.${++i}` })),
    )
    const left = replies.map((reply) => Number(reply.headers.get('x-ratelimit-remaining')))
    expect(left.map((remaining) => left[0]! - remaining)).toEqual([0, 1, 2, 3, 4])
  })

  test('X-Forwarded-For opens no allowlist, and closes none', async () => {
    const elsewhere = await service.partner({ ip_allowlist: ['203.0.113.7'] })
    const here = await service.partner({ ip_allowlist: ['127.0.0.1'] })
    for (const said of ['203.0.113.7', '127.0.0.1', '127.0.0.1, 203.0.113.7', 'nonsense', '']) {
      const fields = { 'X-Forwarded-For': said, 'X-Real-IP': said, Forwarded: `for=${said}` }
      expect(outcome(await get(service, { ...fields, Authorization: `Bearer ${elsewhere.key}` }))).toBe(
        'ip_not_allowed',
      )
      expect(outcome(await get(service, { ...fields, Authorization: `Bearer ${here.key}` }))).toBe('works')
    }
  })

  test('afterwards the books are right', () => expectIntact(service))
})

async function inTurns(count: number, at_once: number, call: () => Promise<Reply>): Promise<Reply[]> {
  const replies: Reply[] = []
  while (replies.length < count) {
    const size = Math.min(at_once, count - replies.length)
    replies.push(...(await Promise.all(Array.from({ length: size }, call))))
  }
  return replies
}

/** Windows are fixed minutes: when this one is about to end, it is waited for. */
async function withinOneMinute(calls: () => Promise<Reply[]>): Promise<Reply[]> {
  await roomInMinute(5)
  return calls()
}

test('a Content-Type of any length costs the server about as much as a short one', async () => {
  const service = await startTestService()
  try {
    const { key } = await service.partner()
    const cpu = async (type: string) => {
      const before = process.cpuUsage()
      for (let i = 0; i < 5; i++) {
        const fields = { Host: 'localhost', Authorization: `Bearer ${key}`, 'Content-Type': type }
        const text = requestText('POST /v1/customers HTTP/1.1', { ...fields, 'Content-Length': '2' })
        const reply = await ask(service.url, `${text}{}`)
        expect(reply.status).toBe(415)
      }
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    await cpu('text/plain')
    // The server is this process: 200 ms for each hostile header would be ten times all the rest.
    expect(await cpu(`application/json${' '.repeat(15_000)}; a=b`)).toBeLessThan(
      10 * (await cpu('text/plain')) + 200_000,
    )
  } finally {
    await service.stop()
  }
})
