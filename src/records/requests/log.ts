import { isId } from '../../core/ids.ts'
import { findOwned, type OwnedId } from '../../core/owned.ts'
import { readOrWait, type Wait } from '../../http/wait.ts'
import type { World } from '../../world.ts'
import { type Followed, lastRequest, requestById, selectRequestsAfter } from './store.ts'

/** Reading the request log. A request of another partner or environment is not found. */
export const findRequest = (world: World, where: OwnedId, param?: string) =>
  findOwned('request', where, () => requestById(world.db, where), param)

type RequestFilter = {
  readonly partner_id: string
  readonly status: string | undefined
  readonly key_id: string | undefined
  readonly limit: number
}

type FollowRequestsFrom = {
  readonly after: string
  /** Decodes the position at which an earlier page ended. */
  readonly readCursor: (text: string) => bigint
}

/** Requests logged after a point, oldest first. If there are none, waits for the next. */
export async function followRequests(
  world: World,
  filter: RequestFilter,
  from: FollowRequestsFrom,
  wait: Wait,
): Promise<Followed & { after: bigint }> {
  const { partner_id, key_id } = filter
  const after = await positionAfter(world, partner_id, from)
  // A text that is no key id matches nothing, and PostgreSQL may not accept it (NUL).
  const made_with = key_id === undefined || isId('key', key_id) ? key_id : ''
  const read = () => selectRequestsAfter(world.db, { ...filter, key_id: made_with, after })
  return { ...(await readOrWait(read, partner_id, wait)), after }
}

async function positionAfter(
  world: World,
  partner_id: string,
  { after, readCursor }: FollowRequestsFrom,
): Promise<bigint> {
  if (after === 'start') return 0n
  if (after === 'now') return lastRequest(world.db, [partner_id])
  if (!after.startsWith('req_')) return readCursor(after)
  return (await findRequest(world, { id: after, partner_id }, 'after')).position
}
