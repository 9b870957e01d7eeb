import { randomInt, randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'
import { openAssault } from './pace.ts'

/**
 * A partner with a good key and no manners: receivers that hang, drip and never end; redelivery of everything, again and
 * again; every list with filters that match nothing; look-ups, long polls, and payouts of its own. `partner.ts URL KEY
 * CUSTOMER PIX_KEY`
 */
const [url, key, customer_id, pix_key] = process.argv.slice(2) as [string, string, string, string]
const assault = openAssault()
const dispatcher = new Agent({ connections: 256, headersTimeout: 40_000, bodyTimeout: 40_000 })

async function call(
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<{ status: number; json: any }> {
  const answer = await request(url + path, {
    method,
    dispatcher,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await answer.body.text()
  return { status: answer.statusCode, json: text === '' ? undefined : JSON.parse(text) }
}
const ask = async (method: 'GET' | 'POST', path: string, body?: unknown) =>
  String((await call(method, path, body)).status)

const misbehave: readonly ((response: ServerResponse) => void)[] = [
  () => {},
  (response) => {
    const timer = setInterval(() => response.write('.'), 300)
    response.once('close', () => clearInterval(timer))
  },
  (response) => {
    const pour = () => {
      for (let room = true; room && !response.destroyed; ) room = response.write('x'.repeat(16_384))
    }
    response.on('drain', pour)
    pour()
  },
  (response) => void setTimeout(() => response.end('late'), 6000),
  (response) => void response.writeHead(500).end('x'.repeat(60_000)),
]
const receiver = createServer((request, response) => {
  request.resume()
  response.on('error', () => {})
  misbehave[Number(new URL(request.url!, 'http://a').pathname.slice(1)) % misbehave.length]!(response)
}).listen(0, '127.0.0.1')
await new Promise((resolve) => receiver.once('listening', resolve))
const { port } = receiver.address() as AddressInfo
const endpoints: string[] = []
for (let i = 0; i < 20; i++) {
  const made = await call('POST', '/v1/webhook_endpoints', {
    url: `http://127.0.0.1:${port}/${i}`,
    events: ['*'],
  })
  if (made.status === 201) endpoints.push(made.json.id)
}
process.stdout.write(`${endpoints.length} endpoints\n`)

const someEndpoint = () => endpoints[randomInt(endpoints.length)]!
const from = new Date(Date.now() - 86_400_000).toISOString()
const to = new Date(Date.now() + 3_600_000).toISOString()
const range = () => ask('POST', `/v1/webhook_endpoints/${someEndpoint()}/redeliver`, { from, to })
const one = async () => {
  const { json } = await call('GET', '/v1/events?limit=1')
  const id = json?.data?.[0]?.id
  return id ? ask('POST', `/v1/events/${id}/redeliver`) : 'nothing to redeliver'
}
const lists = [
  '/v1/pix/payouts?status=failed&limit=100',
  '/v1/pix/payouts?status=processing&limit=100',
  '/v1/pix/payouts?limit=100',
  '/v1/onchain/transfers?status=failed',
  '/v1/quotes?status=expired&limit=100',
  '/v1/trades?limit=100',
  '/v1/customers?limit=100',
  `/v1/customers/${customer_id}/statement?limit=100`,
  '/v1/events?limit=100',
]
const list = () => ask('GET', lists[randomInt(lists.length)]!)
const deliveries = () => ask('GET', `/v1/webhook_endpoints/${someEndpoint()}/deliveries?limit=100`)
const lookUp = () => ask('GET', `/v1/pix/keys/${encodeURIComponent(`x${randomInt(1e6)}@sandbox.test`)}`)
const pay = () =>
  ask('POST', '/v1/pix/payouts', {
    customer_id,
    amount: '1',
    counterparty: { type: 'pix_key', pix_key },
    idempotency_key: randomUUID(),
  })

assault.often({ per_second: 20, at_once: 10 }, () => (randomInt(2) ? range() : one()))
assault.often({ per_second: 120, at_once: 100 }, () => (randomInt(4) ? list() : deliveries()))
assault.often({ per_second: 20, at_once: 10 }, lookUp)
assault.often({ per_second: 20, at_once: 10 }, pay)
assault.often({ per_second: 20, at_once: 40 }, () => ask('GET', '/v1/events?after=now&wait=10'))
