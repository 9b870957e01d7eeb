import { TextStream } from '../endpoint.ts'
import type { Hint, Inbox } from './hints.ts'

const PING_MS = 15_000
/** Before a browser comes back. */
const RETRY_MS = 2000

/**
 * Server-sent hints. Whoever does not read fast enough is told less, never later. The response is held until the first
 * position of the log is known: the page says that it is live as soon as the response begins.
 */
export async function streamOf(inbox: Inbox, gone: AbortSignal): Promise<TextStream> {
  // Also of a stream of which nothing was ever read.
  const left = new Promise<void>((resolve) => gone.addEventListener('abort', () => resolve(), { once: true }))
  gone.addEventListener('abort', inbox.leave, { once: true })
  if (gone.aborted) inbox.leave()
  else await Promise.race([inbox.begun, left])
  return new TextStream(told(inbox, gone))
}

async function* told(inbox: Inbox, gone: AbortSignal): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n: live\n\n`
  while (!gone.aborted) {
    const hints = await inbox.take(PING_MS, gone)
    if (gone.aborted) return
    yield hints.length === 0 ? ': ping\n\n' : hints.map(messageOf).join('')
  }
}

const messageOf = (hint: Hint): string => `data: ${JSON.stringify(hint)}\n\n`
