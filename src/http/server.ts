import { createServer } from 'node:http'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import type { Logger } from 'pino'
import { newId } from '../core/ids.ts'
import { type AdmissionSteps, openAdmissionSteps } from './admission-steps.ts'
import { type AnsweredRequest, answeredRequest, requestLine } from './answered-request.ts'
import { answerBelowRouter, answerEverything, sendRefusal } from './below-router.ts'
import { acceptJsonOnly, BODY_MAX_BYTES } from './body.ts'
import type { Endpoint } from './endpoint.ts'
import { CLIENT_LEFT, closeAfter, type Fail, openFail } from './failure.ts'
import type { Gate } from './gate.ts'
import { noRouteRefusal } from './no-route.ts'
import { tooManyWaiting } from './refusals.ts'
import { decorateRequests } from './request.ts'
import { malformation } from './request-headers.ts'
import { addRoutes, type Handlers, PREFIX } from './routes.ts'
import { formats, ownKeywords } from './schema.ts'
import { guardSockets, PIPELINED_MAX, type SocketLimits, type Sockets } from './sockets.ts'
import { compileLate } from './validators.ts'

export type ServerOptions = {
  readonly endpoints: readonly Endpoint[]
  readonly handlers: Handlers
  readonly gate: Gate
  /** A function: with port 0 the URL is known only after listening. */
  readonly public_url: () => string
  readonly log: Logger
  readonly onAnswer?: (answer: { method: string; route: string; status: number; seconds: number }) => void
  /** Called after every response to a valid key. */
  readonly record?: (answered: AnsweredRequest) => void
  /** A request that is not answered within this time gets a 503. */
  readonly answer_ms?: number
  readonly sockets?: Partial<SocketLimits>
  /** While true, each response says `Connection: close`, so that the client's next request goes to another node. */
  readonly isDraining?: () => boolean
}

const HEADER_MAX_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
const KEEP_ALIVE_MS = 30_000
const ANSWER_MS = 9500
const MB = 1_000_000

/** Defaults, far above what ordinary clients need. */
const SOCKETS: SocketLimits = {
  max: 4096,
  per_address: 512,
  pipelined: PIPELINED_MAX,
  stall_ms: 15_000,
  unread: 128 * MB,
  unread_per_address: 16 * MB,
}

/** Puts the parts together: admission (admission-steps.ts), endpoints (routes.ts), errors (failure.ts). */
export function buildServer(options: ServerOptions): FastifyInstance {
  const { gate, endpoints } = options
  const admission = openAdmissionSteps(gate, options.answer_ms ?? ANSWER_MS)
  const fail = openFail(options)
  const app: FastifyInstance = Fastify(settingsOf(options, admission, fail))
  answerEverything(app.server, options)
  const sockets = guardSockets(app.server, {
    limits: { ...SOCKETS, ...options.sockets },
    isTrusted: gate.isTrusted,
    sendRefusal: (refusal, socket) => sendRefusal(refusal, socket, options),
    log: options.log,
  })
  decorateRequests(app)
  acceptJsonOnly(app)
  app.setErrorHandler(fail)
  const notFound = (request: FastifyRequest, reply: FastifyReply) =>
    fail(noRouteRefusal(request, reply, endpoints), request, reply)
  app.setNotFoundHandler(notFound)
  app.addHook('onRequest', receive)
  app.addHook('onSend', (request, reply, _payload, done) => {
    // Only the newest request of a connection: pipelined requests before it were accepted and are answered on it too.
    if (options.isDraining?.() && sockets.isNewest(request.raw)) closeAfter(request, reply)
    done()
  })
  app.addHook('onResponse', async (request, reply) => tellOf(request, reply, options))

  app.register(
    async (v1) => {
      v1.addHook('onRequest', admission.admit)
      v1.addHook('onRequest', refuseAbsent)
      // Under /v1 even an unknown path, or method, needs a key: 401 comes before 404.
      v1.setNotFoundHandler(notFound)
      addRoutes(v1, options)
    },
    { prefix: PREFIX },
  )
  return app

  async function receive(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    admission.prepare(request, reply)
    reply.raw.once('close', () => tellOfCut(request, reply, options))
    refuseCrowd(sockets, request, reply)
    const wrong = malformation(request)
    if (wrong || !isUnderPrefix(request)) await admission.visit(request, reply)
    if (wrong) throw wrong
    if (!isUnderPrefix(request)) await refuseAbsent(request, reply)
  }

  /** Runs before the body is read: a client need not send a body to a route that does not exist. */
  async function refuseAbsent(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.is404) throw noRouteRefusal(request, reply, endpoints)
  }
}

