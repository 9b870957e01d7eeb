import type { Socket } from 'node:net'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { Logger } from 'pino'
import { type ErrorCode, Refusal } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { isAnswer, isUnreachable } from '../db/pool.ts'
import type { World } from '../world.ts'
import { type Caller, type Endpoint, type Handler, methodAndPath } from './endpoint.ts'
import { rateLimitHeaders, securityHeaders, type WindowState } from './headers.ts'
import { JsonError, parseJson } from './json.ts'
import { formats } from './schema.ts'
import { refusalOf } from './validation.ts'

/** Who may come in. Built in api.ts from keys and limits; here it is only asked. */
export type Gate = {
  /** Judges key, address, limits and scope, in this order, and counts the request. */
  admit(knock: {
    authorization: string | undefined
    address: string
    endpoint: Endpoint | undefined
  }): Promise<Admission>
  /** The window of an address, for answers that need no key. Counts nothing. */
  look(address: string): WindowState
  /** The address a request came from (contract §5: the socket's, unless a trusted proxy says otherwise). */
  addressOf(socket: string, forwarded_for: string | undefined): string
}

export type Admission = { readonly window: WindowState } & (
  | { readonly refusal: Refusal }
  | { readonly refusal?: undefined; readonly world: World; readonly caller: Caller }
)

export type ServerOptions = {
  readonly handlers: readonly Handler[]
  readonly gate: Gate
  /** Asked when needed: with port 0 it is known only after listening. */
  readonly public_url: () => string
  readonly log: Logger
  readonly onAnswer?: (answer: { method: string; route: string; status: number; seconds: number }) => void
}

const BODY_MAX_BYTES = 64 * 1024
const HEADER_MAX_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
const KEEP_ALIVE_MS = 30_000

type Admitted = Extract<Admission, { caller: Caller }>
declare module 'fastify' {
  interface FastifyRequest {
    address: string
    admitted: Admitted | undefined
  }
  interface FastifyContextConfig {
    endpoint?: Endpoint
  }
}

export function buildServer(options: ServerOptions): FastifyInstance {
  const { gate, log, public_url } = options
  const app: FastifyInstance = Fastify({
    logger: false,
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => newId('request', Date.now()),
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: 1000,
      maxHeaderSize: HEADER_MAX_BYTES,
    },
    clientErrorHandler: (error, socket) => answerBelowRouter(error, socket, options),
    frameworkErrors: (error, request, reply) => {
      prepare(request as FastifyRequest, reply as FastifyReply)
      fail(error, request as FastifyRequest, reply as FastifyReply)
    },
    routerOptions: { maxParamLength: 200 },
    // Fastify's own settings would turn 5000 into "5000" and drop misspelt fields in silence.
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allErrors: false,
        verbose: true,
        formats,
        keywords: ['x-error'],
        strictTypes: false,
      },
    },
  })

  /** Every answer carries its id, the security headers and the three of the rate limit, whatever becomes of it. */
  function prepare(request: FastifyRequest, reply: FastifyReply): void {
    request.address = gate.addressOf(
      request.socket.remoteAddress ?? '',
      request.headers['x-forwarded-for'] as string | undefined,
    )
    reply.headers(securityHeaders)
    reply.header('x-request-id', request.id)
    reply.headers(rateLimitHeaders(gate.look(request.address)))
  }

  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const refusal = toRefusal(error)
    if (refusal.code === 'internal_error') log.error({ err: error, request_id: request.id }, 'internal error')
    if (refusal.code === 'service_unavailable')
      log.warn({ err: error, request_id: request.id }, 'service unavailable')
    if (refusal.retry_after_seconds !== undefined)
      reply.header('retry-after', String(refusal.retry_after_seconds))
    // What could not be read to its end cannot be followed by another request.
    if (refusal.status === 413 || refusal.status === 408) reply.header('connection', 'close')
    reply.code(refusal.status).type('application/json; charset=utf-8')
    reply.send(JSON.stringify(refusal.toBody({ public_url: public_url(), request_id: request.id })))
  }

  app.decorateRequest('address', '')
  app.decorateRequest('admitted', undefined)
  app.addHook('onRequest', async (request, reply) => prepare(request, reply))
  app.setErrorHandler(fail)
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    const seconds = reply.elapsedTime / 1000
    options.onAnswer?.({ method: request.method, route, status: reply.statusCode, seconds })
    log.info(
      {
        request_id: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        address: request.address,
        key_id: request.admitted?.caller.key_id,
      },
      'request',
    )
  })

  acceptJsonOnly(app)
  app.setNotFoundHandler((request, reply) => fail(absent(request, reply, options.handlers), request, reply))

  app.register(async (v1) => {
    v1.addHook('onRequest', async (request, reply) => {
      const admission = await gate.admit({
        authorization: request.raw.headersDistinct.authorization?.join(', '),
        address: request.address,
        endpoint: request.routeOptions.config.endpoint,
      })
      reply.headers(rateLimitHeaders(admission.window))
      if (admission.refusal) throw admission.refusal
      request.admitted = admission
    })
    // Under /v1 even an unknown path needs a key: 401 comes before 404.
    v1.all('/v1/*', (request, reply) => fail(absent(request, reply, options.handlers), request, reply))
    v1.all('/v1', (request, reply) => fail(absent(request, reply, options.handlers), request, reply))
    for (const handler of options.handlers) addRoute(v1, handler)
  })
  return app
}

