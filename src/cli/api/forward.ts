import { setTimeout as sleep } from 'node:timers/promises'
import type { Event } from '#sdk'
import { readSecret, signatureHeaders } from '../../webhooks/signature.ts'

const FORWARD_MS = 10_000
const STARTING_MS = 5000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

/** What the receiver answered: a status, or why there was none. */
export type Forwarded = { readonly status: number | string; readonly ms: number }

type Way = {
  readonly secret: string
  /** The receiver was started a moment ago: that it does not listen at once is nothing to speak of. */
  readonly patient: boolean
  /** Told once that the event waits for its receiver, and why. */
  readonly onAway: (why: string) => void
  readonly signal: AbortSignal
}

/** Nobody was there, or they left without an answer: a receiver that restarts. */
const AWAY = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
]

/** Posted and signed as the service does it, until the receiver is there: no event is lost, and none overtakes another. */
export async function forwardTo(target: string, event: Event, way: Way): Promise<Forwarded> {
  const begun = performance.now()
  let told = false
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const sent = performance.now()
    const status = await post(target, event, way)
    const now = performance.now()
    if (typeof status === 'number' || !AWAY.includes(status) || way.signal.aborted)
      return { status, ms: Math.round(now - sent) }
    if (!told && !(way.patient && now - begun < STARTING_MS)) {
      way.onAway(status)
      told = true
    }
    await sleep(pause, undefined, { signal: way.signal }).catch(() => {})
  }
}

async function post(target: string, event: Event, { secret, signal }: Way): Promise<number | string> {
  const body = JSON.stringify(event)
  const signature = signatureHeaders({ id: event.id, body, at: new Date(), secrets: [readSecret(secret)] })
  try {
    const response = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signature },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(FORWARD_MS)]),
    })
    await response.arrayBuffer()
    return response.status
  } catch (error) {
    const { cause, name } = error as Error
    return (cause as NodeJS.ErrnoException | undefined)?.code ?? name
  }
}
