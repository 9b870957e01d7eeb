import fc, { type Arbitrary } from 'fast-check'
import { networks } from '../../../src/core/networks.ts'
import { misfit, type Operation, operations } from './document.ts'
import { destinations, ids, placeholder, valuesOf } from './values.ts'

/** Whose key a request carries. */
const callers = [
  'full',
  'few',
  'live',
  'other',
  'limited',
  'revoked',
  'expired',
  'elsewhere',
  'wrong',
  'none',
] as const
export type CallerName = (typeof callers)[number]

/** A request as it will be sent, but for placeholders. */
export type Plan = {
  readonly operation: Operation
  readonly caller: CallerName
  readonly method: string
  readonly path: string
  readonly query: readonly (readonly [string, string])[]
  readonly headers: Readonly<Record<string, string | string[]>>
  /** Text as it goes out, or undefined for none. */
  readonly body: string | undefined
  /** What was done to it, if it was made wrong. */
  readonly twist: string | undefined
}

const callersOf: Arbitrary<CallerName> = fc.oneof(
  { weight: 130, arbitrary: fc.constant<CallerName>('full') },
  { weight: 14, arbitrary: fc.constant<CallerName>('few') },
  { weight: 14, arbitrary: fc.constant<CallerName>('live') },
  ...(['other', 'limited', 'revoked', 'expired', 'elsewhere', 'wrong', 'none'] as const).map((name) => ({
    weight: 3,
    arbitrary: fc.constant<CallerName>(name),
  })),
)

/** Seconds that a call may take to answer: the fuzzer has no patience. */
const WAITS = ['wait']
const soon = fc.constantFrom('0', '1')

/** A request that the schemas allow. */
export function allowed(operation: Operation): Arbitrary<Plan> {
  const inPath = operation.parameters.filter((each) => each.in === 'path')
  const inQuery = operation.parameters.filter((each) => each.in === 'query')
  const path = fc
    .record(
      Object.fromEntries(
        inPath.map(({ name, schema }) => [
          name,
          name === 'end_to_end_id' ? ids('payment') : valuesOf(schema),
        ]),
      ),
    )
    .map((values) =>
      operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodePart(String(values[name]))),
    )
  const query = fc
    .record(
      Object.fromEntries(
        inQuery.map(({ name, schema }) => [name, WAITS.includes(name) ? soon : valuesOf(schema)]),
      ),
      {
        requiredKeys: inQuery.filter(({ required }) => required).map(({ name }) => name),
      },
    )
    // Few filters at a time, so that lists have something to show.
    .chain((values) =>
      fc.subarray(Object.entries(values), { maxLength: Math.min(3, Object.keys(values).length) }),
    )
    .map((entries) => entries.map(([name, value]) => [name, String(value)] as const))
  const some = operation.body ? valuesOf(operation.body).map((value) => together(value)) : undefined
  const body = some
    ? operation.body_optional
      ? fc.option(some, { nil: undefined })
      : some
    : fc.constant(undefined)
  return fc.record({ path, query, body, caller: callersOf }).map(({ body, ...rest }) => ({
    operation,
    method: operation.method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    twist: undefined,
    ...rest,
  }))
}

/** Placeholders stay readable: they are filled in, and encoded, when the request is sent. */
const encodePart = (text: string) =>
  text
    .split(/(«[^»]*»)/)
    .map((part) => (part.startsWith('«') ? part : encodeURIComponent(part.toWellFormed())))
    .join('')

/** Fields that must go together mostly do, and a price is rarely so old that nothing can be quoted. */
function together(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && 'age_seconds' in value)
    return { ...value, age_seconds: value.age_seconds === 86_400 ? 86_400 : 0 }
  if (typeof value === 'object' && value !== null && 'counterparty' in value) return toOneself(value as never)
  if (typeof value !== 'object' || value === null || !('destination_address' in value)) return value
  const { destination_address, amount } = value as Record<string, string>
  if (String(amount).endsWith('7')) return value
  const [network] = destinations.find(([, address]) => address === destination_address) ?? destinations[0]
  return { ...value, network, asset: networks[network].asset }
}

