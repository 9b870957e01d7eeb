import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuseFields } from '../http/body.ts'
import { goneSignal, inTime } from '../http/in-time.ts'
import '../http/request.ts'
import { openPeopleShares } from '../http/shares.ts'
import { sessionsGoingOn } from '../team/store.ts'
import { type Calls, openCalls } from './calls.ts'
import {
  type ConsoleCall,
  type ConsoleEndpoint,
  type ConsoleHandler,
  methodAndPath,
  TextStream,
} from './endpoint.ts'
import { type ConsoleGateOptions, type Entered, enter } from './gate.ts'
import { assertNames, assertStorable } from './names.ts'
import { openPlaces, type Places } from './places.ts'
import { cookieOf } from './session.ts'
import { openSessionWatch, type SessionWatch } from './session-watch.ts'

export type ConsoleServerOptions = Omit<ConsoleGateOptions, 'calls' | 'worldFor'> & {
  readonly handlers: readonly ConsoleHandler[]
  /** Aborted when the node stops: streams end then. */
  readonly stopping: AbortSignal
}

/** The console's own calls: no API key opens one, and a session opens no call of the API. */
export function registerConsoleApi(app: FastifyInstance, options: ConsoleServerOptions): void {
  const parts = {
    ...options,
    calls: openCalls(),
    worldFor: openPeopleShares(),
    places: openPlaces(),
    watch: openSessionWatch((ids) => sessionsGoingOn(options.shared, ids)),
  }
  for (const handler of options.handlers) addRoute(app, handler, parts)
}

type ServerParts = ConsoleServerOptions &
  ConsoleGateOptions & { readonly calls: Calls; readonly places: Places; readonly watch: SessionWatch }

function addRoute(app: FastifyInstance, handler: ConsoleHandler, options: ServerParts): void {
  const { endpoint } = handler
  const { method, path } = methodAndPath(endpoint)
  const entered = new WeakMap<FastifyRequest, Entered>()
  app.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { own_gate: true },
    exposeHeadRoute: false,
    schema: {
      ...(endpoint.params ? { params: endpoint.params } : {}),
      ...(endpoint.body ? { body: endpoint.body } : {}),
      querystring: endpoint.query ?? { type: 'object', additionalProperties: false },
    },
    // Before the body is read: whoever may not come in need not send it.
    onRequest: async (request) => {
      entered.set(request, await inTime(request, enter(endpoint, request, options)))
      assertNames(endpoint, request.params as Record<string, string>)
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
  const { request, reply, entered } = exchange
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
    setSession: (token: string | undefined) => reply.header('set-cookie', cookieOf(token)),
  } as never
  const told = await inTime(request, runInTurn(handler, call, exchange))
  return send(told, endpoint, reply, gone)
}

/** Who left while waiting for a turn needs no answer. */
function runInTurn(
  handler: ConsoleHandler,
  call: ConsoleCall<ConsoleEndpoint>,
  { entered: { signed }, options }: Exchange,
): Promise<unknown> {
  if (!signed) return handler.run(call)
  return options.calls.answer(signed.user.id, async () => {
    call.gone.throwIfAborted()
    return handler.run(call)
  })
}

/** What is sent piece by piece takes a place, and ends with its session. */
async function goneOf(
  { reply: { type } }: ConsoleEndpoint,
  { request, reply, entered: { signed }, options }: Exchange,
): Promise<AbortSignal> {
  const gone = AbortSignal.any([goneSignal(request, reply), options.stopping])
  if (!type || !signed) return gone
  await options.places.take(type, signed, gone)
  return AbortSignal.any([gone, options.watch.ended(signed.session_id, gone)])
}

function send(
  told: unknown,
  { reply: { status, type } }: ConsoleEndpoint,
  reply: FastifyReply,
  gone: AbortSignal,
): FastifyReply {
  reply.code(status)
  if (told instanceof TextStream) {
    if (told.filename !== undefined)
      reply.header('content-disposition', `attachment; filename="${told.filename}"`)
    return reply
      .type(`${type}; charset=utf-8`)
      .send(Readable.from(type === 'text/csv' ? wholeOrCut(told.chunks, gone) : told.chunks))
  }
  if (status === 204) return reply.send()
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(told))
}

/** A table that ends before its end must not look whole: the connection breaks off. */
async function* wholeOrCut(chunks: AsyncIterable<string>, gone: AbortSignal): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    gone.throwIfAborted()
    yield chunk
  }
  gone.throwIfAborted()
}
