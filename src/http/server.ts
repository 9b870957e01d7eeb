import { createServer } from 'node:http'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { Logger } from 'pino'
import type { Environment } from '../core/environment.ts'
import { type ErrorCode, Refusal } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { Crowded } from '../core/turns.ts'
import { isUnreachable, sqlState } from '../db/failure.ts'
import { Answered } from './answered.ts'
import { answerBelowRouter, answerEverything, endGently, say } from './below-router.ts'
import { acceptJsonOnly, BODY_MAX_BYTES, isUnread, refuseFields } from './body.ts'
import { type Endpoint, type Handler, methodAndPath } from './endpoint.ts'
import type { Admitted, Gate, Requester } from './gate.ts'
import { rateLimitHeaders, refusalHeaders, securityHeaders } from './headers.ts'
import { isLoopback } from './ip.ts'
import { findLocation, type Located } from './location.ts'
import { explainHeader, malformation } from './request-headers.ts'
import { formats, ownKeywords } from './schema.ts'
import { guardSockets, PIPELINED_MAX, type SocketLimits, STALL_MS } from './sockets.ts'
import { refusalOf } from './validation.ts'
import { waitMsOf } from './wait.ts'

/** A request as the log of requests keeps it, once it was answered. */
export type AnsweredRequest = {
  readonly id: string
  readonly by: Requester
  readonly method: string
  readonly route: string | null
  readonly status: number
  readonly error_code: string | null
  readonly elapsed_ms: number
  readonly address: string
  readonly object_id: string | null
}

export type ServerOptions = {
  readonly endpoints: readonly Endpoint[]
  /** What each endpoint does, in each environment. */
  readonly handlers: Readonly<Record<Environment, readonly Handler[]>>
  readonly gate: Gate
  /** Asked when needed: with port 0 it is known only after listening. */
  readonly public_url: () => string
  readonly log: Logger
  readonly onAnswer?: (answer: { method: string; route: string; status: number; seconds: number }) => void
  /** Told of every answer to a good key. */
  readonly record?: (answered: AnsweredRequest) => void
  /** Whoever has not been answered after this time gets a 503: nobody waits without bound. */
  readonly answer_ms?: number
  readonly sockets?: Partial<SocketLimits>
}

const PREFIX = '/v1'
const HEADER_MAX_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
const KEEP_ALIVE_MS = 30_000
const ANSWER_MS = 9500

declare module 'fastify' {
  interface FastifyRequest {
    address: string
    /** When it must be answered, by the clock of `performance`. */
    answer_by: number
    admitted: Admitted | undefined
    /** A handler is at it: the place of the request is free when it ends, and not when its caller is let go. */
    running: boolean
    /** Set as soon as its key was found good, whatever became of it. */
    by: Requester | undefined
    error_code: string | undefined
    object_id: string | undefined
  }
  interface FastifyContextConfig {
    endpoint?: Endpoint
    /** For whoever watches over this node: from the machine itself it is never counted, nor refused. */
    watches?: true
  }
}