/** An account of the customer's own. */
function toOneself(order: { customer_id: string; counterparty: Json }): unknown {
  const [, , , which = '0'] = order.customer_id.replace('»', '').split(':')
  if (order.counterparty.type !== 'bank_account') return order
  return { ...order, counterparty: { ...order.counterparty, document: placeholder('document', which) } }
}

const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  '0',
  '-1',
  '01',
  '1e3',
  '٣',
  'x'.repeat(5000),
  '\u0000',
  '\u202e',
  '\ud800',
  '😀'.repeat(300),
  [],
  [[]],
  {},
  { a: 1 },
  '__proto__',
  'null',
  '../..',
  "' OR 1=1 --",
  '%00',
  'ﬀ',
]

const odd = fc.constantFrom(...oddValues)
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

type Twist = (plan: Plan) => Arbitrary<Plan | undefined>
type Json = Record<string, unknown>

const bodyOf = (plan: Plan): Json => (plan.body === undefined ? {} : (JSON.parse(plan.body) as Json))
const withBody = (plan: Plan, body: string): Plan => ({
  ...plan,
  body,
  headers: { ...plan.headers, 'content-type': 'application/json' },
})

/** Every place in a value, as a path of keys. */
function placesOf(value: unknown, at: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...at]]
  const inner = Object.entries(value).flatMap(([key, part]) => placesOf(part, [...at, key]))
  return [[...at], ...inner].filter((place) => place.length > 0)
}

function put(value: unknown, [key, ...rest]: readonly string[], part: unknown): unknown {
  if (key === undefined) return part
  const copy: any = Array.isArray(value) ? [...value] : { ...(value as Json) }
  if (part === undefined && rest.length === 0) delete copy[key]
  else copy[key] = put(copy[key], rest, part)
  return copy
}

const inBody =
  (change: (body: Json, place: readonly string[]) => Arbitrary<string>): Twist =>
  (plan) => {
    if (plan.body === undefined) return fc.constant(undefined)
    const body = bodyOf(plan)
    const places = placesOf(body)
    if (places.length === 0) return fc.constant(undefined)
    return fc
      .constantFrom(...places)
      .chain((place) => change(body, place))
      .map((text) => withBody(plan, text))
  }

const raw =
  (...texts: readonly string[]): Twist =>
  (plan) =>
    fc.constantFrom(...texts).map((text) => (plan.method === 'GET' ? undefined : withBody(plan, text)))

const header =
  (name: string, ...values: readonly (string | string[])[]): Twist =>
  (plan) =>
    fc.constantFrom(...values).map((value) => ({ ...plan, headers: { ...plan.headers, [name]: value } }))

const query =
  (...entries: readonly (readonly [string, string])[]): Twist =>
  (plan) =>
    fc.constantFrom(...entries).map((entry) => ({ ...plan, query: [...plan.query, entry] }))

const path =
  (...changes: readonly ((path: string) => string)[]): Twist =>
  (plan) =>
    fc.constantFrom(...changes).map((change) => ({ ...plan, path: change(plan.path) }))

