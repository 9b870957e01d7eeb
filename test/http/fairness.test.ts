import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, openApi, type Reply } from '../support/api.ts'
import { asAdmin, holdLock } from '../support/database.ts'
import { inParallel } from '../support/parallel.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { converse, requestText } from '../support/sockets.ts'
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
    // So long the calls of a partner are under way together, also where a busy machine takes a while to begin them.
    PIX_WAIT_MS: '8000',
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

/** So many calls at any moment, again and again, until told to stop. */
function keepCalling(at_once: number, call: () => Promise<Reply>) {
  const took_ms: number[] = []
  let stopped = false
  const done = Promise.all(
    Array.from({ length: at_once }, async () => {
      while (!stopped) took_ms.push((await timed(call)).ms)
    }),
  )
  return {
    took_ms,
    stop() {
      stopped = true
      return done
    },
  }
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const started = performance.now()
  return { result: await work(), ms: performance.now() - started }
}

describe('one partner’s lists that hang', () => {
  test('keep nobody else from being known, from reading and from paying', async () => {
    const unlock = await holdLock(service.database.url, 'sandbox.quotes')
    const lists = keepCalling(IN_FLIGHT - 1, () => greedy.get('/v1/quotes'))
    const calls: Awaited<ReturnType<typeof timed<Reply>>>[] = []
    try {
      await until(() => lists.took_ms.length > 0, 10_000)
      // Its key was never seen before.
      const stranger = (await service.partner()).api
      calls.push(await timed(() => stranger.get('/v1/usage')))
      calls.push(await timed(() => other.get('/v1/customers')))
      calls.push(await timed(() => pay(other, customer_id)))
      // Nor that partner’s own payouts.
      calls.push(await timed(() => pay(greedy, greedy_customer_id)))
    } finally {
      // Before the lock is gone: what is asked afterwards hangs no longer.
      const stopped = lists.stop()
      await unlock()
      await stopped
    }
    expect(calls.map(({ result }) => result.status)).toEqual([200, 200, 201, 201])
    const usual = lists.took_ms.sort((a, b) => a - b)[Math.floor(lists.took_ms.length / 2)]!
    for (const { ms } of calls) expect(ms).toBeLessThan(usual)
  })
})

test('guesses from everywhere use one connection to the database, whatever it takes to answer them', async () => {
  const unlock = await holdLock(service.database.url, 'sandbox.api_key_values')
  const guesses = together(30, () => {
    const address = newAddress()
    const value = address.replaceAll('.', '').padStart(43, 'x')
    const headers = { authorization: `Bearer svc_test_sk_${value}`, 'x-forwarded-for': address }
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
    let crowd = await fillPlaces()
    // Where a busy machine stopped until the payouts were answered, the places were free again.
    while (!crowd.refused) crowd = await fillPlaces()
    const { refused, slow, usage } = crowd
    expect(refused.json.error).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { limit: IN_FLIGHT, retry_after_seconds: 1 },
    })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await pay(other, customer_id)).json.status).toBe('completed')
    await slow.done
    expect(slow.replies.filter(({ status }) => status === 201)).toHaveLength(IN_FLIGHT)
    const { minute } = (await usage()).json
    const left = Number(refused.headers.get('x-ratelimit-remaining'))
    expect(minute.limit - minute.used).toBe(left - 1)
  }, 400_000)

  /** Payouts of a new partner in all of its places, and what its other key is told beside them: it has no place either. */
  async function fillPlaces() {
    const { api, partner_id } = await service.partner({ limited: true })
    const customer = await newCustomer(api)
    const more = await service.partner({ partner_id, limited: true })
    const usage = () => more.api.get('/v1/usage')
    await roomInMinute(25)
    const slow = together(IN_FLIGHT, () => pay(api, customer, 'slow@sandbox.test'))
    expect((await other.get('/v1/usage')).status).toBe(200)
    let refused: Reply | undefined
    await until(async () => {
      const reply = await usage()
      if (reply.status === 429) refused = reply
      return refused !== undefined || slow.replies.length === IN_FLIGHT
    }, 5000)
    return { refused, slow, usage }
  }

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
    await until(() => allAnswered(api), 5000)
  })

  test('whose callers went away before their key was known leave their places', async () => {
    const { api, key } = await service.partner()
    const announced = { Host: 'a', Authorization: `Bearer ${key}`, 'Content-Length': '100' }
    const unlock = await holdLock(service.database.url, 'sandbox.api_key_values')
    try {
      await Promise.all(
        ['POST /v1/customers', 'GET /v1/events?wait=30'].map((line) =>
          inParallel(Array.from({ length: 2 * IN_FLIGHT }), 2 * IN_FLIGHT, () =>
            converse(service.url, [requestText(`${line} HTTP/1.1`, announced, '{')], { timeout_ms: 200 }),
          ),
        ),
      )
    } finally {
      await unlock()
    }
    await until(() => allAnswered(api), 10_000)
    await until(async () => (await api.get('/v1/events?wait=1')).status === 200, 10_000)
  })

  const allAnswered = async (api: Api) => {
    const { replies, done } = together(IN_FLIGHT, () => api.get('/v1/usage'))
    await done
    return replies.every(({ status }) => status === 200)
  }
})