export function buildServer(options: ServerOptions): FastifyInstance {
  const { gate, log, public_url } = options
  const app: FastifyInstance = Fastify({
    logger: false,
    bodyLimit: BODY_MAX_BYTES,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => newId('request', Date.now()),
    // One server and no other: for some hosts the framework would open a second one, which nobody guards.
    serverFactory: (serve) =>
      createServer(
        {
          headersTimeout: HEADERS_TIMEOUT_MS,
          requestTimeout: REQUEST_TIMEOUT_MS,
          keepAliveTimeout: KEEP_ALIVE_MS,
          connectionsCheckingInterval: 1000,
          maxHeaderSize: HEADER_MAX_BYTES,
          // Node's own answer to a missing Host would have neither our headers nor an error object.
          requireHostHeader: false,
        },
        serve,
      ),
    clientErrorHandler: (error, socket) => answerBelowRouter(error, socket, options),
    frameworkErrors: (error, asked, replied) => {
      const [request, reply] = [asked as FastifyRequest, replied as FastifyReply]
      prepare(request, reply)
      const judged = isUnderPrefix(request) ? admit(request, reply) : visit(request, reply)
      judged.then(
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
        keywords: ownKeywords,
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

  /** Whatever needs no key is counted by its address, but for a machine that looks after itself. */
  async function visit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const own = request.routeOptions?.config?.watches && isLoopback(request.address)
    const away = own ? undefined : gate.visit(request.address)
    if (!away) return
    reply.headers(rateLimitHeaders(away.window))
    throw away.refusal
  }

  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const knocking = gate.admit({
      authorization: request.headers.authorization,
      address: request.address,
      endpoint: request.routeOptions.config?.endpoint,
      dry_run: (request.query as { dry_run?: unknown } | undefined)?.dry_run === 'true',
      waits: waitMsOf(request.routeOptions.config?.endpoint, request.query) > 0,
    })
    const admission = await inTime(request, knocking, (late) => late.refusal ?? late.leave())
    reply.headers(rateLimitHeaders(admission.window))
    request.by = admission.by
    if (admission.refusal) throw admission.refusal
    // Whoever went away meanwhile has told so already: nothing would ever end its request, nor free its place.
    if (isGone(request)) {
      admission.leave()
      throw brokenOff()
    }
    request.admitted = admission
    // Whoever goes away before a handler was asked gives up its place.
    reply.raw.once('close', () => request.running || admission.leave())
    request.raw.once('close', () => request.running || request.raw.complete || admission.leave())
  }

  /** Before its body is read: nobody needs to send what nobody will look at. */
  async function refuseAbsent(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.is404) throw absent(request, reply, options.endpoints)
  }

  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const refusal = explainHeader(toRefusal(error), request)
    request.error_code = refusal.code
    if (!request.running) request.admitted?.leave()
    if (refusal.code === 'internal_error') log.error({ err: error, request_id: request.id }, 'internal error')
    if (refusal.code === 'service_unavailable')
      log.warn({ err: error, request_id: request.id }, 'service unavailable')
    reply.headers(refusalHeaders(refusal))
    // A request that is refused late may have been taken back from its windows.
    if (refusal.status === 429 && request.admitted)
      reply.headers(rateLimitHeaders(request.admitted.windowNow()))
    if (isUnread(request) || isFlood(refusal, request)) closeAfter(request, reply)
    reply.code(refusal.status).type('application/json; charset=utf-8')
    reply.send(JSON.stringify(refusal.toBody({ public_url: public_url(), request_id: request.id })))
  }

  /**
   * An address without a key that is past its window: each further request costs it a connection, so that it cannot pour
   * them in. Behind a proxy are others, whose connection it is too.
   */
  const isFlood = ({ code, details }: Refusal, { raw }: FastifyRequest) =>
    code === 'rate_limit_exceeded' &&
    details?.window === 'address' &&
    !gate.isTrusted(raw.socket.remoteAddress ?? '')

  app.decorateRequest('address', '')
  app.decorateRequest('answer_by', 0)
  app.decorateRequest('admitted', undefined)
  app.decorateRequest('running', false)
  app.decorateRequest('by', undefined)
  app.decorateRequest('error_code', undefined)
  app.decorateRequest('object_id', undefined)
  app.addHook('onRequest', async (request, reply) => {
    prepare(request, reply)
    if (sockets.isCrowded(request.raw.socket)) {
      closeAfter(request, reply)
      throw tooManyWaiting()
    }
    const wrong = malformation(request)
    if (wrong || !isUnderPrefix(request)) await visit(request, reply)
    if (wrong) throw wrong
    if (!isUnderPrefix(request)) await refuseAbsent(request, reply)
  })
  app.setErrorHandler(fail)
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    const seconds = reply.elapsedTime / 1000
    options.onAnswer?.({ method: request.method, route, status: reply.statusCode, seconds })
    if (options.record && request.by) options.record(answeredRequest(request, reply, request.by))
    log.info(
      {
        request_id: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        address: request.address,
        key_id: request.admitted?.actor.key_id,
      },
      'request',
    )
  })

  acceptJsonOnly(app)
  const notFound = (request: FastifyRequest, reply: FastifyReply) =>
    fail(absent(request, reply, options.endpoints), request, reply)
  app.setNotFoundHandler(notFound)

  app.register(
    async (v1) => {
      v1.addHook('onRequest', admit)
      v1.addHook('onRequest', refuseAbsent)
      // Under /v1 even an unknown path, or method, needs a key: 401 comes before 404.
      v1.setNotFoundHandler(notFound)
      for (const endpoint of options.endpoints)
        addRoute(v1, endpoint, {
          run: runnerOf(endpoint, options.handlers),
          public_url,
          location: findLocation(endpoint, options.endpoints),
        })
    },
    { prefix: PREFIX },
  )
  answerEverything(app.server, options)
  const sockets = guardSockets(app.server, {
    limits: { ...SOCKETS, ...options.sockets },
    isTrusted: gate.isTrusted,
    say: (refusal, socket) => say(refusal, socket, options),
  })
  return app
}

