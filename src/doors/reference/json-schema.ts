import assert from 'node:assert/strict'
import { type IdKind, idPattern } from '../../core/ids.ts'
import { formatPatterns } from '../../http/schema.ts'
import { exampleOf, type Namesakes } from './example.ts'

/** The subset of JSON Schema that the contracts use. */
export type JsonSchema = {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly format?: string
  readonly contentMediaType?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly propertyNames?: JsonSchema
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  /** The values known today of an enumeration that may gain more. */
  readonly 'x-known-values'?: readonly string[]
  /** The error code that these `details` belong to. */
  readonly 'x-code'?: string
  /** The kind of object that the id identifies. */
  readonly 'x-id'?: string
  /** The error code for a wrong value, if it is not invalid_request. */
  readonly 'x-error'?: string
}

export type Ref = { readonly $ref: string }

/**
 * Request enumerations are closed, because the server validates them. Response enumerations are open, because they may gain
 * values.
 */
type SchemaUse = 'body' | 'path' | 'query' | 'reply'

/** The named schemas found so far, and examples to borrow. */
export type Context = {
  readonly schemas: Map<string, JsonSchema>
  readonly namesakes: Namesakes
}

export function toJsonSchema(schema: object, side: SchemaUse, context: Context): JsonSchema {
  const { $id, ...rest } = schema as { $id?: string } & Record<string, unknown>
  if ($id === undefined) return translate(rest, side, context)
  const translated = { ...translate(rest, side, context), examples: [exampleOf(schema, context.namesakes)] }
  assert.deepEqual(context.schemas.get($id) ?? translated, translated, `two schemas are named ${$id}`)
  context.schemas.set($id, translated)
  return { $ref: `#/components/schemas/${$id}` }
}

function translate(schema: Readonly<Record<string, unknown>>, side: SchemaUse, context: Context): JsonSchema {
  const { 'x-held': held, 'x-read': read, ...judged } = schema
  const merged = {
    ...asRead(judged, read),
    ...formOfId(schema['x-id'], side),
    ...(held as object | undefined),
  }
  const translated = Object.entries(merged).map(([keyword, value]) => [
    keyword,
    translateKeyword(keyword, value, side, context),
  ])
  const { patternProperties, format, ...rest } = Object.fromEntries(translated) as Record<string, unknown>
  if (rest.discriminator) rest.discriminator = mapped(schema as never, rest.oneOf as Ref[])
  return {
    ...(side === 'reply' ? opened(rest) : typed(rest)),
    ...formOf(format as string | undefined),
    ...(patternProperties === undefined
      ? {}
      : { additionalProperties: Object.values(patternProperties as object)[0] }),
  } as JsonSchema
}

/** Query values are validated as text by a pattern; the document shows the number or boolean that the text stands for. */
function asRead(schema: Readonly<Record<string, unknown>>, read: unknown): Record<string, unknown> {
  if (read === undefined) return { ...schema }
  const {
    type,
    pattern,
    enum: _,
    examples,
    ...rest
  } = schema as Record<string, unknown> & {
    examples?: readonly string[]
  }
  const values = examples?.map((example) => JSON.parse(example) as unknown)
  return { ...rest, ...(read as object), ...(values ? { examples: values } : {}) }
}

/** The pattern of an id. Query filters have none: a filter with a malformed id finds nothing instead of failing. */
function formOfId(kind: unknown, side: SchemaUse): { pattern?: string } {
  return kind === undefined || side === 'query' ? {} : { pattern: idPattern(kind as IdKind) }
}

/** Adds `type: string` to an enumeration of strings, which code generators need. */
function typed(schema: Record<string, unknown>): Record<string, unknown> {
  return isTexts(schema.enum) ? { type: 'string', ...schema } : schema
}

function opened(schema: Record<string, unknown>): Record<string, unknown> {
  const { enum: values, const: only, ...rest } = schema
  const known = isTexts(values) ? values : typeof only === 'string' ? [only] : undefined
  return known ? { ...rest, type: 'string', 'x-known-values': known } : schema
}

function isTexts(values: unknown): values is string[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'string')
}

/** A format that only this server defines is replaced by its pattern. */
function formOf(format: string | undefined): { format?: string; pattern?: string } {
  if (format === undefined) return {}
  const pattern = (formatPatterns as Readonly<Record<string, string>>)[format]
  return pattern === undefined ? { format } : { pattern }
}

/** Adds the discriminator mapping, which leads from a value to its alternative. */
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

function translateKeyword(keyword: string, value: unknown, side: SchemaUse, context: Context): unknown {
  switch (keyword) {
    case 'properties':
    case 'patternProperties': {
      const fields = Object.entries(value as Record<string, object>)
      return Object.fromEntries(fields.map(([name, field]) => [name, toJsonSchema(field, side, context)]))
    }
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
      return (value as object[]).map((variant) => toJsonSchema(variant, side, context))
    case 'items':
    case 'propertyNames':
    case 'additionalProperties':
      return typeof value === 'object' ? toJsonSchema(value as object, side, context) : value
    default:
      return value
  }
}
