import type { Db } from '../../db/pool.ts'
import type { NoticedPix } from '../../rails/pix/rail.ts'
import type { World } from '../../world.ts'
import { addReturnChecks } from './returns-store.ts'

/** A payout that is asked about this soon anyway is left alone. */
const SOON_MS = 250

/**
 * Makes the open payouts that a notice names due, so that a worker asks the rail about them now. Nothing of the notice is stored or
 * believed. Returns how many payouts it moved.
 */
export async function hurryNoticed(db: Db, noticed: readonly NoticedPix[]): Promise<number> {
  const send_ids = [...new Set(noticed.flatMap(({ send_id }) => send_id ?? []))]
  const ids = send_ids.flatMap((send_id) => payoutIdOf(send_id) ?? [])
  if (ids.length === 0) return 0
  const { rowCount } = await db.query({
    name: 'hurry noticed payouts',
    // Locked in id order, like everywhere else, so that there is no deadlock.
    text: `WITH held AS MATERIALIZED (
        SELECT id FROM payouts WHERE id = ANY($1::text[]) AND send_id = ANY($2::text[]) AND status IN ('pending', 'processing')
          AND next_attempt_at > clock_timestamp() + make_interval(secs => ${SOON_MS / 1000}) ORDER BY id FOR NO KEY UPDATE)
      UPDATE payouts SET next_attempt_at = clock_timestamp() WHERE id IN (SELECT id FROM held)`,
    values: [ids, send_ids],
  })
  return rowCount ?? 0
}

/** Has the provider asked what came back of the paid payouts that a notice names. */
export async function askAboutNoticed(
  { db, pix }: Pick<World, 'db' | 'pix'>,
  noticed: readonly NoticedPix[],
): Promise<number> {
  if (!pix.returnsOf && !pix.charges) return 0
  return addReturnChecks(db, [...new Set(noticed.flatMap(({ end_to_end_id }) => end_to_end_id ?? []))])
}

const PREFIX = 'TRILHO'
const SEND_ID = /^TRILHO[0-9a-z]{26}$/

/** The payout's own id is part of the id that the rail has. Undefined: the id is none of this service. */
export const payoutIdOf = (send_id: string): string | undefined =>
  SEND_ID.test(send_id) ? `po_${send_id.slice(PREFIX.length)}` : undefined
