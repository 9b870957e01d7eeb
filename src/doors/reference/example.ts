import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { maskDocument } from '../../core/document.ts'
import { type Asset, assets } from '../../core/money.ts'
import type { Endpoint } from '../../http/endpoint.ts'

type Schema = {
  readonly type?: string
  readonly format?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly examples?: readonly unknown[]
}

type Fields = Readonly<Record<string, unknown>>

/** Example values by field name, for fields that declare no example. */
export type Namesakes = ReadonlyMap<string, unknown>

/** Fields whose meaning depends on the object, so an example of another object would be wrong. */
const neverBorrowed = ['id', 'type', 'status', 'url']

export function collectNamesakes(endpoints: readonly Endpoint[]): Namesakes {
  const found = new Map<string, unknown>()
  const visit = (schema: Schema): void => {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const example = field.examples?.[0]
      if (example !== undefined && !found.has(name) && !neverBorrowed.includes(name)) found.set(name, example)
      visit(field)
    }
    for (const inner of [schema.items, ...(schema.anyOf ?? [])]) if (inner) visit(inner)
  }
  for (const { body, reply, params, query, dry_run } of endpoints) {
    for (const schema of [body, reply.schema, params, query, dry_run]) if (schema) visit(schema as Schema)
  }
  return found
}

export function requestExample(endpoint: Endpoint, namesakes: Namesakes): unknown {
  return endpoint.example ?? exampleOf(endpoint.body as Schema, namesakes)
}

/** The response of an endpoint to its own example request. */
export function replyExample(endpoint: Endpoint, namesakes: Namesakes): unknown {
  const schema = endpoint.reply.schema as Schema
  const example = exampleOf(schema, namesakes)
  const { state } = endpoint.reply
  const given = state === undefined ? schema.examples?.[0] : givenIn(schema, state)
  if (schema.properties === undefined || given !== undefined) return given ?? example
  const shown = { ...(state === undefined ? (example as Fields) : inState(schema, state, namesakes)) }
  return withDecimals({ ...shown, ...echoed(endpoint, schema.properties) })
}

/** States in which a field has a value; in other states it is null or absent. */
const valuedIn: Readonly<Record<string, readonly string[]>> = {
  completed_at: ['completed', 'confirmed'],
  end_to_end_id: ['completed'],
  failed_at: ['failed'],
  // Only the events about returns show it.
  amount_returned: [],
  failure: ['failed'],
  tx_hash: ['processing', 'confirmed', 'failed'],
  trade_id: ['executed'],
  disabled_at: ['disabled'],
  disabled_reason: ['disabled'],
  failing_since: ['disabled'],
  // Set only during the rotation of a secret, which no example shows.
  previous_secret_until: [],
}

/** Whether the field can have a value in this state. A deposit, unlike a transfer, has the hash of its transaction in every state. */
export const hasValueIn = (field: string, state: unknown, fields: Fields = {}): boolean =>
  state === undefined ||
  (field === 'tx_hash' && 'output_index' in fields) ||
  // Only a completed payout or deposit is returned, and only the events about returns show the amount.
  (field === 'amount_returned' && field in fields && state === 'completed') ||
  (valuedIn[field]?.includes(String(state)) ?? true)

/** An object may declare examples of its own, one for a state. */
const givenIn = ({ examples = [] }: Schema, state: string | undefined): Fields | undefined =>
  (examples as readonly Fields[]).find(({ status }) => status !== undefined && status === state)

/** The example of an object in the given state. */
export function inState(schema: object, state: string | undefined, namesakes: Namesakes): Fields {
  const given = givenIn(schema as Schema, state)
  if (given) return given
  const { properties = {}, required = [] } = schema as Schema
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    if (name === 'status') return [[name, state] as const]
    if (hasValueIn(name, state)) return [[name, exampleOf(field, namesakes, name)] as const]
    if (!required.includes(name)) return []
    const nullable = field.anyOf?.some(({ type }) => type === 'null')
    return [[name, nullable ? null : exampleOf(field, namesakes, name)] as const]
  })
  return withDecimals(Object.fromEntries(fields))
}

/** Fields of the request repeat in the response, unless the response shows them in another format. */
function echoed({ example = {}, body }: Endpoint, reply: Readonly<Record<string, Schema>>): Fields {
  const sent = ((body as Schema | undefined)?.properties ?? {}) as Readonly<Record<string, Schema>>
  return Object.fromEntries(
    Object.entries(example)
      .filter(([name, value]) => {
        const field = reply[name]
        if (name === 'document' && field) return true
        if (field === undefined || !fits(field, value)) return false
        return field.examples === undefined || isSame(field.examples, sent[name]?.examples)
      })
      .map(([name, value]) => [name, name === 'document' ? masked(String(value)) : value]),
  )
}

/** A document comes back masked. */
const masked = (document: string) => maskDocument(document.replaceAll(/[.\-/]/g, ''))

export function exampleOf(schema: Schema, namesakes: Namesakes, name = ''): unknown {
  if (schema.examples) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (namesakes.has(name) && fits(schema, namesakes.get(name))) return namesakes.get(name)
  if (schema.anyOf) return exampleOfUnion(schema.anyOf, namesakes)
  if (schema.items) return [exampleOf(schema.items, namesakes)]
  if (schema.properties) {
    const { status } = schema.properties
    return inState(schema, status && String(exampleOf(status, namesakes)), namesakes)
  }
  return plainExample(schema)
}

function exampleOfUnion(variants: readonly Schema[], namesakes: Namesakes): unknown {
  const with_example = variants.find(({ examples }) => examples)
  if (with_example) return exampleOf(with_example, namesakes)
  return variants.some(({ type }) => type === 'null') ? null : exampleOf(variants[0] ?? {}, namesakes)
}

function plainExample({ type, format }: Schema): unknown {
  switch (type) {
    case 'integer':
    case 'number':
      return 0
    case 'boolean':
      return false
    case 'null':
      return null
    case 'array':
      return []
    case 'object':
      return {}
    default:
      return format === 'date-time'
        ? '2026-11-15T12:00:00.000Z'
        : format === 'uri'
          ? 'https://example.com'
          : 'text'
  }
}

/** `decimals` says the scale of the asset beside it, so the two must agree in an example too. */
function withDecimals(fields: Fields): Fields {
  const corrected = Object.keys(fields)
    .filter((key) => key.endsWith('decimals'))
    .map((key) => [key, fields[key.replace(/decimals$/, 'asset')]] as const)
    .filter((entry): entry is readonly [string, Asset] => Object.hasOwn(assets, String(entry[1])))
    .map(([key, asset]) => [key, assets[asset].decimals] as const)
  return { ...fields, ...Object.fromEntries(corrected) }
}

function fits(schema: Schema, value: unknown): boolean {
  return Value.Check(schema as TSchema, value)
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
