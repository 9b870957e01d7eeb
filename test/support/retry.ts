import { setTimeout as sleep } from 'node:timers/promises'
import type { Reply } from './api.ts'

/** How often a caller was left without an answer. */
export type Trouble = { cut: number; unavailable: number }

const PATIENCE_MS = 60_000
const PAUSE_MS = 50

/** The caller that every guide asks for: the same request again after a broken connection or a 503, until it is answered. */
export async function retryUntilAnswered(
  ask: (tries: number) => Promise<Reply>,
  trouble: Trouble,
  patience_ms = PATIENCE_MS,
): Promise<Reply> {
  const until = performance.now() + patience_ms
  for (let tries = 0; ; tries++) {
    const reply = await ask(tries).catch((error: unknown) => {
      if (!isCut(error)) throw error
      trouble.cut++
    })
    if (reply && reply.status !== 503) return reply
    if (reply) trouble.unavailable++
    if (performance.now() > until) throw new Error(`no answer after ${tries + 1} tries`)
    await sleep(PAUSE_MS)
  }
}

/** The connection was refused, reset, or ended in the middle of an answer. */
export const isCut = (error: unknown): boolean =>
  error instanceof TypeError && /^(fetch failed|terminated)$/.test(error.message)
