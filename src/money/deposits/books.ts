import type { Network } from '../../core/networks.ts'
import type { Db } from '../../db/pool.ts'

/**
 * The addresses of a network to which something was paid that is in the chain, without those that were swept empty for good. An address with
 * a deposit that is not credited stays: the deposit may have been swept along, and the books do not have it.
 */
export async function paidAddresses(db: Db, network: Network): Promise<string[]> {
  const { rows } = await db.query<{ address: string }>({
    name: 'paid addresses',
    text: `SELECT d.address FROM deposits d WHERE d.rail = $1 AND d.tx_hash IS NOT NULL AND d.status <> 'dropped' AND d.block_height IS NOT NULL
      GROUP BY d.address HAVING bool_or(d.status = 'pending') OR sum(d.amount) <> coalesce(
        (SELECT sum(s.amount) FROM sweeps s WHERE s.network = $1 AND s.address = d.address AND s.state = 'swept'), 0)
      ORDER BY d.address`,
    values: [network],
  })
  return rows.map(({ address }) => address)
}

/** Deposits that the chain has at a height and the ledger does not, and the other way round, for the reconciliation. */
export async function depositsAt(
  db: Db,
  network: Network,
  { height, addresses }: { readonly height: bigint; readonly addresses: readonly string[] },
) {
  const { rows } = await db.query({
    name: 'deposits at height',
    text: `SELECT count(*) FILTER (WHERE arrived)::integer AS arrived, coalesce(sum(amount) FILTER (WHERE arrived), 0)::text AS arrived_amount,
        count(*) FILTER (WHERE NOT arrived)::integer AS later, coalesce(sum(amount) FILTER (WHERE NOT arrived), 0)::text AS later_amount
      FROM (SELECT amount, status = 'pending' AS arrived FROM deposits WHERE rail = $1 AND tx_hash IS NOT NULL AND address = ANY($3)
        AND (status = 'pending' AND block_height <= $2 OR status = 'completed' AND block_height > $2)) AS d`,
    values: [network, height, addresses],
  })
  const { arrived, arrived_amount, later, later_amount } = rows[0]
  return {
    arrived: { count: arrived, amount: arrived_amount },
    credited_later: { count: later, amount: later_amount },
  }
}

/** The deposit addresses of a network that were ever paid, and what was credited at each. */
export async function creditedByAddress(
  db: Db,
  network: Network,
): Promise<{ address: string; address_index: number; customer_id: string; credited: bigint }[]> {
  const { rows } = await db.query({
    name: 'credited by address',
    text: `SELECT a.address, a.address_index, a.customer_id, coalesce(sum(d.amount) FILTER (WHERE d.status = 'completed'), 0)::bigint AS credited
      FROM deposits d JOIN deposit_addresses a ON a.network = d.rail AND a.address = d.address
      WHERE d.rail = $1 AND d.tx_hash IS NOT NULL GROUP BY a.address, a.address_index, a.customer_id`,
    values: [network],
  })
  return rows
}
