import assert from 'node:assert/strict'
import type { TSchema } from 'typebox'
import { type ErrorCode, errorCodes, errors, Refusal } from '../core/errors.ts'
import { commonErrors, type Endpoint, methodAndPath, type Scope } from '../http/endpoint.ts'
import { formats } from '../http/schema.ts'
import { LOOKUP_PER_MINUTE } from '../limits/tiers.ts'
import { collectNamesakes, exampleOf, type Namesakes, replyExample, requestExample } from './example.ts'

/** As much of JSON Schema as the contracts use. */
export type JsonSchema = {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
}

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

export type Ref = { readonly $ref: string }

type Content = {
  readonly 'application/json': {
    readonly schema: JsonSchema
    readonly example?: unknown
    readonly examples?: Readonly<Record<string, Ref>>
  }
}

export type Response = {
  readonly description: string
  readonly headers: Readonly<Record<string, Ref>>
  readonly content?: Content
}

export type Operation = {
  readonly operationId: string
  readonly tags: readonly [string]
  readonly summary: string
  /** Its last paragraph always says what a key needs to call it. */
  readonly description: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response | Ref>>
  /** A key needs all of these. */
  readonly 'x-scope'?: readonly Scope[]
  /** A key needs any one of these. */
  readonly 'x-scope-any'?: readonly Scope[]
  readonly 'x-sandbox-only'?: true
  readonly 'x-limit-per-minute'?: number
}

export type Tag = { readonly name: string; readonly 'x-displayName': string; readonly description?: string }

export type OpenApi = {
  readonly openapi: '3.1.0'
  readonly info: Readonly<Record<'title' | 'version' | 'summary' | 'description', string>> & {
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: readonly [{ readonly url: string }]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly tags: readonly Tag[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, unknown>>
    readonly headers: Readonly<Record<string, unknown>>
    readonly responses: Readonly<Record<string, Response>>
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly examples: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>
  }
}

/** In the order in which a reader meets them. */
const tags: Readonly<Record<string, readonly [title: string, description: string]>> = {
  customers: [
    'Customers',
    'The people and companies whose money you move, with their balances and statements.',
  ],
  pix: ['Pix', 'Payments from a BRL balance to a Pix key or a bank account.'],
  payouts: ['Pix payouts', 'Payments from a BRL balance to a Pix key or a bank account.'],
  onchain: ['On-chain', 'USDT and BTC sent to an address outside.'],
  transfers: ['On-chain transfers', 'USDT and BTC sent to an address outside.'],
  quotes: ['Quotes', 'A price that holds for 30 seconds, and its execution.'],
  trades: ['Trades', 'Conversions that were executed.'],
  prices: ['Prices', 'The current price of each pair.'],
  webhook_endpoints: ['Webhook endpoints', 'Where your server is told what happened.'],
  events: ['Events', 'Everything that happened, to be read again from any point.'],
  requests: ['Requests', 'What was asked for with your keys, and how it was answered.'],
  account: ['Account', 'Your own tier, fees and earnings.'],
  usage: ['Usage', 'What is left of the limits of a key.'],
  sandbox: ['Sandbox', 'Test money and simulated networks. These calls refuse a live key.'],
}

const statusTitles: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Created',
  204: 'Done; no content',
  400: 'The request is not well formed',
  401: 'No valid API key',
  403: 'Not allowed',
  404: 'Not found',
  409: 'In conflict with what exists',
  413: 'The body is too large',
  415: 'Not JSON',
  422: 'Refused by a business rule',
  429: 'Too many requests',
  500: 'A fault of the service',
  503: 'Not available right now',
}

/** Where the catalogue's sentence alone would not show that `param` is set. */
const exampleParams: Partial<Record<ErrorCode, string>> = {
  invalid_request: 'name',
  invalid_amount: 'amount',
  invalid_pix_key: 'counterparty.pix_key',
  invalid_address: 'destination_address',
  unsupported_network: 'network',
  customer_exists: 'document',
  limit_exceeded: 'amount',
}

/** What such an error looks like when it says more. */
const exampleDetails: Partial<Record<ErrorCode, Readonly<Record<string, unknown>>>> = {
  limit_exceeded: {
    limit: 'payout_day',
    asset: 'BRL',
    allowed: '500000',
    used: '499500',
    resets_at: '2026-11-16T03:00:00.000Z',
  },
}

