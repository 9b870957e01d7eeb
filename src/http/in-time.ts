import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../core/errors.ts'
import './request.ts'

/**
 * What is under way goes on; only its caller is let go. For money that is the answer that says so: the outcome may be
 * unknown, and the same idempotency key tells.
 */
export async function inTime<T>(
  request: FastifyRequest,
  work: Promise<T>,
  onLate: (result: T) => void = () => {},
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const left = Math.max(0, request.answer_by - performance.now())
    timer = setTimeout(() => {
      work.then(onLate, () => {})
      reject(new Refusal('service_unavailable'))
    }, left)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** The client closed its connection before its request was worked on. Nobody is answered; the log says who ended it. */
export class ClientLeft extends Error {
  override name = 'ClientLeft'
}

/** Nothing can be answered any more. */
export const isGone = ({ raw }: FastifyRequest): boolean => raw.socket.destroyed

/** Whoever waits and then closes its side, or the connection, waits no longer. */
export function goneSignal(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const leaving = new AbortController()
  const leave = () => leaving.abort(new ClientLeft())
  if (isGone(request)) leave()
  request.socket.once('end', leave)
  reply.raw.once('close', () => {
    request.socket.off('end', leave)
    leave()
  })
  return leaving.signal
}

export const NEVER_GONE = new AbortController().signal
