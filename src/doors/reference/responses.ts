import type { TSchema } from 'typebox'
import { type ErrorCode, errorCodes, errors, Refusal } from '../../core/errors.ts'
import { type Endpoint, errorsOf, repeatOf } from '../../http/endpoint.ts'
import { errorDetails } from '../../http/error-details.ts'
import { findLocation } from '../../http/location.ts'
import { exampleOf, replyExample } from './example.ts'
import { type Context, type JsonSchema, type Ref, toJsonSchema } from './json-schema.ts'
import { linksOf, type OpenApiLink } from './links.ts'

/** Responses: each operation has its own success responses and refers to one shared response per error status. */
export type Response = {
  readonly description: string
  readonly headers: Readonly<Record<string, Ref>>
  readonly content?: ResponseContent
  readonly links?: Readonly<Record<string, OpenApiLink>>
}

type JsonContent = {
  readonly schema: JsonSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, Ref>>
}

export type Content = { readonly 'application/json': JsonContent }

/** JSON, or a file. */
export type ResponseContent = Partial<Content> & {
  readonly 'application/pdf'?: { readonly schema: JsonSchema }
}

const statusTitles: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Created',
  204: 'Done; no content',
  304: 'The file has not changed; no content',
  400: 'The request is not well formed',
  401: 'No valid API key',
  403: 'Not allowed',
  404: 'Not found',
  408: 'The request did not arrive in time',
  409: 'In conflict with what exists',
  413: 'The body is too large',
  415: 'Not JSON',
  422: 'Refused by a business rule',
  429: 'Too many requests',
  431: 'The headers are too large',
  500: 'A fault of the service',
  503: 'Not available right now',
}

const whole = (example: number) => ({ type: 'integer', minimum: 0, examples: [example] })

export const headers = {
  'X-Request-Id': {
    description: 'Names this request. Quote it when you ask for help.',
    required: true,
    schema: { type: 'string', examples: ['req_01kc3v4x9zq8rj5m2t7w6y0ahb'] },
  },
  'X-RateLimit-Limit': { description: 'Requests per minute.', required: true, schema: whole(100) },
  'X-RateLimit-Remaining': {
    description: 'Requests left in the current minute.',
    required: true,
    schema: whole(99),
  },
  'X-RateLimit-Reset': {
    description: 'Unix time, in seconds, at which the current minute ends.',
    required: true,
    schema: whole(1794744060),
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    required: true,
    schema: { type: 'integer', minimum: 1, examples: [12] },
  },
  'Idempotent-Replayed': {
    description: 'There when this is the response to an earlier request, given again.',
    schema: { type: 'string', enum: ['true'] },
  },
  Location: {
    description: 'Where what was made can be read.',
    required: true,
    schema: { type: 'string', examples: ['/v1/customers/cus_01kc3v4x9zq8rj5m2t7w6y0ahb'] },
  },
  ETag: {
    description:
      'Identifies the bytes of the file. Send it as If-None-Match to get 304 while they are the same.',
    required: true,
    schema: { type: 'string', examples: ['"Wq3bY0o5n1m8xk2v7c9d4f6g1h3j5k7l9z0a2s4d6f8"'] },
  },
  'WWW-Authenticate': {
    description: 'How to send a key.',
    required: true,
    schema: { type: 'string', examples: ['Bearer'] },
  },
} as const

type HeaderName = keyof typeof headers

const always: readonly HeaderName[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
]

const headerRefs = (...more: readonly HeaderName[]): Record<string, Ref> =>
  Object.fromEntries([...always, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }]))

export function responsesOf(
  endpoint: Endpoint,
  endpoints: readonly Endpoint[],
  context: Context,
): Record<string, Response | Ref> {
  const refs = statusesOf(errorsOf(endpoint)).map((status) => [
    status,
    { $ref: `#/components/responses/${errorName(status)}` },
  ])
  return { ...successesOf(endpoint, endpoints, context), ...Object.fromEntries(refs) }
}

function successesOf(
  endpoint: Endpoint,
  endpoints: readonly Endpoint[],
  context: Context,
): Record<string, Response> {
  const { status, schema, file } = endpoint.reply
  if (file) return fileResponses(file)
  const { dry_run } = endpoint
  const success = schema && successOf(schema, replyExample(endpoint, context.namesakes), context)
  const tried = dry_run && successOf(dry_run, exampleOf(dry_run, context.namesakes), context)
  const links = linksOf(endpoint, endpoints)
  return {
    ...(tried
      ? { 200: { description: 'With `dry_run=true`: what would happen', headers: headerRefs(), ...tried } }
      : {}),
    [status]: {
      description: statusTitles[status]!,
      headers: headerRefs(
        ...(replays(endpoint) ? (['Idempotent-Replayed'] as const) : []),
        ...(findLocation(endpoint, endpoints) ? (['Location'] as const) : []),
      ),
      ...success,
      ...(Object.keys(links).length > 0 ? { links } : {}),
    },
  }
}

