import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, Dispatcher } from 'undici'
import { Forbidden } from './outside.ts'

/**
 * The response to one POST: status, headers and the beginning of the body, or the error. An attempt takes at most
 * `timeout_ms` in all, even if the receiver hangs, or sends slowly or without end. Redirects are not followed.
 */
type ReceiverResponse = {
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly body: string | null
  /** Set when there was no response, or it did not end in time. */
  readonly error: string | null
  /** The response was longer than the part of it that is stored. */
  readonly lengthy: boolean
}

/** A response is read up to here; then the connection is closed. */
const ANSWER_MAX_BYTES = 64 * 1024
/** How much of a body is stored: of a failure, and below of a success. */
const KEPT_BYTES = 4 * 1024
const KEPT_OF_SUCCESS = 1024

/** Headers that help to debug. The others are not stored: they may hold secrets of the receiver. */
const keptHeaders = [
  'content-type',
  'content-length',
  'content-encoding',
  'date',
  'location',
  'retry-after',
  'server',
  'via',
  'x-request-id',
] as const
const HEADER_KEPT_CHARACTERS = 256

const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300

export const isDelivered = ({ status, error }: ReceiverResponse): boolean =>
  error === null && isSuccess(status)

/** Cuts off an attempt under way. */
export type Cut = () => void

export function attempt(
  agent: Agent,
  request: {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly timeout_ms: number
    /** Holds this attempt's cut function while the attempt is under way. */
    readonly cuts?: Set<Cut>
  },
): Promise<ReceiverResponse> {
  const { timeout_ms, cuts } = request
  return new Promise((resolve) => {
    const answer = new Answer((error) => {
      clearTimeout(timer)
      cuts?.delete(cut)
      resolve(answer.result(error))
    })
    const cut = () => answer.abort(new Error('the attempt was aborted'))
    const timer = setTimeout(() => answer.abort(new Error(`no answer within ${timeout_ms} ms`)), timeout_ms)
    cuts?.add(cut)
    const { origin, pathname, search } = new URL(request.url)
    const { headers, body } = request
    agent.dispatch({ origin, path: pathname + search, method: 'POST', headers, body }, answer)
  })
}

/** The response reached ANSWER_MAX_BYTES: not an error, but the rest is not read. */
class Enough extends Error {}

/**
 * Reads a response through undici's dispatch handler. A stream and an abort signal per response would cost more than all the
 * rest of the attempt, at thousands of short responses a second.
 */
class Answer implements Dispatcher.DispatchHandler {
  readonly #onEnd: (error: Error | null) => void
  #controller: Dispatcher.DispatchController | undefined
  #aborted: Error | undefined
  #status: number | null = null
  #headers: Record<string, string> | null = null
  #bytes = 0
  readonly #chunks: Buffer[] = []

  constructor(onEnd: (error: Error | null) => void) {
    this.#onEnd = onEnd
  }

  /** Works also before there is a connection: then nothing is sent. */
  abort(reason: Error): void {
    this.#aborted ??= reason
    this.#controller?.abort(this.#aborted)
  }

  result(error: Error | null): ReceiverResponse {
    const status = this.#status
    const body = status === null ? null : shownText(Buffer.concat(this.#chunks))
    const lengthy = this.#bytes > KEPT_BYTES
    return { status, headers: this.#headers, body, error: error && reasonOf(error), lengthy }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#aborted) controller.abort(this.#aborted)
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    // An interim response (1xx): the final one follows.
    if (status < 200) return
    this.#status = status
    this.#headers = shownHeaders(headers)
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    const max = isSuccess(this.#status) ? KEPT_OF_SUCCESS : KEPT_BYTES
    if (this.#bytes < max) this.#chunks.push(chunk.subarray(0, max - this.#bytes))
    this.#bytes += chunk.length
    if (this.#bytes >= ANSWER_MAX_BYTES) this.abort(new Enough())
  }

  onResponseEnd(): void {
    this.#onEnd(null)
  }

  onResponseError(_: unknown, error: Error): void {
    const reason = this.#aborted ?? error
    this.#onEnd(reason instanceof Enough ? null : reason)
  }
}

/** Text that PostgreSQL can store: without NUL, well-formed UTF-16. */
const shownText = (bytes: Buffer | string): string =>
  bytes.toString().replaceAll('\0', '\ufffd').toWellFormed()

function shownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const name of keptHeaders) {
    const value = headers[name]
    if (value !== undefined)
      shown[name] = shownText([value].flat().join(', ').slice(0, HEADER_KEPT_CHARACTERS))
  }
  return shown
}

/** The partner reads this text: it names the failure and nothing about this machine. */
function reasonOf(error: unknown): string {
  if (error instanceof Forbidden) return error.message
  const { code, message } = error as NodeJS.ErrnoException
  const text = code === undefined || code.startsWith('UND_ERR') ? message : code
  return shownText(text || 'no answer').slice(0, 200)
}
