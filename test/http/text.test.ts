import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Api, Reply } from '../support/api.ts'
import { texts } from '../support/corpora.ts'
import { asAdmin } from '../support/database.ts'
import { expectIntact } from '../support/intact.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'

let service: TestService
let api: Api
beforeAll(async () => {
  service = await startTestService()
  api = (await service.partner()).api
})
afterAll(() => service.stop())

/** The corpus is made for a field of 140 code points: what is longer is refused there for its length alone. */
const CORPUS_MAX = 140
type Sample = {
  readonly name: string
  readonly text: string
  readonly clean: boolean
  readonly length: number
}
const samples: readonly Sample[] = texts.map(({ name, text, valid, code_points }) => ({
  name,
  text,
  clean: valid || code_points > CORPUS_MAX,
  length: code_points,
}))

/** The clean texts again, cut or repeated to just as long as a field may be, and to one code point more. */
function around(max: number): Sample[] {
  return samples
    .filter(({ clean, length }) => clean && length >= CORPUS_MAX)
    .flatMap(({ name, text }) =>
      [max, max + 1].map((length) => ({
        name: `${name}, made ${length} long`,
        text: [...text.repeat(Math.ceil(length / CORPUS_MAX))].slice(0, length).join(''),
        clean: true,
        length,
      })),
    )
}

const blank = (text: string) => text.trim() === ''

/** What no JSON text may hold is refused by its reader, the rest by the field's own rules. */
const unreadable = (text: string) => text.includes('\0') || !text.isWellFormed()

function expectRefused(reply: Reply, text: string, param: string | RegExp): void {
  expect(reply.status).toBe(400)
  expect(reply.json.error.code).toBe(unreadable(text) ? 'invalid_json' : 'invalid_request')
  if (!unreadable(text)) expect(reply.json.error.param).toMatch(param)
}

const create = (fields: Record<string, unknown>) =>
  api.post('/v1/customers', { name: 'Ana Souza', document: someCpf(), ...fields })

/** What was accepted, to be looked for in the database itself at the end. */
const accepted: { id: string; column: 'name' | 'external_id' | 'metadata'; value: unknown }[] = []

describe('a name of 1 to 120 code points without control characters is kept to the letter', () => {
  test.each([...samples, ...around(120)])('$name', async ({ text, clean, length }) => {
    const reply = await create({ name: text })
    if (!clean || length > 120 || blank(text)) return expectRefused(reply, text, /^name$/)
    expect(reply.status).toBe(201)
    const { id } = reply.json
    expect(reply.json.name).toBe(text)
    expect((await api.get(`/v1/customers/${id}`)).json.name).toBe(text)
    accepted.push({ id, column: 'name', value: text })
  })
})

describe('an external_id of 1 to 120 code points is kept to the letter, and finds its customer', () => {
  const kept = new Set<string>()
  test.each([...samples, ...around(120)])('$name', async ({ text, clean, length }) => {
    const reply = await create({ external_id: text })
    const query = await api.get(`/v1/customers?external_id=${encodeURIComponent(text.toWellFormed())}`)
    if (!clean || length > 120 || blank(text)) {
      expectRefused(reply, text, /^external_id$/)
      if (text.isWellFormed())
        expect(query.json.error).toMatchObject({ code: 'invalid_request', param: 'external_id' })
      return
    }
    if (kept.has(text)) {
      expect(reply.json.error).toMatchObject({ code: 'customer_exists', param: 'external_id' })
    } else {
      kept.add(text)
      expect(reply.json.external_id).toBe(text)
      accepted.push({ id: reply.json.id, column: 'external_id', value: text })
    }
    expect(query.json.data.map((customer: any) => customer.external_id)).toEqual([text])
  })

  test('two spellings that only look alike are two customers', async () => {
    for (const external_id of ['jos\u00e9', 'jose\u0301', 'JOS\u00c9', 'jos\u00e9 ']) {
      expect((await create({ external_id })).status).toBe(201)
    }
  })
})

describe('a metadata value of up to 500 code points, also none, is kept to the letter', () => {
  test.each([...samples, ...around(500)])('$name', async ({ text, clean, length }) => {
    const metadata = { note: text, other: 'kept' }
    const reply = await create({ metadata })
    if (!clean || length > 500) return expectRefused(reply, text, /^metadata/)
    expect(reply.json.metadata).toEqual(metadata)
    expect((await api.get(`/v1/customers/${reply.json.id}`)).json.metadata).toEqual(metadata)
    accepted.push({ id: reply.json.id, column: 'metadata', value: metadata })
  })
})

