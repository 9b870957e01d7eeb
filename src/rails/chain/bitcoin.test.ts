import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import {
  type BitcoinNode,
  type BitcoinNodeOptions,
  startBitcoinNode,
  bitcoinTest as test,
} from '../../../test/chains/bitcoin-node.ts'
import { type BitcoinSceneOptions, openBitcoinScene, spendingOf } from '../../../test/chains/bitcoin-stage.ts'
import { mineCoins, openTestWallet } from '../../../test/chains/bitcoin-wallet.ts'
import { startRpcProxy } from '../../../test/chains/rpc-proxy.ts'
import { SignatureRefused } from '../signer/signer.ts'
import { readSigned } from './bitcoin/bytes.ts'
import type { BitcoinRail, Coin, Outpoint } from './bitcoin/rail.ts'
import { scriptOf } from './bitcoin/transaction.ts'
import type { Attempt } from './rail.ts'
import { EndpointsDisagree, EndpointsUnavailable } from './rpc.ts'

let node: BitcoinNode
const rails: BitcoinRail[] = []
const nodes: BitcoinNode[] = []

beforeAll(async () => {
  node = await startBitcoinNode()
  await node.mine()
})
afterEach(async () => {
  await Promise.all(rails.splice(0).map((rail) => rail.stop()))
  await Promise.all(nodes.splice(0).map((one) => one.stop()))
})
afterAll(() => node?.stop())

const open = (changes: BitcoinSceneOptions = {}, on = node) => {
  const scene = openBitcoinScene(on, changes)
  rails.push(scene.rail)
  return scene
}
const openNode = async (options?: BitcoinNodeOptions) => {
  const started = await startBitcoinNode(options)
  nodes.push(started)
  return started
}

type Verdict = { allowed: boolean; 'reject-reason'?: string }
const verdictOn = async ({ signed }: Attempt, on = node) =>
  (await on.call<Verdict[]>('testmempoolaccept', [signed]))[0]!

const changeOf = ({ signed, tx_hash: txid }: Attempt): Coin => {
  const { outputs } = readSigned(signed)
  return { txid, vout: outputs.length - 1, ...outputs.at(-1)! }
}

/** Of an output that the chain has made. */
const coinState = async (rail: BitcoinRail, output: Outpoint) =>
  (await rail.outputStates(await rail.head(), [{ ...output, is_mined: true }])).join()

/** Of the change of a payment that the database has in no block. */
const changeState = async (rail: BitcoinRail, attempt: Attempt) =>
  (await rail.outputStates(await rail.head(), [{ ...changeOf(attempt), is_mined: false }])).join()

