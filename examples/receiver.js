import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

/** Receives webhooks, checks their signature and prints one line for each. Takes WEBHOOK_SECRET and PORT. */
const { WEBHOOK_SECRET = '', PORT = '3000' } = process.env
const key = Buffer.from(WEBHOOK_SECRET.replace('whsec_', ''), 'base64')
if (key.length === 0) throw new Error('WEBHOOK_SECRET is not set: it is the whsec_… of your endpoint.')

const TOLERANCE_SECONDS = 300

function isOurs(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures = '' } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(time)) < TOLERANCE_SECONDS)) return false
  const expected = Buffer.from(
    `v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`,
  )
  return signatures
    .split(' ')
    .map((one) => Buffer.from(one))
    .some((one) => one.length === expected.length && timingSafeEqual(one, expected))
}

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  if (!isOurs(request.headers, body)) {
    console.log('refused: not signed with this secret, or too old')
    return response.writeHead(400).end()
  }
  // Respond first, work later. The same event may come twice: remember its id, and drop what you have seen.
  response.writeHead(204).end()
  const { type, data } = JSON.parse(body)
  console.log(`verified ${type} ${data.object.id}`)
})

server.listen(Number(PORT), '127.0.0.1', () => console.log(`waiting for webhooks on port ${PORT}`))
