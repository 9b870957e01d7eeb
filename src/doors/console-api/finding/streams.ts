import { TextStream } from '../endpoint.ts'
import type { Hint, Inbox } from './hints.ts'

const PING_MS = 15_000
/** How long a browser waits before it reconnects. */
const RETRY_MS = 2000

/**
 * A stream of server-sent hints. A slow reader gets fewer hints, not late ones. The response waits until the first
 * position of the event log is known, because the page shows itself as live as soon as the response begins.
 */
export async function streamOf(inbox: Inbox, gone: AbortSignal): Promise<TextStream> {
  // Also for a stream of which nothing was ever read.
  const left = new Promise<void>((resolve) => gone.addEventListener('abort', () => resolve(), { once: true }))
  gone.addEventListener('abort', inbox.unsubscribe, { once: true })
  if (gone.aborted) inbox.unsubscribe()
  else await Promise.race([inbox.begun, left])
  return new TextStream(streamText(inbox, gone))
}

async function* streamText(inbox: Inbox, gone: AbortSignal): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n: live\n\n`
  while (!gone.aborted) {
    const hints = await inbox.take(PING_MS, gone)
    if (gone.aborted) return
    yield hints.length === 0 ? ': ping\n\n' : hints.map(messageOf).join('')
  }
}

const messageOf = (hint: Hint): string => `data: ${JSON.stringify(hint)}\n\n`