export function buildOpenApi(options: {
  endpoints: readonly Endpoint[]
  public_url: string
  version: string
}): OpenApi {
  const { endpoints, public_url, version } = options
  const context: Context = { schemas: new Map(), namesakes: collectNamesakes(endpoints) }
  const paths: Record<string, Record<string, Operation>> = {}
  for (const endpoint of endpoints) {
    const { method, path } = methodAndPath(endpoint)
    const methods = (paths[path] ??= {})
    assert(!(method.toLowerCase() in methods), `${endpoint.route} is declared twice`)
    methods[method.toLowerCase()] = operationOf(endpoint, context)
  }
  const document: OpenApi = {
    openapi: '3.1.0',
    info: {
      title: 'Trilho API',
      version,
      summary: 'Balances in BRL, USDT and BTC, and the ways to move them',
      description: introduction,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: public_url }],
    security: [{ api_key: [] }],
    tags: tagsOf(endpoints),
    paths,
    components: {
      securitySchemes: { api_key: securityScheme },
      headers,
      responses: Object.fromEntries(
        statusesOf(commonErrors).map((status) => [commonName(status), failureOf(status, commonErrors)]),
      ),
      schemas: {
        ...Object.fromEntries(context.schemas),
        Error: { ...errorSchema, examples: [errorExample('invalid_amount', public_url)] },
      },
      examples: errorExamples(endpoints, public_url),
    },
  }
  assertUniqueIds(document)
  // Schemas carry what the type checker needs in hidden properties; what goes out is plain JSON.
  return JSON.parse(JSON.stringify(document)) as OpenApi
}

const introduction = [
  'A JSON API for balances in BRL, USDT and BTC.',
  'The API key chooses the environment: `svc_test_sk_…` is the sandbox, `svc_live_sk_…` is production. Both share one address.',
  'Amounts are strings that hold a whole number of the asset’s smallest unit: `"1050"` in BRL is R$ 10.50.',
  'Version 1 only grows. Expect new fields, endpoints and error codes; nothing that exists changes its meaning.',
].join('\n\n')

const securityScheme = {
  type: 'http',
  scheme: 'bearer',
  description: 'An API key: `svc_test_sk_…` for the sandbox, `svc_live_sk_…` for production.',
}

const headers = {
  'X-Request-Id': {
    description: 'Names this request. Quote it when you ask for help.',
    schema: { type: 'string', examples: ['req_01kc3v4x9zq8rj5m2t7w6y0ahb'] },
  },
  'X-RateLimit-Limit': { description: 'Requests per minute.', schema: { type: 'integer', examples: [100] } },
  'X-RateLimit-Remaining': {
    description: 'Requests left in the current minute.',
    schema: { type: 'integer', examples: [99] },
  },
  'X-RateLimit-Reset': {
    description: 'Unix time, in seconds, at which the current minute ends.',
    schema: { type: 'integer', examples: [1794744060] },
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', examples: [12] },
  },
}

const errorSchema: JsonSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['type', 'code', 'message', 'doc_url', 'request_id'],
      properties: {
        type: { type: 'string', description: 'The class of error', examples: ['invalid_request_error'] },
        code: {
          type: 'string',
          description: 'What your program looks at; new codes may come',
          examples: ['invalid_amount'],
        },
        message: { type: 'string', description: 'What is wrong and what to do, for people' },
        doc_url: { type: 'string', format: 'uri', description: 'The page about this code' },
        param: {
          type: 'string',
          description: 'The field at fault, where there is one',
          examples: ['amount'],
        },
        details: {
          type: 'object',
          description:
            'More about it, field by field, where the code has more to say; its page lists the fields',
        },
        request_id: { type: 'string', description: 'The same as the header X-Request-Id' },
      },
    },
  },
}

