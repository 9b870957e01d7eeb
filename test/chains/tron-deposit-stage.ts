import { randomBytes } from 'node:crypto'
import { addDepositAddress } from '../../src/money/deposits/addresses.ts'
import { type DepositFinder, openDepositFinder } from '../../src/money/deposits/finder.ts'
import type { Deposit } from '../../src/money/deposits/store.ts'
import { tronAddressOfKey } from '../../src/rails/chain/tron/address.ts'
import { openTronRpc } from '../../src/rails/chain/tron/nodes.ts'
import { tronPayments } from '../../src/rails/chain/tron/payments.ts'
import type { World } from '../../src/world.ts'
import { openBench, silent } from '../support/rail-bench.ts'
import { startTronStub } from './tron-stub.ts'

/** A world whose customers pay in on a stub of Tron, which is reached through two endpoints that can lie. */
export type TronDepositStage = Awaited<ReturnType<typeof openTronDepositStage>>

/** Of 27 producers 19 must have built upon a block. */
export const SOLID_DEPTH = 18

export async function openTronDepositStage(nodes = 2) {
  const stub = await startTronStub({ nodes, solid_depth: SOLID_DEPTH })
  const rpc = openTronRpc({
    ...{ urls: stub.nodes.map(({ url }) => url), genesis: stub.genesis, clock: { now: Date.now } },
    ...{ rest_ms: 50, inspect_after_ms: 0 },
  })
  const source = tronPayments(rpc, { contract: stub.contract })
  const bench = await openBench({ chain: { payments: source } })
  const { world } = bench
  const payer = tronAddressOfKey(randomBytes(32))
  stub.fund(payer, { tokens: 10n ** 15n })
  stub.mine(50)

  const openFinder = (by: World = world): DepositFinder =>
    openDepositFinder({ world: by, network: 'tron', source, log: silent })
  const finder = openFinder()

  /** One run, as if the pauses between two questions were over. */
  async function find(by: DepositFinder = finder): Promise<void> {
    await bench.admin('UPDATE deposits SET next_attempt_at = now() WHERE next_attempt_at IS NOT NULL')
    const db = await world.db.connect()
    try {
      await by.find(db)
    } finally {
      db.release()
    }
  }
  await find()

  return {
    ...{ stub, rpc, bench, world, payer, openFinder, find },
    /** A payment in the next block, with so many blocks on top. */
    pay(to: string, amount: bigint, on_top = 0): string {
      const id = stub.call({ moves: [{ from: payer, to, amount }], result: 'SUCCESS' })
      stub.mine(1 + on_top)
      return id
    },
    async customer(): Promise<{ customer_id: string; address: string }> {
      const customer_id = await bench.customer({})
      const { address } = await addDepositAddress(world, bench.actor, { customer_id, network: 'tron' })
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
    async stop() {
      await rpc.stop()
      await bench.stop()
      await stub.stop()
    },
  }
}
