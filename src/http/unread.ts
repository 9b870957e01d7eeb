import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Limits of responses that wait until their clients read them: until then they are in this node's memory. */
export type UnreadLimits = {
  /** How long a client may read nothing of a waiting response. */
  readonly stall_ms: number
  /** Bytes that may wait on all connections together. */
  readonly unread: number
  /** Bytes that may wait on the connections of one address. */
  readonly unread_per_address: number
}

/** Reading less than this in `stall_ms` counts as nothing: a client that reads byte by byte could hold a response for hours. */
const PROGRESS_BYTES = 1024
/** While more than this waits, a client must read `BULK_PROGRESS_BYTES` in `stall_ms`. */
const BULK_BYTES = 64 * 1024
/**
 * 17 kbit/s with the default of `stall_ms`. A slow phone has twice as much, but the kernel reports what the phone has read only in
 * parts of some ten kilobytes.
 */
const BULK_PROGRESS_BYTES = 32 * 1024

export type UnreadLog = { warn(fields: object, message: string): void }

type Options = {
  readonly limits: UnreadLimits
  /** Open connections, each with the addresses and networks that it counts as; with none behind a trusted proxy. */
  readonly sockets: ReadonlyMap<Socket, readonly string[]>
  /** Responses that are not sent yet, also those behind another response on the same connection. */
  readonly responsesOf: (socket: Socket) => Iterable<ServerResponse>
  /** The limit of the address or network at this position, as a multiple of the limit of an address. */
  readonly factorOf: (index: number) => number
  readonly log: UnreadLog
}

/** What a look found on a connection. */
type Mark = {
  /** The bytes up to `end` were waiting at this time. */
  readonly since: number
  readonly end: number
  /** The client had read `taken` bytes at `progress_at`. */
  readonly taken: number
  readonly progress_at: number
}

type Waiting = {
  readonly socket: Socket
  readonly subjects: readonly string[]
  readonly bytes: number
  readonly age_ms: number
}

/** Closes connections that read too slowly, and those with the most to read where too much waits. */
export function openUnreadWatch({ limits, sockets, responsesOf, factorOf, log }: Options) {
  const marks = new WeakMap<Socket, Mark>()
  return { look }

  /** Call it about once a second. */
  function look(now: number): void {
    const waiting: Waiting[] = []
    for (const [socket, subjects] of sockets) {
      const behind = bytesBehind(socket, responsesOf(socket))
      const bytes = socket.writableLength + behind
      if (bytes === 0) {
        marks.delete(socket)
        continue
      }
      const mark = nextMark(socket, behind, marks.get(socket), now)
      marks.set(socket, mark)
      if (now - mark.progress_at >= limits.stall_ms) socket.destroy()
      else waiting.push({ socket, subjects, bytes, age_ms: now - mark.since })
    }
    for (const [subject, { bound, found }] of bySubject(waiting))
      relieve(found.toSorted(byBytesAndAge), bound, `by ${subject}`)
    const sums = sumsOf(waiting)
    // A client with a slow line must not pay for an address that fills the node.
    const bySums = (one: Waiting, other: Waiting) => sums.get(nameOf(other))! - sums.get(nameOf(one))!
    relieve(
      waiting.toSorted((one, other) => bySums(one, other) || byBytesAndAge(one, other)),
      limits.unread,
      'on this node',
    )
  }

  function bySubject(waiting: readonly Waiting[]) {
    const groups = new Map<string, { readonly bound: number; readonly found: Waiting[] }>()
    for (const one of waiting)
      for (const [i, subject] of one.subjects.entries()) {
        const group = groups.get(subject) ?? { bound: factorOf(i) * limits.unread_per_address, found: [] }
        groups.set(subject, group)
        group.found.push(one)
      }
    return groups
  }

  /** A connection whose client has read everything since the last look has until the next one: most clients read a burst at once. */
  function relieve(worst_first: readonly Waiting[], bound: number, where: string): void {
    const open = worst_first.filter(({ socket }) => !socket.destroyed)
    const all = open.reduce((sum, { bytes }) => sum + bytes, 0)
    let left = all
    let closed = 0
    for (const { socket, bytes, age_ms } of open) {
      if (left <= bound) break
      left -= bytes
      if (age_ms === 0) continue
      socket.destroy()
      closed++
    }
    if (closed === 0) return
    const closings = closed === 1 ? '1 connection was closed' : `${closed} connections were closed`
    log.warn(
      { unread_bytes: all, unread_bound: bound, closed },
      `http: ${mb(all)} MB of responses waited to be read ${where}, and ${mb(bound)} MB may; ${closings}`,
    )
  }
}

const mb = (bytes: number) => Math.round(bytes / 1e6)

/** First the connection with the most bytes for the longest time. What the last look did not see may be a second old. */
const byBytesAndAge = (one: Waiting, other: Waiting) => weightOf(other) - weightOf(one)

const weightOf = ({ bytes, age_ms }: Waiting) => bytes * (age_ms + 1000)

/**
 * Connections of one address share a name, and those of one IPv6 /48: its owner could spread what waits over 65,536 networks. Behind a
 * trusted proxy each connection has a name of its own.
 */
const nameOf = ({ socket, subjects }: Waiting): string | Socket => subjects.at(-1) ?? socket

function sumsOf(waiting: readonly Waiting[]): ReadonlyMap<string | Socket, number> {
  const sums = new Map<string | Socket, number>()
  for (const one of waiting) sums.set(nameOf(one), (sums.get(nameOf(one)) ?? 0) + one.bytes)
  return sums
}

/** Bytes of responses that wait for their turn on the connection. Those of the response before them are in the socket. */
function bytesBehind(socket: Socket, responses: Iterable<ServerResponse>): number {
  let bytes = 0
  for (const response of responses) if (response.socket !== socket) bytes += response.writableLength
  return bytes
}

function nextMark(socket: Socket, behind: number, before: Mark | undefined, now: number): Mark {
  const taken = takenBy(socket)
  const end = socket.bytesWritten + behind
  const waits_on = before !== undefined && taken < before.end
  // With an empty socket the client has read everything, and the server is the one that is slow.
  const slow = before !== undefined && socket.writableLength > 0
  const demanded = end - taken > BULK_BYTES ? BULK_PROGRESS_BYTES : PROGRESS_BYTES
  const stands = slow && taken - before.taken < demanded
  return {
    since: waits_on ? before.since : now,
    end: waits_on ? before.end : end,
    taken: stands ? before.taken : taken,
    progress_at: stands ? before.progress_at : now,
  }
}

/** Bytes that the kernel has accepted. Once its buffers are full, it accepts them only as fast as the client reads. */
function takenBy(socket: Socket): number {
  const { _handle: handle } = socket as Socket & {
    _handle?: { bytesWritten: number; writeQueueSize: number } | null
  }
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten - socket.writableLength
}
