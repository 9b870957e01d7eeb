import { Type as T } from 'typebox'
import type { Endpoint } from './endpoint.ts'

/**
 * Lists that are read as they grow take `?wait=`: the answer comes as soon as there is something, or empty when the wait
 * ends. Whoever waits holds a socket and a place here, and no connection to the database.
 */
export const WAIT_MAX_SECONDS = 30

export const waitQuery = {
  wait: T.Optional(
    T.String({
      pattern: '^([0-9]|[12][0-9]|30)$',
      description: `Seconds to wait when there is nothing yet, 0 to ${WAIT_MAX_SECONDS}`,
      examples: ['0'],
    }),
  ),
}

/** For how long a caller wants to wait. The query may not have been checked yet: what is no number is no wait. */
export function waitMsOf(endpoint: Endpoint | undefined, query: unknown): number {
  if (!endpoint?.waits) return 0
  const seconds = Number((query as { wait?: string } | undefined)?.wait ?? 0)
  return seconds > 0 ? Math.min(seconds, WAIT_MAX_SECONDS) * 1000 : 0
}

/** Places to wait in, so that one partner cannot hold all sockets of a node. */
export type WaitingRoom = {
  /** Returns how to leave again; undefined when all of the partner's places are taken. */
  enter(partner_id: string): (() => void) | undefined
}

export function openWaitingRoom(most: number): WaitingRoom {
  const taken = new Map<string, number>()
  return {
    enter(partner_id) {
      const before = taken.get(partner_id) ?? 0
      if (before >= most) return undefined
      taken.set(partner_id, before + 1)
      return () => {
        const left = taken.get(partner_id)! - 1
        if (left === 0) taken.delete(partner_id)
        else taken.set(partner_id, left)
      }
    },
  }
}
