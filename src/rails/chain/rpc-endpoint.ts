import { type Static, Type as T, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { Agent, request } from 'undici'

/**
 * One JSON-RPC endpoint of a node. Its URL usually contains an API key, so no error, log line or inspected value has the URL:
 * an endpoint is known by its number, counted from 1. For the same reason the text of a node's error is never passed on.
 */
export type RpcEndpoint = {
  readonly number: number
  /** Calls of one turn of the event loop go out as one batch; equal calls of a batch are one call. */
  ask<Answer>(call: RpcCall<Answer>, signal?: AbortSignal): Promise<Answer>
  stop(): Promise<void>
}

export type RpcCall<Answer> = {
  readonly method: string
  readonly params: readonly unknown[]
  readonly result: TSchema
  /**
   * The answer is long: the call gets an HTTP request of its own. `vast`: strangers decide how long the answer is, and the caller cannot
   * ask for less, as for a receipt. Its bound is what a block can hold.
   */
  readonly is_long?: boolean | 'vast'
  /** Nothing depends on the answer, so a failure does not count against the endpoint. Only for a call that `is_long`. */
  readonly is_optional?: boolean
  /** Throws if a result of the right form contradicts the question. */
  read(result: any): Answer
  /** Reads an error answer that is an answer all the same, such as a revert. Undefined: the endpoint has failed. */
  readError?(error: NodeError): { readonly answer: Answer } | undefined
}

/** Infers the type of the result from its schema. */
export const rpcCall = <Schema extends TSchema, Answer>(call: {
  readonly method: string
  readonly params: readonly unknown[]
  readonly result: Schema
  readonly is_long?: boolean | 'vast'
  readonly is_optional?: boolean
  read(result: Static<Schema>): Answer
  readError?(error: NodeError): { readonly answer: Answer } | undefined
}): RpcCall<Answer> => call

const NodeErrorForm = T.Object({
  code: T.Number(),
  message: T.String(),
  data: T.Optional(T.Unknown()),
})
export type NodeError = Static<typeof NodeErrorForm>

const ReplyForm = T.Object({
  id: T.Integer(),
  result: T.Optional(T.Unknown()),
  error: T.Optional(T.Union([NodeErrorForm, T.Null()])),
})
type Reply = Static<typeof ReplyForm>

export type FailureKind =
  | 'connection'
  | 'timeout'
  | 'http_status'
  | 'too_long'
  | 'invalid'
  | 'node_error'
  | 'wrong_chain'
  | 'old_head'

export class EndpointFailure extends Error {
  readonly endpoint: number
  readonly kind: FailureKind

  constructor({ endpoint, kind, problem }: { endpoint: number; kind: FailureKind; problem: string }) {
    super(`endpoint ${endpoint}: ${problem}`)
    this.endpoint = endpoint
    this.kind = kind
  }
}

/** Where a kind of nodes departs from JSON-RPC over HTTP as most nodes have it. */
export type RpcDialect = {
  /** Statuses beside 200 whose body is the answer: some nodes answer an error of JSON-RPC with 500. */
  readonly answer_statuses?: readonly number[]
  /** Reads the body, where `JSON.parse` would lose something. Throws if the text is not JSON. */
  parse?(text: string): unknown
  /**
   * `user:password`, for a URL of this machine without them: another machine never gets them. Asked before the first request, and again
   * when the node has refused the last ones.
   */
  readCredentials?(): Promise<string>
  /** Each call is a POST of its own to the path that its method names, with its one parameter; the answer's body is the result. */
  readonly is_rest?: true
  /** A URL with a user and no password gives the user in this header: the API key of providers that take it nowhere else. */
  readonly key_header?: string
}

type EndpointOptions = {
  readonly number: number
  readonly url: string
  readonly timeout_ms: number
  readonly answer_most_bytes: number
  /** Calls in one HTTP request. 1 for a node that knows no batches. */
  readonly batch_most: number
  readonly dialect?: RpcDialect
  /** Called once for each HTTP request; `failure` is absent if all its answers were valid. */
  report(outcome: { readonly latency_ms: number; readonly failure?: EndpointFailure }): void
}

type Listener = {
  readonly call: RpcCall<unknown>
  settle(outcome: { answer: unknown } | { error: unknown }): void
}

type Question = {
  readonly method: string
  readonly params: readonly unknown[]
  readonly is_long: boolean | 'vast'
  readonly is_optional: boolean
  readonly listeners: Set<Listener>
}

const questionOf = ({
  method,
  params,
  is_long = false,
  is_optional = false,
}: RpcCall<unknown>): Question => ({ method, params, is_long, is_optional, listeners: new Set() })

const isVast = (batch: readonly Question[]): boolean => batch.some(({ is_long }) => is_long === 'vast')

function batchesOf(questions: readonly Question[], batch_most: number): (readonly Question[])[] {
  const short = questions.filter(({ is_long }) => !is_long)
  const batches: (readonly Question[])[] = questions.filter(({ is_long }) => is_long).map((one) => [one])
  for (let at = 0; at < short.length; at += batch_most) batches.push(short.slice(at, at + batch_most))
  return batches
}

export function openRpcEndpoint(options: EndpointOptions): RpcEndpoint {
  const { number, report, dialect } = options
  const batch_most = dialect?.is_rest ? 1 : options.batch_most
  const transport = openTransport(options)
  const waiting = new Map<string, Question>()
  const fail = (kind: FailureKind, problem: string) =>
    new EndpointFailure({ endpoint: number, kind, problem })

  function sendWaiting(): void {
    // A caller that has given up asks nothing: its transaction must not go out any more.
    const asked = [...waiting.values()].filter(({ listeners }) => listeners.size > 0)
    waiting.clear()
    for (const batch of batchesOf(asked, batch_most)) void send(batch)
  }

  async function send(batch: readonly Question[]): Promise<void> {
    const began = performance.now()
    let failure: EndpointFailure | undefined
    try {
      const replies = await exchangeBatch(transport, batch, options)
      for (const [id, question] of batch.entries()) failure = answer(question, replies.get(id)) ?? failure
    } catch (error) {
      const known = error instanceof EndpointFailure ? error : fail('connection', 'the request failed')
      failure = known
      for (const { listeners } of batch) for (const { settle } of listeners) settle({ error: known })
    }
    if (batch.every(({ is_optional }) => is_optional)) return
    report({ latency_ms: performance.now() - began, ...(failure && { failure }) })
  }

  /** Hands the reply to each listener; returns the failure if the reply is not valid. */
  function answer(question: Question, reply: Reply | undefined): EndpointFailure | undefined {
    let failure: EndpointFailure | undefined
    for (const { call, settle } of question.listeners) {
      try {
        settle({ answer: read(call, reply) })
      } catch (error) {
        failure = error as EndpointFailure
        settle({ error })
      }
    }
    return failure
  }

  function read(call: RpcCall<unknown>, reply: Reply | undefined): unknown {
    const { method } = call
    if (!reply) throw fail('invalid', `no answer to ${method} in the batch`)
    if (reply.error) {
      const read = call.readError?.(reply.error)
      if (!read) throw fail('node_error', `the answer to ${method} is error ${reply.error.code}`)
      return read.answer
    }
    if (!Value.Check(call.result, reply.result)) throw fail('invalid', `the answer to ${method} is not valid`)
    try {
      return call.read(reply.result)
    } catch {
      throw fail('invalid', `the answer to ${method} contradicts the question`)
    }
  }

  return {
    number,
    ask(call, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const key = JSON.stringify([call.method, call.params])
        if (waiting.size === 0) setImmediate(sendWaiting)
        const question = waiting.get(key) ?? questionOf(call)
        waiting.set(key, question)
        const listener: Listener = {
          call,
          settle(outcome) {
            signal?.removeEventListener('abort', giveUp)
            if ('error' in outcome) reject(outcome.error)
            else resolve(outcome.answer as never)
          },
        }
        const giveUp = () => {
          question.listeners.delete(listener)
          reject(signal?.reason)
        }
        signal?.addEventListener('abort', giveUp, { once: true })
        question.listeners.add(listener)
      })
    },
    stop: transport.stop,
  }
}

