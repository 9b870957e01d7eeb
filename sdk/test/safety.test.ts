import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ApiError, type LogEntry, Trilho } from '../dist/index.js'
import { isOnUsersDevice } from '../dist/runtime.js'

const live = 'svc_live_sk_0123456789'
const key = 'svc_test_sk_0123456789'

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

afterEach(() => vi.unstubAllGlobals())

describe('where a key may be', () => {
  test('not in a browser, its workers or an app', () => {
    vi.stubGlobal('document', {})
    expect(() => new Trilho({ key })).toThrow(/runs on servers only/)
    const agent = (userAgent: string) => isOnUsersDevice({ navigator: { userAgent } })
    expect(agent('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36')).toBe(true)
    expect(isOnUsersDevice({ navigator: { product: 'ReactNative' } })).toBe(true)
    for (const server of ['Node.js/24', 'Bun/1.4.4', 'Deno/2.9.6', 'Cloudflare-Workers'])
      expect(agent(server)).toBe(false)
    expect(isOnUsersDevice({})).toBe(false)
  })

  test('a live key goes over http to this machine only', async () => {
    for (const baseUrl of [
      'http://pay.example.com',
      'http://127.0.0.1.example.com',
      'http://10.0.0.1',
      'http://[::2]',
    ]) {
      expect(() => new Trilho({ key: live, baseUrl })).toThrow(/over https only/)
      expect(() => new Trilho({ key: ` ${live}\n`, baseUrl })).toThrow(/over https only/)
      const later = new Trilho({ key: () => live, baseUrl })
      await expect(later.usage.get()).rejects.toThrow(/over https only/)
      expect(() => new Trilho({ key, baseUrl })).not.toThrow()
    }
    for (const baseUrl of [
      'http://127.0.0.1:8080',
      'http://127.9.9.9',
      'http://localhost:1',
      'http://[::1]:1',
      'https://a.b',
    ])
      expect(() => new Trilho({ key: live, baseUrl })).not.toThrow()
  })
})

