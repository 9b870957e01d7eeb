import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect } from 'vitest'

/** A `fetch` that holds every request and every response against openapi.json, and remembers what was called. */
type Parameter = {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: object
}
type Operation = {
  readonly 'x-name': string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean }
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: object }>>
}

const document = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'))
const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(document, 'openapi')

export const operationNames: readonly string[] = Object.values(document.paths as object).flatMap((methods) =>
  Object.values(methods as Record<string, Operation>).map((operation) => operation['x-name']),
)

export function openCheckedFetch(): { readonly fetch: typeof fetch; readonly called: Set<string> } {
  const called = new Set<string>()
  return {
    called,
    async fetch(input, init) {
      const url = new URL(String(input))
      const { method = 'GET', body } = init ?? {}
      const found = findOperation(method, url.pathname)
      called.add(found.operation['x-name'])
      checkParameters(found, url)
      checkBody(found, body as string | undefined)
      const response = await fetch(input, init)
      await checkResponse(found, response.clone())
      return response
    },
  }
}

type Found = {
  readonly path: string
  readonly method: string
  readonly values: Readonly<Record<string, string>>
  readonly operation: Operation
}

function findOperation(method: string, pathname: string): Found {
  for (const [path, methods] of Object.entries(document.paths as Record<string, Record<string, Operation>>)) {
    const operation = methods[method.toLowerCase()]
    const values = new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`).exec(pathname)
    if (operation && values)
      return { path, method: method.toLowerCase(), values: values.groups ?? {}, operation }
  }
  throw new Error(`openapi.json has no ${method} ${pathname}`)
}

function checkParameters({ operation, values, path }: Found, url: URL): void {
  const query = Object.fromEntries(url.searchParams)
  for (const { name, in: place, required, schema } of operation.parameters ?? []) {
    const given = place === 'path' ? decodeURIComponent(values[name]!) : query[name]
    if (given === undefined) expect(required, `${path} needs ${name}`).toBe(false)
    else fits({ ...schema, $id: undefined }, readAs(given, schema as { type?: string }), `${name} of ${path}`)
    if (place === 'query') delete query[name]
  }
  expect(query, `unknown to ${path}`).toEqual({})
}

const readAs = (text: string, { type }: { type?: string }): unknown =>
  type === 'integer' || type === 'boolean' ? JSON.parse(text) : text

function checkBody({ path, method, operation }: Found, body: string | undefined): void {
  if (body === undefined)
    return expect(operation.requestBody?.required ?? false, `${path} needs a body`).toBe(false)
  fits(
    pointTo('paths', path, method, 'requestBody', 'content', 'application/json', 'schema'),
    JSON.parse(body),
    path,
  )
}

async function checkResponse({ path, method, operation }: Found, response: Response): Promise<void> {
  const declared = operation.responses[response.status]
  const text = await response.text()
  if (!declared) throw new Error(`${method} ${path} does not declare ${response.status}: ${text}`)
  expect(response.headers.get('x-request-id')).toBeTruthy()
  if (response.status === 204) return expect(text).toBe('')
  if (declared.content && 'application/pdf' in declared.content)
    return expect([response.headers.get('content-type'), text.slice(0, 5)]).toEqual([
      'application/pdf',
      '%PDF-',
    ])
  const schema = declared.$ref
    ? pointTo('components', 'schemas', 'Error')
    : pointTo(
        'paths',
        path,
        method,
        'responses',
        String(response.status),
        'content',
        'application/json',
        'schema',
      )
  fits(schema, JSON.parse(text), `${response.status} of ${method} ${path}`)
}

const pointTo = (...steps: readonly string[]) => ({
  $ref: `openapi#/${steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`,
})

const compiled = new Map<string, ReturnType<typeof ajv.compile>>()

function fits(schema: object, value: unknown, what: string): void {
  const name = JSON.stringify(schema)
  const validate = compiled.get(name) ?? ajv.compile(schema)
  compiled.set(name, validate)
  if (!validate(value))
    throw new Error(`${what} does not fit openapi.json: ${ajv.errorsText(validate.errors)}`)
}