type ReplyById = ReadonlyMap<number, Reply>

async function exchangeBatch(
  transport: ReturnType<typeof openTransport>,
  batch: readonly Question[],
  { number, dialect }: Pick<EndpointOptions, 'number' | 'dialect'>,
): Promise<ReplyById> {
  const is_vast = isVast(batch)
  if (dialect?.is_rest) {
    const { method, params } = batch[0]!
    return new Map([[0, { id: 0, result: await transport.post(params[0], { is_vast, path: method }) }]])
  }
  const bodies = batch.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
  // Some nodes know no batches.
  const content = await transport.post(bodies.length === 1 ? bodies[0] : bodies, { is_vast })
  return repliesOf(content, batch.length, number)
}

function repliesOf(content: unknown, count: number, endpoint: number): ReplyById {
  const invalid = (problem: string) => new EndpointFailure({ endpoint, kind: 'invalid', problem })
  const list = Array.isArray(content) ? content : [content]
  const replies = new Map<number, Reply>()
  for (const reply of list) {
    // Nodes refuse a whole batch with a single error, whose id is null.
    if (!Value.Check(ReplyForm, reply)) throw invalid('an answer is no JSON-RPC response')
    if (replies.has(reply.id) || reply.id < 0 || reply.id >= count)
      throw invalid('an answer has an id that was not asked')
    replies.set(reply.id, reply)
  }
  return replies
}

