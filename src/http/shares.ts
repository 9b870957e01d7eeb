import type { PartnerActor } from '../core/actor.ts'
import { openTurns, type Turns } from '../core/turns.ts'
import type { Pool } from '../db/pool.ts'
import { shareOf } from '../db/share.ts'
import type { World } from '../world.ts'
import { type Endpoint, methodAndPath } from './endpoint.ts'

/** Whoever had no turn by then is about to be answered with 503 anyway, and needs none any more. */
const SHARE_WAIT_MS = 8000
const NAMES_KEPT = 10_000
/** Connections that are left to what runs in the background. */
const FOR_WORKERS = 2

type Bound = { readonly at_once: number; readonly per_name: number }

/** Each pool as one of many names sees it. The bound is that of the first who came for a pool. */
function openPoolShares(): (pool: Pool, name: string, bound: Bound) => Pool {
  /** One object per name: whatever it asks for at the same moment can go into one statement. */
  const shares = new Map<Pool, { readonly line: Turns; readonly byName: Map<string, Pool> }>()

  return (pool, name, bound) => {
    const { line, byName } = shares.get(pool) ?? {
      line: openTurns({ ...bound, wait_ms: SHARE_WAIT_MS }),
      byName: new Map<string, Pool>(),
    }
    shares.set(pool, { line, byName })
    const share = byName.get(name) ?? shareOf(pool, line, name)
    if (byName.size >= NAMES_KEPT) byName.clear()
    byName.set(name, share)
    return share
  }
}

const afterWorkers = (max: number): number => Math.max(2, max - FOR_WORKERS)

/**
 * The world as a partner's handler gets it: of each pool at most a part is one partner's, and partners take turns. Calls
 * that only read have a pool of their own (decision 0037).
 */
export function openShares(): (world: World, actor: PartnerActor, endpoint: Endpoint | undefined) => World {
  const share = openPoolShares()
  return (world, { partner_id }, endpoint) => {
    const reading = endpoint !== undefined && methodAndPath(endpoint).method === 'GET'
    const pool = reading ? world.reads : world.db
    const at_once = reading ? pool.options.max : afterWorkers(pool.options.max)
    const per_name = Math.max(2, Math.ceil(at_once / 2))
    return { ...world, db: share(pool, partner_id, { at_once, per_name }) }
  }
}

/**
 * The world as people see it. Their pages leave a connection of each pool that none of them ever has, so that a program
 * waits for one statement of theirs at most; and under each name, a partner's or the operator's, at most half of the rest.
 */
export function openPeopleShares(): (world: World, name: string) => World {
  const share = openPoolShares()
  const sharing = (pool: Pool, name: string, most: number) => {
    const at_once = Math.max(1, most - 1)
    return share(pool, name, { at_once, per_name: Math.ceil(at_once / 2) })
  }
  return (world, name) => ({
    ...world,
    db: sharing(world.db, name, afterWorkers(world.db.options.max)),
    reads: sharing(world.reads, name, world.reads.options.max),
  })
}