function settingsOf(options: ServerOptions, admission: AdmissionSteps, fail: Fail): FastifyServerOptions {
  return {
    logger: false,
    bodyLimit: BODY_MAX_BYTES,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => newId('request', Date.now()),
    serverFactory: (serve) => createServer(nodeSettings, serve),
    clientErrorHandler: (error, socket) => answerBelowRouter(error, socket, options),
    frameworkErrors: (error, asked, replied) => {
      const [request, reply] = [asked as FastifyRequest, replied as FastifyReply]
      admission.prepare(request, reply)
      const judged = isUnderPrefix(request)
        ? admission.admit(request, reply)
        : admission.visit(request, reply)
      judged.then(
        () => fail(error, request, reply),
        (refusal: unknown) => fail(refusal, request, reply),
      )
    },
    routerOptions: { maxParamLength: 200 },
    schemaController: { compilersFactory: { buildValidator: compileLate } },
    // Fastify's defaults would turn 5000 into "5000" and silently drop misspelt fields.
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
  }
}

/** Used by our own serverFactory: for some hosts Fastify would open a second server, which has no socket limits. */
const nodeSettings = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: HEADER_MAX_BYTES,
  // Node's own response to a missing Host header has neither our headers nor an error object.
  requireHostHeader: false,
}

function isUnderPrefix(request: FastifyRequest): boolean {
  const path = request.routeOptions?.url ?? request.url
  return path === PREFIX || path.startsWith(`${PREFIX}/`) || path.startsWith(`${PREFIX}?`)
}

function refuseCrowd(sockets: Sockets, request: FastifyRequest, reply: FastifyReply): void {
  if (!sockets.isCrowded(request.raw.socket)) return
  closeAfter(request, reply)
  throw tooManyWaiting(PIPELINED_MAX)
}

/** Reports a response to the metrics, the log of requests and the node's log. */
function tellOf(
  request: FastifyRequest,
  reply: FastifyReply,
  options: ServerOptions,
  more: { readonly status?: number; readonly cut_by?: 'client' | 'server' } = {},
): void {
  const route = request.routeOptions.url ?? 'none'
  const seconds = reply.elapsedTime / 1000
  const { status = reply.statusCode } = more
  options.onAnswer?.({ method: request.method, route, status, seconds })
  if (options.record && request.by) options.record(answeredRequest(request, reply, request.by))
  options.log.info({ ...requestLine(request, reply), ...more }, 'request')
}

/**
 * Reports a response that was cut off half-way, and a console call whose client left before the response: Fastify calls no
 * hook for either.
 */
function tellOfCut(request: FastifyRequest, reply: FastifyReply, options: ServerOptions): void {
  const { raw } = reply
  const { own_gate, endless } = request.routeOptions?.config ?? {}
  if (raw.writableFinished || !(raw.headersSent || own_gate)) return
  if (endless) return tellOf(request, reply, options)
  // When the server cut the response off, error_code is set.
  const cut_by = request.error_code === undefined ? 'client' : 'server'
  tellOf(request, reply, options, { status: cut_by === 'client' ? CLIENT_LEFT : 500, cut_by })
}
