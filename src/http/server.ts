import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
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
import { isUnreachable, sqlState } from '../db/pool.ts'
import type { World } from '../world.ts'
import { Answered } from './answered.ts'
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
  /** Whoever has not been answered after this time gets a 503: nobody waits without bound. */
  readonly answer_ms?: number
}

const PREFIX = '/v1'
const BODY_MAX_BYTES = 64 * 1024
const HEADER_MAX_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
const KEEP_ALIVE_MS = 30_000
const LINGER_MS = 1000
const ANSWER_MS = 9500

type Admitted = Extract<Admission, { caller: Caller }>
declare module 'fastify' {
  interface FastifyRequest {
    address: string
    /** When it must be answered, by the clock of `performance`. */
    answer_by: number
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
      // Node's own answer to a missing Host would have neither our headers nor an error object.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => answerBelowRouter(error, socket, options),
    frameworkErrors: (error, asked, replied) => {
      const [request, reply] = [asked as FastifyRequest, replied as FastifyReply]
      prepare(request, reply)
      const admitted = request.url.startsWith(`${PREFIX}/`) ? admit(request, reply) : Promise.resolve()
      admitted.then(
        () => fail(error, request, reply),
        (refusal: unknown) => fail(refusal, request, reply),
      )
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
        keywords: ['x-error', 'x-must-be'],
        discriminator: true,
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
    request.answer_by = performance.now() + (options.answer_ms ?? ANSWER_MS)
    reply.headers(securityHeaders)
    reply.header('x-request-id', request.id)
    reply.headers(rateLimitHeaders(gate.look(request.address)))
  }

  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const knocking = gate.admit({
      authorization: request.raw.headersDistinct.authorization?.join(', '),
      address: request.address,
      endpoint: request.routeOptions.config?.endpoint,
    })
    const admission = await inTime(request, knocking)
    reply.headers(rateLimitHeaders(admission.window))
    if (admission.refusal) throw admission.refusal
    request.admitted = admission
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
  app.decorateRequest('answer_by', 0)
  app.decorateRequest('admitted', undefined)
  app.addHook('onRequest', async (request, reply) => {
    prepare(request, reply)
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined)
      throw new Refusal('invalid_request', { message: 'An HTTP/1.1 request needs a Host header.' })
  })
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
  const notFound = (request: FastifyRequest, reply: FastifyReply) =>
    fail(absent(request, reply, options.handlers), request, reply)
  app.setNotFoundHandler(notFound)

  app.register(
    async (v1) => {
      v1.addHook('onRequest', admit)
      // Under /v1 even an unknown path, or method, needs a key: 401 comes before 404.
      v1.setNotFoundHandler(notFound)
      for (const handler of options.handlers) addRoute(v1, handler, public_url)
    },
    { prefix: PREFIX },
  )
  answerEverything(app.server, options)
  return app
}

/** What Node would leave without an answer, or answer in its own way. */
function answerEverything(server: Server, options: ServerOptions): void {
  // A client that has said all it had to say, and shut down its side, still waits for the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  // An expectation that we do not know is no reason to refuse what can be answered.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (_, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    answerBelowRouter(new Error('CONNECT'), socket, options)
  })
}

function addRoute(app: FastifyInstance, { endpoint, run }: Handler, public_url: () => string): void {
  const { method, path } = methodAndPath(endpoint)
  app.route({
    method,
    url: path.slice(PREFIX.length).replaceAll(/\{(\w+)\}/g, ':$1'),
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
      if (!endpoint.body) refuseFields(body)
      const bodyOf = (refusal: Refusal) =>
        JSON.stringify(refusal.toBody({ public_url: public_url(), request_id: request.id }))
      const answer = await inTime(
        request,
        run({ world, caller, request_id: request.id, bodyOf, params, query, body }),
      )
      reply.type('application/json; charset=utf-8')
      if (answer instanceof Answered) {
        if (answer.replayed) reply.header('idempotent-replayed', 'true')
        return reply.code(answer.answer.status).send(answer.answer.body)
      }
      reply.code(endpoint.reply.status)
      return endpoint.reply.status === 204 ? reply.send() : reply.send(JSON.stringify(answer))
    },
  })
}

/**
 * What is under way goes on; only its caller is let go. For money that is the answer that says so: the outcome may be
 * unknown, and the same idempotency key tells.
 */
async function inTime<T>(request: FastifyRequest, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const left = Math.max(0, request.answer_by - performance.now())
    timer = setTimeout(() => reject(new Refusal('service_unavailable')), left)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** An endpoint without a body takes none, or an empty one. Whoever sends fields expects something of them. */
function refuseFields(body: unknown): void {
  if (body === undefined) return
  const field = typeof body === 'object' && body !== null ? Object.keys(body)[0] : 'body'
  if (field === undefined) return
  throw new Refusal('invalid_request', {
    param: Array.isArray(body) ? 'body' : field.slice(0, 100),
    message: 'This call takes no body: send none, or {}.',
  })
}

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i
/** Judged before the pattern, whose time grows with the square of the length. */
const TYPE_LENGTH_MAX = 100

/** JSON in UTF-8, uncompressed, or nothing at all. An empty body counts as none, also when it is announced as JSON. */
function acceptJsonOnly(app: FastifyInstance): void {
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
  FST_ERR_MAX_PARAM_LENGTH: 'route_not_found',
  FST_ERR_ASYNC_CONSTRAINT: 'route_not_found',
}

/** It took longer than any statement may. */
const QUERY_CANCELED = '57014'

/** The one place where an error becomes an answer. What nobody foresaw is a bare 500, logged with its request id. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const { code, validation, statusCode = 500 } = error as FastifyError
  if (validation?.[0]) return refusalOf(validation[0])
  const known = code === undefined ? undefined : ofFastify[code]
  if (known) return new Refusal(known)
  // Fastify itself blames the request: a body that broke off, a header that a method needs.
  if (statusCode < 500)
    return new Refusal('invalid_request', { message: 'The request broke off before its end. Send it again.' })
  if (isUnreachable(error) || sqlState(error) === QUERY_CANCELED) return new Refusal('service_unavailable')
  return new Refusal('internal_error')
}

/** Sockets whose last answer was, or is about to be, given below the router. */
const ending = new WeakSet<Socket>()

/** Requests that never became requests: broken framing, headers too large, too slow. */
function answerBelowRouter(error: Error & { code?: string }, socket: Socket, options: ServerOptions): void {
  if (error.code === 'ECONNRESET') return void socket.destroy()
  if (ending.has(socket)) return
  ending.add(socket)
  afterOwedAnswers(socket, () => {
    if (!socket.writable) return
    socket.end(goodbye(error, socket, options))
    // Closing at once would reset the connection, and with it the answer, while the client is still sending.
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  })
}

/** What was received whole before is answered first: its caller must not take this refusal for its own. */
function afterOwedAnswers(socket: Socket, then: () => void): void {
  const { _httpMessage: owed } = socket as Socket & { _httpMessage?: ServerResponse }
  if (!owed?.req.complete) return then()
  owed.once('close', () => afterOwedAnswers(socket, then))
}

function goodbye(
  error: Error & { code?: string },
  socket: Socket,
  { gate, public_url }: ServerOptions,
): string {
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
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${body}`
}
