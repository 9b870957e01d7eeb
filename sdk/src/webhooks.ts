import { crypto } from '#crypto'
import type { Event } from './generated/types.js'

export type * from './generated/types.js'

/** Headers of a request: a `Headers` object, or a plain object with lower-case names, as in `node:http`. */
export type WebhookHeaders =
  | Pick<Headers, 'get'>
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** The request was not signed by Trilho, was changed, or is too old. Answer 400 and do nothing else. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError'
}

const TOLERANCE_SECONDS = 300

/**
 * Verifies the signature of a webhook and returns its event. With several secrets one match is enough, as during a rotation. An
 * event may arrive more than once: store its `id` and skip the ids that you have seen.
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { tolerance = TOLERANCE_SECONDS }: { readonly tolerance?: number } = {},
): Promise<Event> {
  const bytes = bytesOf(body)
  const keys = [secrets].flat().map(keyOf)
  if (keys.length === 0) throw new TypeError('Pass the secret of the webhook endpoint: whsec_….')
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    read(headers, `webhook-${name}`),
  )
  const age = Date.now() / 1000 - Number(time)
  if (!/^\d+$/.test(time!) || !(Math.abs(age) <= tolerance))
    throw new SignatureError(
      `This webhook was signed more than ${tolerance} seconds ago, or your clock is wrong.`,
    )
  const signed = concat(new TextEncoder().encode(`${id}.${time}.`), bytes)
  for (const key of await Promise.all(keys))
    for (const signature of signatures!.split(' '))
      if (await fits(key, signature, signed)) return JSON.parse(new TextDecoder().decode(bytes)) as Event
  throw new SignatureError(
    'No signature of this webhook fits: it was changed, or the secret is of another endpoint.',
  )
}

function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array) return body
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new TypeError(
    'verifyWebhook needs the body as it came, not what was parsed from it: `await request.text()`; in Express ' +
      "`express.raw({ type: '*/*' })` on this route, before `express.json()`; in Fastify a content type parser with " +
      "`parseAs: 'buffer'`.",
  )
}

function keyOf(secret: string): Promise<CryptoKey> {
  const [, text] = /^\s*(?:whsec_)?([A-Za-z0-9+/]{20,}={0,2})\s*$/.exec(secret) ?? []
  if (!text) throw new TypeError('This is not the secret of a webhook endpoint: it looks like whsec_….')
  return crypto.subtle.importKey('raw', fromBase64(text), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ])
}

/** Reads one header. Node joins duplicate headers into a list or a comma-separated text, which Trilho never sends. */
function read(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === 'function' ? headers.get(name) : (headers as Record<string, unknown>)[name]
  if (typeof value === 'string' && value !== '') return value
  throw new SignatureError(`The header ${name} is missing: this is not a webhook of Trilho.`)
}

/** Verifies one v1 signature; the header may contain other versions and signatures too. */
async function fits(key: CryptoKey, signature: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const [, text] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature) ?? []
  return text !== undefined && crypto.subtle.verify('HMAC', key, fromBase64(text), signed)
}

const fromBase64 = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

function concat(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(head.length + tail.length)
  both.set(head)
  both.set(tail, head.length)
  return both
}
