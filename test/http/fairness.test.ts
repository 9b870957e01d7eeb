import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, openApi, type Reply } from '../support/api.ts'
import { asAdmin, holdLock } from '../support/database.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { roomInMinute, until } from '../support/wait.ts'

/** What one partner can do to another: nothing. */
const IN_FLIGHT = 40
let service: TestService
let greedy: Api
let other: Api
let nobody: Api
let customer_id: string
let greedy_customer_id: string
beforeAll(async () => {
  service = await startTestService({
    REQUESTS_IN_FLIGHT: String(IN_FLIGHT),
    PIX_WAIT_MS: '3000',
    TRUST_PROXY: '127.0.0.1',
  })
  nobody = openApi(service.url, undefined)
  greedy = (await service.partner()).api
  other = (await service.partner()).api
  customer_id = await newCustomer(other)
  greedy_customer_id = await newCustomer(greedy)
})
afterAll(() => service.stop())

async function newCustomer(api: Api): Promise<string> {
  const { json } = await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })
  await api.post('/v1/sandbox/deposits', { customer_id: json.id, asset: 'BRL', amount: '1000000' })
  return json.id
}

let addresses = 0
const newAddress = () => `203.0.113.${++addresses}`

let keys = 0
const pay = (api: Api, customer: string, pix_key = 'ana@sandbox.test') =>
  api.post('/v1/pix/payouts', {
    customer_id: customer,
    amount: '100',
    counterparty: { type: 'pix_key', pix_key },
    idempotency_key: `fair ${++keys}`,
  })

/** Calls that are answered some time. */
function together(count: number, call: () => Promise<Reply>) {
  const replies: Reply[] = []
  const done = Promise.all(
    Array.from({ length: count }, async () => {
      replies.push(await call())
    }),
  )
  return { replies, done }
}

describe('one partner’s lists that hang', () => {
  test('keep nobody else from being known, from reading and from paying', async () => {
    // Whose key it is must be asked anew.
    const unlock = await holdLock(service.database.url, 'sandbox.quotes')
    const lists = together(IN_FLIGHT, () => greedy.get('/v1/quotes'))
    try {
      await until(() => lists.replies.length > 0, 5000)
      const stranger = (await service.partner()).api
      expect((await stranger.get('/v1/usage')).status).toBe(200)
      expect((await pay(other, customer_id)).json.status).toBe('completed')
      expect((await other.get('/v1/customers')).status).toBe(200)
      // Nor that partner’s own payouts.
      expect((await pay(greedy, greedy_customer_id)).json.status).toBe('completed')
      expect(lists.replies.length).toBeLessThan(IN_FLIGHT)
    } finally {
      await unlock()
    }
    await lists.done
  })
})

test('guesses from everywhere use one connection to the database, whatever it takes to answer them', async () => {
  const unlock = await holdLock(service.database.url, 'sandbox.api_key_values')
  const guesses = together(30, () => {
    const headers = { authorization: `Bearer svc_test_sk_${'x'.repeat(43)}`, 'x-forwarded-for': newAddress() }
    return nobody.send('GET', '/v1/customers', { headers })
  })
  const waiting = async () => {
    const [row] = await asAdmin(service.database.url, [
      `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database()
         AND wait_event_type = 'Lock' AND query LIKE '%api_key_values v JOIN api_keys k%WHERE v.hash%'`,
    ])
    return Number(row?.waiting)
  }
  let most = 0
  try {
    await until(async () => {
      most = Math.max(most, await waiting())
      return guesses.replies.length > 3
    }, 20_000)
  } finally {
    await unlock()
  }
  expect(most).toBe(1)
  await guesses.done
  for (const { json } of guesses.replies)
    expect(['invalid_api_key', 'service_unavailable']).toContain(json.error.code)
})

describe('requests of one partner that are under way', () => {
  test('are so many at most; the next waits a moment, then is refused and counts nowhere', async () => {
    const { api, partner_id } = await service.partner({ limited: true })
    const customer = await newCustomer(api)
    const more = await service.partner({ partner_id, limited: true })
    await roomInMinute(20)
    const slow = together(IN_FLIGHT, () => pay(api, customer, 'slow@sandbox.test'))
    const before = (await other.get('/v1/usage')).status
    expect(before).toBe(200)
    let refused: Reply | undefined
    // The other key of the same partner has no place either.
    await until(async () => {
      const reply = await more.api.get('/v1/usage')
      if (reply.status === 429) refused = reply
      return refused !== undefined
    }, 5000)
    expect(refused!.json.error).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { limit: IN_FLIGHT, retry_after_seconds: 1 },
    })
    expect(refused!.headers.get('retry-after')).toBe('1')
    expect((await pay(other, customer_id)).json.status).toBe('completed')
    await slow.done
    expect(slow.replies.filter(({ status }) => status === 201)).toHaveLength(IN_FLIGHT)
    const { minute } = (await more.api.get('/v1/usage')).json
    const left = Number(refused!.headers.get('x-ratelimit-remaining'))
    expect(minute.limit - minute.used).toBe(left - 1)
  })

  test('that gave up, or were refused for their body, leave their places', async () => {
    const { api, key } = await service.partner()
    const headers = { authorization: `Bearer ${key}` }
    for (let i = 0; i < 3; i++) {
      await together(IN_FLIGHT / 2, () => api.post('/v1/customers', { wrong: true })).done
      await together(IN_FLIGHT / 2, () => api.get('/v1/nothing')).done
    }
    await Promise.all(
      Array.from({ length: 2 * IN_FLIGHT }, async () => {
        const leaving = new AbortController()
        const call = fetch(`${service.url}/v1/events`, { headers, signal: leaving.signal }).catch(() => {})
        setTimeout(() => leaving.abort(), Math.random() * 10)
        await call
      }),
    )
    await until(async () => {
      const replies = together(IN_FLIGHT, () => api.get('/v1/usage'))
      await replies.done
      return replies.replies.every(({ status }) => status === 200)
    }, 5000)
  })
})
