/** Converts a JSON Schema of openapi.json to a TypeScript type. */
export type Schema = {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly 'x-known-values'?: readonly string[]
  readonly 'x-error'?: string
  readonly 'x-code'?: string
}

/** Enumerations are closed in requests and open in responses, which may hold values of a later version. */
export type Side = 'sent' | 'received'

const written = [
  '$ref',
  'type',
  'description',
  'const',
  'enum',
  'anyOf',
  'oneOf',
  'items',
  'properties',
  'required',
  'additionalProperties',
  'x-known-values',
  'x-error',
  'x-code',
]
/** Keywords that the server checks and a type cannot express. */
const judged = [
  'pattern',
  'format',
  'default',
  'examples',
  'discriminator',
  'propertyNames',
  'x-id',
  'x-must-be',
  ...['Length', 'Items', 'Properties'].flatMap((of) => [`min${of}`, `max${of}`]),
  'minimum',
  'maximum',
]
const keywords = new Set([...written, ...judged])

export const nameOf = (ref: string): string => ref.split('/').at(-1)!

const literals = (values: readonly unknown[]) =>
  values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(' | ')
const keyOf = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

export function typeOf(schema: Schema, side: Side, indent = ''): string {
  const unknown = Object.keys(schema).filter((keyword) => !keywords.has(keyword))
  if (unknown.length > 0) throw new Error(`the SDK's generator does not know ${unknown.join(', ')}`)
  if (schema.$ref) return nameOf(schema.$ref)
  if (schema.const !== undefined) return literals([schema.const])
  if (schema.enum) return literals(schema.enum)
  if (schema['x-known-values']) return `Open<${literals(schema['x-known-values'])}>`
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.map((each) => typeOf(each, side, indent)).join(' | ')
  switch (schema.type) {
    case 'string':
      return side === 'sent' && schema['x-error'] === 'invalid_amount' ? 'Amount' : 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
    case 'null':
      return schema.type
    case 'array':
      return arrayType(schema, side, indent)
    case 'object':
      return objectType(schema, side, indent)
    case undefined:
      return 'unknown'
    default:
      throw new Error(`the SDK's generator does not know the type ${schema.type}`)
  }
}

function arrayType({ items = {} }: Schema, side: Side, indent: string): string {
  const item = typeOf(items, side, indent)
  const readonly = side === 'sent' ? 'readonly ' : ''
  return `${readonly}${/[|&]/.test(item) && !item.startsWith('{') && !item.endsWith('>') ? `(${item})` : item}[]`
}

function objectType({ properties, required = [], additionalProperties }: Schema, side: Side, indent: string) {
  if (!properties) {
    const rest = typeof additionalProperties === 'object' ? additionalProperties : {}
    return `Record<string, ${typeOf(rest, side, indent)}>`
  }
  const deeper = `${indent}  `
  const fields = Object.entries(properties).map(([name, field]) => {
    const type = typeOf(field, side, deeper)
    const needed = required.includes(name)
    const may = needed ? '' : '?'
    // A program may pass `undefined` for an optional field; the server never sends one.
    const absent = !needed && side === 'sent' ? ' | undefined' : ''
    return `${comment(field.description, deeper)}${deeper}${keyOf(name)}${may}: ${type}${absent}\n`
  })
  return `{\n${fields.join('')}${indent}}`
}

export function comment(text: string | undefined, indent = ''): string {
  return text ? `${indent}/** ${text.replaceAll('*/', '* /').replaceAll('\n', `\n${indent} * `)} */\n` : ''
}
