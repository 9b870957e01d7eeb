import type { Network } from '../../core/networks.ts'
import type { Db } from '../../db/pool.ts'
import type { FinalOrder } from './facts.ts'

/** Only this many of the newest orders are searched. */
const NEWEST = 10_000

/**
 * The newest payout that the provider of the present account has paid. One that operators resolved proves nothing about the
 * provider.
 */
export async function newestPaidOver(db: Db, provider: string): Promise<FinalOrder | undefined> {
  const { rows } = await db.query({
    name: 'newest payout over provider',
    text: `SELECT p.id, p.amount, p.completed_at AS at FROM (SELECT id, amount, status, provider, completed_at FROM payouts ORDER BY id DESC LIMIT ${NEWEST}) AS p
      WHERE p.status = 'completed' AND p.provider = $1 AND NOT EXISTS (SELECT FROM resolutions r WHERE r.resource_id = p.id)
      ORDER BY p.id DESC LIMIT 1`,
    values: [provider],
  })
  return rows[0]
}

/** The newest transfer that the present wallet has paid on a network. */
export async function newestPaidFrom(
  db: Db,
  { network, wallet }: { readonly network: Network; readonly wallet: string },
): Promise<FinalOrder | undefined> {
  const { rows } = await db.query({
    name: 'newest transfer from wallet',
    text: `SELECT t.id, t.amount_net AS amount, t.completed_at AS at
      FROM (SELECT id, network, amount_net, status, wallet_id, completed_at FROM transfers ORDER BY id DESC LIMIT ${NEWEST}) AS t
      JOIN wallets w ON w.id = t.wallet_id AND w.address = $2
      WHERE t.network = $1 AND t.status = 'confirmed' AND NOT EXISTS (SELECT FROM resolutions r WHERE r.resource_id = t.id)
      ORDER BY t.id DESC LIMIT 1`,
    values: [network, wallet],
  })
  return rows[0]
}
