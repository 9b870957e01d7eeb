import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Environment } from '../core/environment.ts'
import type { Refusal } from '../core/errors.ts'
import { idOf, noteStored } from './answered-request.ts'
import { refuseFields } from './body.ts'
import { type Endpoint, type Handler, methodAndPath } from './endpoint.ts'
import { FileReply, ReadFile, readUnlessKnown } from './file-reply.ts'
import { findLocation, type Located } from './location.ts'
import { goneSignal, NEVER_GONE, withinDeadline } from './request-deadline.ts'
import { StoredReply } from './stored-reply.ts'
import './request.ts'
import { waitMsOf } from './wait.ts'

/** The handlers of the endpoints, per environment. */
export type Handlers = Readonly<Record<Environment, readonly Handler[]>>

/** All endpoints have this prefix, and all paths with it need a key. */
export const PREFIX = '/v1'

/** Adds a route for each endpoint. `app` is registered with `PREFIX`, so routes are added without it. */
export function addRoutes(
  app: FastifyInstance,
  options: {
    readonly endpoints: readonly Endpoint[]
    readonly handlers: Handlers
    readonly public_url: () => string
  },
): void {
  const { endpoints, handlers, public_url } = options
  for (const endpoint of endpoints) {
    const run = runnerOf(endpoint, handlers)
    const location = findLocation(endpoint, endpoints)
    addRoute(app, endpoint, async (request, reply) => {
      const answer = await runHandler(run, { endpoint, request, reply, public_url })
      return sendAnswer(answer, { endpoint, request, reply, location })
    })
  }
}

/** Picks the handler of an endpoint by the environment that the key belongs to. Throws at start if a handler is missing. */
function runnerOf(endpoint: Endpoint, handlers: Handlers): Handler['run'] {
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
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
): void {
  const { method, path } = methodAndPath(endpoint)
  app.route({
    method,
    url: path.slice(PREFIX.length).replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { endpoint },
    // HEAD runs the same route as GET, so that it is limited and counted the same way.
    exposeHeadRoute: method === 'GET',
    schema: {
      ...(endpoint.body ? { body: endpoint.body } : {}),
      querystring: endpoint.query ?? { type: 'object', additionalProperties: false },
    },
    ...(endpoint.body_optional ? { preValidation: fillBody } : {}),
    handler,
  })
}

async function fillBody(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}

type Exchange = {
  readonly endpoint: Endpoint
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/**
 * After this time a request checks its key again, because the key may have been revoked, or the partner's terms changed,
 * while a slow body arrived or a long poll waited. A read checks once more before its result is sent. A write does not: its
 * own transaction has checked the key, and the caller must learn the result.
 */
const ADMISSION_VALID_MS = 100

async function runHandler(
  run: Handler['run'],
  { endpoint, request, reply, public_url }: Exchange & { public_url: () => string },
): Promise<unknown> {
  const { world, actor, limits, countLookup, confirm, leave } = request.admitted!
  const { id: request_id } = request
  const { params, query, body } = request as unknown as { params: never; query: never; body: never }
  if (!endpoint.body) refuseFields(body)
  const bodyOf = (refusal: Refusal) =>
    JSON.stringify(refusal.toBody({ public_url: public_url(), request_id }))
  const wait_ms = waitMsOf(endpoint, query)
  request.answer_by += wait_ms
  const gone = wait_ms > 0 ? goneSignal(request, reply) : NEVER_GONE
  request.running = true
  const isAdmissionOld = () => performance.now() - request.admit_began_at > ADMISSION_VALID_MS
  const is_read = endpoint.route.startsWith('GET ')
  const call = { world, limits, countLookup, request_id, wait_ms, gone, bodyOf, params, query, body }
  const work = async () => {
    const made = await run({ ...call, actor: isAdmissionOld() ? await confirm() : actor })
    const answer =
      made instanceof FileReply ? await readUnlessKnown(made, request.headers['if-none-match']) : made
    if (is_read && isAdmissionOld()) await confirm()
    return answer
  }
  return withinDeadline(request, work().finally(leave))
}

function sendAnswer(
  answer: unknown,
  { endpoint, request, reply, location }: Exchange & { location: Located | undefined },
): FastifyReply {
  if (answer instanceof ReadFile) return sendFile(answer, reply)
  reply.type('application/json; charset=utf-8')
  if (answer instanceof StoredReply) {
    const { status, body } = answer.response
    if (answer.replayed) reply.header('idempotent-replayed', 'true')
    if (status === 201 && location) reply.header('location', location(JSON.parse(body)))
    noteStored(request, answer.response)
    return reply.code(status).send(body)
  }
  const { status } = endpoint.reply
  if (status === 201 && location) reply.header('location', location(answer))
  request.object_id = idOf(answer)
  reply.code(status)
  return status === 204 ? reply.send() : reply.send(JSON.stringify(answer))
}

/** Never shown inside a page of this origin: browsers download it. Clients may keep the file if they ask again before use. */
function sendFile({ file, bytes }: ReadFile, reply: FastifyReply): FastifyReply {
  reply.headers({ etag: file.etag, 'cache-control': 'private, no-cache' })
  if (bytes === undefined) return reply.code(304).send()
  reply.header('content-disposition', `attachment; filename="${file.filename}"`)
  return reply
    .code(200)
    .type(file.type)
    .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}
