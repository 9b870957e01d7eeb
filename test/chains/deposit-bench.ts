import type { Network } from '../../src/core/networks.ts'
import { addDepositAddress } from '../../src/money/deposits/addresses.ts'
import type { DepositFinder } from '../../src/money/deposits/finder.ts'
import type { Deposit } from '../../src/money/deposits/store.ts'
import type { Bench } from '../support/rail-bench.ts'

/** What tests of deposits do and read on every network of USDT. */
export function depositBench(bench: Bench, network: Network, finder: DepositFinder) {
  const { world } = bench
  return {
    /** One run of the finder, as if the pauses between two questions were over. */
    async find(by: DepositFinder = finder): Promise<void> {
      await bench.admin('UPDATE deposits SET next_attempt_at = now() WHERE next_attempt_at IS NOT NULL')
      const db = await world.db.connect()
      try {
        await by.find(db)
      } finally {
        db.release()
      }
    },
    /** A customer with a deposit address. */
    async customer(of = bench.actor): Promise<{ customer_id: string; address: string }> {
      const customer_id = await bench.customer({}, of)
      const { address } = await addDepositAddress(world, of, { customer_id, network })
      return { customer_id, address: address.address }
    },
    async deposits(): Promise<Deposit[]> {
      const { rows } = await world.db.query(
        `SELECT id, customer_id, amount, status, sequence, below_minimum, address, tx_hash, output_index, block_height, block_hash, depth,
          next_attempt_at FROM deposits WHERE tx_hash IS NOT NULL ORDER BY created_at, tx_hash, output_index`,
      )
      return rows
    },
    balance: async (customer_id: string) => (await bench.balance(customer_id, 'USDT'))?.balance ?? 0n,
    async exceptions(): Promise<{ kind: string; object_id: string; closed_at: Date | null; details: any }[]> {
      const { rows } = await world.db.query(
        'SELECT kind, object_id, closed_at, details FROM exceptions ORDER BY opened_at, id',
      )
      return rows
    },
  }
}
