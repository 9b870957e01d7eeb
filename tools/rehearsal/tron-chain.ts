import type { TronStub } from '../../test/chains/tron-stub.ts'
import { startTronStub } from '../../test/chains/tron-stub.ts'
import type { Closing } from './closing.ts'

const WALLET_TOKENS = 50_000_000_000n
const WALLET_SUN = 5_000_000_000n
const BLOCK_MS = 1000
const ENDPOINTS = 2

/** A stub of Tron with two endpoints in front of one chain, and the operator's own USDT and TRX in the wallet. */
export async function openTronChain(wallet: string, closing: Closing) {
  const stub: TronStub = await startTronStub({ nodes: ENDPOINTS, solid_depth: 2 })
  closing.push(stub.stop)
  stub.fund(wallet, { tokens: WALLET_TOKENS, sun: WALLET_SUN })
  // What the wallet holds is read at a solidified block.
  stub.mine(4)
  stub.mineEvery(BLOCK_MS)
  return {
    stub,
    funded: WALLET_TOKENS,
    settings: { TRON_RPC: stub.nodes.map(({ url }) => url).join(', '), TRON_GENESIS: stub.genesis },
  }
}
