import { p2wpkh, Transaction } from '@scure/btc-signer'
import { pubECDSA, randomPrivateKeyBytes } from '@scure/btc-signer/utils.js'
import type { Coin } from '../../src/rails/chain/bitcoin/rail.ts'
import type { BitcoinNode } from './bitcoin-node.ts'

/** A key with its script, which spends what it was paid: the second program that holds money on a test chain. */
export type TestWallet = {
  readonly key: string
  readonly script: string
  readonly address: string
  /** A transaction that spends the coins. What the outputs leave is the fee. */
  spend(coins: readonly Coin[], outputs: readonly { script: string; amount: bigint }[]): string
}

export function openTestWallet(key: Uint8Array = randomPrivateKeyBytes()): TestWallet {
  const payment = p2wpkh(pubECDSA(key))
  return {
    key: Buffer.from(key).toString('hex'),
    script: Buffer.from(payment.script).toString('hex'),
    address: payment.address!,
    spend(coins, outputs) {
      const transaction = new Transaction({ allowUnknownOutputs: true })
      for (const { txid, vout, amount, script } of coins)
        transaction.addInput({
          ...{ txid, index: vout, sequence: 0xfffffffd },
          witnessUtxo: { amount, script: Buffer.from(script, 'hex') },
        })
      for (const { script, amount } of outputs)
        transaction.addOutput({ script: Buffer.from(script, 'hex'), amount })
      transaction.sign(key)
      transaction.finalize()
      return transaction.hex
    },
  }
}

const COINBASE_DEPTH = 100
const SATOSHIS = 10 ** 8

/** Mines coins to the script and makes them spendable. Each is the reward of one block. */
export async function mineCoins(node: BitcoinNode, script: string, count = 1): Promise<readonly Coin[]> {
  const hashes = await node.mine(count, script)
  await node.mine(COINBASE_DEPTH)
  return Promise.all(
    hashes.map(async (hash) => {
      const { tx } = await node.call<{ tx: { txid: string; vout: { value: number }[] }[] }>(
        'getblock',
        hash,
        2,
      )
      const { txid, vout } = tx[0]!
      return { txid, vout: 0, amount: BigInt(Math.round(vout[0]!.value * SATOSHIS)), script }
    }),
  )
}
