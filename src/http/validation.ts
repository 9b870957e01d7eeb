import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import { type ErrorCode, Refusal } from '../core/errors.ts'

type SchemaError = FastifySchemaValidationError & {
  parentSchema?: Record<string, unknown>
  /** Set when the name of a field is wrong, not its value. */
  propertyName?: string
}

/** Turns the validator's first error into a refusal that names the field and says what to send instead. */
export function refusalOf(error: SchemaError): Refusal {
  const path = error.instancePath.split('/').slice(1).map(unescapePointer)
  const name = (last?: unknown) =>
    [...path, ...(last === undefined ? [] : [String(last)])].join('.') || 'body'
  const { keyword, params, parentSchema = {} } = error
  switch (keyword) {
    case 'required':
      return invalid(name(params.missingProperty), 'is required.')
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return new Refusal('invalid_request', {
        param: clip(name(params.additionalProperty)),
        message: `Unknown field ${clip(name(params.additionalProperty))}. Check its spelling${knownFields(parentSchema)}.`,
      })
    case 'discriminator':
      return invalid(name(params.tag), `must say which kind it is: ${kindsOf(parentSchema)}.`)
  }
  // A rule about names of fields that the caller chooses, not about their values.
  if (error.propertyName !== undefined || keyword === 'propertyNames')
    return invalid(
      name(),
      'may only have keys of 1 to 40 characters: letters A to Z and a to z, digits, dots, hyphens and underscores.',
    )
  const code = parentSchema['x-error'] as ErrorCode | undefined
  if (code) return new Refusal(code, { param: name() })
  // The only alternative in a request's field is null, which removes the value.
  const orNull = error.schemaPath.includes('/anyOf/') ? ', or null' : ''
  return invalid(name(), `${ruleOf(keyword, params, parentSchema)}${orNull}.`)
}

/** The rule that the field breaks, in words. */
function ruleOf(keyword: string, params: Record<string, unknown>, schema: Record<string, any>): string {
  switch (keyword) {
    case 'type':
      return `must be ${article(String(params.type))}`
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`
    case 'const':
      return `must be ${String(params.allowedValue)}`
    case 'maxLength':
      return `may have at most ${String(params.limit)} characters`
    case 'minLength':
    case 'minItems':
      return 'may not be empty'
    case 'maxProperties':
    case 'maxItems':
      return `may have at most ${String(params.limit)} entries`
    case 'minProperties':
      return `must have at least one field${knownFields(schema)}`
    case 'uniqueItems':
      return 'may not name the same thing twice'
    case 'format':
      return String(params.format).startsWith('clean')
        ? 'may not be blank or hold control characters'
        : `must be ${articleOfFormat(String(params.format))}`
    case 'minimum':
    case 'maximum':
      return `must be ${keyword === 'minimum' ? 'at least' : 'at most'} ${String(params.limit)}`
    default:
      return formOf(schema)
  }
}

/** For a pattern, or another rule that has no words: uses the schema's own description. */
function formOf({ 'x-must-be': form, description, examples }: Record<string, any>): string {
  if (typeof form === 'string') return `must be ${form}`
  const about = typeof description === 'string' ? ` (${description})` : ''
  const example = examples?.[0] === undefined ? '' : `; send something like ${JSON.stringify(examples[0])}`
  return `has a wrong format${about}${example}`
}

/** Names from the schema, not from the caller, so they need no clipping. */
const knownFields = ({ properties }: Record<string, any>): string =>
  properties ? `; known are ${Object.keys(properties).join(', ')}` : '; this object has no fields'

/** The discriminator values of a schema's alternatives. */
function kindsOf({ oneOf, discriminator }: Record<string, any>): string {
  return (oneOf ?? []).map((kind: any) => kind.properties[discriminator.propertyName].const).join(' or ')
}

function invalid(param: string, text: string): Refusal {
  return new Refusal('invalid_request', { param: clip(param), message: `${clip(param)} ${text}` })
}

/** A field name comes from the caller: echo only printable ASCII, and not much of it. */
function clip(text: string): string {
  const clean = text.replace(/[^\x20-\x7e]/g, '?')
  return clean.length > 80 ? `${clean.slice(0, 80)}…` : clean
}

function article(type: string): string {
  return type === 'object' || type === 'array' || type === 'integer' ? `an ${type}` : `a ${type}`
}

function articleOfFormat(format: string): string {
  if (format === 'date-time') return 'a time such as 2026-11-15T12:00:00.000Z'
  return format === 'email' ? 'an e-mail address such as ana@example.com' : `a ${format}`
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}
