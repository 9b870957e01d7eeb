import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { Answered, ClockReading, PrometheusFacts, PublicPage } from '../../control/golive/facts.ts'

const BODY_MOST = 4096

/**
 * The page /healthz as partners reach it. A certificate that is not trusted is told, and not an error: this request has nothing to
 * hide.
 */
export function readPublicPage(public_url: string, signal: AbortSignal, ca?: string): Promise<PublicPage> {
  const url = new URL('/healthz', public_url)
  const is_tls = url.protocol === 'https:'
  return new Promise((resolve, reject) => {
    const options = { signal, agent: false, rejectUnauthorized: false, ...(ca === undefined ? {} : { ca }) }
    const sent = (is_tls ? requestTls : requestPlain)(url, options, (response) => {
      let body = ''
      // Read before the connection is given up: a closed socket has no certificate.
      const certificate = is_tls ? certificateOf(response.socket as TLSSocket) : undefined
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        body += part
        if (body.length > BODY_MOST) response.destroy()
      })
      response.on('close', () => {
        const http = response.statusCode ?? 0
        resolve({ http, certificate, is_service: http === 200 && isHealth(body) })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

function certificateOf(socket: TLSSocket) {
  const { authorized, authorizationError } = socket
  return {
    ends_at: new Date(socket.getPeerCertificate().valid_to),
    problem: authorized ? null : String(authorizationError ?? 'not verified'),
  }
}

function isHealth(body: string): boolean {
  try {
    const { status, role } = JSON.parse(body)
    return status === 'ok' && typeof role === 'string'
  } catch {
    return false
  }
}

/** The status of an answer; its body is not read. */
export async function readStatus(
  url: string,
  signal: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const response = await fetch(url, { signal, headers, redirect: 'manual' })
  await response.body?.cancel()
  return { http: response.status }
}

const COUNT = 'count(trilho_build_info)'

/** Whether Prometheus is ready, and how many nodes of this service it has figures of (its HTTP API, /api/v1/query). */
export async function readPrometheus(url: string, signal: AbortSignal): Promise<PrometheusFacts> {
  const { http } = await readStatus(`${url}/-/ready`, signal)
  if (http !== 200) return { http, nodes: 0 }
  const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(COUNT)}`, { signal })
  const { data } = (await response.json()) as { data?: { result?: { value?: [number, string] }[] } }
  const nodes = Number(data?.result?.[0]?.value?.[1] ?? 0)
  return { http: response.status, nodes: Number.isSafeInteger(nodes) ? nodes : 0 }
}

const SECOND_MS = 1000

/** Compares this machine's clock with the header Date of an answer, which has whole seconds. */
export async function readOutsideClock(
  origin: string,
  signal: AbortSignal,
  now: () => number = Date.now,
): Promise<ClockReading> {
  const asked_at = now()
  const response = await fetch(origin, { method: 'HEAD', signal, redirect: 'manual' })
  const round_trip_ms = now() - asked_at
  const date = Date.parse(response.headers.get('date') ?? '')
  if (Number.isNaN(date)) throw new Error(`${new URL(origin).host} does not tell the time`)
  const there = date + SECOND_MS / 2
  return {
    source: new URL(origin).host,
    offset_ms: Math.round(asked_at + round_trip_ms / 2 - there),
    within_ms: Math.round(SECOND_MS / 2 + round_trip_ms / 2),
  }
}