describe('what it is made with', () => {
  test('says what is missing or wrong, and never shows a key', () => {
    vi.stubEnv('TRILHO_KEY', '')
    expect(() => new Trilho()).toThrow('There is no API key: pass `key`, or set TRILHO_KEY.')
    const broken = `${key}\nX-Evil: 1`
    expect(() => new Trilho({ key: broken })).toThrow(/^`key` is not an API key: it looks like svc_live_sk_…/)
    for (const baseUrl of ['pay.example.com', 'ftp://a.b', 'https://user:pass@a.b', 'https://a.b?x=1'])
      expect(() => new Trilho({ key, baseUrl })).toThrow(/is not the address of a server/)
    for (const baseUrl of [
      'https://:s3cret@a.b',
      'https://s3cret@a.b',
      'https://u:s3/cret@a.b',
      'u:s3cret@a.b',
    ])
      expect(() => new Trilho({ key, baseUrl })).toThrow(/^'(https:\/\/)?…@a\.b' is not the address/)
    for (const timeout of [0, -1, Number.NaN])
      expect(() => new Trilho({ key, timeout })).toThrow(`\`timeout\` is ${timeout}: it takes milliseconds`)
    vi.unstubAllEnvs()
  })

  test('an option that is given and not set is a mistake, and no other takes its place', () => {
    vi.stubEnv('TRILHO_KEY', live)
    vi.stubEnv('TRILHO_URL', 'https://pay.example.com')
    for (const unset of [undefined, '']) {
      expect(() => new Trilho({ key: unset })).toThrow(
        '`key` is given and not set: leave it out to use TRILHO_KEY.',
      )
      expect(() => new Trilho({ key, baseUrl: unset })).toThrow('`baseUrl` is given and not set')
    }
    expect(() => new Trilho({ timeout: undefined })).not.toThrow()
    vi.unstubAllEnvs()
  })

  test('takes key and address from the environment, and a key with its line break', async () => {
    const seen: { url: string | undefined; agent: string | undefined; key: string | undefined }[] = []
    const url = await serve(({ url, headers }, response) => {
      seen.push({ url, agent: headers['user-agent'], key: headers.authorization })
      response.end('{"minute":{}}')
    })
    vi.stubEnv('TRILHO_KEY', `${key}\n`)
    vi.stubEnv('TRILHO_URL', `${url}/trilho/`)
    // As PDF.js does where there is no navigator.
    vi.stubGlobal('navigator', { userAgent: '' })
    await new Trilho({ userAgent: 'shop/1.0' }).usage.get({
      headers: { 'X-Trace': '1', Authorization: 'Bearer other' },
    })
    vi.unstubAllEnvs()
    vi.unstubAllGlobals()
    expect(seen).toEqual([
      {
        url: '/trilho/v1/usage',
        agent: expect.stringMatching(/^shop\/1\.0 trilho-sdk\/[\d.]+ Node\.js\//),
        key: `Bearer ${key}`,
      },
    ])
  })
})

describe('where a request goes', () => {
  test('never to where a redirect leads', async () => {
    let led = 0
    const elsewhere = await serve((_, response) => {
      led++
      response.end('{}')
    })
    const moved = await serve((_, response) =>
      response.writeHead(307, { location: `${elsewhere}/v1/usage` }).end(),
    )
    const error = await new Trilho({ key, baseUrl: moved }).usage.get().catch((error: unknown) => error)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      status: 307,
      code: 'unexpected_response',
      message: expect.stringContaining('set baseUrl'),
    })
    expect(led).toBe(0)
  })

  test('never to another path than the method’s', () => {
    const trilho = new Trilho({ key })
    for (const id of ['', '.', '..', undefined, null, 5])
      expect(() => trilho.customers.get(id as string), String(id)).toThrow(
        /customers\.get needs customer_id as text/,
      )
    expect(() => trilho.request('GET', '@evil.example.com')).toThrow(/is not a path/)
  })

  test('with ids and queries escaped', async () => {
    const urls: (string | undefined)[] = []
    const baseUrl = await serve(({ url }, response) => {
      urls.push(url)
      response.end('{"type":"cpf","data":[],"has_more":false,"next_cursor":null}')
    })
    const trilho = new Trilho({ key, baseUrl })
    await trilho.pix.keys.get('a/../b?c#d@e', { customer_id: undefined })
    await trilho.pix.payouts.list({ idempotency_key: 'a&b=c d', limit: 5 })
    await trilho.request('GET', '/v1/new', { query: { at: 1n } })
    expect(urls).toEqual([
      '/v1/pix/keys/a%2F..%2Fb%3Fc%23d%40e',
      '/v1/pix/payouts?idempotency_key=a%26b%3Dc+d&limit=5',
      '/v1/new?at=1',
    ])
  })

  test('a page of another server is no answer', async () => {
    const baseUrl = await serve((_, response) => response.end('<html>Welcome</html>'))
    const error = await new Trilho({ key, baseUrl }).quotes
      .create({} as never)
      .catch((error: unknown) => error)
    expect(error).toMatchObject({ status: 200, code: 'unexpected_response', outcome: 'unknown' })
    expect((error as Error).message).toMatch(/Is baseUrl right/)
  })
})

describe('what is told', () => {
  test('the log has no secrets and nothing about people', async () => {
    const entries: LogEntry[] = []
    const baseUrl = await serve((request, response) => {
      request.resume()
      if (request.method === 'POST') return void request.socket.destroy()
      const error = {
        type: 'not_found_error',
        code: 'pix_key_not_found',
        message: 'No key 529.982.247-25.',
        request_id: 'req_1',
      }
      response.writeHead(404, { 'x-request-id': 'req_1' }).end(JSON.stringify({ error }))
    })
    const trilho = new Trilho({ key, baseUrl, maxRetries: 1, log: (entry) => entries.push(entry) })
    const failures = await Promise.all([
      trilho.pix.keys.get('529.982.247-25', { customer_id: 'cus_1' }).catch((error: unknown) => error),
      trilho.pix.payouts
        .create({
          customer_id: 'cus_1',
          amount: 1n,
          counterparty: { type: 'pix_key', pix_key: '529.982.247-25' },
          idempotency_key: 'secret-job',
        })
        .catch((error: unknown) => error),
    ])
    const fields = ['method', 'path', 'attempt', 'status', 'code', 'requestId', 'durationMs', 'retryInMs']
    expect(entries).toHaveLength(3)
    for (const entry of entries)
      expect(Object.keys(entry).filter((field) => !fields.includes(field))).toEqual([])
    expect(entries.map(({ path }) => path).sort()).toEqual([
      '/v1/pix/keys/{pix_key}',
      '/v1/pix/payouts',
      '/v1/pix/payouts',
    ])
    expect(JSON.stringify(entries)).not.toMatch(/529|cus_1|secret-job|svc_/)
    for (const shown of [trilho, ...failures])
      expect(inspect(shown, { depth: 20, showHidden: true })).not.toContain(key)
  })
})
