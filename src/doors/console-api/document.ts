import { methodAndPath } from '../../http/endpoint.ts'
import type { ConsoleEndpoint } from './endpoint.ts'

type Json = { readonly [key: string]: unknown }

/** Converts a schema for the document: a named schema is moved to `components` and referenced. */
function schemaOf(schema: unknown, named: Map<string, Json>): unknown {
  if (Array.isArray(schema)) return schema.map((each) => schemaOf(each, named))
  if (schema === null || typeof schema !== 'object') return schema
  const { $id, ...rest } = schema as { $id?: string } & Json
  const translated = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, key === 'examples' ? value : schemaOf(value, named)]),
  )
  if ($id === undefined) return translated
  named.set($id, translated)
  return { $ref: `#/components/schemas/${$id}` }
}

function parametersOf({ params, query }: ConsoleEndpoint, named: Map<string, Json>) {
  const of = (place: 'path' | 'query', schema: ConsoleEndpoint['params']) =>
    Object.entries(schema?.properties ?? {}).map(([name, each]) => ({
      name,
      in: place,
      required: schema?.required?.includes(name) ?? false,
      schema: schemaOf(each, named),
    }))
  return [...of('path', params), ...of('query', query)]
}

function operationOf(endpoint: ConsoleEndpoint, named: Map<string, Json>): Json {
  const { name, summary, permit, proof, factor, sandbox_only, body, reply, errors = [] } = endpoint
  const other = reply.type ?? reply.file
  const type = other ?? 'application/json'
  const schema = other ? { type: 'string' } : schemaOf(reply.schema, named)
  return {
    operationId: name.replaceAll('.', '_'),
    'x-name': name,
    summary,
    'x-permit': permit,
    ...(proof ? { 'x-proof': proof } : {}),
    ...(factor ? { 'x-factor': factor } : {}),
    ...(sandbox_only ? { 'x-sandbox-only': true } : {}),
    'x-errors': errors,
    parameters: parametersOf(endpoint, named),
    ...(body
      ? {
          requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body, named) } } },
        }
      : {}),
    responses: {
      [reply.status]: {
        description: summary,
        ...(reply.schema || other ? { content: { [type]: { schema } } } : {}),
      },
    },
  }
}

/** The OpenAPI document of the console's own calls. They change with the pages; partners must not build on them. */
export function buildConsoleDocument(endpoints: readonly ConsoleEndpoint[], version: string) {
  const named = new Map<string, Json>()
  const paths: Record<string, Record<string, Json>> = {}
  for (const endpoint of endpoints) {
    const { method, path } = methodAndPath(endpoint)
    const methods = (paths[path] ??= {})
    if (method.toLowerCase() in methods) throw new Error(`${endpoint.route} is declared twice`)
    methods[method.toLowerCase()] = operationOf(endpoint, named)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'The console’s own calls', version },
    paths,
    components: { schemas: Object.fromEntries([...named].toSorted(([a], [b]) => (a < b ? -1 : 1))) },
  }
}

export type ConsoleDocument = ReturnType<typeof buildConsoleDocument>
