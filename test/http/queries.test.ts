import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assetNames } from '../../src/core/money.ts'
import type { Api } from '../support/api.ts'
import { expectIntact } from '../support/intact.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'

let service: TestService
let api: Api
let customer_id: string
const lists = { customers: () => '/v1/customers', statement: () => `/v1/customers/${customer_id}/statement` }
beforeAll(async () => {
  service = await startTestService()
  api = (await service.partner()).api
  customer_id = await newCustomer(api)
  for (let i = 0; i < 4; i++) {
    await newCustomer(api)
    await deposit(api, customer_id, assetNames[i % 3]!)
  }
})
afterAll(() => service.stop())

const newCustomer = async (client: Api): Promise<string> =>
  (await client.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json.id
const deposit = async (client: Api, id: string, asset: string): Promise<string> =>
  (await client.post('/v1/sandbox/deposits', { customer_id: id, asset, amount: '1' })).json.id

const withQuery = (path: string, query: Record<string, string>) => `${path}?${new URLSearchParams(query)}`

const badLimits = [
  '',
  '0',
  '101',
  '-1',
  '+1',
  '01',
  '1.0',
  '1e1',
  ' 1',
  '1 ',
  '1\n',
  '0x1',
  '１',
  '٣',
  'all',
  'null',
  'NaN',
  '9'.repeat(400),
  '\0',
]
const badTimes = [
  '',
  ' ',
  'now',
  'NaN',
  'Invalid Date',
  '0',
  '1763208000',
  '1763208000000',
  '2026-11-15',
  '2026-11-15T12:00:00',
  '2026-11-15T12:00:00.000+',
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-11-15T25:00:00Z',
  '2026-11-15T12:00:60Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '1969-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59.999-23:59',
  '10000-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.000Z',
  '+275760-09-13T00:00:00.001Z',
  '-000001-01-01T00:00:00Z',
  '2026-11-15T12:00:00Z\0',
  '2026-11-15T12:00:00Z\n',
  "2026-11-15T12:00:00Z'; --",
  'infinity',
  '-infinity',
  'epoch',
]
const badValues: readonly (readonly [list: keyof typeof lists, param: string, values: readonly string[]])[] =
  [
    ['customers', 'limit', badLimits],
    ['statement', 'limit', badLimits],
    ['customers', 'created_after', badTimes],
    ['customers', 'created_before', badTimes],
    [
      'customers',
      'status',
      ['', 'ACTIVE', 'active ', 'deleted', 'active,blocked', 'null', '\0', 'constructor', '__proto__'],
    ],
    [
      'statement',
      'asset',
      ['', 'brl', 'BRL ', 'BRL,BTC', 'EUR', 'null', '*', '\0', 'constructor', '__proto__', '\u0412RL'],
    ],
    [
      'customers',
      'document',
      ['', 'x', '11111111111', '529.982.247-26', '529982247-25', '\0', '%', '٣'.repeat(11), '1'.repeat(400)],
    ],
    ['customers', 'external_id', ['', ' ', '\0', 'a\nb', '\u202e', 'a'.repeat(121)]],
  ]

describe('a bad value is refused, and its field is named', () => {
  const cases = badValues.flatMap(([list, param, values]) =>
    values.map((value) => ({ list, param, value, shown: JSON.stringify(value).slice(0, 40) })),
  )
  test.each(cases)('$list $param=$shown', async ({ list, param, value }) => {
    const reply = await api.get(withQuery(lists[list](), { [param]: value }))
    expect(reply.json.error).toMatchObject({ code: 'invalid_request', param })
  })

  test.each(['customers', 'statement'] as const)(
    '%s: the same field twice, or one that does not exist',
    async (list) => {
      for (const param of ['limit', 'cursor']) {
        const reply = await api.get(`${lists[list]()}?${param}=1&${param}=1`)
        expect(reply.json.error).toMatchObject({ code: 'invalid_request', param })
      }
      for (const param of ['Limit', 'page', 'offset', 'customer_id', 'sort', 'toString'])
        expect((await api.get(`${lists[list]()}?${param}=1`)).json.error).toMatchObject({
          code: 'invalid_request',
          param,
        })
    },
  )
})

test('a good value is taken', async () => {
  for (const limit of ['1', '99', '100'])
    for (const list of Object.values(lists))
      expect((await api.get(withQuery(list(), { limit }))).status).toBe(200)
  const times = [
    '1970-01-01T00:00:00Z',
    '2026-11-15T12:00:00.000Z',
    '2026-11-15T12:00:00.123456-03:00',
    '9999-12-31T23:59:59.999Z',
  ]
  for (const time of times) {
    for (const param of ['created_after', 'created_before'])
      expect((await api.get(withQuery('/v1/customers', { [param]: time }))).status).toBe(200)
  }
  const all = (await api.get('/v1/customers')).json.data
  const [newest, , third] = all
  const since = (await api.get(withQuery('/v1/customers', { created_after: third.created_at }))).json.data
  expect(since.map((each: any) => each.id)).toContain(third.id)
  const until = (await api.get(withQuery('/v1/customers', { created_before: newest.created_at }))).json.data
  expect(until.map((each: any) => each.id)).not.toContain(newest.id)
})

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const id = 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb'
const at = '2026-11-15T12:00:00.000Z'
const forged: Readonly<Record<string, unknown>> = {
  'no JSON': 'hello',
  'half of JSON': '{"at":',
  'a number': 5,
  'a huge number': '1e400',
  null: null,
  true: true,
  'a text': '"x"',
  'an empty text': '""',
  'an array': [],
  'an array of positions': [{ at, id }],
  'an empty object': {},
  'unknown parts': { offset: '5' },
  'a part too many': { at, id, limit: '1000' },
  'a prototype': '{"__proto__":{"at":"x"}}',
  'a constructor': { constructor: 'x' },
  'no time': { id },
  'no id': { at },
  'time null': { at: null, id },
  'time a number': { at: 1763208000000, id },
  'time an object': { at: {}, id },
  'time NaN': { at: 'NaN', id },
  'time empty': { at: '', id },
  'year 0': { at: '0000-01-01T00:00:00.000Z', id },
  'year 1969': { at: '1969-12-31T23:59:59.999Z', id },
  'year 275760': { at: '+275760-09-13T00:00:00.000Z', id },
  'year -271821': { at: '-271821-04-20T00:00:00.000Z', id },
  'month 13': { at: '2026-13-01T00:00:00.000Z', id },
  'time with a NUL': { at: `${at}\0`, id },
  'id with a NUL': { at, id: 'cus_\0' },
  'id with a lone surrogate': { at, id: 'cus_\ud800' },
  'id with SQL': { at, id: "cus_' OR 1=1 --" },
  'id empty': { at, id: '' },
  'id a number': { at, id: 5 },
  'id of 300 characters': { at, id: `cus_${'\u00e9'.repeat(120)}` },
  'sequence a number': { BRL: 5 },
  'sequence negative': { BRL: '-1' },
  'sequence with decimals': { BRL: '1.5' },
  'sequence with an exponent': { BRL: '1e3' },
  'sequence in hexadecimal': { BRL: '0x10' },
  'sequence empty': { BRL: '' },
  'sequence with a NUL': { BRL: '1\0' },
  'sequence NaN': { BRL: 'NaN' },
  'sequence of 19 digits': { BRL: '9223372036854775808' },
  'sequence of 300 digits': { BRL: '9'.repeat(300) },
  'an unknown asset': { EUR: '1' },
  'one good asset and one bad': { BRL: '1', BTC: 'x' },
}

describe('a cursor that no page gave is refused', () => {
  test.each(Object.entries(forged))('%s', async (_, position) => {
    for (const list of Object.values(lists)) {
      const reply = await api.get(withQuery(list(), { cursor: encode(position) }))
      expect(reply.json.error).toMatchObject({ code: 'invalid_request', param: 'cursor' })
    }
  })

  test('nor is one of the other list taken, nor one that is too long or damaged', async () => {
    const [customers, statement] = await Promise.all(
      Object.values(lists).map(async (list) => (await api.get(`${list()}?limit=1`)).json.next_cursor),
    )
    const wrong = ['', ' ', '\0', '%', customers.slice(4), `x${customers}`, encode({ at, id }).repeat(20)]
    for (const cursor of [...wrong, statement])
      expect((await api.get(withQuery('/v1/customers', { cursor }))).json.error).toMatchObject({
        code: 'invalid_request',
        param: 'cursor',
      })
    for (const cursor of [...wrong, customers])
      expect((await api.get(withQuery(lists.statement(), { cursor }))).json.error).toMatchObject({
        code: 'invalid_request',
        param: 'cursor',
      })
  })

  test('another partner’s cursor opens nothing of his', async () => {
    const { next_cursor } = (await api.get('/v1/customers?limit=1')).json
    const other = await service.partner()
    const [untagged] = next_cursor.split('=')
    for (const cursor of [next_cursor, untagged]) {
      const reply = await other.api.get(withQuery('/v1/customers', { cursor }))
      expect(reply.json.error).toMatchObject({ code: 'invalid_request', param: 'cursor' })
    }
  })
})

test('any query string is answered, and never with a 5xx', async () => {
  const names = fc.constantFrom(
    'limit',
    'cursor',
    'created_after',
    'created_before',
    'status',
    'asset',
    'document',
    'external_id',
    'x',
  )
  const position = fc.record(
    {
      at: fc.oneof(fc.constant(at), fc.string(), fc.integer()),
      id: fc.oneof(fc.constant(id), fc.string({ unit: 'binary' })),
    },
    { requiredKeys: [] },
  )
  const sequence = fc.dictionary(
    fc.constantFrom(...assetNames),
    fc.oneof(fc.nat().map(String), fc.string(), fc.integer()),
  )
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }).map((text) => encodeURIComponent(text.toWellFormed())),
    fc.constantFrom('1', '20', 'active', 'BRL', at, '%00', '%', '%ff', '', '[]', '=', '&'),
    fc.oneof(position, sequence, fc.jsonValue()).map(encode),
    fc.base64String(),
  )
  const query = fc
    .array(
      fc.tuple(names, value).map(([name, text]) => `${name}=${text}`),
      { maxLength: 4 },
    )
    .map((parts) => parts.join('&'))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.values(lists)), query, async (list, text) => {
      const reply = await api.get(`${list()}?${text}`)
      expect([200, 400]).toContain(reply.status)
    }),
    { numRuns: 300 },
  )
})

