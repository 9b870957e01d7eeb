import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { Refusal } from '../../core/errors.ts'
import type { Pool } from '../../db/pool.ts'
import { refuseFields } from '../../http/body.ts'
import { methodAndPath } from '../../http/endpoint.ts'
import { FileReply, ReadFile } from '../../http/file-reply.ts'
import { rateLimitHeaders } from '../../http/headers.ts'
import { toRefusal } from '../../http/refusals.ts'
import { ClientLeft, goneSignal, withinDeadline } from '../../http/request-deadline.ts'
import '../../http/request.ts'
import { liveSessionIds, selectLiveSessions } from '../../parties/team/store.ts'
import { type CallQueue, openCallQueue } from './call-queue.ts'
import {
  type ConsoleCall,
  type ConsoleEndpoint,
  type ConsoleHandler,
  isHeavy,
  TextStream,
} from './endpoint.ts'
import { type ExportPace, openExportPace } from './export-pace.ts'
import { type ConsoleGateOptions, type Entered, enter } from './gate.ts'
import { KNOWN_MAX, openKnownSessions } from './known-sessions.ts'
import { assertPossibleIds, assertStorable } from './param-checks.ts'
import { cookieOf } from './session.ts'
import { openSessionWatch, type SessionWatch } from './session-watch.ts'
import { openStreamSlots, type StreamSlots } from './stream-slots.ts'

type ConsoleServerOptions = Omit<ConsoleGateOptions, 'calls' | 'sessions'> & {
  readonly shared: Pool
  readonly handlers: readonly ConsoleHandler[]
  readonly log: Pick<Logger, 'error'>
  /** Aborted when a stop begins to drain: streams of hints end then, so that pages reconnect to another node. */
  readonly draining: AbortSignal
  /** Aborted when the drain is over: streams that are still open end then. */
  readonly stopping: AbortSignal
}

/** The console's own calls: an API key is not valid here, and a session is not valid in the API. */
export function registerConsoleApi(app: FastifyInstance, options: ConsoleServerOptions): void {
  const parts = {
    ...options,
    calls: openCallQueue(),
    sessions: openKnownSessions(() => selectLiveSessions(options.shared, KNOWN_MAX)),
    slots: openStreamSlots(),
    pace: openExportPace(),
    watch: openSessionWatch((ids) => liveSessionIds(options.shared, ids)),
  }
  for (const handler of options.handlers) addRoute(app, handler, parts)
}

type ServerParts = ConsoleServerOptions &
  ConsoleGateOptions & {
    readonly calls: CallQueue
    readonly slots: StreamSlots
    readonly pace: ExportPace
    readonly watch: SessionWatch
  }

function addRoute(app: FastifyInstance, handler: ConsoleHandler, options: ServerParts): void {
  const { endpoint } = handler
  const { method, path } = methodAndPath(endpoint)
  const entered = new WeakMap<FastifyRequest, Entered>()
  app.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: {
      own_gate: true,
      ...(endpoint.reply.type === 'text/event-stream' ? { endless: true as const } : {}),
    },
    exposeHeadRoute: false,
    schema: {
      ...(endpoint.params ? { params: endpoint.params } : {}),
      ...(endpoint.body ? { body: endpoint.body } : {}),
      querystring: endpoint.query ?? { type: 'object', additionalProperties: false },
    },
    // Before the body is read: a refused caller need not send it.
    onRequest: async (request, reply) => {
      const let_in = await withinDeadline(request, enter(endpoint, request, options))
      entered.set(request, let_in)
      if (let_in.window) reply.headers(rateLimitHeaders(let_in.window))
      assertPossibleIds(endpoint, request.params as Record<string, string>)
    },
    preHandler: async (request) => assertStorable(request.query as Record<string, string>),
    handler: (request, reply) => run(handler, { request, reply, entered: entered.get(request)!, options }),
  })
}

type Exchange = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly entered: Entered
  readonly options: ServerParts
}

