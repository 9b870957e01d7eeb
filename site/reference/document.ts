import type { JsonSchema } from '../../src/doors/reference/json-schema.ts'
import type { OpenApi, Operation } from '../../src/doors/reference/openapi.ts'
import type { Response } from '../../src/doors/reference/responses.ts'
import { schemaName } from './fields.ts'

/** An operation with its method and path. */
export type Entry = Operation & { readonly method: string; readonly path: string }

export function entriesOf({ paths }: OpenApi): Entry[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  )
}

export const entryAddress = ({ tags, operationId }: Operation): string =>
  `/docs/api/${tags[0]}#${operationId}`

export const eventAddress = (type: string): string => `/docs/api/events/${type}`

/** The last 2xx response: a dry run's 200 is listed before the 201. */
export function successOf({ responses }: Operation): [status: string, response: Response] {
  return Object.entries(responses).findLast(([status]) => status.startsWith('2')) as [string, Response]
}

/** The content type of a response that is a file. */
export const fileTypeOf = ({ content }: Response): string | undefined =>
  Object.keys(content ?? {}).find((type) => type !== 'application/json')

export const bodyOf = ({ requestBody }: Operation) => requestBody?.content['application/json']

export function resolve(openapi: OpenApi, schema: JsonSchema): JsonSchema {
  const name = schemaName(schema)
  return name === undefined ? schema : openapi.components.schemas[name]!
}

/** The page that describes each schema: that of the first resource that uses it, otherwise the overview. */
export function homesOf(openapi: OpenApi): Map<string, string> {
  const homes = new Map<string, string>()
  for (const { name: tag } of openapi.tags)
    for (const entry of entriesOf(openapi).filter(({ tags }) => tags[0] === tag))
      for (const name of namedIn([successOf(entry)[1], bodyOf(entry)?.schema], openapi))
        if (!homes.has(name)) homes.set(name, `/docs/api/${tag}`)
  for (const [type, { post }] of Object.entries(openapi.webhooks))
    homes.set(schemaName(post.requestBody.content['application/json'].schema)!, eventAddress(type))
  for (const [name, { 'x-code': code }] of Object.entries(openapi.components.schemas))
    if (code !== undefined) homes.set(name, `/docs/errors/${code}`)
  for (const name of Object.keys(openapi.components.schemas))
    if (!homes.has(name)) homes.set(name, '/docs/api')
  return homes
}

/** All named schemas used in a part of the document, including nested ones. */
function namedIn(piece: unknown, openapi: OpenApi, found = new Set<string>()): Set<string> {
  for (const [, name] of JSON.stringify(piece ?? null).matchAll(/#\/components\/schemas\/(\w+)/g)) {
    if (found.has(name!)) continue
    found.add(name!)
    namedIn(openapi.components.schemas[name!], openapi, found)
  }
  return found
}
