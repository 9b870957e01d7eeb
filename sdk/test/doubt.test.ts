import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ApiError, ConnectionError, type LogEntry, Trilho, type TrilhoOptions } from '../dist/index.js'
import { waitBefore } from '../dist/send.js'

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
    expect(waitBefore(1, (await refusalOf(full.trilho.account.get())) as ApiError)).toBe(2 ** 31 - 1)
  })

  test('that are none are refused before anything is sent', async () => {
    const entries: LogEntry[] = []
    const { trilho, asked } = await open([[200, { id: 'acc_1' }]], { log: (entry) => entries.push(entry) })
    for (const timeout of [0, -5, Number.NaN])
      await expect(pay(trilho, { timeout })).rejects.toThrow('it takes milliseconds above 0')
    expect(asked).toEqual([])
  })
})
