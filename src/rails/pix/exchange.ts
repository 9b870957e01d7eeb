import { Agent, type Dispatcher, request } from 'undici'

/**
 * Bounded HTTPS calls to a Pix provider: a deadline, a size of the answer, no redirects. No error has a URL, a body, a header or the text of
 * the TLS library.
 */
export type ProviderAnswer = {
  readonly http: number
  /** Undefined if the body is not JSON. */
  readonly body: unknown
  readonly retry_after_s: number | undefined
}

/** The call ended before anything of it was sent. */
export class NotSent extends Error {}

/** The call was sent, or may have been sent, and has no answer that can be read. */
export class NoAnswer extends Error {}

type ExchangeOptions = {
  /** The provider's name, for errors. */
  readonly name: string
  /** Scheme and host. */
  readonly url: string
  readonly timeout_ms: number
  /** Client certificate, and the authority of the server's certificate, where it is not a public one. */
  readonly tls?: { readonly cert?: string; readonly key?: string; readonly ca?: string }
}

export type CallBounds = { readonly most_bytes?: number; readonly signal?: AbortSignal | undefined }

export type Exchange = {
  call(
    path: string,
    options: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>,
    bounds: CallBounds,
  ): Promise<ProviderAnswer>
  stop(): Promise<void>
}

const ANSWER_MOST_BYTES = 64 * 1024
const CONNECTIONS_MOST = 16
const RETRY_AFTER_MOST_S = 3600

export function openExchange({ name, url, timeout_ms, tls = {} }: ExchangeOptions): Exchange {
  const agent = new Agent({ connections: CONNECTIONS_MOST, connect: { ...tls, timeout: timeout_ms } })
  return {
    async call(path, options, { most_bytes = ANSWER_MOST_BYTES, signal }) {
      const late = AbortSignal.timeout(timeout_ms)
      try {
        const answer = await request(`${url}${path}`, {
          ...options,
          dispatcher: agent,
          signal: signal ? AbortSignal.any([signal, late]) : late,
        })
        const text = await readText(answer.body, most_bytes, name)
        return {
          http: answer.statusCode,
          body: parseJson(text),
          retry_after_s: secondsOf(answer.headers['retry-after']),
        }
      } catch (error) {
        if (late.aborted) throw new NoAnswer(`${name} did not answer within ${timeout_ms} ms`)
        if (signal?.aborted) throw new NoAnswer(`the call to ${name} was given up`)
        if (error instanceof NoAnswer) throw error
        throw new NoAnswer(`no answer from ${name} (${codeOf(error)})`)
      }
    },
    stop: () => agent.destroy(),
  }
}

async function readText(
  body: Dispatcher.ResponseData['body'],
  most_bytes: number,
  name: string,
): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    bytes += part.length
    // Leaving the loop closes the connection.
    if (bytes > most_bytes) throw new NoAnswer(`the answer of ${name} is longer than ${most_bytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Undefined: the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function secondsOf(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string' || !/^[0-9]{1,9}$/.test(header)) return undefined
  return Math.min(Math.max(Number(header), 1), RETRY_AFTER_MOST_S)
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'unknown reason'
}
