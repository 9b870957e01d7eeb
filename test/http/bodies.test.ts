import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkReply, type Reply } from '../support/api.ts'
import { type BodyCase, bodies, bytesOf } from '../support/corpora.ts'
import { expectIntact } from '../support/intact.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { ask, requestText } from '../support/sockets.ts'

const PATH = '/v1/sandbox/deposits'
const OPENING = 7n

let service: TestService
let key: string
let customer_id: string
let balance: () => Promise<bigint>
beforeAll(async () => {
  service = await startTestService()
  const partner = await service.partner()
  const { api } = partner
  key = partner.key
  customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json.id
  await api.post(PATH, { customer_id, asset: 'BRL', amount: String(OPENING) })
  balance = async () => {
    const { json } = await api.get(`/v1/customers/${customer_id}/balances`)
    return json.data.reduce((sum: bigint, row: any) => sum + BigInt(row.total), 0n)
  }
})
afterAll(() => service.stop())

/** Over a socket: no client in between adds a header, or refuses to send what is asked of it. */
async function send(bytes: Uint8Array, more: Readonly<Record<string, string>>): Promise<Reply> {
  const head = requestText(`POST ${PATH} HTTP/1.1`, {
    host: 'localhost',
    authorization: `Bearer ${key}`,
    'content-length': String(bytes.length),
    ...more,
  })
  const reply = await ask(service.url, [head, bytes])
  checkReply('POST', PATH, reply)
  return reply
}

function sendCase(entry: BodyCase): Promise<Reply> {
  const { content_type = 'application/json', headers } = entry
  const type = content_type === null ? {} : { 'content-type': content_type }
  return send(bytesOf(entry, customer_id), { ...type, ...headers })
}

const json = { 'content-type': 'application/json' }
const good = () => `{"customer_id":"${customer_id}","asset":"BRL","amount":"100"}`
const ofLayer = (layer: BodyCase['layer']) => bodies.filter((entry) => entry.layer === layer)

describe('what is no JSON document in UTF-8, or could be read in two ways, is invalid_json', () => {
  const nothing = (entry: BodyCase) => entry.body === ''
  test.each(ofLayer('json').filter((entry) => !nothing(entry)))('$name', async (entry) => {
    const reply = await sendCase(entry)
    expect(reply.status).toBe(400)
    expect(reply.json.error.code).toBe('invalid_json')
    expect(await balance()).toBe(OPENING)
  })

  test.each(ofLayer('json').filter(nothing))('but for: $name, which is a missing body', async (entry) => {
    expect((await sendCase(entry)).json.error).toMatchObject({ code: 'invalid_request', param: 'body' })
    expect(await balance()).toBe(OPENING)
  })
})

describe('JSON that says something else than a deposit is refused, and the field is named', () => {
  test.each(ofLayer('schema'))('$name', async (entry) => {
    const reply = await sendCase(entry)
    expect(['invalid_request', 'invalid_amount', 'customer_not_found']).toContain(reply.json.error.code)
    expect(reply.json.error.param).toMatch(/./)
    expect(reply.text.length).toBeLessThan(1000)
    expect(await balance()).toBe(OPENING)
  })
})

describe('what is over 64 KiB is body_too_large', () => {
  test.each(ofLayer('size'))('$name', async (entry) => {
    const reply = await sendCase(entry)
    expect(reply.status).toBe(413)
    expect(reply.json.error.code).toBe('body_too_large')
    expect(await balance()).toBe(OPENING)
  })

  test('and 64 KiB to the byte are not', async () => {
    const bytes = Buffer.alloc(64 * 1024, ' ')
    bytes.write('{}')
    expect((await send(bytes, json)).json.error.code).toBe('invalid_request')
  })

  test('an ordinary client reads the answer, also when it is still sending', async () => {
    for (let i = 0; i < 20; i++) {
      const response = await fetch(service.url + PATH, {
        method: 'POST',
        headers: { ...json, authorization: `Bearer ${key}` },
        body: Buffer.alloc(1024 * 1024, ' '),
      })
      expect(response.status).toBe(413)
      expect(((await response.json()) as any).error.code).toBe('body_too_large')
    }
  })
})

describe('what is not announced as plain JSON is unsupported_media_type', () => {
  test.each(ofLayer('media_type'))('$name', async (entry) => {
    const reply = await sendCase(entry)
    expect(reply.status).toBe(415)
    expect(reply.json.error.code).toBe('unsupported_media_type')
    expect(await balance()).toBe(OPENING)
  })
})

test('a good body is credited once, whichever way its content type is spelt', async () => {
  const before = await balance()
  const types = [
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=utf-8',
    'application/json; charset="UTF-8"',
  ]
  for (const type of types) {
    expect((await send(Buffer.from(good()), { 'content-type': type })).status).toBe(201)
  }
  expect(await balance()).toBe(before + 400n)
})

test('random bytes are refused', async () => {
  const before = await balance()
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
      expect((await send(bytes, json)).status).toBe(400)
    }),
    { numRuns: 200 },
  )
  expect(await balance()).toBe(before)
})

test('of damaged bodies exactly those are credited that the answer says were', async () => {
  const before = await balance()
  let credited = 0n
  const damage = fc.record({
    at: fc.nat(),
    remove: fc.nat(3),
    insert: fc.oneof(
      fc.uint8Array({ maxLength: 3 }),
      fc.constantFrom(...['"', ',', '\\', '}', '0', ':'].map((c) => Buffer.from(c))),
    ),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
      let bytes = Buffer.from(good())
      for (const { at, remove, insert } of damages) {
        const place = at % bytes.length
        bytes = Buffer.concat([bytes.subarray(0, place), insert, bytes.subarray(place + remove)])
      }
      const reply = await send(bytes, json)
      if (reply.status === 201) credited += BigInt(reply.json.amount)
      else expect([400, 404]).toContain(reply.status)
    }),
    { numRuns: 400 },
  )
  expect(await balance()).toBe(before + credited)
})

test('afterwards the books are right', () => expectIntact(service))
