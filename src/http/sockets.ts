import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import { openAwakeTime } from '../core/awake.ts'
import { Refusal } from '../core/errors.ts'
import { isEnding } from './below-router.ts'
import { networkOf, normalizeAddress } from './ip.ts'
import { openUnreadWatch, type UnreadLimits, type UnreadLog } from './unread.ts'

/**
 * Limits of connections: how many in all and per address, and how many requests may wait on one. Connections whose clients
 * do not read their responses are closed (unread.ts). Open connections cost memory, whatever their clients send.
 */
export type SocketLimits = UnreadLimits & {
  readonly max: number
  readonly per_address: number
  /** Requests that may wait for their responses on one connection. */
  readonly pipelined: number
}

export const PIPELINED_MAX = 64

/** Connections beyond the limits that get a refusal at the same time; further ones are closed without a response. */
const REFUSALS_MAX = 100
/** The limits of an IPv6 /48, as a multiple of the limits of a /64. */
const SITE_FACTOR = 4
/** How long a connection beyond the limits may take to send its first bytes. */
const SPEAK_MS = 1000

export type Sockets = {
  /** Whether more requests wait on this connection than allowed. */
  isCrowded(socket: Socket): boolean
  /** Whether no later request has arrived on the connection of this one. */
  isNewest(request: IncomingMessage): boolean
}

type Options = {
  readonly limits: SocketLimits
  /** Many clients share a trusted proxy: it has no limit per address. */
  readonly isTrusted: (address: string) => boolean
  /** Sends a refusal as the last response on a connection. */
  readonly sendRefusal: (refusal: Refusal, socket: Socket) => void
  readonly log: UnreadLog
}

export function guardSockets(server: Server, options: Options): Sockets {
  const { limits, isTrusted, sendRefusal, log } = options
  const counts = openCounts()
  /** Responses that are not sent yet. */
  const waiting = new WeakMap<Socket, Set<ServerResponse>>()
  const newest = new WeakMap<Socket, IncomingMessage>()
  let refusals = 0

  /** Nothing of this connection reaches the HTTP parser: a refused request must not be carried out. */
  function refuseConnection(socket: Socket, refusal: Refusal): void {
    socket.on('error', () => socket.destroy())
    if (refusals >= REFUSALS_MAX) return void socket.destroy()
    refusals++
    socket.once('close', () => refusals--)
    const silent = setTimeout(() => socket.destroy(), SPEAK_MS)
    // Clients misinterpret a response that arrives before they have sent a request.
    socket.once('data', () => {
      clearTimeout(silent)
      sendRefusal(refusal, socket)
    })
  }

  replaceListener(server, 'connection', (accept) => (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const subjects = isTrusted(address) ? [] : subjectsOf(address)
    if (counts.all() >= limits.max) return refuseConnection(socket, new Refusal('service_unavailable'))
    const limitOf = (index: number) => factorOf(index) * limits.per_address
    const full = subjects.findIndex((subject, i) => counts.of(subject) >= limitOf(i))
    if (full >= 0) return refuseConnection(socket, tooManyConnections(limitOf(full)))
    counts.add(socket, subjects)
    // Every waiting request may listen for the end of the socket.
    socket.setMaxListeners(limits.pipelined + socket.getMaxListeners())
    accept(socket)
  })

  replaceListener(server, 'request', (serve) => (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    // The response could not be sent any more, so the request must not be carried out.
    if (isEnding(socket)) return
    newest.set(socket, request)
    const responses = waiting.get(socket) ?? new Set()
    waiting.set(socket, responses.add(response))
    response.once('close', () => responses.delete(response))
    serve(request, response)
  })

  const responsesOf = (socket: Socket) => waiting.get(socket) ?? []
  const unread = openUnreadWatch({ limits, sockets: counts.sockets, responsesOf, factorOf, log })
  const every_ms = Math.min(1000, limits.stall_ms / 4)
  // While the process stands still it sends nothing that clients could read.
  const passed = openAwakeTime(every_ms)
  let awake_ms = 0
  const looking = setInterval(() => {
    awake_ms += passed()
    unread.look(awake_ms)
  }, every_ms)
  looking.unref()
  server.once('close', () => clearInterval(looking))
  return {
    isCrowded: (socket) => (waiting.get(socket)?.size ?? 0) > limits.pipelined,
    isNewest: (request) => newest.get(request.socket) === request,
  }
}

/** Open connections, in all and per address. */
function openCounts() {
  const sockets = new Map<Socket, readonly string[]>()
  const perAddress = new Map<string, number>()
  return {
    sockets,
    all: () => sockets.size,
    of: (address: string) => perAddress.get(address) ?? 0,
    add(socket: Socket, addresses: readonly string[]): void {
      sockets.set(socket, addresses)
      for (const address of addresses) perAddress.set(address, (perAddress.get(address) ?? 0) + 1)
      socket.once('close', () => {
        sockets.delete(socket)
        for (const address of addresses) {
          const left = perAddress.get(address)! - 1
          if (left === 0) perAddress.delete(address)
          else perAddress.set(address, left)
        }
      })
    },
  }
}

/** An IPv6 client usually has a whole /64, and the owner of a /48 has 65,536 of those: both are counted. */
function subjectsOf(address: string): readonly string[] {
  const normal = normalizeAddress(address)
  return isIPv6(normal) ? [networkOf(normal, 64), networkOf(normal, 48)] : [normal]
}

const factorOf = (index: number) => (index === 0 ? 1 : SITE_FACTOR)

function tooManyConnections(limit: number): Refusal {
  const retry_after_seconds = 1
  return new Refusal('rate_limit_exceeded', {
    message: `Too many connections: ${limit} from your address are open. Keep connections open and use them again.`,
    retry_after_seconds,
    details: { window: 'address', limit, retry_after_seconds },
  })
}

/** Wraps Node's own listeners: Node has no other way to run code before them. */
function replaceListener(
  server: Server,
  event: 'connection' | 'request',
  wrap: (original: (...args: any[]) => void) => (...args: any[]) => void,
): void {
  const originals = server.listeners(event) as ((...args: any[]) => void)[]
  server.removeAllListeners(event)
  server.on(
    event,
    wrap((...args) => {
      for (const original of originals) original.apply(server, args)
    }),
  )
}
