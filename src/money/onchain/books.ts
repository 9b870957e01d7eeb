import type { Network } from '../../core/networks.ts'
import type { Db } from '../../db/pool.ts'
import type { ChainBooks, Sighting } from '../custody/reconcile.ts'
import type { TransferPart } from '../custody/store.ts'
import { depositsAt, paidAddresses } from '../deposits/books.ts'
import { chainOrderOf } from './order.ts'
import { type Transfer, transferColumns } from './store.ts'
import { attemptsOf, reservationOf } from './transactions.ts'

/** What transfers and deposits contribute to the reconciliation of a chain. */
export const chainBooks: ChainBooks = {
  async openReserved(db, network) {
    const { rows } = await db.query<Transfer>({
      name: 'open transfers with nonces',
      text: `SELECT ${transferColumns} FROM transfers WHERE id IN (SELECT id FROM open_transfers WHERE network = $1) AND nonce IS NOT NULL ORDER BY id`,
      values: [network],
    })
    const made = await Promise.all(rows.map(({ id }) => attemptsOf(db, id)))
    return rows.map((transfer, n) => ({
      ...partOf(transfer),
      async look({ chains }): Promise<Sighting> {
        const seen = await chains[network].look(chainOrderOf(transfer), reservationOf(transfer), made[n]!)
        return seen.kind === 'absent' || seen.kind === 'expired' ? { kind: 'waiting' } : seen
      },
    }))
  },

  minedAbove: (db, network, height) =>
    parts(db, 'transfers mined above', {
      where: `(t.status = 'confirmed' OR t.charged > 0) AND t.id IN (SELECT transfer_id FROM transactions WHERE network = $1 AND block_height > $2)`,
      values: [network, height],
    }),

  withoutBlock: (db, network) =>
    parts(db, 'transfers without block', {
      where: `t.status = 'confirmed' AND t.network = $1
        AND t.id IN (SELECT resource_id FROM resolutions WHERE outcome = 'confirmed' AND resolved_at > now() - interval '7 days')
        AND NOT EXISTS (SELECT FROM transactions x WHERE x.transfer_id = t.id AND x.block_height IS NOT NULL)`,
      values: [network],
    }),

  paidAddresses,
  deposits: depositsAt,
}

const partOf = ({
  id,
  amount_net,
  tx_hash,
}: Pick<Transfer, 'id' | 'amount_net' | 'tx_hash'>): TransferPart => ({
  transfer_id: id,
  amount: amount_net.toString(),
  tx_hash,
})

async function parts(
  db: Db,
  name: string,
  { where, values }: { readonly where: string; readonly values: readonly [Network, ...bigint[]] },
): Promise<TransferPart[]> {
  const text = `SELECT t.id, CASE t.status WHEN 'confirmed' THEN t.amount_net ELSE 0 END + coalesce(t.charged, 0) AS amount_net, t.tx_hash
    FROM transfers t WHERE ${where} ORDER BY t.id`
  const { rows } = await db.query<Pick<Transfer, 'id' | 'amount_net' | 'tx_hash'>>({
    name,
    text,
    values: [...values],
  })
  return rows.map(partOf)
}