describe('a transfer', () => {
  test('is signed, taken by a node, and mined', async () => {
    const { rail, script, address, order: newOrder, sign } = open()
    const coins = await mineCoins(node, script, 2)
    await rail.check()
    expect(await rail.wallet()).toEqual({ address, script })
    expect(await rail.satPerVbyte()).toBe(2n)
    const order = newOrder()
    const attempt = await sign(order, spendingOf(coins))
    expect(await verdictOn(attempt)).toMatchObject({ allowed: true })
    const facts = readSigned(attempt.signed)
    expect(facts.outputs[0]).toEqual({ script: scriptOf(order.destination_address), amount: order.amount })
    expect(attempt).toMatchObject({ tx_hash: facts.txid, purpose: 'pay', terms: { rate: '2000' } })
    expect(attempt.terms.vsize).toBe(String(facts.vsize))
    expect(BigInt(attempt.terms.fee!)).toBe(
      coins[0]!.amount + coins[1]!.amount - facts.outputs[0]!.amount - facts.outputs[1]!.amount,
    )
    expect(await rail.knows(attempt.tx_hash)).toBe(false)
    expect(await coinState(rail, coins[0]!)).toBe('unspent')
    expect(await changeState(rail, attempt), 'no node has its transaction').toBe('absent')
    expect(await rail.broadcast(attempt)).toEqual({ kind: 'accepted' })
    expect(await rail.broadcast(attempt), 'again').toEqual({ kind: 'accepted' })
    expect(await rail.knows(attempt.tx_hash)).toBe(true)
    expect(await coinState(rail, coins[0]!)).toBe('spent')
    expect(await changeState(rail, attempt)).toBe('unspent')

    await node.mine()
    const { block_height, block_hash } = await rail.head()
    expect(await rail.hashAt(block_height)).toBe(block_hash)
    expect(await rail.hashAt(block_height + 1n)).toBeUndefined()
    const block = await rail.block(block_hash)
    expect(block).toMatchObject({
      block_height,
      block_hash,
      parent_hash: await rail.hashAt(block_height - 1n),
    })
    expect(block.transactions[1]).toEqual({
      ...{ txid: attempt.tx_hash, outputs: facts.outputs },
      inputs: coins.map(({ txid, vout }) => ({ txid, vout })),
    })
    expect(await rail.knows(attempt.tx_hash), 'it has left the mempool').toBe(false)
    expect(await coinState(rail, coins[0]!), 'by a block').toBe('spent')
    expect(await changeState(rail, attempt)).toBe('unspent')
    expect(await coinState(rail, changeOf(attempt))).toBe('unspent')
    expect(await rail.broadcast(attempt), 'mined: only the chain tells').toEqual({ kind: 'unknown' })
  })

  test('pays each kind of address, in bytes that the node takes', async () => {
    const { script, order: newOrder, sign } = open()
    const coins = await mineCoins(node, script, 5)
    for (const [at, destination_address] of [
      '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
      '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
    ].entries()) {
      const attempt = await sign(newOrder({ destination_address }), spendingOf([coins[at]!]))
      expect(await verdictOn(attempt), destination_address).toMatchObject({ allowed: true })
    }
  })

  test('spends many coins, and the node agrees with the computed size', async () => {
    const { script, order, sign } = open()
    const coins = await mineCoins(node, script, 30)
    const attempt = await sign(order(), spendingOf(coins))
    expect(await verdictOn(attempt)).toMatchObject({ allowed: true, vsize: Number(attempt.terms.vsize) })
  })

  test('is replaced at a higher rate, with the same coins, and canceled', async () => {
    const { rail, key, script, order: newOrder, sign } = open()
    const coins = await mineCoins(node, script)
    const order = newOrder()
    const first = await sign(order, spendingOf(coins))
    await rail.broadcast(first)
    const made = [first]
    expect(await rail.attempt(order, spendingOf(coins), made, 'pay')).toMatchObject({ why: 'not_worth_it' })

    const dearer = open({ key, rate_fallback: 2300n })
    const second = await dearer.sign(order, spendingOf(coins), made)
    expect(readSigned(second.signed).inputs).toEqual(readSigned(first.signed).inputs)
    expect(readSigned(second.signed).outputs[0]).toEqual(readSigned(first.signed).outputs[0])
    expect(await rail.broadcast(second), 'the least fee that the node takes').toEqual({ kind: 'accepted' })
    expect(await rail.knows(first.tx_hash)).toBe(false)
    expect(await rail.broadcast(first), 'the replaced one is refused').toEqual({ kind: 'unknown' })

    const spent_further = spendingOf(coins, { is_spent_further: true })
    expect(await rail.attempt(order, spent_further, [...made, second], 'cancel')).toMatchObject({
      ...{ kind: 'later', why: 'change_is_spent' },
    })
    const cancel = await sign(order, spendingOf(coins), [...made, second], 'cancel')
    expect(readSigned(cancel.signed).outputs).toEqual([
      { script, amount: coins[0]!.amount - BigInt(cancel.terms.fee!) },
    ])
    expect(await rail.broadcast(cancel)).toEqual({ kind: 'accepted' })
    expect(await rail.knows(second.tx_hash)).toBe(false)
    // A miner may still take the payment.
    await node.mineOnly([second.signed])
    expect(await rail.knows(cancel.tx_hash)).toBe(false)
    expect(await changeState(rail, second)).toBe('unspent')
  })

  test('pays for its ancestors that are not mined', async () => {
    const { rail, key, script, order, sign } = open()
    const coins = await mineCoins(node, script)
    const parent = await sign(order(), spendingOf(coins))
    await rail.broadcast(parent)
    const unmined = { vsize: Number(parent.terms.vsize), fee: BigInt(parent.terms.fee!) }
    const dearer = open({ key, rate_fallback: 10_000n })
    const child = await dearer.sign(order(), spendingOf([changeOf(parent)], { unmined }))
    const fee = BigInt(child.terms.fee!) + unmined.fee
    const vsize = BigInt(child.terms.vsize!) + BigInt(unmined.vsize)
    expect(fee / vsize).toBe(10n)
    expect(await rail.broadcast(child)).toEqual({ kind: 'accepted' })
    await node.mine()
    expect(await changeState(rail, child)).toBe('unspent')
  })

  test('waits, and nothing is signed', async () => {
    const { rail, key, script, order: newOrder } = open()
    const [coin] = await mineCoins(node, script)
    const order = newOrder()
    const whyOf = async (rail: BitcoinRail, coins: readonly Coin[]) => {
      const found = await rail.attempt(order, spendingOf(coins), [], 'pay')
      return found.kind === 'later' ? found.why : found.kind
    }
    expect(await whyOf(rail, [{ ...coin!, amount: order.amount + 100n }])).toBe('wallet_too_empty')
    const capped = open({ key, caps: { fee_most: 100n, rate_most: 500_000n } })
    expect(await whyOf(capped.rail, [coin!])).toBe('fee_above_cap')
    const strict = open({ key, caps: { fee_most: 100_000n, rate_most: 1000n } })
    expect(await whyOf(strict.rail, [coin!])).toBe('fee_above_cap')
    const unsealed = { ...order, seal: null }
    await expect(rail.attempt(unsealed, spendingOf([coin!]), [], 'pay')).rejects.toThrow(SignatureRefused)
  })

  test('is not stored if the signer signs something else', async () => {
    const { key, script, order, rail } = open()
    const coins = await mineCoins(node, script)
    const own = openTestWallet(key)
    const lying = open({
      signer: {
        addresses: async () => ({ bitcoin: (await rail.wallet()).address }),
        keepRoom: async () => undefined,
        sign: async () => ({ signed: own.spend(coins, [{ script, amount: 1000n }]) }),
      },
    })
    await expect(lying.rail.attempt(order(), spendingOf(coins), [], 'pay')).rejects.toThrow(
      'is not the transaction',
    )
  })
})

