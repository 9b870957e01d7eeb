import { Type as T } from 'typebox'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { errors } from '../../core/errors.ts'
import { endpoint, errorsOf, methodAndPath, repeats } from '../../http/endpoint.ts'
import { AssetName, Fields, Id, Page, Units } from '../../http/schema.ts'
import { endpoints } from '../api/endpoints.ts'
import { eventSamples } from '../sandbox/samples.ts'
import type { JsonSchema } from './json-schema.ts'
import { buildOpenApi, type OpenApi, type Operation } from './openapi.ts'
import type { Response } from './responses.ts'

const build = (declared = endpoints, events = declared === endpoints ? eventSamples(endpoints) : []) =>
  buildOpenApi({ endpoints: declared, events, public_url: 'https://api.example.com', version: '1.2.3' })

const openapi = build()

function follow(document: OpenApi, ref: string): unknown {
  const steps = ref.replace('#/', '').split('/')
  return steps.reduce<unknown>(
    (node, step) => (node as Record<string, unknown> | undefined)?.[step],
    document,
  )
}

function refsIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) => (key === '$ref' ? [value as string] : refsIn(value)))
}

function operations(document: OpenApi): Operation[] {
  return Object.values(document.paths).flatMap((methods) => Object.values(methods))
}

function responseOf(document: OpenApi, { responses }: Operation, status: number): Response | undefined {
  const response = responses[status]
  return response && '$ref' in response ? (follow(document, response.$ref) as Response) : response
}

describe('every endpoint', () => {
  test.each(endpoints.map((declared) => [declared.name, declared] as const))(
    '%s is documented in full',
    (name, declared) => {
      const { method, path } = methodAndPath(declared)
      const operation = openapi.paths[path]?.[method.toLowerCase()]
      expect(operation?.operationId).toBe(name.replaceAll('.', '_'))
      expect(responseOf(openapi, operation!, declared.reply.status)).toBeDefined()
      expect(operation?.['x-name']).toBe(name)
      expect(operation?.['x-errors'].toSorted()).toEqual(errorsOf(declared).toSorted())
      for (const code of errorsOf(declared)) {
        const response = responseOf(openapi, operation!, errors[code].status)
        expect(Object.keys(response?.content?.['application/json']?.examples ?? {})).toContain(code)
        expect(response?.description).toContain(code)
      }
      for (const status of Object.keys(operation!.responses)) {
        const headers = Object.keys(responseOf(openapi, operation!, Number(status))!.headers)
        expect(headers).toEqual(
          expect.arrayContaining([
            'X-Request-Id',
            'X-RateLimit-Limit',
            'X-RateLimit-Remaining',
            'X-RateLimit-Reset',
          ]),
        )
      }
    },
  )

  test.each(endpoints.map((declared) => [declared.name, declared] as const))(
    '%s has examples that its schemas accept',
    (_, declared) => {
      const { method, path } = methodAndPath(declared)
      const operation = openapi.paths[path]![method.toLowerCase()]!
      const request = operation.requestBody?.content['application/json'].example
      const answer = responseOf(openapi, operation, declared.reply.status)!.content?.['application/json']
        ?.example
      if (declared.body) expect([...Value.Errors(declared.body, request)]).toEqual([])
      if (declared.reply.schema) expect([...Value.Errors(declared.reply.schema, answer)]).toEqual([])
    },
  )
})

test('every reference leads somewhere', () => {
  for (const ref of refsIn(openapi)) expect(follow(openapi, ref), ref).toBeDefined()
})

test('operation ids are unique and tags are described', () => {
  const ids = operations(openapi).map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toHaveLength(endpoints.length)
  for (const { name, description } of openapi.tags) expect(description, name).toBeTruthy()
  for (const { tags } of operations(openapi)) expect(openapi.tags.map(({ name }) => name)).toContain(tags[0])
})

/** Every schema on one side: in requests or in responses. */
function schemasIn(node: unknown): JsonSchema[] {
  if (typeof node !== 'object' || node === null) return []
  const { $ref, examples, example, ...rest } = node as Record<string, unknown>
  const inner = typeof $ref === 'string' && $ref.includes('/schemas/') ? [follow(openapi, $ref)] : []
  return [node as JsonSchema, ...[...inner, ...Object.values(rest)].flatMap(schemasIn)]
}

