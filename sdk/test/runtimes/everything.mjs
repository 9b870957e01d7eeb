/** Uses what the SDK has, on whatever runtime this is, against a real server: TRILHO_URL, TRILHO_KEY. Prints `passed`. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:net'
import process from 'node:process'
import {
  ApiError,
  decimal,
  format,
  randomKey,
  SignatureError,
  Trilho,
  units,
  verifyWebhook,
} from '@trilho/sdk'
import { verifyWebhook as verifyAlone } from '@trilho/sdk/webhooks'

const trilho = new Trilho({ userAgent: 'runtimes' })
const cpf = process.env.CPF
const customer = await trilho.customers.create({ name: 'Ana Souza', document: cpf })
const customer_id = customer.id

// The stream, from the first event of this partner on.
let cursor
const seen = []
const stream = (async () => {
  for await (const event of trilho.events.stream({ after: 'start', save: (at) => (cursor = at) })) {
    seen.push(event.type)
    if (event.type === 'pix.payout.completed' && event.data.object.customer_id === customer_id) return event
  }
})()

await trilho.sandbox.deposits.create({ customer_id, asset: 'BRL', amount: units('100', 'BRL') })
const order = {
  customer_id,
  amount: units('10.50', 'BRL'),
  counterparty: { type: 'pix_key', pix_key: cpf },
  idempotency_key: randomKey(),
}
const payout = await trilho.pix.payouts.create(order)
const again = await trilho.pix.payouts.create(order).withResponse()
assert.equal(again.data.id, payout.id)
assert.equal(again.replayed, true)
const event = await stream
assert.equal(event.data.object.id, payout.id)
assert.ok(seen.includes('customer.created'))
assert.ok(cursor)

// Lists.
const lines = []
for await (const line of trilho.customers.statement(customer_id, { limit: 1 }))
  lines.push(decimal(line.amount, line.decimals))
assert.deepEqual(lines, ['-10.50', '100.00'])

// Errors, of the server and of the wire.
const dear = { ...order, amount: units('1000', 'BRL'), idempotency_key: randomKey() }
const refused = await trilho.pix.payouts.create(dear).catch((error) => error)
assert.ok(refused instanceof ApiError && refused.is('insufficient_balance'))
assert.equal(refused.details.available, '8950')
const port = await new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => resolve(port))
  })
})
const nobody = new Trilho({ baseUrl: `http://127.0.0.1:${port}`, maxRetries: 1 })
const unsent = await nobody.customers.create({ name: 'Rui', document: cpf }).catch((error) => error)
assert.equal(unsent.name, 'ConnectionError')
assert.equal(unsent.outcome, 'none', unsent.message)
const late = await trilho
  .request('GET', '/v1/events?wait=5', { timeout: 200, maxRetries: 0 })
  .catch((error) => error)
assert.equal(late.name, 'ConnectionError', late.message)
const leaving = new AbortController()
const left = trilho.events.list({ wait: 20 }, { signal: leaving.signal }).then(assert.fail, (error) => error)
leaving.abort(new Error('enough'))
assert.equal((await left).message, 'enough')

// Webhooks.
const secret = Buffer.from('01234567890123456789012345678901')
const body = JSON.stringify(event)
const time = String(Math.floor(Date.now() / 1000))
const headers = new Headers({
  'webhook-id': event.id,
  'webhook-timestamp': time,
  'webhook-signature': `v1,${createHmac('sha256', secret).update(`${event.id}.${time}.${body}`).digest('base64')}`,
})
const whsec = `whsec_${secret.toString('base64')}`
assert.deepEqual(await verifyWebhook(body, headers, whsec), event)
assert.deepEqual(await verifyAlone(new TextEncoder().encode(body), headers, [whsec]), event)
const changed = await verifyWebhook(`${body} `, headers, whsec).catch((error) => error)
assert.ok(changed instanceof SignatureError)

assert.equal(format(105_000n, 'BRL', 'pt-BR').replaceAll('\u00a0', ' '), 'R$ 1.050,00')
assert.equal(format('12345678901234567899', 2, 'en-US'), '123,456,789,012,345,678.99')
console.log('passed')
process.exit(0)
