import type { ConsoleDocument } from '../src/doors/console-api/document.ts'

/** Generates the console's types from the document of its API. */
type Schema = {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
}

const keyOf = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

function typeOf(schema: Schema | undefined): string {
  if (!schema) return 'unknown'
  if (schema.$ref) return schema.$ref.split('/').at(-1)!
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf ?? schema.oneOf) return (schema.anyOf ?? schema.oneOf)!.map(typeOf).join(' | ')
  if (schema.allOf) return schema.allOf.map((each) => `(${typeOf(each)})`).join(' & ')
  switch (schema.type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `readonly (${typeOf(schema.items)})[]`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

function objectType({
  properties = {},
  required = [],
  patternProperties,
  additionalProperties,
}: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      `readonly ${keyOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field)}${required.includes(name) ? '' : ' | undefined'}`,
  )
  const rest = patternProperties
    ? Object.values(patternProperties)[0]
    : typeof additionalProperties === 'object'
      ? additionalProperties
      : undefined
  if (rest) fields.push(`readonly [name: string]: ${typeOf(rest)}`)
  return fields.length === 0 ? 'Readonly<Record<string, unknown>>' : `{ ${fields.join('; ')} }`
}

type Operation = {
  readonly 'x-name': string
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: Schema }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >
}

function partType(operation: Operation, place: string): string {
  const parameters = operation.parameters.filter((each) => each.in === place)
  if (parameters.length === 0) return 'undefined'
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))
  const required = parameters.filter((each) => each.required).map(({ name }) => name)
  return objectType({ properties, required })
}

function callType(operation: Operation): string {
  const { requestBody, responses } = operation
  const content = Object.values(responses)[0]?.content
  const reply = content ? typeOf(Object.values(content)[0]?.schema) : 'undefined'
  const body = requestBody ? typeOf(requestBody.content['application/json']?.schema) : 'undefined'
  return `{
    params: ${partType(operation, 'path')}
    query: ${partType(operation, 'query')}
    body: ${body}
    reply: ${reply}
  }`
}

export function renderConsoleTypes({ paths, components }: ConsoleDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      operation: operation as unknown as Operation,
    })),
  )
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema as Schema)}\n`,
  )
  const calls = operations.map(({ operation }) => `  '${operation['x-name']}': ${callType(operation)}\n`)
  const routes = operations.map(({ route, operation }) => `  '${operation['x-name']}': '${route}',\n`)
  return `// Written by \`npm run generate\` from the console's endpoints in src/doors/console-api. Not to be edited.

${schemas.join('\n')}
/** What the console may ask for, by name. */
export type Calls = {
${calls.join('')}}

export const routes = {
${routes.join('')}} as const satisfies Record<keyof Calls, string>
`
}
