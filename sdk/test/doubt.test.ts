import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ApiError, ConnectionError, type LogEntry, Trilho, type TrilhoOptions } from '../dist/index.js'
import { retryDelay } from '../dist/send.js'

/** What is told of a call when nobody answers, or something that is not Trilho. */
type Reply = 'cut' | 'silence' | readonly [status: number, body?: unknown, headers?: Record<string, string>]

const html = '<html>'
const own = (code: string) => ({
  error: { type: 'api_error', code, message: 'No.', doc_url: 'http://a.b', request_id: 'req_1' },
})

/** A server that gives these replies in turn, and from then on the last. */
async function open(
  replies: readonly Reply[],
  options: TrilhoOptions = {},
): Promise<{ trilho: Trilho; asked: (string | undefined)[] }> {
  const left = [...replies]
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    request.resume()
    asked.push(request.headers.authorization)
    const reply = left.length > 1 ? left.shift()! : left[0]!
    if (reply === 'cut') return void request.socket.destroy()
    if (reply === 'silence') return
    const [status, body = html, headers = {}] = reply
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { trilho: new Trilho({ key: 'svc_test_sk_1', baseUrl, ...options }), asked }
}

const pay = (trilho: Trilho, options = {}) =>
  trilho.pix.payouts.create(
    {
      customer_id: 'cus_1',
      amount: 1n,
      counterparty: { type: 'pix_key', pix_key: '529.982.247-25' },
      idempotency_key: 'job',
    },
    options,
  )
const refusalOf = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => expect.unreachable('it went through'),
    (error) => error,
  )
/** By chance shorter: here always. */
const atOnce = () => vi.spyOn(Math, 'random').mockReturnValue(0)
afterEach(() => void vi.restoreAllMocks())

describe('an answer that is not Trilho’s', () => {
  test.each<Reply>([
    [400],
    [404],
    [409],
    [422],
    [429],
    [499],
    [302, '', { location: 'https://elsewhere.example.com' }],
    [403, { message: 'Forbidden' }],
    [409, { error: 'conflict' }],
    [422, { error: { code: 'insufficient_balance', message: 'of another API' } }],
    [400, null],
  ])('settles nothing: %j', async (...reply) => {
    const { trilho } = await open([reply as unknown as Reply], { maxRetries: 0 })
    const error = await refusalOf(pay(trilho))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ code: 'unexpected_response', outcome: 'unknown' })
    expect(await refusalOf(trilho.account.get())).toMatchObject({ outcome: 'none' })
  })

  test.each([409, 422])('settles nothing that was in doubt before: %i', async (status) => {
    atOnce()
    const { trilho, asked } = await open(['cut', [status]])
    expect(await refusalOf(pay(trilho))).toMatchObject({ status, outcome: 'unknown' })
    expect(asked).toHaveLength(2)
  })

  test('a call that must not happen twice is not sent again for it', async () => {
    const { trilho, asked } = await open([[429]])
    expect(await refusalOf(trilho.customers.create({ name: 'Rui', document: '1' }))).toMatchObject({
      outcome: 'unknown',
    })
    expect(asked).toHaveLength(1)
  })

  test.each(['{}', '{"status":"ok"}', '[]', 'null', '"ok"', '{"data":[]}'])(
    'is no payout, though it is JSON and a 200: %s',
    async (body) => {
      const { trilho } = await open([[200, body]])
      expect(await refusalOf(pay(trilho))).toMatchObject({
        status: 200,
        code: 'unexpected_response',
        outcome: 'unknown',
      })
    },
  )

  test('is no list, nothing that was deleted, and no answer to a request by hand', async () => {
    const { trilho } = await open([[200, { data: 'ok' }]])
    const wrong = { code: 'unexpected_response', status: 200 }
    expect(await refusalOf(trilho.events.list())).toMatchObject(wrong)
    expect(await refusalOf(trilho.webhookEndpoints.delete('we_1'))).toMatchObject(wrong)
    const text = await open([[200, '"ok"']])
    expect(await refusalOf(text.trilho.request('GET', '/v1/new'))).toMatchObject(wrong)
    const nothing = await open([[204, '']])
    await nothing.trilho.webhookEndpoints.delete('we_1')
    await nothing.trilho.request('POST', '/v1/new')
    expect(await refusalOf(pay(nothing.trilho))).toMatchObject({ status: 204, outcome: 'unknown' })
  })

  test.each([500, 507, 520, 521, 599])('%i: what may be repeated is', async (status) => {
    atOnce()
    const { trilho, asked } = await open([[status], [201, { id: 'po_1' }]])
    expect((await pay(trilho)).id).toBe('po_1')
    expect(asked).toHaveLength(2)
  })

  test('ends a stream that never had one of Trilho’s: the address is wrong', async () => {
    const { trilho } = await open([[404]])
    expect(await refusalOf(trilho.events.stream().next())).toMatchObject({
      code: 'unexpected_response',
      message: expect.stringContaining('Is baseUrl right'),
    })
  })

  test('ends no stream that had', async () => {
    atOnce()
    const next_cursor = 'c'
    const { trilho } = await open([
      [200, { data: [], has_more: false, next_cursor }],
      [521],
      [200],
      [403],
      [302],
      [200, { status: 'ok' }],
      [200, { data: [{ id: 'evt_1', type: 'trade.completed' }], has_more: false, next_cursor }],
    ])
    for await (const { id } of trilho.events.stream()) {
      expect(id).toBe('evt_1')
      break
    }
  })
})