test('enumerations are closed in requests and open in responses', () => {
  const isText = (value: unknown) => typeof value === 'string'
  for (const { requestBody, responses, 'x-name': name } of operations(openapi)) {
    const answered = schemasIn(Object.values(responses).map((each) => ('$ref' in each ? {} : each.content)))
    for (const schema of answered) {
      expect(schema.enum?.some(isText) || isText(schema.const), name).toBeFalsy()
      if (schema['x-known-values']) expect(schema).toMatchObject({ type: 'string' })
    }
    for (const schema of schemasIn(requestBody)) expect(schema['x-known-values'], name).toBeUndefined()
  }
  for (const { post } of Object.values(openapi.webhooks)) {
    const { $ref } = post.requestBody.content['application/json'].schema
    const { type, ...rest } = (follow(openapi, $ref) as JsonSchema).properties!
    expect(type!.const).toBe(post.summary)
    for (const schema of schemasIn(rest)) expect(schema.enum).toBeUndefined()
  }
  const known = openapi.components.schemas.Event!.properties!.type!['x-known-values']
  expect(Object.keys(openapi.webhooks).toSorted()).toEqual(known!.toSorted())
})

test('links lead from a created object to the operations that take its id', () => {
  const linksOf = (path: string) => (openapi.paths[path]!.post!.responses[201] as Response).links!
  expect(Object.keys(linksOf('/v1/customers'))).toEqual(
    expect.arrayContaining(['customers_get', 'customers_balances', 'pix_payouts_create', 'quotes_list']),
  )
  expect(linksOf('/v1/quotes').quotes_execute?.parameters).toEqual({ quote_id: '$response.body#/id' })
  expect(linksOf('/v1/customers').pix_payouts_create?.requestBody).toEqual({
    customer_id: '$response.body#/id',
  })
  expect(Object.keys(linksOf('/v1/webhook_endpoints'))).toEqual(
    expect.arrayContaining(
      ['deliveries', 'test', 'rotate_secret', 'delete'].map((verb) => `webhook_endpoints_${verb}`),
    ),
  )
  const ids = operations(openapi).map(({ operationId }) => operationId)
  for (const { responses } of operations(openapi)) {
    for (const { operationId } of Object.values((responses[201] as Response | undefined)?.links ?? {}))
      expect(ids).toContain(operationId)
  }
})

test('every operation declares what happens when it is repeated', () => {
  const repeatOf = (name: string) => operations(openapi).find((each) => each['x-name'] === name)?.['x-repeat']
  expect(repeatOf('customers.get')).toBe('safe')
  expect(repeatOf('customers.create')).toBe('once')
  expect(repeatOf('customers.update')).toBe('idempotent')
  expect(repeatOf('pix.payouts.create')).toBe('idempotency_key')
  expect(repeatOf('onchain.transfers.create')).toBe('idempotency_key')
  expect(repeatOf('quotes.create')).toBe('harmless')
  expect(repeatOf('quotes.execute')).toBe('idempotent')
  expect(repeatOf('sandbox.deposits.create')).toBe('never')
  for (const { 'x-repeat': repeat, 'x-name': name } of operations(openapi))
    expect(repeats, name).toHaveProperty(repeat)
})

test('each error status is defined once, and operations refer to it', () => {
  for (const { responses, 'x-name': name } of operations(openapi)) {
    for (const [status, response] of Object.entries(responses))
      if (Number(status) >= 400)
        expect(response, name).toEqual({ $ref: `#/components/responses/Error${status}` })
  }
})

test('patterns are anchored, and only strings have them', () => {
  const patterns = schemasIn([openapi.paths, openapi.webhooks, openapi.components]).flatMap(
    ({ pattern, type }) => (typeof pattern === 'string' ? [{ pattern, type }] : []),
  )
  expect(patterns.length).toBeGreaterThan(100)
  for (const { pattern, type } of patterns) {
    expect(type).toBe('string')
    // The `date-time` format leaves only the year open.
    if (!pattern.endsWith('{3})-')) expect(pattern).toMatch(/^\^.*\$$/)
    expect(() => new RegExp(pattern, 'u')).not.toThrow()
  }
})

test('the document is plain JSON without internal names', () => {
  const text = JSON.stringify(openapi)
  expect(JSON.parse(text)).toEqual(openapi)
  expect(text).not.toContain('"~kind"')
  expect(text).not.toContain('"$id"')
  expect(text).not.toContain('clean-text')
  expect(openapi.info.license.identifier).toBe('Apache-2.0')
  expect(openapi.servers).toEqual([{ url: 'https://api.example.com' }])
})