/** Ways to make a request wrong, or only strange. */
const twists: Readonly<Record<string, Twist>> = {
  'a field of another type': inBody((body, place) =>
    odd.map((value) => JSON.stringify(put(body, place, value))),
  ),
  'a field missing': inBody((body, place) => fc.constant(JSON.stringify(put(body, place, undefined)))),
  'a field too many': inBody((body) =>
    fc
      .constantFrom('no_such_field', '__proto__', 'constructor', 'Amount', 'dry_run', 'ﬀ', '')
      .map(
        (name) =>
          `${JSON.stringify(body).slice(0, -1)}${Object.keys(body).length > 0 ? ',' : ''}"${name}":1}`,
      ),
  ),
  'a text too long': inBody((body, place) =>
    fc
      .constantFrom(121, 141, 201, 256, 501, 2049, 9000)
      .map((n) => JSON.stringify(put(body, place, 'a'.repeat(n)))),
  ),
  'a number too large': inBody((body, place) =>
    fc
      .constantFrom('1e400', '-0', '123456789012345678901234567890', '0.1e-400', '1E5')
      .map((number) => JSON.stringify(put(body, place, '«number»')).replace('"«number»"', number)),
  ),
  'a field twice': inBody((body) =>
    fc.constant(`${JSON.stringify(body).slice(0, -1)},"amount":"1","amount":"2"}`),
  ),
  'deep nesting': inBody((body, place) =>
    fc
      .constantFrom(20, 33, 2000)
      .map((n) => JSON.stringify(put(body, place, '«deep»')).replace('"«deep»"', deep(n))),
  ),
  'no JSON': raw(
    '{',
    '',
    '\u0000',
    'null',
    '[]',
    '"x"',
    '{"a":1}}',
    '{"a":\'b\'}',
    'NaN',
    '\ufeff{}',
    '{"a":"\\ud800"}',
  ),
  'a large body': raw(`{"name":"${'x'.repeat(70_000)}"}`, ' '.repeat(66_000)),
  'a body where none is asked for': raw('{}', '{"a":1}', '[1]', 'true'),
  'another content type': header(
    'content-type',
    'text/plain',
    'application/xml',
    'application/json; charset=latin1',
    'multipart/form-data; boundary=x',
    '',
    'application/json;;',
    'APPLICATION/JSON; charset="UTF-8"',
    `application/json${' '.repeat(9000)}`,
    ['a/b', 'c/d'],
  ),
  'a content encoding': header('content-encoding', 'gzip', 'identity', 'br', ''),
  'an odd header': (plan) =>
    fc
      .constantFrom<[string, string | string[]]>(
        ['accept', 'text/html;q=0'],
        ['expect', '100-continue'],
        ['expect', 'x'],
        ['x-http-method-override', 'DELETE'],
        ['host', 'evil.example'],
        ['cookie', 'a=b; c'],
        ['range', 'bytes=0-1'],
        ['if-none-match', '*'],
        ['te', 'trailers'],
        ['x-request-id', 'mine'],
        ['idempotency-key', 'abc'],
        ['x-forwarded-for', 'x, ::1, 999.1.1.1'],
        ['upgrade', 'h2c'],
        ['x-big', 'y'.repeat(20_000)],
        ['accept-encoding', 'gzip, br'],
        ['origin', 'null'],
        ['x-odd', '\u00e9\u00ff'],
      )
      .map(([name, value]) => ({ ...plan, headers: { ...plan.headers, [name]: value } })),
  'an odd key': header(
    'authorization',
    'Bearer',
    'bearer x',
    'Basic eDp5',
    '',
    'Bearer  ',
    ['Bearer a', 'Bearer b'],
    `Bearer ${'k'.repeat(4000)}`,
  ),
  'an odd query': query(
    ['no_such_field', '1'],
    ['limit', '0'],
    ['limit', '101'],
    ['limit', '1e1'],
    ['limit', ''],
    ['cursor', ''],
    ['cursor', 'eyJhIjoxfQ'],
    ['cursor', 'x'.repeat(600)],
    ['status', 'x'],
    ['customer_id', '%00'],
    ['__proto__', '1'],
    ['a[b]', '1'],
    ['', ''],
    ['created_after', 'yesterday'],
    ['created_after', '0001-01-01T00:00:00Z'],
    ['after', 'x'],
    ['created_before', '9999-12-31T23:59:60Z'],
    ['asset', 'brl'],
    ['dry_run', 'TRUE'],
    ['dry_run', '1'],
    ['wait', '-1'],
  ),
  'a field of the query twice': (plan) =>
    fc.constant({
      ...plan,
      query: [
        ...plan.query,
        ...(plan.query.length > 0 ? [plan.query[0]!] : [['limit', '2'] as const, ['limit', '2'] as const]),
      ],
    }),
  'a broken query': (plan) =>
    fc
      .constantFrom('?&&=', '?%', '?a=%ff%fe', '?limit=%zz', '?=1&=2', '?a=b?c=d', '?;')
      .map((text) => ({ ...plan, query: [], path: plan.path + text })),
  'an odd path': path(
    (text) => `${text}/`,
    (text) => `/${text}`,
    (text) => text.toUpperCase(),
    (text) => `${text}/%2e%2e`,
    (text) => `${text}%00`,
    (text) => `${text}%ff`,
    (text) => `${text};a=b`,
    (text) => `${text}/x`,
    (text) => `${text}%2fx`,
    (text) => text.replace('/v1', '/v2'),
    (text) => text.replace('/v1/', '/v1//'),
    () => '/v1',
    () => '/v1/%',
    () => '*',
    (text) => `${text}${'a'.repeat(300)}`,
    (text) => text.replace(/«[^»]*»/, '%20'),
    (text) => text.replace(/«[^»]*»/, "a'b"),
  ),
  'another method': (plan) =>
    fc
      .constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND')
      .map((method) => ({ ...plan, method })),
}

