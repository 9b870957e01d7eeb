import { Transaction } from '@scure/btc-signer/transaction.js'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { type BitcoinNode, bitcoinTest, startBitcoinNode } from '../../../../test/chains/bitcoin-node.ts'
import { mineCoins, openTestWallet } from '../../../../test/chains/bitcoin-wallet.ts'
import { EndpointsUnavailable, type Rpc } from '../rpc.ts'
import type { RpcCall } from '../rpc-endpoint.ts'
import { readBlock, readSigned } from './bytes.ts'
import * as calls from './calls.ts'
import { type BitcoinRpcOptions, openBitcoinRpc } from './nodes.ts'

const none = 'ab'.repeat(32)
let node: BitcoinNode
const opened: Rpc[] = []
const open = (changes: Partial<BitcoinRpcOptions> = {}): Rpc => {
  const rpc = openBitcoinRpc({ urls: [node.url], genesis: node.genesis, ...changes })
  opened.push(rpc)
  return rpc
}
const ask = <Answer>(call: RpcCall<Answer>, rpc = open()): Promise<Answer> => rpc.read((one) => one.ask(call))

beforeAll(async () => {
  node = await startBitcoinNode()
})
afterAll(async () => {
  await Promise.all(opened.map((rpc) => rpc.stop()))
  await node?.stop()
})

type VerboseBlock = {
  hash: string
  height: number
  time: number
  previousblockhash: string
  tx: {
    txid: string
    vsize: number
    hex: string
    vin: { txid?: string; vout?: number }[]
    vout: { value: number; scriptPubKey: { hex: string } }[]
  }[]
}

describe('a block', () => {
  bitcoinTest('is read from its bytes as the node and a second library read it', async () => {
    const wallet = openTestWallet()
    const coins = await mineCoins(node, wallet.script, 3)
    const half = coins[0]!.amount / 2n
    const first = wallet.spend(coins.slice(0, 2), [
      { script: wallet.script, amount: half },
      { script: `5120${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}`, amount: 330n },
      { script: `a914${'11'.repeat(20)}87`, amount: half + 1n },
    ])
    const { txid } = readSigned(first)
    const chained = wallet.spend(
      [{ txid, vout: 0, amount: half, script: wallet.script }],
      Array.from({ length: 300 }, (_, at) => ({ script: wallet.script, amount: 1000n + BigInt(at) })),
    )
    const hash = await node.mineOnly([first, chained])
    const verbose = await node.call<VerboseBlock>('getblock', hash, 2)

    const block = await ask(calls.rawBlock(hash))
    expect(block).toMatchObject({ hash, parent_hash: verbose.previousblockhash, at_ms: verbose.time * 1000 })
    const theirs = verbose.tx.map(({ txid, vin, vout }) => ({
      txid,
      inputs: vin.flatMap((input) => (input.txid ? [{ txid: input.txid, vout: input.vout }] : [])),
      outputs: vout.map(({ value, scriptPubKey }) => ({
        amount: BigInt(Math.round(value * 1e8)),
        script: scriptPubKey.hex,
      })),
    }))
    expect(block!.transactions).toEqual(theirs)
    expect(block!.transactions[0]!.inputs).toEqual([])

    for (const { hex, txid, vsize } of verbose.tx.slice(1)) {
      const second = Transaction.fromRaw(Buffer.from(hex, 'hex'), { allowUnknownOutputs: true })
      expect(readSigned(hex)).toMatchObject({ txid, vsize })
      expect([second.id, second.vsize]).toEqual([txid, vsize])
    }
    expect(await ask(calls.blockHeight(hash))).toBe(BigInt(verbose.height))
  })

  bitcoinTest('that is changed in any way is no block of that hash', async () => {
    const hash = await node.mineOnly()
    const bytes = Buffer.from(await node.call<string>('getblock', hash, 0), 'hex')
    expect(readBlock(bytes).hash).toBe(hash)
    expect(readBlock(Buffer.concat([bytes, Buffer.alloc(9)])), 'litecoin appends bytes').toEqual(
      readBlock(bytes),
    )
    const readHash = (changed: Buffer) => {
      try {
        return readBlock(changed).hash
      } catch {
        return 'refused'
      }
    }
    // A witness is in none of the hashes that are checked, and nothing is read from it.
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      const found = readHash(changed)
      if (found === hash) expect(readBlock(changed)).toEqual(readBlock(bytes))
    }
    for (let length = 0; length < bytes.length; length++)
      expect(readHash(bytes.subarray(0, length))).toBe('refused')
  })

  bitcoinTest('with a repeated end is refused, although it has the same root', async () => {
    const wallet = openTestWallet()
    const [coin] = await mineCoins(node, wallet.script)
    const spends: string[] = []
    let from = coin!
    for (const fee of [1000n, 2000n]) {
      const amount = from.amount - fee
      const raw = wallet.spend([from], [{ script: wallet.script, amount }])
      spends.push(raw)
      from = { txid: readSigned(raw).txid, vout: 0, amount, script: wallet.script }
    }
    const hash = await node.mineOnly(spends)
    const bytes = Buffer.from(await node.call<string>('getblock', hash, 0), 'hex')
    expect(readBlock(bytes).transactions).toHaveLength(3)
    const last = Buffer.from(spends[1]!, 'hex')
    const repeated = Buffer.concat([bytes, last])
    repeated[80] = 4
    expect(() => readBlock(repeated)).toThrow('twice')
  })

  bitcoinTest('that no node has is no block', async () => {
    expect(await ask(calls.rawBlock(none))).toBeNull()
    expect(await ask(calls.blockHeight(none))).toBeNull()
  })
})

