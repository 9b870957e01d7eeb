import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newSecret, showSecret, signatureHeaders } from '../../src/webhooks/signature.ts'
import { type Event, SignatureError, verifyWebhook, type WebhookHeaders } from '../dist/index.js'

const secret = newSecret()
const whsec = showSecret(secret)
const body = JSON.stringify({
  id: 'evt_1',
  type: 'pix.payout.completed',
  data: { object: { id: 'po_1', description: 'Ação nº 1 ✓' } },
})
const sign = (of: { body?: string; at?: Date; secrets?: Buffer[] } = {}) =>
  signatureHeaders({ id: 'msg_1', body, at: new Date(), secrets: [secret], ...of })
const refusalOf = (given: unknown, headers: WebhookHeaders = sign(), secrets: string | string[] = whsec) =>
  verifyWebhook(given as string, headers, secrets).then(
    () => expect.unreachable('it was taken'),
    (error: Error) => error,
  )
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000)

describe('a webhook that was signed by the service', () => {
  test('is its event, with the body as text or bytes and headers of any kind', async () => {
    const event = JSON.parse(body)
    const bytes = Buffer.from(body)
    for (const given of [body, bytes, new Uint8Array(bytes), new Uint8Array(bytes).buffer])
      for (const headers of [sign(), new Headers(sign())])
        expect(await verifyWebhook(given, headers, whsec)).toEqual(event)
  })

  test('is taken under any of several secrets, and beside signatures of others', async () => {
    const other = newSecret()
    expect(await verifyWebhook(body, sign(), [showSecret(other), whsec])).toMatchObject({ id: 'evt_1' })
    // While a secret is rotated both sign; before and after them may stand what we do not know.
    const both = sign({ secrets: [other, secret] })
    both['webhook-signature'] = `v1a,bm90IG91cnM= v2,x ${both['webhook-signature']} nonsense`
    expect(await verifyWebhook(body, both, whsec)).toMatchObject({ id: 'evt_1' })
    expect(await verifyWebhook(body, both, [showSecret(other)])).toMatchObject({ id: 'evt_1' })
  })

  test('is what the Standard Webhooks library takes too, and the other way round', async () => {
    const theirs = new Webhook(whsec)
    expect(theirs.verify(body, sign())).toEqual(JSON.parse(body))
    const at = new Date()
    const headers = {
      'webhook-id': 'msg_2',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': theirs.sign('msg_2', at, body),
    }
    expect(await verifyWebhook(body, headers, whsec)).toEqual(JSON.parse(body))
  })

  test('arrives through node:http', async () => {
    const taken: Event[] = []
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      taken.push(await verifyWebhook(Buffer.concat(chunks), request.headers, whsec))
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers: sign() })
    expect(taken).toHaveLength(1)
  })

  test('is taken 300 seconds early or late, and not more', async () => {
    for (const seconds of [-295, 295])
      expect(await verifyWebhook(body, sign({ at: inSeconds(seconds) }), whsec)).toMatchObject({
        id: 'evt_1',
      })
    for (const seconds of [-305, 305]) {
      const refusal = await refusalOf(body, sign({ at: inSeconds(seconds) }))
      expect(refusal).toBeInstanceOf(SignatureError)
      expect(refusal.message).toMatch(/300 seconds/)
    }
    expect(await verifyWebhook(body, sign({ at: inSeconds(-305) }), whsec, { tolerance: 600 })).toBeDefined()
    const unset = { tolerance: Number(undefined) }
    await expect(verifyWebhook(body, sign({ at: inSeconds(-305) }), whsec, unset)).rejects.toThrow(
      SignatureError,
    )
  })
})

describe('what is refused', () => {
  test('another body, id, time, secret or signature', async () => {
    const headers = sign()
    const wrong: [string, WebhookHeaders, string?][] = [
      [`${body} `, headers],
      [body.replace('po_1', 'po_2'), headers],
      [body, { ...headers, 'webhook-id': 'msg_2' }],
      [body, { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) }],
      [body, { ...headers, 'webhook-signature': 'v1,' }],
      [body, { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v2,') }],
      [body, headers, showSecret(newSecret())],
    ]
    for (const [given, of, under] of wrong)
      expect(await refusalOf(given, of, under)).toBeInstanceOf(SignatureError)
  })

  test('no headers, and a time that is no time', async () => {
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      const refusal = await refusalOf(body, { ...sign(), [name]: undefined })
      expect(refusal).toBeInstanceOf(SignatureError)
      expect(refusal.message).toContain(name)
    }
    for (const time of ['', 'now', '1e9', '-1', 'NaN'])
      expect(await refusalOf(body, { ...sign(), 'webhook-timestamp': time })).toBeInstanceOf(SignatureError)
  })

  test('a body that was parsed: it says how to get it raw', async () => {
    for (const given of [JSON.parse(body), undefined, null]) {
      const refusal = await refusalOf(given)
      expect(refusal).toBeInstanceOf(TypeError)
      expect(refusal.message).toMatch(/request\.text\(\).*express\.raw/s)
    }
  })

  test('what is no secret: it says how one looks', async () => {
    for (const given of ['', 'whsec_', 'svc_test_sk_abc', []] as const)
      expect((await refusalOf(body, sign(), given as string)).message).toMatch(/whsec_…/)
  })
})