test('the two responses of a call with a dry run are named, and only one of them has `dry_run`', () => {
  const tried = operations(openapi).filter(({ responses }) => responses[200] && responses[201])
  expect(tried.map((operation) => operation['x-name'])).toEqual([
    'pix.payouts.create',
    'onchain.transfers.create',
    'quotes.execute',
  ])
  for (const operation of tried) {
    const [dry, made] = [200, 201].map((status) => {
      const { $ref } = responseOf(openapi, operation, status)!.content!['application/json']!.schema
      return follow(openapi, $ref!) as JsonSchema
    })
    expect(dry?.required).toContain('dry_run')
    expect(dry?.properties?.dry_run?.const).toBe(true)
    expect(made?.properties).not.toHaveProperty('dry_run')
  }
})

const Thing = T.Object(
  { id: Id('customer'), asset: AssetName, amount: Units, decimals: T.Integer() },
  { $id: 'Thing' },
)
const things = { name: 'things.list', route: 'GET /v1/things', summary: 'List', errors: [] } as const

describe('schemas', () => {
  test('a named schema is referred to wherever it occurs', () => {
    const { paths, components } = build([
      endpoint({ ...things, reply: { status: 200, schema: Page(Thing) } }),
      endpoint({
        ...things,
        name: 'things.get',
        route: 'GET /v1/thing',
        reply: { status: 200, schema: Thing },
      }),
    ])
    const list = paths['/v1/things']!.get!.responses[200] as Response
    const one = paths['/v1/thing']!.get!.responses[200] as Response
    expect(list.content?.['application/json']?.schema.properties?.data?.items).toEqual({
      $ref: '#/components/schemas/Thing',
    })
    expect(one.content?.['application/json']?.schema).toEqual({ $ref: '#/components/schemas/Thing' })
    expect(Object.keys(components.schemas).filter((name) => !name.endsWith('Details'))).toEqual([
      'Thing',
      'Error',
    ])
  })

  test('two different schemas of one name are an error', () => {
    const other = T.Object({ other: T.String() }, { $id: 'Thing' })
    const declared = [
      endpoint({ ...things, reply: { status: 200, schema: Thing } }),
      endpoint({
        ...things,
        name: 'things.get',
        route: 'GET /v1/thing',
        reply: { status: 200, schema: other },
      }),
    ]
    expect(() => build(declared)).toThrow('two schemas are named Thing')
  })

  test('a response repeats the values of its request, with the decimals of the asset', () => {
    const { paths } = build([
      endpoint({
        ...things,
        route: 'POST /v1/things',
        body: Fields({ asset: AssetName, amount: Units }),
        reply: { status: 201, schema: Thing },
        example: { asset: 'BTC', amount: '77' },
      }),
    ])
    const created = paths['/v1/things']!.post!.responses[201] as Response
    expect(created.content?.['application/json']?.example).toMatchObject({
      asset: 'BTC',
      amount: '77',
      decimals: 8,
    })
  })
})

describe('mistakes in a declaration', () => {
  const reply = { status: 204 } as const

  test('a name or a route used twice', () => {
    expect(() => build([endpoint({ ...things, reply }), endpoint({ ...things, reply })])).toThrow(
      'declared twice',
    )
    const sameName = endpoint({ ...things, route: 'GET /v1/more', reply })
    expect(() => build([endpoint({ ...things, reply }), sameName])).toThrow('the same name')
  })

  test('params that are not those of the path', () => {
    expect(() => build([endpoint({ ...things, route: 'GET /v1/things/{id}', reply })])).toThrow(
      'differ from its path',
    )
  })
})

test('scope, sandbox and limit are in the description and in extensions', () => {
  const declared = endpoint({
    ...things,
    scopes: { all: ['quotes', 'read'] },
    sandbox_only: true,
    limit_per_minute: 30,
    reply: { status: 204 },
  })
  const operation = build([declared]).paths['/v1/things']!.get!
  expect(operation.description).toBe(
    'Needs a key with the scopes `quotes` and `read`. Sandbox only: a live key is refused. Has a limit of its own: 30 calls per minute.',
  )
  expect(operation).toMatchObject({
    'x-scope': ['quotes', 'read'],
    'x-sandbox-only': true,
    'x-limit-per-minute': 30,
  })
  expect((operation.responses[204] as Response).content).toBeUndefined()
})