/** OpenAPI 3.1 has `contentMediaType`; `format: binary` is for the tools that know only that. */
function fileResponses(type: NonNullable<Endpoint['reply']['file']>): Record<string, Response> {
  const schema = { type: 'string', format: 'binary', contentMediaType: type }
  const headers = headerRefs('ETag')
  return {
    200: { description: 'The file', headers, content: { [type]: { schema } } },
    304: { description: statusTitles[304]!, headers },
  }
}

const replays = (endpoint: Endpoint) =>
  repeatOf(endpoint) === 'idempotency_key' ||
  (repeatOf(endpoint) === 'idempotent' && endpoint.reply.status === 201)

const successOf = (schema: TSchema, example: unknown, context: Context) => ({
  content: { 'application/json': { schema: toJsonSchema(schema, 'reply', context), example } },
})

const errorName = (status: number) => `Error${status}`

/** One response per error status in use, listing all codes of that status. */
export function errorResponses(endpoints: readonly Endpoint[]): Record<string, Response> {
  return Object.fromEntries(
    statusesOf(endpoints.flatMap(errorsOf)).map((status) => [errorName(status), failureOf(status)]),
  )
}

function failureOf(status: number): Response {
  const codes = errorCodes.filter((code) => errors[code].status === status)
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
  const content = { schema: { $ref: '#/components/schemas/Error' }, examples }
  const description = `${statusTitles[status] ?? 'Refused'}: ${codes.map((code) => `\`${code}\``).join(', ')}`
  return { description, headers: failureHeaders(status), content: { 'application/json': content } }
}

function failureHeaders(status: number): Record<string, Ref> {
  if (status === 429 || status === 503) return headerRefs('Retry-After')
  if (status === 401) return headerRefs('WWW-Authenticate')
  // A refusal by a business rule is stored under the idempotency key and replayed.
  if (status === 422) return headerRefs('Idempotent-Replayed')
  return headerRefs()
}

function statusesOf(codes: readonly ErrorCode[]): number[] {
  return [...new Set(codes.map((code) => errors[code].status))].toSorted((a, b) => a - b)
}

/** The error codes of an endpoint, in the order of the catalogue. */
export function codesOf(endpoint: Endpoint): ErrorCode[] {
  const wanted = new Set(errorsOf(endpoint))
  return errorCodes.filter((code) => wanted.has(code))
}

export function errorExamples(
  endpoints: readonly Endpoint[],
  public_url: string,
): Record<string, { summary: string; value: unknown }> {
  const statuses = statusesOf(endpoints.flatMap(errorsOf))
  const shown = errorCodes.filter((code) => statuses.includes(errors[code].status))
  return Object.fromEntries(
    shown.map((code) => [code, { summary: errors[code].message, value: errorExample(code, public_url) }]),
  )
}

/** Codes whose example shows that `param` is set. */
const exampleParams: Partial<Record<ErrorCode, string>> = {
  invalid_request: 'name',
  invalid_amount: 'amount',
  invalid_pix_key: 'counterparty.pix_key',
  invalid_address: 'destination_address',
  unsupported_network: 'network',
  customer_exists: 'document',
  limit_exceeded: 'amount',
}

export function errorExample(code: ErrorCode, public_url: string) {
  const param = exampleParams[code]
  const details = errorDetails[code] && (exampleOf(errorDetails[code], new Map()) as Record<string, unknown>)
  return new Refusal(code, { ...(param ? { param } : {}), ...(details ? { details } : {}) }).toBody({
    public_url,
    request_id: 'req_01kc3v4x9zq8rj5m2t7w6y0ahb',
  })
}

const pascal = (name: string) =>
  name.replaceAll(/(?:^|[_.])(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The schemas of the error object, and of the `details` of each code that has them. */
export function errorSchemas(public_url: string, context: Context): Record<string, JsonSchema> {
  const details = Object.entries(errorDetails).map(([code, schema]) => {
    const { examples = [exampleOf(schema, context.namesakes)], ...told } = toJsonSchema(
      schema,
      'reply',
      context,
    )
    return [
      `${pascal(code)}Details`,
      { ...told, description: `\`error.details\` of \`${code}\``, 'x-code': code, examples },
    ] as const
  })
  return {
    Error: {
      ...errorSchema(details.map(([name]) => name)),
      examples: [errorExample('invalid_amount', public_url)],
    },
    ...Object.fromEntries(details),
  }
}

const errorSchema = (details: readonly string[]): JsonSchema => ({
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['type', 'code', 'message', 'doc_url', 'request_id'],
      properties: {
        type: {
          type: 'string',
          'x-known-values': [...new Set(Object.values(errors).map(({ type }) => type))],
          description: 'The class of error; decide by it where you do not know the code',
          examples: ['invalid_request_error'],
        },
        code: {
          type: 'string',
          'x-known-values': errorCodes,
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
          description: 'More about it, field by field, where the code has more to say',
          // The open object at the end allows `details` of future codes.
          anyOf: [...details.map((name) => ({ $ref: `#/components/schemas/${name}` })), { type: 'object' }],
        },
        request_id: { type: 'string', description: 'The same as the header X-Request-Id' },
      },
    },
  },
})