describe('a node', () => {
  bitcoinTest('tells its chain and the hash at each height', async () => {
    await node.mine()
    const { height, hash } = await node.head()
    expect(await ask(calls.chainInfo())).toMatchObject({
      ...{ height: BigInt(height), hash, is_syncing: false, is_pruned: false },
    })
    expect(await ask(calls.blockHash(0n))).toBe(node.genesis)
    expect(await ask(calls.blockHash(BigInt(height)))).toBe(hash)
    expect(await ask(calls.blockHash(BigInt(height) + 1n)), 'status 500 is an answer').toBeNull()
  })

  bitcoinTest('tells what is in its mempool, and what is unspent with and without it', async () => {
    const wallet = openTestWallet()
    const [coin] = await mineCoins(node, wallet.script)
    const raw = wallet.spend([coin!], [{ script: wallet.script, amount: coin!.amount - 10_000n }])
    const { txid } = readSigned(raw)
    const rpc = open()
    const unspent = (txid: string, with_mempool: boolean) =>
      ask(calls.unspentOutput({ txid, vout: 0 }, { with_mempool }), rpc)
    expect(await unspent(coin!.txid, true)).toEqual({
      ...{ amount: coin!.amount, script: wallet.script, confirmations: 101 },
    })
    expect(await ask(calls.isInMempool(txid), rpc)).toBe(false)
    await ask(calls.sendRaw(raw), rpc)
    await ask(calls.sendRaw(raw), rpc)
    expect(await ask(calls.isInMempool(txid), rpc)).toBe(true)
    expect(await unspent(coin!.txid, true)).toBeNull()
    expect(await unspent(coin!.txid, false)).toMatchObject({ amount: coin!.amount })
    expect(await unspent(txid, true)).toMatchObject({ amount: coin!.amount - 10_000n, confirmations: 0 })
    await node.mine()
    await ask(calls.sendRaw(raw), rpc)
    expect(await ask(calls.isInMempool(txid), rpc)).toBe(false)
    expect(await unspent(coin!.txid, false)).toBeNull()
    await ask(calls.sendRaw('00'), rpc)
    expect(rpc.facts()[0], 'error answers are no failures').toMatchObject({
      failures_in_row: 0,
      state: 'healthy',
    })
  })

  bitcoinTest('estimates no fee on a young chain, and has the least rate of its mempool', async () => {
    expect(await ask(calls.estimatedRate(3))).toBeUndefined()
    expect(await ask(calls.mempoolRate())).toBe(1000n)
  })

  bitcoinTest('is of the chain that is configured', async () => {
    const rpc = open({ genesis: none })
    await expect(ask(calls.chainInfo(), rpc)).rejects.toThrow(EndpointsUnavailable)
    expect(rpc.facts()[0]).toMatchObject({ state: 'resting', last_failure: 'wrong_chain' })
  })

  bitcoinTest('with a wrong password answers nothing, and the password is in no message', async () => {
    const url = new URL(node.url)
    url.password = 'wrong-and-secret'
    const rpc = open({ urls: [url.href] })
    const error = await ask(calls.chainInfo(), rpc).catch((error) => error)
    expect(error).toBeInstanceOf(EndpointsUnavailable)
    expect(String(error)).toContain('status 401')
    expect(String(error.stack)).not.toContain('secret')
  })
})

bitcoinTest('a cookie is read again when a restart of the node has changed it', async () => {
  const own = await startBitcoinNode({ has_cookie: true })
  try {
    await own.mine()
    const { url, genesis, cookie_file } = own
    const rpc = open({ urls: [url], genesis, cookie_file })
    expect(await ask(calls.chainInfo(), rpc)).toMatchObject({ height: 1n })
    await own.restart()
    expect(await ask(calls.chainInfo(), rpc)).toMatchObject({ height: 1n })
    const missing = open({ urls: [url], genesis, cookie_file: `${cookie_file}-none` })
    await expect(ask(calls.chainInfo(), missing)).rejects.toThrow(EndpointsUnavailable)
  } finally {
    await own.stop()
  }
})
