import { setTimeout as sleep } from 'node:timers/promises'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, openApi, type Reply } from '../../../test/support/api.ts'
import { startNode } from '../../../test/support/node.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { eventually, until } from '../../../test/support/wait.ts'
import { errorDetails } from '../../http/error-details.ts'
import type { Service } from '../../node/serve.ts'
import { revokeKey } from '../../parties/keys/keys.ts'

/** Fewer connections than waiting callers. */
const POOL = '2'
const WAITS_PER_PARTNER = 20

let service: TestService
let other: Service
let long: Promise<Reply>
let stopped = false
beforeAll(async () => {
  service = await startTestService({ DATABASE_POOL: POOL })
  other = await startNode(service.database.url, { DATABASE_POOL: POOL })
  const { api } = await settledPartner()
  // Longer than any other request may take; the last test checks the response.
  long = api.get('/v1/events?wait=11')
})
afterAll(async () => {
  await other.stop()
  if (!stopped) await service.stop()
})

/** A partner whose first event, the creation of its key, is in the log. */
async function settledPartner(options: Parameters<TestService['partner']>[0] = {}) {
  const partner = await service.partner(options)
  await until(async () => (await partner.api.get('/v1/events')).json.data.length === 1, 5000)
  return partner
}
const sample = async (api: Api, kind = 'trade.completed') =>
  (await api.post(`/v1/sandbox/events/${kind}`)).json.id as string
const idsOf = ({ json }: Reply) => json.data.map(({ id }: any) => id)

/** Requests left today, after this one. */
const leftToday = async (api: Api): Promise<number> => (await api.get('/v1/usage')).json.day.remaining

type WaitingCall = Awaited<ReturnType<typeof waiting>>

/** A call that has not been answered for a moment. On a busy machine it may still be on its way. */
async function waiting(api: Api, query: string) {
  let answered = false
  const reply = api.get(`/v1/events?${query}`).finally(() => {
    answered = true
  })
  await sleep(150)
  expect(answered).toBe(false)
  return { reply, answered: () => answered }
}

/**
 * Makes events until every call is answered, because a call may begin to wait after the first of them. Each call gets those that come
 * then, in their order. Returns the last event.
 */
async function answerAll(calls: readonly WaitingCall[], make: () => Promise<string>): Promise<string> {
  const made: string[] = []
  do {
    made.push(await make())
    await Promise.race([Promise.all(calls.map(({ reply }) => reply)), sleep(1000)])
  } while (!calls.every(({ answered }) => answered()))
  for (const { reply } of calls) {
    const ids = idsOf(await reply)
    expect(ids).not.toEqual([])
    expect(made.join(' ')).toContain(ids.join(' '))
  }
  return made.at(-1)!
}

describe('a call that waits', () => {
  test('is answered as soon as there is an event, and continues from its cursor', async () => {
    const { api } = await settledPartner()
    const from = (await api.get('/v1/events?after=start')).json.next_cursor
    const { reply } = await waiting(api, `after=${from}&wait=30`)
    const made = await sample(api)
    const first = await reply
    expect(idsOf(first)).toEqual([made])
    const next = await waiting(api, `after=${first.json.next_cursor}&wait=30`)
    const second = await sample(api)
    expect(idsOf(await next.reply)).toEqual([second])
  })

  test('gets no event from after the revocation of its key', async () => {
    const { api, key_id, partner_id } = await settledPartner()
    const other = await service.partner({ partner_id })
    const { reply } = await waiting(api, 'type=trade.completed&wait=30')
    await revokeKey(service.worlds.sandbox, key_id)
    await sample(other.api)
    const { status, json } = await reply
    expect([status, json.error?.code]).toEqual([401, 'revoked_api_key'])
  })

  test('is answered at once if there is an event already', async () => {
    const { api } = await settledPartner()
    expect(idsOf(await api.get('/v1/events?after=start&wait=30'))).toHaveLength(1)
  })

  test('without after waits for new events, as after=now does', async () => {
    const { api } = await settledPartner()
    const calls = [await waiting(api, 'wait=30'), await waiting(api, 'after=now&wait=30')]
    const last = await answerAll(calls, () => sample(api))
    await until(async () => idsOf(await api.get('/v1/events?limit=1'))[0] === last, 10_000)
    const now = await api.get('/v1/events?after=now')
    expect(now.json).toEqual({ data: [], has_more: false, next_cursor: expect.any(String) })
    expect((await api.get('/v1/events?wait=0')).json).toEqual(now.json)
    const next = await sample(api)
    expect(idsOf(await api.get(`/v1/events?after=${now.json.next_cursor}&wait=30`))).toEqual([next])
  })

  test('ends with an empty page that has a cursor', async () => {
    const { api } = await settledPartner()
    const { status, json } = await api.get('/v1/events?wait=1')
    expect([status, json.data, json.has_more]).toEqual([200, [], false])
    const made = await sample(api)
    expect(idsOf(await api.get(`/v1/events?after=${json.next_cursor}&wait=30`))).toEqual([made])
  })

  test('is not answered with events that its filter excludes, nor with those of other partners', async () => {
    const [{ api }, stranger] = [await settledPartner(), await settledPartner()]
    const call = await waiting(api, 'wait=30&type=deposit.completed')
    await sample(stranger.api, 'deposit.completed')
    await sample(api, 'trade.completed')
    await sleep(500)
    expect(call.answered()).toBe(false)
    await answerAll([call], () => sample(api, 'deposit.completed'))
  })

  test('gets events of another node', async () => {
    const { api, key } = await settledPartner()
    const there = openApi(other.url, key)
    await answerAll([await waiting(api, 'wait=30')], () => sample(there))
  })

  test('includes events that follow at once', async () => {
    // On a busy machine the first event may come alone: then the others do not follow at once.
    await eventually(async () => {
      const { api } = await settledPartner()
      const from = (await api.get('/v1/events?after=start')).json.next_cursor
      const { reply } = await waiting(api, `after=${from}&wait=30&limit=100`)
      await Promise.all(Array.from({ length: 20 }, () => sample(api)))
      expect(idsOf(await reply).length).toBeGreaterThan(1)
    })
  })

  test('counts as one request', async () => {
    const { api } = await settledPartner({ limited: true })
    const before = await leftToday(api)
    await api.get('/v1/events?wait=1')
    expect(await leftToday(api)).toBe(before - 2)
  })

  test('takes a whole number of seconds up to 30', async () => {
    const { api } = await settledPartner()
    for (const wait of ['31', '-1', '1.5', 'x', '']) {
      const { json } = await api.get(`/v1/events?wait=${wait}`)
      expect(json.error).toMatchObject({ code: 'invalid_request', param: 'wait' })
    }
    const { next_cursor } = (await api.get('/v1/events?after=start')).json
    expect((await api.get(`/v1/events?wait=1&cursor=${next_cursor}`)).json.error.param).toBe('cursor')
  })
})

