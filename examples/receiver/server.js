import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { SignatureError, verifyWebhook } from '@trilho/sdk/webhooks'

/** Receives webhooks, verifies them, and prints one line per event. Reads TRILHO_WEBHOOK_SECRET and PORT. */
const { TRILHO_WEBHOOK_SECRET: secret, PORT = '3000' } = process.env
if (!secret) {
  console.error(
    'TRILHO_WEBHOOK_SECRET is not set: it is the whsec_… of your webhook endpoint, or of `trilho listen`.',
  )
  process.exit(1)
}

/** Ids of handled events. A real program stores them in its database, in the transaction that does the work. */
const handled = new Set()

const server = createServer(async (request, response) => {
  try {
    const event = await verifyWebhook(await buffer(request), request.headers, secret)
    if (!handled.has(event.id)) handle(event)
    handled.add(event.id)
    response.writeHead(204).end()
  } catch (error) {
    const refused = error instanceof SignatureError
    console.error(refused ? `refused: ${error.message}` : error)
    // Trilho sends an event again later if the response was not 2xx.
    response.writeHead(refused ? 400 : 500).end(refused ? error.message : '')
  }
})

/** @param {import('@trilho/sdk/webhooks').Event} event */
function handle(event) {
  console.log(`verified ${event.type} ${event.data.object.id}`)
  if (event.type === 'pix.payout.failed') console.log(`  because: ${event.data.object.failure?.code}`)
}

server.on('error', (error) => {
  console.error(`Cannot listen on port ${PORT}: ${error.message}. Set PORT to another.`)
  process.exit(1)
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`waiting for webhooks on port ${PORT}`))
