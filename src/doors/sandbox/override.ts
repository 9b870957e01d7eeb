import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { refuse } from '../../core/errors.ts'

type Fields = Readonly<Record<string, unknown>>
type Schema = {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** A sample with some fields replaced by the caller. The result must still satisfy the object's schema. */
export function overrideFields<Sample extends { id: string }>(
  sample: Sample,
  override: Fields,
  schema: TSchema,
): Sample {
  if (Object.keys(override).length === 0) return sample
  // The id stays made up: an event about an existing object would be false.
  if ('id' in override)
    refuse('invalid_request', { param: 'override.id', message: 'The id of a sample is made up.' })
  const unknown = unknownField(schema as Schema, override)
  if (unknown !== undefined) {
    const param = `override.${unknown}`.slice(0, 200)
    refuse('invalid_request', { param, message: `Unknown field ${param}. Check its spelling.` })
  }
  const changed = { ...sample, ...override }
  const present = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined))
  const [wrong] = Value.Errors(schema, present)
  if (wrong) {
    const path = wrong.instancePath.split('/').slice(1).join('.')
    const param = `override${path === '' ? '' : `.${path}`}`.slice(0, 200)
    refuse('invalid_request', { param, message: `${param} ${wrong.message}.` })
  }
  return changed
}

/** The path of the first field that the schema does not name; undefined when it names them all. */
function unknownField(schema: Schema, value: unknown): string | undefined {
  if (schema.anyOf) {
    const found = schema.anyOf.map((variant) => unknownField(variant, value))
    return found.includes(undefined) ? undefined : found[0]
  }
  if (Array.isArray(value)) {
    const unknown = value.map((item, i) => [i, schema.items && unknownField(schema.items, item)] as const)
    const first = unknown.find(([, path]) => path !== undefined)
    return first?.join('.')
  }
  if (!schema.properties || typeof value !== 'object' || value === null) return undefined
  for (const [name, field] of Object.entries(value)) {
    if (!Object.hasOwn(schema.properties, name)) return name
    const inner = unknownField(schema.properties[name]!, field)
    if (inner !== undefined) return `${name}.${inner}`
  }
  return undefined
}
