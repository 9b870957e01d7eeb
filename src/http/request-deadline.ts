import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../core/errors.ts'
import './request.ts'

/**
 * Rejects with a 503 when the time of the request is over, while the work goes on. For money the outcome is then unknown to
 * the caller, who finds it out by repeating the request with the same idempotency key.
 */
export async function withinDeadline<T>(
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

/** The client closed its connection before its request was handled. There is no response; the log names the client as cause. */
export class ClientLeft extends Error {
  override name = 'ClientLeft'
}

/** Whether the connection is closed, so that no response can be sent. */
export const isGone = ({ raw }: FastifyRequest): boolean => raw.socket.destroyed

/** Aborted when the client of a long poll closes its sending side or the connection. */
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
