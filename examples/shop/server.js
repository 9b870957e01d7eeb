import { createServer } from 'node:http'
import { buffer, json } from 'node:stream/consumers'
import { SignatureError, Trilho, units, verifyWebhook } from '@trilho/sdk'
import { Orders } from './orders.js'
import { Payments } from './payments.js'

/**
 * The backend of a shop that pays its sellers by Pix.
 * Reads TRILHO_KEY, TRILHO_URL, TRILHO_WEBHOOK_SECRET, SHOP_NAME, PORT, ORDERS.
 */
const { TRILHO_WEBHOOK_SECRET: secret, SHOP_NAME = 'shop' } = process.env
const { PORT = '3000', ORDERS = 'orders.jsonl' } = process.env
if (!secret) {
  console.error(
    'TRILHO_WEBHOOK_SECRET is not set: it is the whsec_… of your webhook endpoint, or of `trilho listen`.',
  )
  process.exit(1)
}
const CATCH_UP_MS = 1000

const orders = new Orders(ORDERS)
const payments = new Payments(new Trilho({ userAgent: 'shop-example' }), orders, SHOP_NAME)

/** @type {Record<string, (request: import('node:http').IncomingMessage, id: string) => Promise<[number, object?]>>} */
const routes = {
  'POST orders': async (request) => {
    const { id, seller, pix_key, amount } = /** @type {any} */ (await json(request)) ?? {}
    if (![id, seller, pix_key, amount].every((field) => typeof field === 'string'))
      throw new RangeError('an order has id, seller, pix_key and amount, each of them text')
    const centavos = units(amount, 'BRL')
    if (centavos <= 0n) throw new RangeError('amount must be more than 0')
    const known = orders.get(id)
    if (known) return [200, known]
    const order = payments.place({ id, seller, pix_key, amount: String(centavos) })
    payments.settle(id)
    return [202, order]
  },

  'GET orders': async (_, id) => {
    const order = orders.get(id)
    return order ? [200, order] : [404]
  },

  'POST webhooks': async (request) => {
    const event = await verifyWebhook(await buffer(request), request.headers, secret)
    // Ignores other event types, including future ones.
    if (event.type === 'pix.payout.completed' || event.type === 'pix.payout.failed')
      payments.learn(event.data.object)
    return [204]
  },
}

const server = createServer(async (request, response) => {
  const [, place, id = ''] = (request.url ?? '').split('/')
  try {
    const [status, body] = (await routes[`${request.method} ${place}`]?.(request, id)) ?? [404]
    response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body))
  } catch (error) {
    // A wrong signature, an amount like '1,5' or invalid JSON is the caller's mistake. Any other error is ours: the caller
    // should retry.
    const theirs = [SignatureError, RangeError, SyntaxError].some((kind) => error instanceof kind)
    if (!theirs) console.error(error)
    response.writeHead(theirs ? 400 : 503).end(theirs ? String(error) : undefined)
  }
})

server.listen(Number(PORT), '127.0.0.1', () => console.log(`the shop is open on port ${PORT}`))
payments.catchUp(Infinity)
setInterval(() => payments.catchUp(), CATCH_UP_MS)
