import { columnsOf } from '../../../db/columns.ts'
import type { Db } from '../../../db/pool.ts'
import type { TronDrafts } from '../../../rails/chain/tron/signing.ts'

/** The drafts of payments, in the database. Nothing of a draft ever changes. */
export const tronDrafts = (db: () => Db): TronDrafts => ({
  async draftsOf(transfer_id) {
    const { rows } = await db().query({
      name: 'drafts of transfer',
      text: `SELECT ${columnsOf('drafts')} FROM drafts WHERE transfer_id = $1 ORDER BY number`,
      values: [transfer_id],
    })
    return rows.map(({ tx_hash, unsigned, terms }) => ({ tx_hash, raw: unsigned, terms }))
  },

  async keep({ transfer_id, number }, { tx_hash, raw, terms }) {
    // Two nodes may draft at once: both continue with the draft that was stored first.
    await db().query({
      name: 'store draft',
      text: `INSERT INTO drafts (transfer_id, number, tx_hash, unsigned, terms, created_at) VALUES ($1, $2, $3, $4, $5, clock_timestamp())
        ON CONFLICT DO NOTHING`,
      values: [transfer_id, number, tx_hash, raw, JSON.stringify(terms)],
    })
    return (await this.draftsOf(transfer_id))[number - 1]
  },
})