describe('nodes', () => {
  test('of another chain, or that synchronize, are told by the check', async () => {
    const foreign = open({ rpc_options: { genesis: 'ab'.repeat(32) } })
    await expect(foreign.rail.check()).rejects.toThrow(/endpoint 1: the node is of chain/)
    await expect(foreign.rail.satPerVbyte()).rejects.toMatchObject({ code: 'rail_unavailable' })
    const young = await openNode()
    const syncing = open({ rpc_options: { head_age_most_ms: 10 ** 15 } }, young)
    await expect(syncing.rail.check()).rejects.toThrow(/still synchronizing/)
    const old = open({}, young)
    await expect(old.rail.check()).rejects.toThrow(/the newest block is \d+ s old/)
    const keyless = open({
      signer: { addresses: async () => ({}), keepRoom: async () => undefined, sign: () => Promise.reject() },
    })
    await expect(keyless.rail.check()).rejects.toThrow('the signer has no key')
    const expected = open({ wallet: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' })
    await expect(expected.rail.check()).rejects.toThrow("the signer's wallet is bc1q")
  })

  test('that invent blocks of Bitcoin without the work of miners are not believed', async () => {
    const { block_hash } = await open().rail.head()
    await expect(open().rail.block(block_hash), 'another chain').resolves.toMatchObject({ block_hash })
    await expect(open({ is_mainnet: true }).rail.block(block_hash)).rejects.toThrow('A node invented it')
  })

  test('that are behind, disagree, or are down: the head is what both have', async () => {
    const other = await openNode()
    await other.copyFrom(node)
    const { rail } = open({ urls: [node.url, other.url], rpc_options: { rest_ms: 1 } })
    const before = await rail.head()
    const [ahead] = await node.mine()
    expect(await rail.head(), 'one node is behind').toEqual(before)
    expect(await rail.hashAt(before.block_height + 1n)).toBeUndefined()
    expect(await rail.block(ahead!), 'any node with the block will do').toMatchObject({
      block_height: before.block_height + 1n,
    })
    const [fork] = await other.mine(1, '52')
    expect(await rail.head(), 'two blocks at one height').toEqual(before)
    await expect(rail.hashAt(before.block_height + 1n)).rejects.toThrow(EndpointsDisagree)
    await other.invalidate(fork!)
    await other.copyFrom(node)
    expect((await rail.head()).block_hash).toBe(ahead)

    await other.stop()
    await expect(rail.head()).rejects.toThrow(EndpointsUnavailable)
    const output = { txid: ahead!, vout: 0, is_mined: true }
    await expect(rail.outputStates(before, [output])).rejects.toThrow('two must agree')
    expect((await rail.block(ahead!)).block_hash).toBe(ahead)
  })

  test('that know different mempools: spent for one is spent', async () => {
    const { script, order, sign } = open()
    const coins = await mineCoins(node, script)
    const other = await openNode()
    await other.copyFrom(node)
    const both = open({ urls: [node.url, other.url] })
    const attempt = await sign(order(), spendingOf(coins))
    expect(await coinState(both.rail, coins[0]!)).toBe('unspent')
    await node.send(attempt.signed)
    expect(await coinState(both.rail, coins[0]!)).toBe('spent')
    expect(await both.rail.knows(attempt.tx_hash)).toBe(true)
    expect(await changeState(both.rail, attempt), 'made in one mempool').toBe('unspent')
    await node.mine()
    expect(await coinState(both.rail, coins[0]!), 'spent in the newer block').toBe('spent')
    expect(await both.rail.broadcast(attempt), 'to all nodes').toEqual({ kind: 'accepted' })
  })

  test('of which one has only a transaction, and another one also what spends its change: the change is spent', async () => {
    const { script, key, order, sign } = open()
    const coins = await mineCoins(node, script)
    const other = await openNode()
    await other.copyFrom(node)
    const both = open({ urls: [other.url, node.url] }).rail
    const attempt = await sign(order(), spendingOf(coins))
    for (const one of [node, other]) await one.send(attempt.signed)
    expect(await changeState(both, attempt)).toBe('unspent')
    const change = changeOf(attempt)
    await node.send(openTestWallet(key).spend([change], [{ script, amount: change.amount - 1000n }]))
    expect(await changeState(both, attempt)).toBe('spent')
  })

  test('that are on different branches: an output of a block that one of them does not have is not spent', async () => {
    const { script, order, sign } = open()
    const coins = await mineCoins(node, script)
    const other = await openNode()
    await other.copyFrom(node)
    const both = open({ urls: [node.url, other.url] }).rail
    const attempt = await sign(order(), spendingOf(coins))
    await node.send(attempt.signed)
    const [made_in] = await node.mine()
    const newer = { block_height: BigInt((await node.head()).height), block_hash: made_in! }
    const mined = async () =>
      (await both.outputStates(newer, [{ ...changeOf(attempt), is_mined: true }])).join()
    expect(await changeState(both, attempt), 'one node is behind').toBe('unspent')
    expect(await mined(), 'one node is behind').toBe('unclear')
    await other.mine(1, '53')
    expect(await changeState(both, attempt), 'the other one has another block').toBe('unclear')
    expect(await mined(), 'the other one has another block').toBe('unclear')
    await node.invalidate(made_in!)
    await node.copyFrom(other)
    expect(await mined(), 'its block has left the chain').toBe('unclear')
    expect(await changeState(both, attempt), 'in one mempool again').toBe('unspent')
  })

  test('whose chain moves between two questions about an output: nothing in a mempool spends it', async () => {
    const { script, key, order, sign } = open()
    const coins = await mineCoins(node, script)
    const attempt = await sign(order(), spendingOf(coins))
    const proxy = await startRpcProxy(node.url)
    try {
      const { rail } = open({ urls: [proxy.url] })
      await rail.check()
      /** Changes the chain between the first and the second answer about the change of the payment. */
      const askedWhile = async (move: () => Promise<unknown>) => {
        let asked = 0
        proxy.become({
          rewrite: async ({ method }, reply) => {
            if (method === 'gettxout' && ++asked === 1) await move()
            return reply
          },
        })
        const state = await changeState(rail, attempt)
        expect(asked).toBeGreaterThan(1)
        return state
      }
      let made_in = ''
      const mine = async () => {
        made_in = await node.mineOnly([attempt.signed])
      }
      expect(await askedWhile(mine), 'the block that makes the output arrives').toBe('unspent')
      const reorganize = async () => {
        await node.invalidate(made_in)
        const [coin] = coins
        await node.mineOnly([openTestWallet(key).spend(coins, [{ script, amount: coin!.amount - 1000n }])])
      }
      expect(await askedWhile(reorganize), 'a reorganisation removes it for good').toBe('unclear')
    } finally {
      await proxy.stop()
    }
  })

  test('that have just started and read their mempool still cannot tell whether an output is spent', async () => {
    const { script, order, sign } = open()
    const coins = await mineCoins(node, script)
    const attempt = await sign(order(), spendingOf(coins))
    const proxy = await startRpcProxy(node.url)
    try {
      const { rail } = open({ urls: [proxy.url] })
      const loaded = (is_loaded: unknown) =>
        proxy.become({
          rewrite: ({ method }, reply) =>
            method === 'getmempoolinfo'
              ? { ...reply, result: { ...reply.result, loaded: is_loaded } }
              : reply,
        })
      loaded(false)
      expect(await coinState(rail, coins[0]!)).toBe('unclear')
      expect(await changeState(rail, attempt)).toBe('unclear')
      for (const is_loaded of [true, undefined]) {
        loaded(is_loaded)
        expect(await coinState(rail, coins[0]!)).toBe('unspent')
        expect(await changeState(rail, attempt)).toBe('absent')
      }
    } finally {
      await proxy.stop()
    }
  })

  test('that lie about a block, or answer nonsense, have failed, and the next one is asked', async () => {
    const proxy = await startRpcProxy(node.url)
    try {
      const { rail } = open({ urls: [proxy.url, node.url] })
      const single = open({ urls: [proxy.url] }).rail
      const { block_hash } = await rail.head()
      const other = await node.call<string>('getblock', await node.mineOnly(), 0)
      const answering = (asked: string, result: unknown) =>
        proxy.become({ answer: ({ method }) => (method === asked ? { result } : undefined) })
      for (const result of [other, `${other}00`, '', 'zz', null, {}, 5]) {
        answering('getblock', result)
        expect((await rail.block(block_hash)).block_hash).toBe(block_hash)
        await expect(open({ urls: [proxy.url] }).rail.block(block_hash)).rejects.toThrow(EndpointsUnavailable)
      }
      for (const result of [null, {}, { mempoolminfee: -1, minrelaytxfee: 1 }, { mempoolminfee: 'x' }]) {
        answering('getmempoolinfo', result)
        await expect(open({ urls: [proxy.url] }).rail.satPerVbyte()).rejects.toMatchObject({
          code: 'rail_unavailable',
        })
      }
      for (const [feerate, rate] of [
        [0.00012345, 13n],
        [0.001, 100n],
        [0, 1n],
        [1e-7, 1n],
      ] as const) {
        answering('estimatesmartfee', { feerate, blocks: 3 })
        expect(await single.satPerVbyte(), `${feerate}`).toBe(rate)
      }
      answering('getblockhash', 'ab'.repeat(32))
      await expect(open({ urls: [proxy.url] }).rail.check()).rejects.toThrow('is of chain')
      for (const warnings of ['a warning', ['one', 'two']]) {
        proxy.become({
          rewrite: ({ method }, reply) =>
            method === 'getblockchaininfo' ? { ...reply, result: { ...reply.result, warnings } } : reply,
        })
        await open({ urls: [proxy.url] }).rail.check()
      }
    } finally {
      await proxy.stop()
    }
  })

  test('that lose their answers to a broadcast: the transaction may be out, and is sent again', async () => {
    const proxy = await startRpcProxy(node.url)
    try {
      const { rail, script, order, sign } = open({ urls: [proxy.url], rpc_options: { rest_ms: 1 } })
      const coins = await mineCoins(node, script)
      const attempt = await sign(order(), spendingOf(coins))
      proxy.become({ lose_answers: true })
      expect(await rail.broadcast(attempt)).toEqual({ kind: 'unknown' })
      proxy.become({})
      expect(await rail.knows(attempt.tx_hash)).toBe(true)
      expect(await rail.broadcast(attempt)).toEqual({ kind: 'accepted' })
      proxy.become({ cut: true })
      expect(await rail.broadcast(attempt)).toEqual({ kind: 'unknown' })
      expect(await rail.attempt(order(), spendingOf(coins), [], 'pay')).toMatchObject({
        ...{ kind: 'later', why: 'endpoints_unavailable' },
      })
    } finally {
      await proxy.stop()
    }
  })

  test('that restart keep what they took', async () => {
    const own = await openNode()
    const { rail, script, order, sign } = open({ rpc_options: { rest_ms: 1 } }, own)
    const coins = await mineCoins(own, script)
    const attempt = await sign(order(), spendingOf(coins))
    expect(await rail.broadcast(attempt)).toEqual({ kind: 'accepted' })
    await own.restart()
    expect(await rail.broadcast(attempt)).toEqual({ kind: 'accepted' })
    await own.mine()
    expect(await changeState(rail, attempt)).toBe('unspent')
  })

  test('that prune old blocks are used for what they have', async () => {
    const own = await openNode({ args: ['-prune=1'] })
    await own.copyFrom(node)
    const pruned = await startRpcProxy(own.url)
    try {
      const { rail } = open({ urls: [pruned.url, node.url] })
      const single = open({ urls: [pruned.url] }).rail
      await single.check()
      const { block_hash } = await rail.head()
      expect((await single.block(block_hash)).block_hash).toBe(block_hash)
      const error = { code: -1, message: 'Block not available (pruned data)' }
      pruned.become({ answer: ({ method }) => (method === 'getblock' ? { error } : undefined) })
      expect((await rail.block(block_hash)).block_hash, 'the other node has it').toBe(block_hash)
      for (let time = 0; time < 4; time++)
        await expect(single.block(block_hash)).rejects.toThrow('endpoint 1: the node does not have block')
      expect(single.endpoints()[0], 'no failure of the node').toMatchObject({ state: 'healthy' })
      await expect(rail.block('ab'.repeat(32))).rejects.toThrow('does not have block')
    } finally {
      await pruned.stop()
    }
  })
})

test('a full mempool raises the rate, and takes nothing below it', async () => {
  const own = await openNode({ args: ['-maxmempool=5'] })
  const { rail, key, script, order, sign } = open({ rate_fallback: 1000n }, own)
  const stranger = openTestWallet()
  const [coin] = await mineCoins(own, script)
  const coins = await mineCoins(own, stranger.script, 60)
  const cheap = await sign(order(), spendingOf([coin!]))
  const outputs = Array.from({ length: 2500 }, () => ({ script: stranger.script, amount: 1000n }))
  for (const one of coins) {
    if ((await rail.satPerVbyte()) > 1n) break
    const change = { script: stranger.script, amount: one.amount - 2_500_000n - 1_000_000n }
    const raw = stranger.spend([one], [...outputs, change])
    // The full mempool may drop the newest one.
    await own.send(raw).catch((error) => expect(error).toMatchObject({ code: -26 }))
  }
  expect(await rail.satPerVbyte()).toBeGreaterThan(1n)
  expect(await rail.broadcast(cheap)).toEqual({ kind: 'unknown' })
  const paying = open({ key, rate_fallback: 1000n }, own)
  const dearer = await paying.sign(order(), spendingOf([coin!]))
  expect(await rail.broadcast(dearer)).toEqual({ kind: 'accepted' })
})

test('a block that leaves the chain returns its transactions', async () => {
  const { rail, script, order, sign } = open()
  const coins = await mineCoins(node, script)
  const attempt = await sign(order(), spendingOf(coins))
  await rail.broadcast(attempt)
  const [mined] = await node.mine()
  const { block_height } = await rail.head()
  await node.invalidate(mined!)
  expect(await rail.knows(attempt.tx_hash)).toBe(true)
  await node.mineOnly()
  await node.mineOnly()
  expect(await rail.hashAt(block_height)).not.toBe(mined)
  expect(await rail.block(mined!), 'a block outside the chain can be read').toMatchObject({ block_height })
  await node.mine()
  expect(await changeState(rail, attempt)).toBe('unspent')
})
