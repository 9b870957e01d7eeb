import type { PartnerActor } from '../core/actor.ts'
import { openTurns, type Turns } from '../core/turns.ts'
import type { Pool } from '../db/pool.ts'
import { shareOf } from '../db/share.ts'
import type { World } from '../world.ts'
import { type Endpoint, methodAndPath } from './endpoint.ts'

/** Whoever had no turn by then is about to be answered with 503 anyway, and needs none any more. */
const SHARE_WAIT_MS = 8000
const PARTNERS_KEPT = 10_000
/** Connections that are left to what runs in the background. */
const FOR_WORKERS = 2

/**
 * The world as a partner's handler gets it: of each pool at most a part is one partner's, and partners take turns. Calls
 * that only read have a pool of their own (decision 0037).
 */
export function openShares(): (world: World, actor: PartnerActor, endpoint: Endpoint | undefined) => World {
  /** One object per partner: whatever it asks for at the same moment can go into one statement. */
  const shares = new Map<Pool, { readonly line: Turns; readonly byPartner: Map<string, Pool> }>()

  function openPoolShares(pool: Pool, at_once: number) {
    const per_name = Math.max(2, Math.ceil(at_once / 2))
    const opened = {
      line: openTurns({ at_once, per_name, wait_ms: SHARE_WAIT_MS }),
      byPartner: new Map<string, Pool>(),
    }
    shares.set(pool, opened)
    return opened
  }

  return (world, { partner_id }, endpoint) => {
    const reading = endpoint !== undefined && methodAndPath(endpoint).method === 'GET'
    const pool = reading ? world.reads : world.db
    const { max } = pool.options
    const { line, byPartner } =
      shares.get(pool) ?? openPoolShares(pool, reading ? max : Math.max(2, max - FOR_WORKERS))
    const db = byPartner.get(partner_id) ?? shareOf(pool, line, partner_id)
    if (byPartner.size >= PARTNERS_KEPT) byPartner.clear()
    byPartner.set(partner_id, db)
    return { ...world, db }
  }
}
