import { addWallet } from '../../src/money/custody/wallets.ts'
import { stepTransfer } from '../../src/money/onchain/settle.ts'
import type { Transfer } from '../../src/money/onchain/store.ts'
import { reserveNonce } from '../../src/money/onchain/transactions.ts'
import type { Attempt, ChainOrder, Made, Seen, Signed } from '../../src/rails/chain/rail.ts'
import { simulatedTransaction } from '../../src/rails/chain/simulated.ts'
import type { World } from '../../src/world.ts'

const WALLET = { wallet: 'simulated', final: 0n, final_height: 0n, mined: 0n, pool: 0n, claimed: 0n }

/** What a worker does before it broadcasts: reserves a nonce for the transfer and stores its first transaction. */
export async function signTransfer(
  world: World,
  transfer: Transfer,
  signed: Partial<Signed> = {},
): Promise<Transfer> {
  await addWallet(world.db, transfer.network, WALLET)
  await world.commit(reserveNonce(transfer, WALLET, Number.POSITIVE_INFINITY))
  const step = { kind: 'signed', attempt: 1, ...simulatedTransaction(transfer), ...signed } as const
  return (await world.commit(stepTransfer(world, transfer, step, { by: 'rail' }))).transfer
}

/** The answer of a rail that signs the simulated transaction. */
export const signedAs = (order: Pick<ChainOrder, 'id' | 'network'>): Made => ({
  kind: 'signed',
  transaction: simulatedTransaction(order),
})

/** The answer of a chain that has mined the newest transaction. */
export function minedAs(
  made: readonly Pick<Attempt, 'tx_hash'>[],
  effect: 'paid' | 'none' | 'other' = 'paid',
): Seen {
  const { tx_hash } = made.at(-1)!
  return { kind: 'mined', tx_hash, effect, block_height: 1n, block_hash: tx_hash }
}
