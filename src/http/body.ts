import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../core/errors.ts'
import { JsonError, parseJson } from './json.ts'

export const BODY_MAX_BYTES = 64 * 1024

/** Matches in linear time: no two parts of the pattern can match the same character. */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*(?:charset[ \t]*=[ \t]*"?utf-8"?[ \t]*(?:;[ \t]*)?)?)?$/i
const TYPE_LENGTH_MAX = 100

/** Accepts uncompressed JSON in UTF-8, or no body. An empty body counts as none, also with a JSON content type. */
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

/** Refuses fields on an endpoint without a body: their sender expects an effect. No body and `{}` are allowed. */
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

/** Whether the request has an unread body that is long or of unknown length. A short one is read and dropped. */
export function isUnread({ raw }: FastifyRequest): boolean {
  if (raw.complete) return false
  const { 'content-length': length, 'transfer-encoding': coding } = raw.headers
  return coding !== undefined || Number(length ?? 0) > BODY_MAX_BYTES
}
