import { randomBytes } from 'node:crypto'
import { type DepositFinder, openDepositFinder } from '../../src/money/deposits/finder.ts'
import { tronAddressOfKey } from '../../src/rails/chain/tron/address.ts'
import { openTronRpc } from '../../src/rails/chain/tron/nodes.ts'
import { tronPayments } from '../../src/rails/chain/tron/payments.ts'
import type { World } from '../../src/world.ts'
import { openBench, silent } from '../support/rail-bench.ts'
import { depositBench } from './deposit-bench.ts'
import { startTronStub } from './tron-stub.ts'

/** A world whose customers pay in on a stub of Tron, which is reached through two endpoints that can lie. */
export type TronDepositStage = Awaited<ReturnType<typeof openTronDepositStage>>

/** Of 27 producers 19 must have built upon a block. */
export const SOLID_DEPTH = 18

export async function openTronDepositStage(nodes = 2) {
  const stub = await startTronStub({ nodes, solid_depth: SOLID_DEPTH })
  const rpc = openTronRpc({
    ...{ urls: stub.nodes.map(({ url }) => url), genesis: stub.genesis, clock: { now: Date.now } },
    ...{ rest_ms: 50, inspect_after_ms: 0, timeout_ms: 60_000 },
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

  const deposit_bench = depositBench(bench, 'tron', finder)
  await deposit_bench.find()

  return {
    ...deposit_bench,
    ...{ stub, rpc, bench, world, payer, openFinder },
    /** A payment in the next block, with so many blocks on top. */
    pay(to: string, amount: bigint, on_top = 0): string {
      const id = stub.call({ moves: [{ from: payer, to, amount }], result: 'SUCCESS' })
      stub.mine(1 + on_top)
      return id
    },
    async stop() {
      await rpc.stop()
      await bench.stop()
      await stub.stop()
    },
  }
}
