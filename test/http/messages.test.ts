import { afterAll, beforeAll, expect, test } from 'vitest'
import { errorCodes, errors } from '../../src/core/errors.ts'
import { endpoints } from '../../src/doors/api/endpoints.ts'
import { type Endpoint, methodAndPath } from '../../src/http/endpoint.ts'
import type { Api } from '../support/api.ts'
import { inParallel } from '../support/parallel.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** Whoever reads a refusal must know what to send instead. */
let service: TestService
let api: Api
beforeAll(async () => {
  service = await startTestService()
  ;({ api } = await service.partner())
})
afterAll(() => service.stop())

type Schema = Record<string, any>

/** A value that the schema takes, from its examples. */
function sampleOf(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.examples) return schema.examples[0]
  if (schema.enum) return schema.enum[0]
  const [first] = schema.oneOf ?? schema.anyOf ?? []
  if (first) return sampleOf(first)
  if (schema.type === 'object') return fieldsOf(schema)
  if (schema.type === 'array') return [sampleOf(schema.items)]
  if (schema.format === 'date-time') return '2026-11-15T12:00:00.000Z'
  return schema.type === 'integer' ? (schema.minimum ?? 1) : 'text'
}

const fieldsOf = ({ properties = {} }: Schema) =>
  Object.fromEntries(Object.entries<Schema>(properties).map(([name, part]) => [name, sampleOf(part)]))

/** Values of every wrong kind; some may fit by chance. */
const WRONG = [
  undefined,
  null,
  -1,
  1.5,
  10 ** 9,
  '',
  'x',
  'é\u0007',
  'x'.repeat(600),
  [],
  ['x', 'x'],
  Array.from({ length: 60 }, (_, i) => `x${i}`),
  {},
  { unknown: 1 },
  { 'a b': 'c' },
  { a: 5 },
  Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${i}`, 'v'])),
]

/** The whole with one thing in it wrong, for every place in it. */
function* spoilt(schema: Schema): Generator<unknown> {
  for (const kind of schema.oneOf ?? []) yield* spoilt(kind)
  yield* WRONG
  if (schema.type !== 'object' || !schema.properties) return
  const good = fieldsOf(schema)
  yield { ...good, unknown_field: 1 }
  for (const [name, part] of Object.entries<Schema>(schema.properties))
    for (const value of spoilt(part)) yield { ...good, [name]: value }
}

function expectHelpful(
  where: string,
  sent: unknown,
  error: { code: string; message: string; param?: string },
) {
  const about = `${where} ${JSON.stringify(sent)?.slice(0, 200)}: ${error.message}`
  expect(error.message, about).not.toMatch(/is not valid\.?$|undefined|\[object/)
  expect(error.message, about).toMatch(/^\S.{9,}[.)]$/)
  if (error.code === 'invalid_request' && error.param) expect(error.message, about).toContain(error.param)
}

const withBody = endpoints.filter(({ body }) => body)

test('every refusal of a body says what the field must be', async () => {
  let refused = 0
  const say = async (endpoint: Endpoint, sent: unknown) => {
    const { method, path } = methodAndPath(endpoint)
    const reply = await api.send(method, path.replaceAll(/\{\w+\}/g, 'x_1'), {
      body: JSON.stringify(sent === undefined ? null : sent),
      headers: { 'content-type': 'application/json' },
    })
    if (reply.status !== 400) return
    refused++
    expectHelpful(endpoint.route, sent, reply.json.error)
  }
  const cases = withBody.flatMap((endpoint) =>
    [...spoilt(endpoint.body as Schema)].map((sent) => [endpoint, sent] as const),
  )
  await inParallel(cases, 16, ([endpoint, sent]) => say(endpoint, sent))
  expect(refused).toBeGreaterThan(withBody.length * 20)
})

test('every refusal of a query says so too', async () => {
  for (const endpoint of endpoints.filter(({ route, query }) => route.startsWith('GET') && query)) {
    const path = methodAndPath(endpoint).path.replaceAll(/\{\w+\}/g, 'x_1')
    for (const name of [...Object.keys((endpoint.query as Schema).properties), 'unknown_field']) {
      for (const value of ['', 'x', '%C3%A9', '-1', '99999', 'x'.repeat(600)]) {
        const { status, json } = await api.get(`${path}?${name}=${value}`)
        if (status === 400) expectHelpful(`${endpoint.route} ${name}`, value, json.error)
      }
    }
  }
})

test('what was found wanting is said in the words of its field', async () => {
  const customer = { name: 'Ana', document: '529.982.247-25' }
  const message = async (path: string, body: unknown) => (await api.post(path, body)).json.error.message
  expect(await message('/v1/customers', { ...customer, metadata: { 'a b': 'c' } })).toBe(
    'metadata may only have keys of 1 to 40 characters: letters A to Z and a to z, digits, dots, hyphens and underscores.',
  )
  expect(await message('/v1/customers', { ...customer, metadata: { a: 5 } })).toBe(
    'metadata.a must be a string.',
  )
  expect(await message('/v1/customers', { ...customer, emial: 'x' })).toBe(
    'Unknown field emial. Check its spelling; known are name, document, email, external_id, metadata.',
  )
  const { json } = await api.patch('/v1/customers/cus_x', {})
  expect(json.error.message).toBe('body must have at least one field; known are name, email, metadata.')
  const email = await api.patch('/v1/customers/cus_x', { email: 5 })
  expect(email.json.error.message).toBe('email must be a string, or null.')
})

test('every message of the catalogue is a sentence, and every page says more', () => {
  for (const code of errorCodes) {
    expect(errors[code].message, code).toMatch(/^[A-Za-z].{20,}\.$/)
    expect(errors[code].page.length, code).toBeGreaterThan(10)
  }
})