function operationOf(endpoint: Endpoint, context: Context): Operation {
  const parameters = [...parametersOf(endpoint, 'path', context), ...parametersOf(endpoint, 'query', context)]
  return {
    operationId: endpoint.name.replaceAll('.', '_'),
    tags: [tagOf(endpoint)],
    summary: endpoint.summary,
    description: [endpoint.description, needsOf(endpoint)].filter(Boolean).join('\n\n'),
    ...scopesOf(endpoint),
    ...(endpoint.sandbox_only ? { 'x-sandbox-only': true } : {}),
    ...(endpoint.limit_per_minute ? { 'x-limit-per-minute': endpoint.limit_per_minute } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(endpoint.body ? { requestBody: requestBodyOf(endpoint, context) } : {}),
    responses: { ...successesOf(endpoint, context), ...failuresOf(endpoint) },
  }
}

function scopesOf({ scopes }: Endpoint): Pick<Operation, 'x-scope' | 'x-scope-any'> {
  if (!scopes) return {}
  return 'all' in scopes ? { 'x-scope': scopes.all } : { 'x-scope-any': scopes.any }
}

function scopesInWords({ scopes }: Endpoint): string {
  if (!scopes) return 'Any valid key may call it.'
  const named = (list: readonly Scope[]) => list.map((scope) => `\`${scope}\``)
  if ('any' in scopes) return `Needs a key with the scope ${named(scopes.any).join(' or ')}.`
  return `Needs a key with the scope${scopes.all.length > 1 ? 's' : ''} ${named(scopes.all).join(' and ')}.`
}

function needsOf(endpoint: Endpoint): string {
  const { sandbox_only, limit_per_minute, looks_up } = endpoint
  return [
    scopesInWords(endpoint),
    sandbox_only ? 'Sandbox only: a live key is refused.' : '',
    limit_per_minute ? `Has a limit of its own: ${limit_per_minute} calls per minute.` : '',
    looks_up ? `Counts as a look-up: ${LOOKUP_PER_MINUTE} per minute.` : '',
  ]
    .filter(Boolean)
    .join(' ')
}

function parametersOf(endpoint: Endpoint, place: 'path' | 'query', context: Context): Parameter[] {
  const fields = place === 'path' ? endpoint.params : endpoint.query
  const declared = Object.keys(fields?.properties ?? {})
  if (place === 'path') {
    const named = [...endpoint.route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    assert.deepEqual(declared.toSorted(), named.toSorted(), `${endpoint.route}: params differ from its path`)
  }
  return declared.map((name) => {
    const { description, ...schema } = toJsonSchema(fields!.properties[name]!, context)
    const required =
      place === 'path' || (fields!.required as readonly string[] | undefined)?.includes(name) === true
    return { name, in: place, required, ...(description ? { description } : {}), schema }
  })
}

function requestBodyOf(endpoint: Endpoint, context: Context) {
  const schema = toJsonSchema(endpoint.body!, context)
  return {
    required: !endpoint.body_optional,
    content: { 'application/json': { schema, example: requestExample(endpoint, context.namesakes) } },
  } as const
}

function successesOf(endpoint: Endpoint, context: Context): Record<string, Response> {
  const { status, schema } = endpoint.reply
  const { dry_run } = endpoint
  const success = schema && successOf(schema, replyExample(endpoint, context.namesakes), context)
  const tried = dry_run && successOf(dry_run, exampleOf(dry_run, context.namesakes), context)
  return {
    ...(tried
      ? { 200: { description: 'With `dry_run=true`: what would happen', headers: headerRefs(200), ...tried } }
      : {}),
    [status]: { description: statusTitles[status]!, headers: headerRefs(status), ...success },
  }
}

const successOf = (schema: TSchema, example: unknown, context: Context) => ({
  content: { 'application/json': { schema: toJsonSchema(schema, context), example } },
})

function failuresOf(endpoint: Endpoint): Record<string, Response | Ref> {
  const codes = codesOf(endpoint)
  const own = new Set(statusesOf(endpoint.errors.filter((code) => !commonErrors.includes(code))))
  const answers = statusesOf(codes).map((status) => [
    status,
    own.has(status) ? failureOf(status, codes) : { $ref: `#/components/responses/${commonName(status)}` },
  ])
  return Object.fromEntries(answers)
}

/** A status that only the common errors have is told once and pointed at. */
function commonName(status: number): string {
  return `Common${status}`
}

function failureOf(status: number, all: readonly ErrorCode[]): Response {
  const codes = all.filter((code) => errors[code].status === status)
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
  const content = { schema: { $ref: '#/components/schemas/Error' }, examples }
  const description = `${statusTitles[status] ?? 'Refused'}: ${codes.map((code) => `\`${code}\``).join(', ')}`
  return { description, headers: headerRefs(status), content: { 'application/json': content } }
}

function statusesOf(codes: readonly ErrorCode[]): number[] {
  return [...new Set(codes.map((code) => errors[code].status))]
}

function codesOf({ errors: own }: Pick<Endpoint, 'errors'>): ErrorCode[] {
  const wanted = new Set([...commonErrors, ...own])
  return errorCodes.filter((code) => wanted.has(code))
}

function headerRefs(status: number): Record<string, Ref> {
  const waits = status === 429 || status === 503
  const names = Object.keys(headers).filter((name) => name !== 'Retry-After' || waits)
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function errorExamples(
  endpoints: readonly Endpoint[],
  public_url: string,
): OpenApi['components']['examples'] {
  const used = new Set([...commonErrors, ...endpoints.flatMap(codesOf)])
  const entries = errorCodes
    .filter((code) => used.has(code))
    .map((code) => [code, { summary: errors[code].message, value: errorExample(code, public_url) }])
  return Object.fromEntries(entries)
}

export function errorExample(code: ErrorCode, public_url: string) {
  const param = exampleParams[code]
  const details = exampleDetails[code]
  return new Refusal(code, { ...(param ? { param } : {}), ...(details ? { details } : {}) }).toBody({
    public_url,
    request_id: 'req_01kc3v4x9zq8rj5m2t7w6y0ahb',
  })
}

function tagOf({ name }: Endpoint): string {
  return name.split('.')[0]!
}

function tagsOf(endpoints: readonly Endpoint[]): Tag[] {
  const used = new Set(endpoints.map(tagOf))
  const ordered = [...Object.keys(tags).filter((name) => used.has(name)), ...used]
  return [...new Set(ordered)].map((name) => {
    const [title, description] = tags[name] ?? [name]
    return { name, 'x-displayName': title, ...(description ? { description } : {}) }
  })
}

function assertUniqueIds({ paths }: OpenApi): void {
  const ids = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  assert.equal(new Set(ids).size, ids.length, 'two endpoints have the same name')
}

/** What is carried along: the named schemas found so far, and examples to borrow. */
type Context = { readonly schemas: Map<string, JsonSchema>; readonly namesakes: Namesakes }

function toJsonSchema(schema: object, context: Context): JsonSchema {
  const { $id, ...rest } = schema as { $id?: string } & Record<string, unknown>
  if ($id === undefined) return translate(rest, context)
  const translated = { ...translate(rest, context), examples: [exampleOf(schema, context.namesakes)] }
  assert.deepEqual(context.schemas.get($id) ?? translated, translated, `two schemas are named ${$id}`)
  context.schemas.set($id, translated)
  return { $ref: `#/components/schemas/${$id}` }
}