test('the database holds what was sent', async () => {
  const rows = await asAdmin(service.database.url, ['SELECT * FROM sandbox.customers'])
  const byId = new Map(rows.map((row) => [row.id, row]))
  expect(accepted.length).toBeGreaterThan(150)
  for (const { id, column, value } of accepted) expect(byId.get(id)?.[column]).toEqual(value)
})

test('a metadata key is 1 to 40 letters, digits, dots, hyphens and underscores, whatever it means elsewhere', async () => {
  const good = [
    'a',
    'A-b_c.9',
    'k'.repeat(40),
    'constructor',
    'toString',
    'toJSON',
    'then',
    'valueOf',
    '0',
    '.',
    '-',
  ]
  for (const key of good)
    expect((await create({ metadata: { [key]: 'x' } })).json.metadata).toEqual({ [key]: 'x' })
  const bad = [
    '',
    ' ',
    'a b',
    'k'.repeat(41),
    'a\n',
    '\u00e9',
    'a/b',
    'a~0b',
    '\u0661',
    '$where',
    'a[]',
    '\ud83d\ude00',
  ]
  for (const key of bad) {
    const { error } = (await create({ metadata: { [key]: 'x' } })).json
    expect(error.code).toBe('invalid_request')
    expect(error.param).toMatch(/^metadata/)
  }
  const proto = `{"name":"A","document":"${someCpf()}","metadata":{"__proto__":"x"}}`
  const reply = await api.send('POST', '/v1/customers', {
    body: proto,
    headers: { 'content-type': 'application/json' },
  })
  expect(reply.json.error.code).toBe('invalid_json')
})

test('metadata has at most 20 entries, all of them text', async () => {
  const entries = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']))
  expect((await create({ metadata: entries(20) })).json.metadata).toEqual(entries(20))
  for (const metadata of [entries(21), { a: 1 }, { a: null }, { a: {} }, { a: ['x'] }, [], 'x', null, 5]) {
    const { error } = (await create({ metadata })).json
    expect(error.code).toBe('invalid_request')
    expect(error.param).toMatch(/^metadata/)
  }
})

test('an e-mail address is an e-mail address', async () => {
  for (const email of ['ana@example.com', 'a+b.c@sub.example.com.br'])
    expect((await create({ email })).json.email).toBe(email)
  const bad = [
    '',
    'a',
    '@',
    'a@',
    '@b',
    'a b@c.d',
    'a@b\n',
    'a@b.c\r\nBcc: x@y.z',
    `${'a'.repeat(250)}@b.cd`,
    '<a@b.c>',
    'a@b@c.d',
    5,
    null,
    ['a@b.c'],
  ]
  for (const email of bad)
    expect((await create({ email })).json.error).toMatchObject({ code: 'invalid_request', param: 'email' })
})

test('any text is either kept to the letter or refused', async () => {
  const { id } = (await create({})).json
  // Every code point, and twice over those that a rule is about: controls, separators, bidi marks, surrogates, white space.
  const odd = [
    0, 9, 10, 0x1f, 0x20, 0x7f, 0x85, 0x9f, 0xa0, 0x200b, 0x2028, 0x202e, 0x2066, 0x2069, 0xd800, 0xdfff,
    0xfeff,
  ]
  const code = fc.oneof(
    fc.integer({ min: 0, max: 0x10ffff }),
    fc.constantFrom(...odd),
    fc.integer({ min: 0x20, max: 0x7e }),
  )
  const text = fc.array(code, { minLength: 1, maxLength: 8 }).map((codes) => String.fromCodePoint(...codes))
  await fc.assert(
    fc.asyncProperty(text, async (name) => {
      const reply = await api.patch(`/v1/customers/${id}`, { name, metadata: { name } })
      const forbidden = [...name].some((c) => /\p{Cc}/u.test(c) || /[\u2028-\u202e\u2066-\u2069]/.test(c))
      if (unreadable(name) || forbidden || blank(name))
        return expectRefused(reply, name, /^(name|metadata\.name)$/)
      expect(reply.json).toMatchObject({ name, metadata: { name } })
      expect((await api.get(`/v1/customers/${id}`)).json).toEqual(reply.json)
    }),
    { numRuns: 300 },
  )
})

test('afterwards the books are right', () => expectIntact(service))
