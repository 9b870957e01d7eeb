import { setTimeout as sleep } from 'node:timers/promises'
import { scriptOf } from '../../src/rails/chain/bitcoin/transaction.ts'
import { startBitcoinNode } from '../../test/chains/bitcoin-node.ts'
import { mineCoins, openTestWallet, type TestWallet } from '../../test/chains/bitcoin-wallet.ts'
import type { Closing } from './closing.ts'

/** A chain of a node of Bitcoin Core's lineage, the wallet that pays, and a stranger who pays customers. */
export type BitcoinChain = Awaited<ReturnType<typeof openBitcoinChain>>

const BLOCK_MS = 1500
const WALLET_COINS = 3
/** The stranger's coins: each pays one customer. */
const COINS = 60
const COIN = 30_000_000n
const MINER_FEE = 10_000n
const SATOSHIS = 10 ** 8

export async function openBitcoinChain(wallet: TestWallet, closing: Closing) {
  const node = await startBitcoinNode()
  closing.push(node.stop)
  // A block of now: the node has left its initial download.
  await node.mine(1)
  const stranger = openTestWallet()
  const funded = await mineCoins(node, wallet.script, WALLET_COINS)
  const [reward] = await mineCoins(node, stranger.script, 1)
  const pieces = Array.from({ length: COINS }, () => ({ script: stranger.script, amount: COIN }))
  const block = await node.mineOnly([stranger.spend([reward!], pieces)])
  const { tx } = await node.call<{ tx: string[] }>('getblock', block)
  const coins = pieces.map((piece, vout) => ({ ...piece, txid: tx[1]!, vout }))
  await node.mine(1)
  const { inTurn, stop } = openMiner(() => node.mine(1))
  closing.push(stop)

  const payment = (coin: (typeof coins)[number], script: string, amount: bigint, fee: bigint) => {
    const change = { script: stranger.script, amount: COIN - amount - fee }
    return stranger.spend([coin], [{ script, amount }, change])
  }
  const heldBy = async (scripts: readonly string[]): Promise<bigint> => {
    const descriptors = scripts.map((script) => `raw(${script})`)
    const { total_amount } = await node.call<{ total_amount: number }>('scantxoutset', 'start', descriptors)
    return BigInt(Math.round(total_amount * SATOSHIS))
  }

  return {
    ...{ node, wallet },
    funded: funded.reduce((sum, { amount }) => sum + amount, 0n),
    settings: { BITCOIN_RPC: node.url, BITCOIN_GENESIS: node.genesis, BITCOIN_START_HEIGHT: '0' },
    /** The stranger pays; the next block has the payment. */
    pay: (address: string, amount: bigint): Promise<string> =>
      node.send(payment(coins.pop()!, scriptOf(address)!, amount, MINER_FEE)),
    /** Mines a payment in a block of its own and runs `seen`. Then replaces the block by one in which the stranger keeps that coin. */
    payAndTakeBack: (address: string, amount: bigint, seen: (txid: string) => Promise<void>): Promise<void> =>
      inTurn(async () => {
        const coin = coins.pop()!
        const hash = await node.mineOnly([payment(coin, scriptOf(address)!, amount, MINER_FEE)])
        const paid = await node.call<{ tx: string[] }>('getblock', hash)
        await seen(paid.tx[1]!)
        const other = openTestWallet()
        await node.invalidate(hash)
        await node.mineOnly([payment(coin, stranger.script, amount, 3n * MINER_FEE)], other.script)
        await node.mineOnly([], other.script)
      }),
    scriptsOf: (addresses: readonly string[]) => addresses.map((address) => scriptOf(address)!),
    heldAt: (addresses: readonly string[]) => heldBy(addresses.map((address) => scriptOf(address)!)),
  }
}

/** A block every now and then, as a chain does; one change of the chain at a time. */
function openMiner(mine: () => Promise<unknown>) {
  let ended = false
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }
  const mining = (async () => {
    while (!ended) {
      await inTurn(mine)
      await sleep(BLOCK_MS)
    }
  })()
  return {
    inTurn,
    async stop() {
      ended = true
      await mining
    },
  }
}
