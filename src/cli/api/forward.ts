import { setTimeout as sleep } from 'node:timers/promises'
import type { Event } from '#sdk'
import { readSecret, signatureHeaders } from '../../webhooks/signature.ts'

const FORWARD_MS = 10_000
const STARTING_MS = 5000
const AGAIN_MS = 100

/** What the receiver answered: a status, or why there was none. */
export type Forwarded = { readonly status: number | string; readonly ms: number }

type Way = {
  readonly secret: string
  /** The receiver was started a moment ago: until it listens, it is tried again. */
  readonly patient: boolean
  readonly signal: AbortSignal
}

/** Posted and signed as the service does it. */
export async function forwardTo(target: string, event: Event, way: Way): Promise<Forwarded> {
  const begun = performance.now()
  for (;;) {
    const sent = performance.now()
    const status = await post(target, event, way)
    const waited = performance.now() - begun
    if (status !== 'ECONNREFUSED' || !way.patient || waited > STARTING_MS || way.signal.aborted)
      return { status, ms: Math.round(performance.now() - sent) }
    await sleep(AGAIN_MS)
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