function translate(schema: Readonly<Record<string, unknown>>, context: Context): JsonSchema {
  const translated = Object.entries(schema).map(([keyword, value]) => [
    keyword,
    translateKeyword(keyword, value, context),
  ])
  const { patternProperties, format, ...rest } = Object.fromEntries(translated) as Record<string, unknown>
  if (rest.discriminator) rest.discriminator = mapped(schema as never, rest.oneOf as Ref[])
  return {
    // An enumeration of texts has no type of its own here, but generators want one.
    ...(Array.isArray(rest.enum) && rest.enum.every((value) => typeof value === 'string')
      ? { type: 'string' }
      : {}),
    ...rest,
    // Formats that only this server knows say nothing to a reader.
    ...(format === undefined || String(format) in formats ? {} : { format }),
    ...(patternProperties === undefined
      ? {}
      : { additionalProperties: Object.values(patternProperties as object)[0] }),
  } as JsonSchema
}

/** Readers of the document find the alternative by the value that names it. */
function mapped(
  schema: {
    discriminator: { propertyName: string }
    oneOf: { properties: Record<string, { const: string }> }[]
  },
  refs: readonly Ref[],
) {
  const { propertyName } = schema.discriminator
  const names = schema.oneOf.map(({ properties }) => properties[propertyName]!.const)
  return { propertyName, mapping: Object.fromEntries(names.map((name, i) => [name, refs[i]!.$ref])) }
}

function translateKeyword(keyword: string, value: unknown, context: Context): unknown {
  switch (keyword) {
    case 'properties':
    case 'patternProperties': {
      const fields = Object.entries(value as Record<string, object>)
      return Object.fromEntries(fields.map(([name, field]) => [name, toJsonSchema(field, context)]))
    }
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
      return (value as object[]).map((variant) => toJsonSchema(variant, context))
    case 'items':
    case 'propertyNames':
    case 'additionalProperties':
      return typeof value === 'object' ? toJsonSchema(value as object, context) : value
    default:
      return value
  }
}