describe('many calls that wait', () => {
  /** Waiting calls that the client can abort. */
  /** Keeps this many calls waiting: one that is refused or answered is made again, until `leave`. */
  function waitAll(key: string, count: number) {
    const leaving = new AbortController()
    const { signal } = leaving
    const headers = { authorization: `Bearer ${key}` }
    const keepWaiting = async () => {
      while (!signal.aborted) {
        await fetch(`${service.url}/v1/events?wait=30`, { headers, signal }).then(
          (response) => response.arrayBuffer(),
          () => undefined,
        )
        await sleep(20)
      }
    }
    return { replies: Array.from({ length: count }, keepWaiting), leave: () => leaving.abort() }
  }

  test('hold no connection to the database: other calls go on, also of other partners', async () => {
    const [mine, others] = [await settledPartner(), await settledPartner()]
    const { replies, leave } = waitAll(mine.key, WAITS_PER_PARTNER)
    await sleep(150)
    for (const { api } of [mine, others])
      expect((await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).status).toBe(201)
    leave()
    await Promise.all(replies)
  })

  test('are limited per partner: one more is refused, consumes nothing, and does not affect other partners', async () => {
    const [{ api, key, partner_id }, others] = [await settledPartner(), await settledPartner()]
    const second_key = (await service.partner({ partner_id })).api
    await until(async () => (await api.get('/v1/events')).json.data.length === 2, 5000)
    const { replies, leave } = waitAll(key, WAITS_PER_PARTNER)
    let refused!: Reply
    await until(async () => {
      refused = await second_key.get('/v1/events?wait=1')
      // The question itself waited, and may have had the place of one of the calls.
      if (refused.status === 200) await sleep(200)
      return refused.status === 429
    }, 10_000)
    const before = await leftToday(second_key)
    refused = await second_key.get('/v1/events?wait=1')
    expect(refused.json.error).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { window: 'waits', limit: WAITS_PER_PARTNER, retry_after_seconds: 1 },
    })
    expect(Value.Check(errorDetails.rate_limit_exceeded!, refused.json.error.details)).toBe(true)
    expect(await leftToday(second_key)).toBe(before - 1)
    // Calls without a wait are not limited, and other partners have their own limit.
    expect((await api.get('/v1/events?wait=0')).status).toBe(200)
    expect((await others.api.get('/v1/events?wait=1')).status).toBe(200)

    // An aborted call frees its slot.
    leave()
    await Promise.all(replies)
    await until(async () => (await second_key.get('/v1/events?wait=1')).status === 200, 10_000)
  })
})

test('a wait may take longer than any other response', async () => {
  const { status, json } = await long
  expect([status, json.data]).toEqual([200, []])
})

test('a waiting call is answered at once when the node stops', async () => {
  const { api } = await settledPartner()
  const left = await leftToday(api)
  const { reply } = await waiting(api, 'wait=30')
  // The call has arrived once it is counted beside these questions.
  let questions = 0
  await until(async () => left - (await leftToday(api)) > ++questions, 20_000)
  stopped = true
  const stop = service.stop()
  const { status, json } = await reply
  expect([status, json.data]).toEqual([200, []])
  await stop
})