/** All operations alike, two thirds of the requests as the schemas want them. */
export function plans(): Arbitrary<Plan> {
  const names = Object.keys(twists)
  return fc.oneof(
    ...operations.map((operation) => {
      const right = allowed(operation)
      const twisted = fc
        .tuple(right, fc.constantFrom(...names))
        .chain(([plan, twist]) => twists[twist]!(plan).map((made) => (made ? { ...made, twist } : plan)))
      return fc.oneof({ weight: 2, arbitrary: right }, { weight: 1, arbitrary: twisted })
    }),
  )
}

/** After these the schemas alone no longer tell what must come. */
const beyondSchemas = [
  'a large body',
  'a number too large',
  'a field twice',
  'another content type',
  'a content encoding',
  'an odd header',
  'an odd key',
  'a broken query',
  'an odd path',
  'another method',
]

/** Of a request that is otherwise in order: does it say what the schemas allow? Undefined: they do not tell. */
export function isAllowed(plan: Plan, sent: { path: string; body: string | undefined }): boolean | undefined {
  const { operation, twist = '' } = plan
  if (beyondSchemas.includes(twist)) return undefined
  const [path = '', search = ''] = sent.path.split('?')
  return isPath(operation, path) && isQuery(operation, search) && isBody(operation, sent.body)
}

function isPath({ path, parameters }: Operation, sent: string): boolean {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  const values = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`).exec(sent)?.slice(1) ?? []
  return names.every((name, i) => {
    const { schema } = parameters.find((each) => each.in === 'path' && each.name === name)!
    return values[i] !== undefined && !misfit(schema, decodeURIComponent(values[i]), 'request')
  })
}

function isQuery({ parameters }: Operation, search: string): boolean {
  const entries = [...new URLSearchParams(search)]
  const names = entries.map(([name]) => name)
  if (new Set(names).size < names.length) return false
  return entries.every(([name, text]) => {
    const parameter = parameters.find((each) => each.in === 'query' && each.name === name)
    return (
      parameter !== undefined && !misfit(parameter.schema, readAs(parameter.schema.type, text), 'request')
    )
  })
}

/** A number or a truth value is written in one way only. */
function readAs(type: string | undefined, text: string): unknown {
  if (type === 'integer' && /^(0|[1-9][0-9]*)$/.test(text)) return Number(text)
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

function isBody({ body: schema, body_optional }: Operation, text: string | undefined): boolean {
  if (!schema) return text === undefined || text === '' || text === '{}'
  if (text === undefined || text === '') return body_optional
  // JSON can write half a surrogate pair, but it is no text.
  if (/\\ud[89a-f]/i.test(text)) return false
  try {
    return !misfit(schema, JSON.parse(text), 'request')
  } catch {
    return false
  }
}
