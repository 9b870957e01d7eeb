import { setTimeout as sleep } from 'node:timers/promises'
import type { Event } from '#sdk'
import { readSecret, signatureHeaders } from '../../webhooks/signature.ts'

const FORWARD_MS = 10_000
const STARTING_MS = 5000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

/** The HTTP status that the receiver returned, or the error code when there was no response. */
export type Forwarded = { readonly status: number | string; readonly ms: number }

type Forwarding = {
  readonly secret: string
  /** The receiver was started by this command: refused connections during its start are not reported. */
  readonly patient: boolean
  /** Called once per event when the receiver cannot be reached, with the reason. */
  readonly onUnreachable: (why: string) => void
  readonly signal: AbortSignal
}

/** Connection errors of a receiver that is down or restarting: the event is sent again. */
const UNREACHABLE = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
]

/**
 * Posts the signed event until the receiver responds. Events are forwarded one by one, so none is lost and their order is kept.
 */
export async function forwardTo(target: string, event: Event, forwarding: Forwarding): Promise<Forwarded> {
  const begun = performance.now()
  let reported = false
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const sent = performance.now()
    const status = await post(target, event, forwarding)
    const now = performance.now()
    if (typeof status === 'number' || !UNREACHABLE.includes(status) || forwarding.signal.aborted)
      return { status, ms: Math.round(now - sent) }
    if (!reported && !(forwarding.patient && now - begun < STARTING_MS)) {
      forwarding.onUnreachable(status)
      reported = true
    }
    await sleep(pause, undefined, { signal: forwarding.signal }).catch(() => {})
  }
}

async function post(target: string, event: Event, { secret, signal }: Forwarding): Promise<number | string> {
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