/** Generous, for a server that was told nothing else. */
const SOCKETS: SocketLimits = {
  max: 4096,
  per_address: 512,
  pipelined: PIPELINED_MAX,
  stall_ms: STALL_MS,
}

function isUnderPrefix(request: FastifyRequest): boolean {
  const path = request.routeOptions?.url ?? request.url
  return path === PREFIX || path.startsWith(`${PREFIX}/`) || path.startsWith(`${PREFIX}?`)
}

function tooManyWaiting(): Refusal {
  const details = { limit: PIPELINED_MAX, retry_after_seconds: 1 }
  return new Refusal('rate_limit_exceeded', {
    message: `More than ${PIPELINED_MAX} requests wait on this connection. Read the answers first.`,
    retry_after_seconds: 1,
    details,
  })
}

/** What was not read to its end cannot be followed by another request. */
function closeAfter(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('connection', 'close')
  endGently(request.raw.socket)
}

type RouteOptions = {
  readonly run: Handler['run']
  readonly public_url: () => string
  readonly location: Located | undefined
}

/** The handler of the environment that the key belongs to. */
function runnerOf(endpoint: Endpoint, handlers: ServerOptions['handlers']): Handler['run'] {
  const find = (environment: Environment) => {
    const handler = handlers[environment].find((each) => each.endpoint === endpoint)
    if (!handler) throw new Error(`${endpoint.name} has no handler in ${environment}`)
    return handler.run
  }
  const runs = { production: find('production'), sandbox: find('sandbox') }
  return (call) => runs[call.world.environment](call)
}

function addRoute(
  app: FastifyInstance,
  endpoint: Endpoint,
  { run, public_url, location }: RouteOptions,
): void {
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
    ...(endpoint.body_optional ? { preValidation: fillBody } : {}),
    handler: async (request, reply) => {
      const { world, actor, limits, countLookup, leave } = request.admitted!
      const { params, query, body } = request as unknown as { params: never; query: never; body: never }
      if (!endpoint.body) refuseFields(body)
      const bodyOf = (refusal: Refusal) =>
        JSON.stringify(refusal.toBody({ public_url: public_url(), request_id: request.id }))
      const wait_ms = waitMsOf(endpoint, query)
      request.answer_by += wait_ms
      const gone = wait_ms > 0 ? goneSignal(request, reply) : NEVER_GONE
      request.running = true
      const work = run({
        world,
        actor,
        limits,
        countLookup,
        request_id: request.id,
        wait_ms,
        gone,
        bodyOf,
        params,
        query,
        body,
      })
      const answer = await inTime(request, work.finally(leave))
      reply.type('application/json; charset=utf-8')
      if (answer instanceof Answered) {
        const { status, body } = answer.answer
        if (answer.replayed) reply.header('idempotent-replayed', 'true')
        if (status === 201 && location) reply.header('location', location(JSON.parse(body)))
        noteStored(request, answer.answer)
        return reply.code(status).send(body)
      }
      const { status } = endpoint.reply
      if (status === 201 && location) reply.header('location', location(answer))
      request.object_id = idOf(answer)
      reply.code(status)
      return status === 204 ? reply.send() : reply.send(JSON.stringify(answer))
    },
  })
}

