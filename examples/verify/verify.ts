import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'

/** Throws unless Trilho sent this within the last five minutes. `body` is what came, to the byte, before it is parsed. */
export function verify(body: Buffer | string, headers: IncomingHttpHeaders, secret: string): void {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  if (key.length === 0) throw new Error('the secret is missing')
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures = '' } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= 300)) throw new Error('too old')
  const mac = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')
  const expected = Buffer.from(`v1,${mac}`)
  // While the secret is being rotated there are two signatures: one that fits is enough.
  const given = String(signatures).split(' ').map(Buffer.from)
  if (!given.some((one) => one.length === expected.length && timingSafeEqual(one, expected)))
    throw new Error('not signed with this secret')
}

// Tries requests from standard input, one per line: id, time, signatures and body, with tabs between them.
for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const [id, time, signatures, body = ''] = line.split('\t')
  const headers = { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures }
  try {
    verify(body, headers, process.env.TRILHO_WEBHOOK_SECRET ?? '')
    console.log('good')
  } catch (error) {
    console.log((error as Error).message)
  }
}
