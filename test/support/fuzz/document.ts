import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema, Ref } from '../../../src/doors/reference/json-schema.ts'
import type { Operation as Declared, OpenApi, Parameter } from '../../../src/doors/reference/openapi.ts'
import type { Response } from '../../../src/doors/reference/responses.ts'

/** openapi.json as a client reads it: from the file, and with a validator that knows nothing of the code. */
export const document = JSON.parse(
  readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'),
) as OpenApi

export type Operation = Declared & {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: JsonSchema | undefined
  readonly body_optional: boolean
}

export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    method: method.toUpperCase(),
    path,
    parameters: operation.parameters ?? [],
    body: operation.requestBody?.content['application/json'].schema,
    body_optional: operation.requestBody?.required === false,
  })),
)

export const operationNamed = (name: string): Operation =>
  operations.find((operation) => operation['x-name'] === name)!

export function follow<T>(node: T | Ref): T {
  if (!(typeof node === 'object' && node !== null && '$ref' in node)) return node as T
  const steps = (node as Ref).$ref.slice(2).split('/')
  return steps.reduce<any>((at, step) => at[step], document) as T
}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
addFormats.default(ajv)
// Clients must bear new values; the service itself answers with those that it names.
ajv.addKeyword({
  keyword: 'x-known-values',
  compile: (known: readonly string[]) => (value: unknown) => known.includes(value as string),
})

/** References by name, and (in answers) no field beyond those named: the document must tell all of them. */
function prepared(node: unknown, closed: boolean): unknown {
  if (Array.isArray(node)) return node.map((each) => prepared(each, closed))
  if (typeof node !== 'object' || node === null) return node
  const { examples: _, ...schema } = node as JsonSchema & Record<string, unknown>
  if (typeof schema.$ref === 'string') return { $ref: `${closed}:${schema.$ref.split('/').at(-1)}` }
  const parts = Object.entries(schema).map(([key, value]) => [
    key,
    key === 'properties'
      ? Object.fromEntries(
          Object.entries(value as object).map(([name, each]) => [name, prepared(each, closed)]),
        )
      : ['enum', 'const', 'x-known-values'].includes(key)
        ? value
        : prepared(value, closed),
  ])
  const shut = closed && schema.properties !== undefined && schema.additionalProperties === undefined
  return { ...Object.fromEntries(parts), ...(shut ? { additionalProperties: false } : {}) }
}

for (const [name, schema] of Object.entries(document.components.schemas)) {
  for (const closed of [true, false]) ajv.addSchema(prepared(schema, closed) as object, `${closed}:${name}`)
}

const compiled = new Map<object, ValidateFunction>()

/** What does not fit; undefined when all does. */
export function misfit(
  schema: JsonSchema | Ref,
  value: unknown,
  kind: 'request' | 'answer',
): string | undefined {
  let validate = compiled.get(schema)
  if (!validate) {
    validate = ajv.compile(prepared(schema, kind === 'answer') as object)
    compiled.set(schema, validate)
  }
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: '' }).slice(0, 500)
}

export const responseOf = (
  { responses }: Pick<Declared, 'responses'>,
  status: number,
): Response | undefined => {
  const response = responses[status]
  return response && follow<Response>(response)
}

/** `error.details` of this code, if it has a schema. */
const details = new Map(
  Object.values(document.components.schemas).flatMap((schema) => {
    const code = schema['x-code']
    return code === undefined ? [] : [[code, schema] as const]
  }),
)
export const detailsOf = (code: string): JsonSchema | undefined => details.get(code)