describe('paging while four writers add', () => {
  /** Reads the list to its end while four others write; each page waits until something was written after the last. */
  async function readAmidWriters(options: {
    write: () => Promise<unknown>
    page: (cursor: string | null) => Promise<{ data: any[]; has_more: boolean; next_cursor: string | null }>
  }): Promise<any[]> {
    let done = false
    let written = 0
    const writers = Array.from({ length: 4 }, async () => {
      while (!done) {
        await options.write()
        written++
      }
    })
    const seen: any[] = []
    try {
      let cursor: string | null = null
      do {
        const before = written
        const { data, has_more, next_cursor } = await options.page(cursor)
        expect(has_more).toBe(next_cursor !== null)
        seen.push(...data)
        expect(seen.length, 'the list has an end').toBeLessThan(2000)
        cursor = next_cursor
        while (written === before) await new Promise((next) => setTimeout(next, 1))
      } while (cursor !== null)
    } finally {
      done = true
      await Promise.all(writers)
    }
    return seen
  }

  /** All of these, each once, whatever else was seen. */
  function expectOnce(seen: readonly string[], wanted: readonly string[]): void {
    expect(new Set(seen).size).toBe(seen.length)
    expect(wanted.filter((each) => !seen.includes(each))).toEqual([])
  }

  test.each(['1', '7', '20'])(
    'every customer that was there is seen exactly once (limit %s)',
    async (limit) => {
      const { api: own } = await service.partner()
      const before = await Promise.all(Array.from({ length: 60 }, () => newCustomer(own)))
      const seen = await readAmidWriters({
        write: () => newCustomer(own),
        page: async (cursor) =>
          (await own.get(withQuery('/v1/customers', { limit, ...(cursor && { cursor }) }))).json,
      })
      expectOnce(
        seen.map(({ id }) => id),
        before,
      )
      const times = seen.map(({ created_at }) => created_at)
      expect(times).toEqual(times.toSorted().reverse())
    },
  )

  const readings = [undefined, ...assetNames].flatMap((asset) =>
    ['1', '7'].map((limit) => ({ asset, limit })),
  )
  test.each(readings)(
    'every line of the statement is seen exactly once (asset $asset, limit $limit)',
    async ({ asset, limit }) => {
      const { api: own } = await service.partner()
      const owner = await newCustomer(own)
      const before = await Promise.all(
        Array.from({ length: 60 }, async (_, i) => {
          const of = assetNames[i % 3]!
          return { asset: of, id: await deposit(own, owner, of) }
        }),
      )
      let turn = 0
      const seen = await readAmidWriters({
        write: () => deposit(own, owner, assetNames[turn++ % 3]!),
        page: async (cursor) => {
          const query = { limit, ...(asset && { asset }), ...(cursor && { cursor }) }
          return (await own.get(withQuery(`/v1/customers/${owner}/statement`, query))).json
        },
      })
      const wanted = before.filter((each) => asset === undefined || each.asset === asset)
      expectOnce(
        seen.map(({ cause }) => cause.id),
        wanted.map(({ id }) => id),
      )
    },
  )
})

test('afterwards the books are right', () => expectIntact(service))
