import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import { Refusal } from '../core/errors.ts'
import { isEnding } from './below-router.ts'
import { networkOf, normalizeAddress } from './ip.ts'

/**
 * Connections: how many there may be, in all and from one address; how many requests may wait on one; and an end to those
 * whose clients do not read what they asked for. Whoever holds connections open costs memory, whatever it sends.
 */
export type SocketLimits = {
  readonly max: number
  readonly per_address: number
  /** Requests that may wait for their answers on one connection. */
  readonly pipelined: number
  /** How long a client may take nothing of an answer that waits for it. */
  readonly stall_ms: number
}

export const PIPELINED_MAX = 64
export const STALL_MS = 15_000

/** Taking less than this in `stall_ms` counts as nothing: whoever reads byte by byte would hold an answer for hours. */
const PROGRESS_BYTES = 1024
/** Connections beyond the limits that are told why; the others are closed without a word. */
const TOLD_MAX = 100
/** How many times the figure of a /64 a whole /48 may have. */
const SITE_FACTOR = 4
/** How long a connection beyond the limits has to send something that can be answered. */
const SPEAK_MS = 1000

export type Sockets = {
  /** Whether more requests wait on this connection than may. */
  isCrowded(socket: Socket): boolean
  /** Whether no later request has arrived on the connection of this one. */
  isNewest(request: IncomingMessage): boolean
}

type Options = {
  readonly limits: SocketLimits
  /** Behind a trusted proxy are many clients: it may have as many connections as there are. */
  readonly isTrusted: (address: string) => boolean
  /** The last words on a connection. */
  readonly say: (refusal: Refusal, socket: Socket) => void
}

export function guardSockets(server: Server, options: Options): Sockets {
  const { limits, isTrusted, say } = options
  const counts = openCounts()
  const waiting = new WeakMap<Socket, number>()
  const newest = new WeakMap<Socket, IncomingMessage>()
  let told = 0

  /** Nothing of it reaches the HTTP parser: a request that is turned away here must not be carried out. */
  function turnAway(socket: Socket, refusal: Refusal): void {
    socket.on('error', () => socket.destroy())
    if (told >= TOLD_MAX) return void socket.destroy()
    told++
    socket.once('close', () => told--)
    const silent = setTimeout(() => socket.destroy(), SPEAK_MS)
    // An answer before the question would be taken for something else.
    socket.once('data', () => {
      clearTimeout(silent)
      say(refusal, socket)
    })
  }

  replaceListener(server, 'connection', (accept) => (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const subjects = isTrusted(address) ? [] : subjectsOf(address)
    if (counts.all() >= limits.max) return turnAway(socket, new Refusal('service_unavailable'))
    const limitOf = (index: number) => (index === 0 ? 1 : SITE_FACTOR) * limits.per_address
    const full = subjects.findIndex((subject, i) => counts.of(subject) >= limitOf(i))
    if (full >= 0) return turnAway(socket, tooManyConnections(limitOf(full)))
    counts.add(socket, subjects)
    // Every request that waits on it may listen for its end.
    socket.setMaxListeners(limits.pipelined + socket.getMaxListeners())
    accept(socket)
  })

  replaceListener(server, 'request', (serve) => (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    // Its answer could not be sent any more, so it must not be carried out.
    if (isEnding(socket)) return
    newest.set(socket, request)
    waiting.set(socket, (waiting.get(socket) ?? 0) + 1)
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
    serve(request, response)
  })

  const cut = openStallWatch(counts.sockets, limits.stall_ms)
  server.once('close', () => clearInterval(cut))
  return {
    isCrowded: (socket) => (waiting.get(socket) ?? 0) > limits.pipelined,
    isNewest: (request) => newest.get(request.socket) === request,
  }
}

/** Who is there, in all and from each address. */
function openCounts() {
  const sockets = new Set<Socket>()
  const perAddress = new Map<string, number>()
  return {
    sockets,
    all: () => sockets.size,
    of: (address: string) => perAddress.get(address) ?? 0,
    add(socket: Socket, addresses: readonly string[]): void {
      sockets.add(socket)
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

/** An IPv6 client has a whole /64 to call from, and whoever has a /48 has 65,536 of those. */
function subjectsOf(address: string): readonly string[] {
  const normal = normalizeAddress(address)
  return isIPv6(normal) ? [networkOf(normal, 64), networkOf(normal, 48)] : [normal]
}

function tooManyConnections(limit: number): Refusal {
  const retry_after_seconds = 1
  return new Refusal('rate_limit_exceeded', {
    message: `Too many connections: ${limit} from your address are open. Keep connections open and use them again.`,
    retry_after_seconds,
    details: { window: 'address', limit, retry_after_seconds },
  })
}

/** Node has no way to stand before its own listener, but to call it. */
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

/** Destroys sockets whose clients have not taken what waits for them. */
function openStallWatch(sockets: ReadonlySet<Socket>, stall_ms: number): NodeJS.Timeout {
  const progress = new WeakMap<Socket, { taken: number; at: number }>()
  const timer = setInterval(
    () => {
      const now = performance.now()
      for (const socket of sockets) {
        if (socket.writableLength === 0) {
          progress.delete(socket)
          continue
        }
        const taken = takenBy(socket)
        const before = progress.get(socket)
        if (!before || taken - before.taken >= PROGRESS_BYTES) progress.set(socket, { taken, at: now })
        else if (now - before.at >= stall_ms) socket.destroy()
      }
    },
    Math.min(1000, stall_ms / 4),
  )
  return timer.unref()
}

/** Bytes that the system has taken from us. It takes them as fast as the client does, once its own buffers are full. */
function takenBy(socket: Socket): number {
  const { _handle: handle } = socket as Socket & {
    _handle?: { bytesWritten: number; writeQueueSize: number } | null
  }
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten - socket.writableLength
}
