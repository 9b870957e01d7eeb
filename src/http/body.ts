import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../core/errors.ts'
import { JsonError, parseJson } from './json.ts'

export const BODY_MAX_BYTES = 64 * 1024

/** No two parts of it can take the same character, so its time grows with the length and no faster. */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*(?:charset[ \t]*=[ \t]*"?utf-8"?[ \t]*(?:;[ \t]*)?)?)?$/i
const TYPE_LENGTH_MAX = 100

/** JSON in UTF-8, uncompressed, or nothing at all. An empty body counts as none, also when it is announced as JSON. */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer
    if (bytes.length === 0) return done(null, undefined)
    const {
      'content-type': type = '',
      'content-encoding': encoding,
      'transfer-encoding': transfer,
    } = request.headers
    const compressed = encoding !== undefined || (transfer !== undefined && !/^chunked$/i.test(transfer))
    if (compressed || type.length > TYPE_LENGTH_MAX || !JSON_TYPE.test(type))
      return done(new Refusal('unsupported_media_type'))
    const parsed = readJson(bytes)
    return parsed instanceof Refusal ? done(parsed) : done(null, parsed)
  })
}

function readJson(bytes: Buffer): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    return new Refusal('invalid_json', { message: error.message })
  }
}

/** An endpoint without a body takes none, or an empty one. Whoever sends fields expects something of them. */
export function refuseFields(body: unknown): void {
  if (body === undefined) return
  const field =
    typeof body === 'object' && body !== null && !Array.isArray(body) ? Object.keys(body)[0] : 'body'
  if (field === undefined) return
  throw new Refusal('invalid_request', {
    param: field.slice(0, 100),
    message: 'This call takes no body: send none, or {}.',
  })
}

/** A long body, or one of unknown length, that nobody has read and nobody will. A short one is read and dropped. */
export function isUnread({ raw }: FastifyRequest): boolean {
  if (raw.complete) return false
  const { 'content-length': length, 'transfer-encoding': coding } = raw.headers
  return coding !== undefined || Number(length ?? 0) > BODY_MAX_BYTES
}