async function run(handler: ConsoleHandler, exchange: Exchange): Promise<FastifyReply> {
  const { request, reply, entered, options } = exchange
  const { endpoint } = handler
  if (!endpoint.body) refuseFields(request.body)
  const gone = await goneOf(endpoint, exchange)
  const { params, query, body } = request as unknown as { params: never; query: never; body: never }
  const call: ConsoleCall<ConsoleEndpoint> = {
    ...(entered as Required<Entered>),
    params,
    query,
    body,
    gone,
    request_id: request.id,
    address: request.address,
    agent: request.headers['user-agent']?.slice(0, 200),
    setSession(token: string | undefined) {
      reply.header('set-cookie', cookieOf(token))
      if (token !== undefined) options.sessions.note(token, entered.actor ?? { address: request.address })
    },
  } as never
  const result = await withinDeadline(request, runInTurn(handler, call, exchange))
  return send(result, endpoint, exchange, gone)
}

/** A client that left while waiting for a turn gets no answer. */
function runInTurn(
  handler: ConsoleHandler,
  call: ConsoleCall<ConsoleEndpoint>,
  { entered: { signed }, options }: Exchange,
): Promise<unknown> {
  if (!signed) return handler.run(call)
  const { calls, stopping } = options
  const assertHere = () => assertStaying(call.gone, stopping)
  const answerNow = async () => {
    assertHere()
    const made = await handler.run(call)
    return made instanceof FileReply ? new ReadFile(made, await made.read()) : made
  }
  return isHeavy(handler.endpoint, call.query ?? {})
    ? calls.answerHeavy(signed.user, answerNow, assertHere)
    : calls.answer(signed.user.id, answerNow)
}

/** A streamed reply takes a place and ends with its session. */
async function goneOf(
  { reply: { type } }: ConsoleEndpoint,
  { request, reply, entered: { signed }, options }: Exchange,
): Promise<AbortSignal> {
  const ending = type === 'text/event-stream' ? options.draining : options.stopping
  const gone = AbortSignal.any([goneSignal(request, reply), ending])
  if (!type || !signed) return gone
  await options.slots.take(type, signed, gone)
  assertStaying(gone, options.stopping)
  return AbortSignal.any([gone, options.watch.ended(signed.session_id, gone)])
}

function send(
  result: unknown,
  { reply: { status, type } }: ConsoleEndpoint,
  exchange: Exchange,
  gone: AbortSignal,
): FastifyReply {
  const { reply } = exchange
  reply.code(status)
  if (result instanceof TextStream) {
    if (result.filename !== undefined)
      reply.header('content-disposition', `attachment; filename="${result.filename}"`)
    return reply
      .type(`${type}; charset=utf-8`)
      .send(Readable.from(type === 'text/csv' ? wholeOrCut(result.chunks, exchange, gone) : result.chunks))
  }
  if (result instanceof ReadFile) {
    const { type, filename } = result.file
    reply.header('content-disposition', `attachment; filename="${filename}"`)
    return reply.type(type).send(Buffer.from(result.bytes!))
  }
  if (status === 204) return reply.send()
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(result))
}

/** A client that left while waiting gets no answer. A client that waits while the node stops retries on another node. */
function assertStaying(gone: AbortSignal, stopping: AbortSignal): void {
  if (gone.aborted) throw endOf(gone, stopping)
}

/**
 * The chunks of an export. If it ends early, the connection is cut instead of closed, so that no client takes the
 * file for complete; an error is logged unless the client left.
 */
async function* wholeOrCut(
  chunks: AsyncIterable<string>,
  { request, reply, entered: { signed }, options }: Exchange,
  gone: AbortSignal,
): AsyncGenerator<string> {
  try {
    const name = signed?.user.partner_id ?? 'operator'
    for await (const chunk of options.pace.paced(name, chunks, gone)) {
      gone.throwIfAborted()
      yield chunk
    }
    gone.throwIfAborted()
  } catch (error) {
    const why = gone.aborted ? endOf(gone, options.stopping) : error
    // If nothing was sent yet, the error can still be the reply.
    if (why instanceof ClientLeft || !reply.raw.headersSent) throw why
    const { code } = toRefusal(why)
    request.error_code = code
    const { url: route } = request.routeOptions
    const line = { err: why, request_id: request.id, route, error_code: code }
    options.log.error(
      line,
      'console: an export broke off; its connection was cut, so the file does not look complete',
    )
    reply.raw.destroy()
    throw why
  }
}

/** Why a call ends early: its client left, the node stops, or its session has ended. */
const endOf = (gone: AbortSignal, stopping: AbortSignal): Error =>
  gone.reason instanceof ClientLeft
    ? gone.reason
    : new Refusal(stopping.aborted ? 'service_unavailable' : 'not_signed_in')
