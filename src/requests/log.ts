import { isId } from '../core/ids.ts'
import { findOwned, type Where } from '../core/owned.ts'
import { readOrWait, type Wait } from '../http/wait.ts'
import type { World } from '../world.ts'
import { type Followed, lastRequest, requestById, selectRequestsAfter } from './store.ts'

/** Reading the log of requests: one of another partner, or of the other environment, is none. */
export const findRequest = (world: World, where: Where, param?: string) =>
  findOwned('request', where, () => requestById(world.db, where), param)

export type RequestFilter = {
  readonly partner_id: string
  readonly status: string | undefined
  readonly key_id: string | undefined
  readonly limit: number
}

export type From = {
  readonly after: string
  /** Reads the position that an earlier page ended at. */
  readonly readCursor: (text: string) => bigint
}

/** What was logged behind a point, oldest first; when there is nothing, as soon as there is. */
export async function followRequests(
  world: World,
  filter: RequestFilter,
  from: From,
  wait: Wait,
): Promise<Followed & { after: bigint }> {
  const { partner_id, key_id } = filter
  const after = await positionAfter(world, partner_id, from)
  // What is no id of a key is nobody's, and may be text that the database does not take.
  const made_with = key_id === undefined || isId('key', key_id) ? key_id : ''
  const read = () => selectRequestsAfter(world.db, { ...filter, key_id: made_with, after })
  return { ...(await readOrWait(read, partner_id, wait)), after }
}

async function positionAfter(world: World, partner_id: string, { after, readCursor }: From): Promise<bigint> {
  if (after === 'start') return 0n
  if (after === 'now') return lastRequest(world.db, [partner_id])
  if (!after.startsWith('req_')) return readCursor(after)
  return (await findRequest(world, { id: after, partner_id }, 'after')).position
}
