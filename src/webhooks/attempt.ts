import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, Dispatcher } from 'undici'
import { Forbidden } from './outside.ts'

/**
 * One POST and whatever comes back: status, headers and the beginning of the body, or the reason why there is none. Takes
 * no longer than `timeout_ms` in all, whether the receiver hangs, drips or never ends. Redirects are answers like others.
 */
export type ReceiverResponse = {
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly body: string | null
  /** Set when the answer did not come, or did not come to its end in time. */
  readonly error: string | null
  /** It was longer than any part of it that is kept. */
  readonly lengthy: boolean
}

/** An answer is read up to here; the rest of it is left where it is. */
export const ANSWER_MAX_BYTES = 64 * 1024
/** What is worth keeping of an answer, and of one that says yes. */
export const KEPT_BYTES = 4 * 1024
const KEPT_OF_SUCCESS = 1024

/** What helps to find a fault. The rest of a receiver's headers is its own business, and may hold its secrets. */
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

/** Ends an attempt before its time. */
export type Cut = () => void

export function attempt(
  agent: Agent,
  request: {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly timeout_ms: number
    /** Holds how to cut it off, for as long as it is under way. */
    readonly cuts?: Set<Cut>
  },
): Promise<ReceiverResponse> {
  const { timeout_ms, cuts } = request
  return new Promise((resolve) => {
    const answer = new Answer((error) => {
      clearTimeout(timer)
      cuts?.delete(cut)
      resolve(answer.told(error))
    })
    const cut = () => answer.abort(new Error('cut off'))
    const timer = setTimeout(() => answer.abort(new Error(`no answer within ${timeout_ms} ms`)), timeout_ms)
    cuts?.add(cut)
    const { origin, pathname, search } = new URL(request.url)
    const { headers, body } = request
    agent.dispatch({ origin, path: pathname + search, method: 'POST', headers, body }, answer)
  })
}

/** The answer was read as far as it ever is: nobody waits for the end of an endless one. */
class Enough extends Error {}

/**
 * Takes an answer in piece by piece. Streams and signals for each of thousands of short answers a second would cost more
 * than all else about them.
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

  /** Also before there is a connection: nothing is sent then. */
  abort(reason: Error): void {
    this.#aborted ??= reason
    this.#controller?.abort(this.#aborted)
  }

  told(error: Error | null): ReceiverResponse {
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
    // Others announce one that is still to come.
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

/** Text that the database can hold, whatever the bytes were. */
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

/** Enough for the partner to find the fault, and nothing about this machine. */
function reasonOf(error: unknown): string {
  if (error instanceof Forbidden) return error.message
  const { code, message } = error as NodeJS.ErrnoException
  const text = code === undefined || code.startsWith('UND_ERR') ? message : code
  return shownText(text || 'no answer').slice(0, 200)
}