describe('after an attempt that may have been heard', () => {
  const after = async (status: number, code: string) => {
    atOnce()
    return (await open(['cut', [status, own(code)]])).trilho
  }

  test.each([
    [422, 'insufficient_balance', 'none'],
    [422, 'of_a_later_version', 'none'],
    [409, 'idempotency_conflict', 'none'],
    [409, 'of_a_later_version', 'unknown'],
    [403, 'customer_blocked', 'unknown'],
    [400, 'invalid_request', 'unknown'],
  ])('under an idempotency key, %i %s: %s', async (status, code, outcome) => {
    expect(await refusalOf(pay(await after(status, code)))).toMatchObject({ status, code, outcome })
  })

  // It claims no key: the first may still be on its way, and find what the second did not.
  test.each([
    [422, 'insufficient_balance', 'unknown'],
    [409, 'of_a_later_version', 'unknown'],
    [409, 'quote_expired', 'none'],
  ])('of a quote, %i %s: %s', async (status, code, outcome) => {
    const trilho = await after(status, code)
    expect(await refusalOf(trilho.quotes.execute('qt_1'))).toMatchObject({ status, code, outcome })
  })
})

describe('a key that is asked for', () => {
  test('is one for all attempts of a call: under another one it would be paid again', async () => {
    atOnce()
    const keys = ['svc_test_sk_old', 'svc_test_sk_new', 'svc_test_sk_newer']
    const { trilho, asked } = await open(['cut', [201, { id: 'po_1' }]], { key: () => keys.shift()! })
    await pay(trilho)
    await pay(trilho)
    expect(asked).toEqual(['old', 'old', 'new'].map((end) => `Bearer svc_test_sk_${end}`))
  })
})

describe('whoever leaves', () => {
  const reason = new Error('enough')
  /** Left as soon as the server has it. */
  async function leave(
    call: (trilho: Trilho, signal: AbortSignal) => PromiseLike<unknown>,
  ): Promise<unknown> {
    const { trilho, asked } = await open(['silence'])
    const leaving = new AbortController()
    const refused = refusalOf(call(trilho, leaving.signal))
    await vi.waitUntil(() => asked.length > 0)
    leaving.abort(reason)
    return refused
  }

  test('hears that it may have happened, when it was sent', async () => {
    const error = await leave((trilho, signal) => pay(trilho, { signal }))
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error).toMatchObject({ outcome: 'unknown', cause: reason })
    expect((error as Error).message).toBe(
      'POST /v1/pix/payouts: enough. It may have happened: send it again with the same idempotency_key, which is safe.',
    )
  })

  test('hears it also between two attempts', async () => {
    const leaving = new AbortController()
    const { trilho, asked } = await open([[503, html, { 'retry-after': '60' }]], {
      log: () => leaving.abort(reason),
    })
    expect(await refusalOf(pay(trilho, { signal: leaving.signal }))).toMatchObject({
      outcome: 'unknown',
      cause: reason,
    })
    expect(asked).toHaveLength(1)
  })

  test('gets the reason alone where nothing can have happened', async () => {
    expect(await leave((trilho, signal) => trilho.account.get({ signal }))).toBe(reason)
    const { trilho, asked } = await open(['silence'])
    expect(await refusalOf(pay(trilho, { signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(asked).toEqual([])
    const leaving = new AbortController()
    const full = await open([[429, own('rate_limit_exceeded'), { 'retry-after': '60' }]], {
      log: () => leaving.abort(reason),
    })
    expect(await refusalOf(pay(full.trilho, { signal: leaving.signal }))).toBe(reason)
  })
})

describe('times', () => {
  test('longer than a timer can be are as long as it can', async () => {
    const { trilho } = await open([[200, { id: 'acc_1' }]], {
      timeout: Number.POSITIVE_INFINITY,
      maxRetries: 0,
    })
    for (const timeout of [Number.POSITIVE_INFINITY, 2 ** 31])
      expect((await trilho.account.get({ timeout })).id).toBe('acc_1')
    const full = await open([[429, own('rate_limit_exceeded'), { 'retry-after': '99999999' }]])
    expect(retryDelay(1, (await refusalOf(full.trilho.account.get())) as ApiError)).toBe(2 ** 31 - 1)
  })

  test('that are none are refused before anything is sent', async () => {
    const entries: LogEntry[] = []
    const { trilho, asked } = await open([[200, { id: 'acc_1' }]], { log: (entry) => entries.push(entry) })
    for (const timeout of [0, -5, Number.NaN])
      await expect(pay(trilho, { timeout })).rejects.toThrow('it takes milliseconds above 0')
    expect(asked).toEqual([])
  })
})
