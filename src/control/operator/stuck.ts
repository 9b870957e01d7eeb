import { networkNames, networks } from '../../core/networks.ts'
import { openBefore } from '../../db/due.ts'
import type { Db } from '../../db/pool.ts'
import { RAIL } from '../../money/pix/settle.ts'
import { recordException } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'

/**
 * Records an exception for each payout or transfer that stays open too long, and closes the exception once the status
 * is final.
 */
export async function noteStuck(world: World, db: Db = world.db): Promise<void> {
  const { stuck_after_ms } = world
  await note(world.clock, db, RAIL, { table: 'payouts', older_than_ms: stuck_after_ms })
  for (const network of networkNames) {
    const older_than_ms = stuck_after_ms + networks[network].patience_ms
    await note(world.clock, db, network, { table: 'transfers', older_than_ms, network })
  }
  await closeUnstuck(db, 'payouts')
  await closeUnstuck(db, 'transfers')
}

async function note(
  clock: World['clock'],
  db: Db,
  rail: string,
  which: Parameters<typeof openBefore>[1],
): Promise<void> {
  for (const { id, partner_id, status, attempts, created_at } of await openBefore(db, which)) {
    const details = { status, attempts, created_at: created_at.toISOString() }
    await recordException(db, clock, { kind: 'stuck', rail, object_id: id, partner_id, details })
  }
}

async function closeUnstuck(db: Db, table: 'payouts' | 'transfers'): Promise<void> {
  await db.query(
    `UPDATE exceptions AS e SET closed_at = clock_timestamp(), closed_by = 'service', closed_reason = 'it is ' || r.status
     FROM ${table} AS r WHERE e.kind = 'stuck' AND e.closed_at IS NULL AND r.id = e.object_id
       AND r.status NOT IN ('pending', 'processing')`,
  )
}
