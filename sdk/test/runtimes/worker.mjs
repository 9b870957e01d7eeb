/** The same on Workers, shorter, for there is no node:assert: each request runs it once and gets `passed`. */
import { ApiError, decimal, randomKey, Trilho, units, verifyWebhook } from '@trilho/sdk'

const check = (held, what) => {
  if (!held) throw new Error(what)
}

async function run({ url, key, cpf }) {
  const trilho = new Trilho({ key, baseUrl: url })
  const { id: customer_id } = await trilho.customers.create({ name: 'Ana Souza', document: cpf })
  await trilho.sandbox.deposits.create({ customer_id, asset: 'BRL', amount: units('100', 'BRL') })
  const order = {
    customer_id,
    amount: units('10.50', 'BRL'),
    counterparty: { type: 'pix_key', pix_key: cpf },
    idempotency_key: randomKey(),
  }
  const payout = await trilho.pix.payouts.create(order)
  const again = await trilho.pix.payouts.create(order).withResponse()
  check(again.data.id === payout.id && again.replayed, 'replayed')
  const lines = await trilho.customers.statement(customer_id, { limit: 1 }).toArray({ limit: 5 })
  check(
    lines.map(({ amount, decimals }) => decimal(amount, decimals)).join() === '-10.50,100.00',
    'statement',
  )
  const dear = { ...order, amount: units('1000', 'BRL'), idempotency_key: randomKey() }
  const refused = await trilho.pix.payouts.create(dear).catch((error) => error)
  check(refused instanceof ApiError && refused.is('insufficient_balance'), 'refused')
  for await (const event of trilho.events.stream({ after: 'start', types: ['pix.payout.completed'] }))
    if (event.data.object.id === payout.id) return checkWebhook(event)
}

async function checkWebhook(event) {
  const secret = new TextEncoder().encode('01234567890123456789012345678901')
  const body = JSON.stringify(event)
  const time = String(Math.floor(Date.now() / 1000))
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signed = await crypto.subtle.sign(
    'HMAC',
    key,
    new TextEncoder().encode(`${event.id}.${time}.${body}`),
  )
  const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
  const headers = new Headers({
    'webhook-id': event.id,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${base64(signed)}`,
  })
  const verified = await verifyWebhook(body, headers, `whsec_${base64(secret)}`)
  check(verified.id === event.id, 'webhook')
}

// biome-ignore lint/style/noDefaultExport: the form that Workers want
export default {
  async fetch(request) {
    try {
      await run(await request.json())
      return new Response('passed\n')
    } catch (error) {
      return new Response(`${error.stack}\n`, { status: 500 })
    }
  },
}
