import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { newSecret, readSecret, showSecret, signatureHeaders } from './signature.ts'

const text = fc.string({ unit: 'binary' }).map((some) => some.toWellFormed())
const now = () => new Date()

test('the standardwebhooks package accepts our signature for any body, and refuses another body, id, time or secret', () => {
  fc.assert(
    fc.property(text, fc.jsonValue(), (id, value) => {
      const body = JSON.stringify(value)
      const secret = newSecret()
      const headers = signatureHeaders({ id: `evt_${id}`, body, at: now(), secrets: [secret] })
      const webhook = new Webhook(showSecret(secret))
      expect(webhook.verify(body, headers)).toEqual(JSON.parse(body))
      expect(() => webhook.verify(`${body} `, headers)).toThrow()
      expect(() => webhook.verify(body, { ...headers, 'webhook-id': 'evt_other' })).toThrow()
      const later = String(Number(headers['webhook-timestamp']) + 1)
      expect(() => webhook.verify(body, { ...headers, 'webhook-timestamp': later })).toThrow()
      expect(() => new Webhook(showSecret(newSecret())).verify(body, headers)).toThrow()
    }),
    { numRuns: 200 },
  )
})

test('two secrets give two signatures, and the receiver accepts either', () => {
  const secrets = [newSecret(), newSecret()]
  const headers = signatureHeaders({ id: 'evt_1', body: '{}', at: now(), secrets })
  expect(headers['webhook-signature'].split(' ')).toHaveLength(2)
  for (const secret of secrets) expect(new Webhook(showSecret(secret)).verify('{}', headers)).toEqual({})
})

test('a signature that is too old is refused by the receiver', () => {
  const secret = newSecret()
  const at = new Date(Date.now() - 6 * 60_000)
  const headers = signatureHeaders({ id: 'evt_1', body: '{}', at, secrets: [secret] })
  expect(() => new Webhook(showSecret(secret)).verify('{}', headers)).toThrow(/too old/)
})

test('the example of the specification', () => {
  const headers = signatureHeaders({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    body: '{"test": 2432232314}',
    at: new Date(1614265330_000),
    secrets: [readSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
  })
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})
