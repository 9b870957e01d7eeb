import assert from 'node:assert/strict'
import type { Scope } from '../../core/actor.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { type Endpoint, methodAndPath, type Repeat, repeatOf } from '../../http/endpoint.ts'
import { LOOKUP_PER_MINUTE, REDELIVERIES_PER_MINUTE } from '../../limits/tiers.ts'
import {
  type EventSample,
  type Webhook,
  webhookParameters,
  webhookResponses,
  webhooksOf,
} from './event-webhooks.ts'
import { collectNamesakes, requestExample } from './example.ts'
import { type Context, type JsonSchema, type Ref, toJsonSchema } from './json-schema.ts'
import { operationId } from './links.ts'
import {
  type Content,
  codesOf,
  errorExamples,
  errorResponses,
  errorSchemas,
  headers,
  type Response,
  responsesOf,
} from './responses.ts'

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

export type Operation = {
  readonly operationId: string
  readonly tags: readonly [string]
  readonly summary: string
  /** The last paragraph says which scopes a key needs. */
  readonly description: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response | Ref>>
  /** The name in clients: a group and a verb. */
  readonly 'x-name': string
  readonly 'x-repeat': Repeat
  /** Every error code that the operation may return. */
  readonly 'x-errors': readonly ErrorCode[]
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
  readonly webhooks: Readonly<Record<string, Webhook>>
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, unknown>>
    readonly headers: Readonly<Record<string, unknown>>
    readonly parameters: Readonly<Record<string, unknown>>
    readonly responses: Readonly<Record<string, Response | { readonly description: string }>>
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly examples: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>
  }
}

/** In reading order. */
const tags: Readonly<Record<string, readonly [title: string, description: string]>> = {
  customers: [
    'Customers',
    'The people and companies whose money you move, with their balances and statements.',
  ],
  deposits: ['Deposits', 'Money that came in, with what the operator credited.'],
  deposit_addresses: ['Deposit addresses', 'Where customers pay in on a network.'],
  pix: [
    'Pix',
    'Payments from a BRL balance to a Pix key or a bank account, and charges that are paid into a balance.',
  ],
  payouts: ['Pix payouts', 'Payments from a BRL balance to a Pix key or a bank account.'],
  onchain: ['On-chain', 'USDT and BTC sent to an address outside.'],
  transfers: ['On-chain transfers', 'USDT and BTC sent to an address outside.'],
  quotes: ['Quotes', 'A price that holds for 30 seconds, and its execution.'],
  trades: ['Trades', 'Conversions that were executed.'],
  prices: ['Prices', 'The current price of each pair.'],
  webhook_endpoints: ['Webhook endpoints', 'Where your server is told what happened.'],
  webhook_events: [
    'Webhook events',
    'What is sent to your webhook endpoints. Types may be added: ignore those that you do not know.',
  ],
  events: ['Events', 'Everything that happened, to be read again from any point.'],
  requests: ['Requests', 'What was asked for with your keys, and the status of each response.'],
  account: ['Account', 'Your own tier, fees and earnings.'],
  usage: ['Usage', 'What is left of the limits of a key.'],
  sandbox: ['Sandbox', 'Test money and simulated networks. These calls refuse a live key.'],
}

export function buildOpenApi(options: {
  endpoints: readonly Endpoint[]
  /** One sample per event type. */
  events: readonly EventSample[]
  public_url: string
  version: string
}): OpenApi {
  const { endpoints, events, public_url, version } = options
  const context: Context = { schemas: new Map(), namesakes: collectNamesakes(endpoints) }
  const paths: Record<string, Record<string, Operation>> = {}
  for (const endpoint of endpoints) {
    const { method, path } = methodAndPath(endpoint)
    const methods = (paths[path] ??= {})
    assert(!(method.toLowerCase() in methods), `${endpoint.route} is declared twice`)
    methods[method.toLowerCase()] = operationOf(endpoint, endpoints, context)
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
    tags: tagsOf(endpoints, events),
    paths,
    webhooks: webhooksOf(events, context),
    components: {
      securitySchemes: { api_key: securityScheme },
      headers,
      parameters: webhookParameters,
      responses: { ...errorResponses(endpoints), ...webhookResponses },
      schemas: { ...Object.fromEntries(context.schemas), ...errorSchemas(public_url, context) },
      examples: errorExamples(endpoints, public_url),
    },
  }
  assertUniqueIds(document)
  // TypeBox schemas have hidden symbol properties for the type checker; serialising drops them.
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

function operationOf(endpoint: Endpoint, endpoints: readonly Endpoint[], context: Context): Operation {
  const parameters = [...parametersOf(endpoint, 'path', context), ...parametersOf(endpoint, 'query', context)]
  return {
    operationId: operationId(endpoint),
    tags: [tagOf(endpoint)],
    summary: endpoint.summary,
    description: [endpoint.description, needsOf(endpoint)].filter(Boolean).join('\n\n'),
    'x-name': endpoint.name,
    'x-repeat': repeatOf(endpoint),
    'x-errors': codesOf(endpoint),
    ...scopesOf(endpoint),
    ...(endpoint.sandbox_only ? { 'x-sandbox-only': true } : {}),
    ...(endpoint.limit_per_minute ? { 'x-limit-per-minute': endpoint.limit_per_minute } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(endpoint.body ? { requestBody: requestBodyOf(endpoint, context) } : {}),
    responses: responsesOf(endpoint, endpoints, context),
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
  const { sandbox_only, limit_per_minute, looks_up, redelivers } = endpoint
  return [
    scopesInWords(endpoint),
    sandbox_only ? 'Sandbox only: a live key is refused.' : '',
    limit_per_minute ? `Has a limit of its own: ${limit_per_minute} calls per minute.` : '',
    looks_up === 'always' ? `Counts as a look-up: ${LOOKUP_PER_MINUTE} per minute.` : '',
    looks_up === 'dry_run' ? `A dry run counts as a look-up: ${LOOKUP_PER_MINUTE} per minute.` : '',
    redelivers ? `Counts as a redelivery: ${REDELIVERIES_PER_MINUTE} per minute.` : '',
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
    const { description, ...schema } = toJsonSchema(fields!.properties[name]!, place, context)
    const required =
      place === 'path' || (fields!.required as readonly string[] | undefined)?.includes(name) === true
    return { name, in: place, required, ...(description ? { description } : {}), schema }
  })
}

function requestBodyOf(endpoint: Endpoint, context: Context) {
  const schema = toJsonSchema(endpoint.body!, 'body', context)
  return {
    required: !endpoint.body_optional,
    content: { 'application/json': { schema, example: requestExample(endpoint, context.namesakes) } },
  } as const
}

function tagOf({ name }: Endpoint): string {
  return name.split('.')[0]!
}

function tagsOf(endpoints: readonly Endpoint[], events: readonly EventSample[]): Tag[] {
  const used = new Set([...endpoints.map(tagOf), ...(events.length > 0 ? ['webhook_events'] : [])])
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