/** An id of ours, and nothing that a caller could have put into a path instead. */
const OWN_ID = /^[a-z]{2,4}_[0-9a-z]{26}$/

const idOf = (answer: unknown): string | undefined => {
  const id = (answer as { id?: unknown } | undefined)?.id
  return typeof id === 'string' && OWN_ID.test(id) ? id : undefined
}

/** What an answer that was stored as text says of itself. */
function noteStored(request: FastifyRequest, { body }: { body: string }): void {
  request.object_id = /^\{"id":"([a-z]{2,4}_[0-9a-z]{26})"/.exec(body)?.[1]
  request.error_code = /^\{"error":\{"type":"[a-z_]{1,40}","code":"([a-z_]{1,40})"/.exec(body)?.[1]
}

function answeredRequest(request: FastifyRequest, reply: FastifyReply, by: Requester): AnsweredRequest {
  const { endpoint } = request.routeOptions.config
  const asked_for = Object.values((request.params ?? {}) as Record<string, string>).findLast((value) =>
    OWN_ID.test(value),
  )
  return {
    id: request.id,
    by,
    method: request.method,
    route: endpoint ? methodAndPath(endpoint).path : null,
    status: reply.statusCode,
    error_code: request.error_code ?? null,
    elapsed_ms: reply.elapsedTime,
    address: request.address,
    object_id: request.object_id ?? asked_for ?? null,
  }
}

const NEVER_GONE = new AbortController().signal

/** Nothing can be answered any more. */
const isGone = ({ raw }: FastifyRequest): boolean => raw.socket.destroyed

/** Whoever waits and then closes its side, or the connection, waits no longer. */
function goneSignal(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  if (isGone(request)) leave()
  request.socket.once('end', leave)
  reply.raw.once('close', () => {
    request.socket.off('end', leave)
    leave()
  })
  return leaving.signal
}

/**
 * What is under way goes on; only its caller is let go. For money that is the answer that says so: the outcome may be
 * unknown, and the same idempotency key tells.
 */
async function inTime<T>(
  request: FastifyRequest,
  work: Promise<T>,
  onLate: (result: T) => void = () => {},
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const left = Math.max(0, request.answer_by - performance.now())
    timer = setTimeout(() => {
      work.then(onLate, () => {})
      reject(new Refusal('service_unavailable'))
    }, left)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

async function fillBody(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}

/** Nothing is there: either the path is unknown, or it is known under other methods. */
function absent(request: FastifyRequest, reply: FastifyReply, endpoints: readonly Endpoint[]): Refusal {
  const path = request.url.split('?')[0]!
  const allowed = endpoints.map(methodAndPath).filter((route) => pattern(route.path).test(path))
  if (allowed.length === 0) return new Refusal('route_not_found')
  const methods = new Set(allowed.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))
  reply.header('allow', [...methods].join(', '))
  return new Refusal('method_not_allowed')
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

function brokenOff(): Refusal {
  return new Refusal('invalid_request', { message: 'The request broke off before its end. Send it again.' })
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

/** It took longer than any statement may, or waited longer for a lock. */
const TOOK_TOO_LONG = new Set(['57014', '55P03'])

/** The one place where an error becomes an answer. What nobody foresaw is a bare 500, logged with its request id. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const { code, validation, statusCode = 500 } = error as FastifyError
  if (validation?.[0]) return refusalOf(validation[0])
  const known = code === undefined ? undefined : ofFastify[code]
  if (known) return new Refusal(known)
  // Fastify itself blames the request: a body that broke off, a header that a method needs.
  if (statusCode < 500) return brokenOff()
  const passing = isUnreachable(error) || TOOK_TOO_LONG.has(sqlState(error) ?? '') || error instanceof Crowded
  if (passing) return new Refusal('service_unavailable')
  return new Refusal('internal_error')
}