function addRoute(app: FastifyInstance, { endpoint, run }: Handler): void {
  const { method, path } = methodAndPath(endpoint)
  app.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { endpoint },
    // A HEAD of our own would answer differently from the GET that is limited and counted.
    exposeHeadRoute: method === 'GET',
    schema: {
      ...(endpoint.body ? { body: endpoint.body } : {}),
      querystring: endpoint.query ?? { type: 'object', additionalProperties: false },
    },
    handler: async (request, reply) => {
      const { world, caller } = request.admitted!
      const { params, query, body } = request as unknown as { params: never; query: never; body: never }
      const answer = await run({ world, caller, request_id: request.id, params, query, body })
      reply.code(endpoint.reply.status)
      if (endpoint.reply.status === 204) return reply.send()
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer))
    },
  })
}

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i

/** JSON in UTF-8, uncompressed, or nothing at all. An empty body counts as none, also when it is announced as JSON. */
function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer
    if (bytes.length === 0) return done(null, undefined)
    if (
      request.headers['content-encoding'] !== undefined ||
      !JSON_TYPE.test(request.headers['content-type'] ?? '')
    ) {
      return done(new Refusal('unsupported_media_type'))
    }
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

/** Nothing is there: either the path is unknown, or it is known under other methods. */
function absent(request: FastifyRequest, reply: FastifyReply, handlers: readonly Handler[]): Refusal {
  const path = request.url.split('?')[0]!
  const allowed = handlers
    .map(({ endpoint }) => methodAndPath(endpoint))
    .filter((route) => pattern(route.path).test(path))
  if (allowed.length === 0) return new Refusal('route_not_found')
  const methods = new Set(allowed.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))
  reply.header('allow', [...methods].join(', '))
  return new Refusal('method_not_allowed')
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

const ofFastify: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_BAD_URL: 'route_not_found',
  FST_ERR_ASYNC_CONSTRAINT: 'route_not_found',
}

/** The one place where an error becomes an answer. What nobody foresaw is a bare 500, logged with its request id. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const { code, validation } = error as FastifyError
  if (validation?.[0]) return refusalOf(validation[0])
  const known = code === undefined ? undefined : ofFastify[code]
  if (known) return new Refusal(known)
  if (isUnreachable(error)) return new Refusal('service_unavailable')
  if (isAnswer(error) && error.code === '57014') return new Refusal('service_unavailable')
  return new Refusal('internal_error')
}

/** Requests that never became requests: broken framing, headers too large, too slow. */
function answerBelowRouter(
  error: Error & { code?: string },
  socket: Socket,
  { gate, public_url }: ServerOptions,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const refusal =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new Refusal('headers_too_large')
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new Refusal('request_timeout')
        : new Refusal('invalid_request', { message: 'This is not a well-formed HTTP request.' })
  const request_id = newId('request', Date.now())
  const body = JSON.stringify(refusal.toBody({ public_url: public_url(), request_id }))
  const headers = {
    ...securityHeaders,
    ...rateLimitHeaders(gate.look(gate.addressOf(socket.remoteAddress ?? '', undefined))),
    'x-request-id': request_id,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${refusal.status} ${reasons[refusal.status] ?? 'Bad Request'}\r\n${lines.join('')}\r\n${body}`,
  )
}

const reasons: Readonly<Record<number, string>> = {
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}
