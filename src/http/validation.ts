import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import { type ErrorCode, Refusal } from '../core/errors.ts'

type SchemaError = FastifySchemaValidationError & { parentSchema?: Record<string, unknown> }

/** Turns the validator's first complaint into a refusal that names the field and says what to send instead. */
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
        message: `Unknown field ${clip(name(params.additionalProperty))}. Check its spelling.`,
      })
  }
  const code = parentSchema['x-error'] as ErrorCode | undefined
  if (code) return new Refusal(code, { param: name() })
  switch (keyword) {
    case 'type':
      return invalid(name(), `must be ${article(String(params.type))}.`)
    case 'enum':
      return invalid(name(), `must be one of ${(params.allowedValues as unknown[]).join(', ')}.`)
    case 'discriminator':
      return invalid(name(params.tag), `must say which kind it is: ${kindsOf(parentSchema)}.`)
    case 'const':
      return invalid(name(), `must be ${String(params.allowedValue)}.`)
    case 'maxLength':
      return invalid(name(), `may have at most ${String(params.limit)} characters.`)
    case 'minLength':
      return invalid(name(), 'may not be empty.')
    case 'maxProperties':
    case 'maxItems':
      return invalid(name(), `may have at most ${String(params.limit)} entries.`)
    case 'minItems':
      return invalid(name(), 'may not be empty.')
    case 'format':
      return invalid(
        name(),
        String(params.format).startsWith('clean')
          ? 'may not be blank or hold control characters.'
          : `must be ${articleOfFormat(String(params.format))}.`,
      )
    case 'minimum':
    case 'maximum':
      return invalid(
        name(),
        `must be ${keyword === 'minimum' ? 'at least' : 'at most'} ${String(params.limit)}.`,
      )
    case 'propertyNames':
      return invalid(name(), 'may only have keys of 1 to 40 letters, digits, dots, hyphens and underscores.')
    default:
      return invalid(
        name(),
        `is not valid${typeof parentSchema.description === 'string' ? `: ${parentSchema.description}` : ''}.`,
      )
  }
}

/** The values that tell the alternatives of a schema apart. */
function kindsOf({ oneOf, discriminator }: Record<string, any>): string {
  return (oneOf ?? []).map((kind: any) => kind.properties[discriminator.propertyName].const).join(' or ')
}

function invalid(param: string, text: string): Refusal {
  return new Refusal('invalid_request', { param: clip(param), message: `${clip(param)} ${text}` })
}

/** A field name comes from the caller: never echo more of it than a reader needs. */
function clip(text: string): string {
  const clean = text.replace(/[^\x20-\x7e]/g, '?')
  return clean.length > 80 ? `${clean.slice(0, 80)}…` : clean
}

function article(type: string): string {
  return type === 'object' || type === 'array' || type === 'integer' ? `an ${type}` : `a ${type}`
}

function articleOfFormat(format: string): string {
  return format === 'date-time' ? 'a time such as 2026-11-15T12:00:00.000Z' : `a valid ${format}`
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}
