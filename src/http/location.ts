import type { TSchema } from 'typebox'
import { type Endpoint, methodAndPath } from './endpoint.ts'

/** The path of a created object, made from the response. */
export type Located = (answer: unknown) => string

const IN_PATH = /\{(\w+)\}/g

/**
 * The Location of a created object is the GET that returns the same schema by its id alone. Where there is none, the
 * endpoint declares `location`.
 */
export function findLocation(endpoint: Endpoint, endpoints: readonly Endpoint[]): Located | undefined {
  const { status, schema, location } = endpoint.reply
  if (status !== 201) return undefined
  const path = location ?? readingPath(schema, endpoints)
  if (path === undefined) return undefined
  return (answer) => path.replaceAll(IN_PATH, (_, name) => String((answer as Record<string, unknown>)[name]))
}

function readingPath(schema: TSchema | undefined, endpoints: readonly Endpoint[]): string | undefined {
  const name = nameOf(schema)
  if (name === undefined) return undefined
  const path = endpoints
    .filter(({ reply }) => nameOf(reply.schema) === name)
    .map(methodAndPath)
    .find(({ method, path }) => method === 'GET' && isById(path))?.path
  return path?.replace(IN_PATH, '{id}')
}

const isById = (path: string) => path.endsWith('}') && [...path.matchAll(IN_PATH)].length === 1

const nameOf = (schema: TSchema | undefined) => (schema as { $id?: string } | undefined)?.$id