/** Sends JSON and returns JSON. Throws `EndpointFailure`, without the text of the library's error, which may name the host. */
function openTransport({ number, url, timeout_ms, answer_most_bytes, dialect = {} }: EndpointOptions) {
  const { answer_statuses = [], parse = JSON.parse } = dialect
  const target = new URL(url)
  const authorization = openAuthorization(target, dialect)
  const agentOf = (most_bytes: number) =>
    new Agent({ connections: CONNECTIONS_MOST, maxResponseSize: most_bytes })
  const usual = { agent: agentOf(answer_most_bytes), most_bytes: answer_most_bytes }
  const vast_bytes = Math.max(answer_most_bytes, VAST_MOST_BYTES)
  const vast = { agent: agentOf(vast_bytes), most_bytes: vast_bytes }
  const fail = (kind: FailureKind, problem: string) =>
    new EndpointFailure({ endpoint: number, kind, problem })

  /** `path` is added to that of the endpoint. */
  async function post(
    content: unknown,
    { is_vast, path }: { readonly is_vast: boolean; readonly path?: string },
  ): Promise<unknown> {
    const body = JSON.stringify(content)
    const by = { ...(is_vast ? vast : usual), to: path === undefined ? target : below(target, path) }
    const first = await exchange(body, by)
    // The node does nothing for a request without valid credentials, so the request may be sent again.
    const answer =
      first.status === UNAUTHORIZED && authorization.canRenew() ? await exchange(body, by, true) : first
    const { status, text } = answer
    if (status !== 200 && !answer_statuses.includes(status))
      throw fail('http_status', `the answer has status ${status}`)
    try {
      return parse(text)
    } catch {
      throw status === 200
        ? fail('invalid', 'the answer is not JSON')
        : fail('http_status', `the answer has status ${status}`)
    }
  }

  async function exchange(
    body: string,
    { agent, most_bytes, to }: typeof usual & { readonly to: URL },
    renew = false,
  ): Promise<{ status: number; text: string }> {
    const signal = AbortSignal.timeout(timeout_ms)
    try {
      const headers = { ...HEADERS, ...(await authorization.header(renew)) }
      const answer = await request(to, { method: 'POST', dispatcher: agent, headers, body, signal })
      const status = answer.statusCode
      if (status === 200 || answer_statuses.includes(status))
        return { status, text: await answer.body.text() }
      await answer.body.dump({ limit: most_bytes, signal })
      return { status, text: '' }
    } catch (error) {
      if (signal.aborted) throw fail('timeout', `no answer within ${timeout_ms} ms`)
      const { code } = error as NodeJS.ErrnoException
      if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
        throw fail('too_long', `the answer is longer than ${most_bytes} bytes`)
      throw fail('connection', `no connection (${code ?? 'unknown reason'})`)
    }
  }

  return {
    post,
    async stop() {
      await Promise.all([usual.agent.destroy(), vast.agent.destroy()])
    },
  }
}

function below(target: URL, path: string): URL {
  const url = new URL(target)
  url.pathname = `${target.pathname.replace(/\/$/, '')}/${path}`
  return url
}

const thisMachine: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Takes user and password out of the URL. */
function openAuthorization(target: URL, { readCredentials, key_header }: RpcDialect) {
  const basic = (credentials: string) => ({
    authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
  })
  const has_own = target.username !== '' || target.password !== ''
  const is_key = key_header !== undefined && has_own && target.password === ''
  let known: Record<string, string> | undefined = is_key
    ? { [key_header]: decodeURIComponent(target.username) }
    : has_own
      ? basic(`${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`)
      : undefined
  target.username = ''
  target.password = ''
  const read = has_own || !thisMachine.includes(target.hostname) ? undefined : readCredentials
  return {
    canRenew: () => read !== undefined,
    async header(renew: boolean): Promise<Record<string, string>> {
      if (read && (renew || !known)) known = basic(await read())
      return known ?? {}
    },
  }
}

const CONNECTIONS_MOST = 8
/** A block of sixty million gas logs at most 7.5 MB of data, which is twice as long in hex, or 30,000 transfers of a token. */
const VAST_MOST_BYTES = 48 * 1024 * 1024
const UNAUTHORIZED = 401
const HEADERS = { 'content-type': 'application/json', accept: 'application/json' }
