import { createHmac, randomBytes } from 'node:crypto'

/** Standard Webhooks 1.0: HMAC-SHA256 over id, time and body, under a secret that is written whsec_ and base64. */
const PREFIX = 'whsec_'
const SECRET_BYTES = 32

export const newSecret = (): Buffer => randomBytes(SECRET_BYTES)
export const showSecret = (secret: Buffer): string => `${PREFIX}${secret.toString('base64')}`
export const readSecret = (text: string): Buffer => Buffer.from(text.replace(PREFIX, ''), 'base64')

/** The headers of one attempt: one signature per secret. The receiver accepts any of them. */
export function signatureHeaders(message: {
  id: string
  body: string
  at: Date
  secrets: readonly Buffer[]
}): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const { id, body, at, secrets } = message
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const sign = (secret: Buffer) =>
    `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(sign).join(' '),
  }
}
