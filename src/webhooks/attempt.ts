import type { Agent } from 'undici'
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

export const isDelivered = ({ status, error }: ReceiverResponse): boolean =>
  error === null && status !== null && status >= 200 && status < 300

export async function attempt(
  agent: Agent,
  request: {
    url: string
    headers: Record<string, string>
    body: string
    timeout_ms: number
    /** Ends it before its time. */
    cutter: AbortController
  },
): Promise<ReceiverResponse> {
  const { timeout_ms, cutter } = request
  let late = false
  const timer = setTimeout(() => {
    late = true
    cutter.abort()
  }, timeout_ms)
  const answer = { status: null, headers: null, body: null } as {
    -readonly [Key in 'status' | 'headers' | 'body']: ReceiverResponse[Key]
  }
  try {
    const url = new URL(request.url)
    const { statusCode, headers, body } = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: request.headers,
      body: request.body,
      signal: cutter.signal,
    })
    answer.status = statusCode
    answer.headers = shownHeaders(headers)
    const chunks: Buffer[] = []
    const max = statusCode >= 200 && statusCode < 300 ? KEPT_OF_SUCCESS : KEPT_BYTES
    try {
      await readUpTo(body, { chunks, max })
    } finally {
      answer.body = shownText(Buffer.concat(chunks).subarray(0, max))
    }
    return { ...answer, error: null }
  } catch (error) {
    return { ...answer, error: late ? `no answer within ${timeout_ms} ms` : reasonOf(error) }
  } finally {
    clearTimeout(timer)
  }
}

/** Leaving the loop closes the connection: nobody waits for the end of an endless answer. */
async function readUpTo(
  body: AsyncIterable<Buffer>,
  { chunks, max }: { chunks: Buffer[]; max: number },
): Promise<void> {
  let bytes = 0
  for await (const chunk of body) {
    if (bytes < max) chunks.push(chunk.subarray(0, max - bytes))
    bytes += chunk.length
    if (bytes >= ANSWER_MAX_BYTES) return
  }
}

/** Text that the database can hold, whatever the bytes were. */
const shownText = (bytes: Buffer | string): string =>
  bytes.toString().replaceAll('\0', '\ufffd').toWellFormed()

function shownHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    keptHeaders.flatMap((name) => {
      const value = headers[name]
      if (value === undefined) return []
      return [[name, shownText([value].flat().join(', ').slice(0, HEADER_KEPT_CHARACTERS))]]
    }),
  )
}

/** Enough for the partner to find the fault, and nothing about this machine. */
function reasonOf(error: unknown): string {
  if (error instanceof Forbidden) return error.message
  const { code, message } = error as NodeJS.ErrnoException
  const text = code === undefined || code.startsWith('UND_ERR') ? message : code
  return shownText(text || 'no answer').slice(0, 200)
}
