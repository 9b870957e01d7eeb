import { createHash } from 'node:crypto'
import { parseTransaction, recoverTransactionAddress } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { hex } from '../../../test/chains/anvil.ts'
import { chainTest as test } from '../../../test/chains/chain-test.ts'
import { type EvmStage, openEvmStage } from '../../../test/chains/evm-stage.ts'
import { behind, ofAnotherChain, type ProxyMode, type RpcRequest } from '../../../test/chains/rpc-proxy.ts'
import { tokenArtefact, tokenSource } from '../../../test/chains/token.ts'
import { networks } from '../../core/networks.ts'
import { localSigner } from '../signer/local.ts'
import { SignatureRefused, type Signer } from '../signer/signer.ts'
import type { ChainCheckFailed } from './check.ts'
import { GAS_PRICE_ORACLE } from './evm/l1-fee.ts'
import { signTransaction } from './evm/transaction.ts'

const GWEI = 10n ** 9n
let stage: EvmStage

beforeAll(async () => {
  stage = await openEvmStage('polygon')
})
afterEach(() => stage.clear())
afterAll(() => stage?.stop())

/** As if the market had moved: the next transactions must offer more. */
const raiseBaseFee = async (gwei: bigint) => {
  await stage.node.call('anvil_setNextBlockBaseFeePerGas', hex(gwei * GWEI))
  await stage.node.mine()
}

describe('a transfer is paid', () => {
  for (const network of ['ethereum', 'polygon', 'arbitrum', 'optimism'] as const)
    test(`on ${network}: screened, signed, broadcast, mined, and final at its depth`, async () => {
      const own = network === 'polygon' ? stage : await openEvmStage(network)
      try {
        const { chain, token, wallet, order: newOrder, sign, look } = await own.open()
        const order = newOrder()
        await chain.check()
        expect(await chain.wallet()).toMatchObject({ wallet, mined: 0n, pool: 0n })
        expect(await chain.screen(order)).toEqual({ kind: 'payable' })
        const attempt = await sign(order)
        expect(await look(order, [attempt])).toEqual({ kind: 'absent' })
        expect(await chain.broadcast(order, attempt)).toEqual({ kind: 'accepted' })
        expect(await look(order, [attempt])).toEqual({ kind: 'waiting' })
        await own.node.mine()
        expect(await look(order, [attempt])).toEqual({ kind: 'waiting' })
        await own.node.mine(networks[network].confirmations - 2)
        expect(await look(order, [attempt])).toEqual({ kind: 'waiting' })
        await own.node.mine()
        const receipt = await own.node.call<any>('eth_getTransactionReceipt', attempt.tx_hash)
        expect(await look(order, [attempt])).toEqual({
          ...{ kind: 'mined', effect: 'paid', tx_hash: attempt.tx_hash },
          block_height: BigInt(receipt.blockNumber),
          block_hash: receipt.blockHash,
          // Anvil tells no fee for data on ethereum, so the cost on optimism is not known.
          ...(network === 'optimism'
            ? {}
            : { gas_paid_wei: BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice) }),
        })
        expect(await token.balanceOf(order.destination_address)).toBe(order.amount)
        expect(await chain.wallet()).toMatchObject({ wallet, mined: 1n, pool: 1n })
      } finally {
        if (own !== stage) await own.stop()
      }
    })
})

describe('the gas of a mined transaction', () => {
  /** Pays on its own chain, with receipts that both endpoints change alike, or only the second one. */
  const seenWith = async (
    network: 'polygon' | 'optimism',
    change: Record<string, unknown>,
    only_second: boolean = false,
  ) => {
    const own = network === 'polygon' ? stage : await openEvmStage(network)
    try {
      const { chain, order: newOrder, sign, look } = await own.open()
      const order = newOrder()
      const attempt = await sign(order)
      await chain.broadcast(order, attempt)
      await own.node.mine(networks[network].confirmations)
      const receipt = await own.node.call<any>('eth_getTransactionReceipt', attempt.tx_hash)
      for (const endpoint of only_second ? [own.endpoints[1]] : own.endpoints)
        endpoint.become({
          rewrite: ({ method }, reply) =>
            method === 'eth_getTransactionReceipt'
              ? { ...reply, result: { ...reply.result, ...change } }
              : reply,
        })
      const seen = await look(order, [attempt])
      expect(seen).toMatchObject({ kind: 'mined', effect: 'paid' })
      const gas = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
      return { gas, told: seen.kind === 'mined' ? seen.gas_paid_wei : undefined }
    } finally {
      if (own !== stage) await own.stop()
    }
  }

  test('has the fee for data on ethereum in it on optimism', async () => {
    const { gas, told } = await seenWith('optimism', { l1Fee: '0x12345' })
    expect(told).toBe(gas + 0x12345n)
    const zero = { l1Fee: '0x1', operatorFeeScalar: '0x0', operatorFeeConstant: '0x0' }
    const second = await seenWith('optimism', zero)
    expect(second.told).toBe(second.gas + 1n)
  })

  test.for<[string, Record<string, unknown>]>([
    ['no gas', { gasUsed: undefined }],
    ['no price', { effectiveGasPrice: null }],
    ['a price in another form', { effectiveGasPrice: 12 }],
    ['more gas than was signed', { gasUsed: '0xffffffff' }],
    ['a higher price than was signed', { effectiveGasPrice: '0xffffffffffffffff' }],
  ])('is not known with %s in the receipt, and the payment counts', async ([, change]) => {
    expect((await seenWith('polygon', change)).told).toBeUndefined()
  })

  test('is not known while endpoints tell different gas, or optimism has a fee of another kind', async () => {
    expect((await seenWith('polygon', { gasUsed: '0x1' }, true)).told).toBeUndefined()
    expect((await seenWith('optimism', { l1Fee: '0x1', operatorFeeScalar: '0x5' })).told).toBeUndefined()
  })
})

describe('a signed transaction', () => {
  test('is read by viem as what was asked, from the wallet', async () => {
    const { token, wallet, order: newOrder, sign } = await stage.open()
    const order = newOrder()
    const { signed, terms } = await sign(order, [], 'pay', 41n)
    const serialized = signed as `0x02${string}`
    expect(parseTransaction(serialized)).toMatchObject({
      ...{ type: 'eip1559', chainId: 137, nonce: 41, to: token.contract },
      data: `0xa9059cbb${order.destination_address.slice(2).padStart(64, '0')}${order.amount.toString(16).padStart(64, '0')}`,
      gas: BigInt(terms.gas_limit!),
      maxFeePerGas: BigInt(terms.max_fee_per_gas!),
      maxPriorityFeePerGas: BigInt(terms.max_priority_fee_per_gas!),
    })
    const sender = await recoverTransactionAddress({ serializedTransaction: serialized })
    expect(sender.toLowerCase()).toBe(wallet.toLowerCase())
  })

  test('offers twice the base fee and the priority that the node suggests', async () => {
    const { order, sign } = await stage.open()
    await raiseBaseFee(50n)
    const block = await stage.node.call<any>('eth_getBlockByNumber', 'latest', false)
    const priority = BigInt(await stage.node.call<string>('eth_maxPriorityFeePerGas'))
    const { terms } = await sign(order())
    expect(terms.max_fee_per_gas).toBe((2n * BigInt(block.baseFeePerGas) + priority).toString())
    expect(terms.max_priority_fee_per_gas).toBe(priority.toString())
  })

  test('takes 100,000 gas if the node cannot estimate, and waits if the estimate reverts', async () => {
    const { chain, token, wallet, order: newOrder, sign } = await stage.open()
    const order = newOrder()
    for (const endpoint of stage.endpoints)
      endpoint.become({
        answer: ({ method }) =>
          method === 'eth_estimateGas' ? { error: { code: -32601, message: 'not offered' } } : undefined,
      })
    expect((await sign(order)).terms.gas_limit).toBe('100000')
    for (const endpoint of stage.endpoints) endpoint.become({})
    await token.setPaused(true)
    expect(await chain.attempt(order, { wallet, nonce: 0n }, [], 'pay')).toMatchObject({ kind: 'later' })
  })

  test('is none while it could cost more than the cap', async () => {
    const clock = { now: () => Date.UTC(2030, 0) }
    const { chain, wallet, order } = await stage.open({ cost_most_wei: 1000n, clock })
    expect(await chain.attempt(order(), { wallet, nonce: 0n }, [], 'pay')).toEqual({
      kind: 'later',
      at: new Date(clock.now() + networks.polygon.poll_most_ms),
      why: 'fee_above_cap',
    })
  })

  test('counts the fee for data on ethereum towards the cap on optimism', async () => {
    const own = await openEvmStage('optimism')
    try {
      // Answers every call with 10^15 wei.
      const oracle = `0x67${(10n ** 15n).toString(16).padStart(16, '0')}60005260206000f3`
      await own.node.call('anvil_setCode', GAS_PRICE_ORACLE, oracle)
      const { chain, wallet, order } = await own.open({ cost_most_wei: 10n ** 15n })
      const attempt = () => chain.attempt(order(), { wallet, nonce: 0n }, [], 'pay')
      expect(await attempt()).toMatchObject({ kind: 'later', why: 'fee_above_cap' })
      await own.node.call('anvil_setCode', GAS_PRICE_ORACLE, '0x')
      expect(await attempt(), 'a chain without the oracle').toMatchObject({ kind: 'signed' })
    } finally {
      await own.stop()
    }
  })

  test('is none while no endpoint answers', async () => {
    const { chain, wallet, order } = await stage.open()
    for (const endpoint of stage.endpoints) endpoint.become({ cut: true })
    expect(await chain.attempt(order(), { wallet, nonce: 0n }, [], 'pay')).toMatchObject({ kind: 'later' })
    expect(await chain.screen(order())).toMatchObject({ kind: 'later' })
  })

  test('is none while the signer has reached its limit, and an error if the signer refuses for another reason', async () => {
    const { chain, wallet, order, sign } = await stage.open({ signatures_per_hour: 1 })
    await sign(order())
    expect(await chain.attempt(order(), { wallet, nonce: 1n }, [], 'pay')).toMatchObject({ kind: 'later' })
    const other = await stage.open()
    for (const seal of ['no seal', null]) {
      const attempt = other.chain.attempt(order({ seal }), { wallet: other.wallet, nonce: 0n }, [], 'pay')
      await expect(attempt).rejects.toBeInstanceOf(SignatureRefused)
    }
  })

  test('is not accepted from a signer that signs something else, or with another key', async () => {
    const honest = await stage.open()
    const order = honest.order()
    const other = await honest.sign(honest.order())
    const stranger = createHash('sha256').update('a stranger').digest()
    const answers: readonly ((unsigned: string) => string)[] = [
      () => other.signed,
      (unsigned) => signTransaction(unsigned, new Uint8Array(stranger)),
      (unsigned) => unsigned,
      () => `${other.signed}00`,
      () => other.signed.toUpperCase(),
      () => '0x02',
    ]
    for (const answer of answers) {
      const signer: Signer = {
        addresses: async () => ({ polygon: honest.wallet }),
        keepRoom: async () => undefined,
        sign: async ({ unsigned }) => ({ signed: answer(unsigned) }),
      }
      const { chain } = await stage.open({ signer, contract: honest.token.contract })
      const attempt = chain.attempt(order, { wallet: honest.wallet, nonce: 0n }, [], 'pay')
      await expect(attempt).rejects.toThrow('is not the transaction that it was asked to sign')
    }
  })

  test('is refused for a reservation of another wallet', async () => {
    const { chain, order } = await stage.open()
    const wallet = `0x${'12'.repeat(20)}`
    await expect(chain.attempt(order(), { wallet, nonce: 0n }, [], 'pay')).rejects.toThrow('another wallet')
  })
})

describe('a stuck transaction', () => {
  test('is replaced when today’s fees are higher, by at least an eighth on both fields; the replacement is mined', async () => {
    const { chain, wallet, order: newOrder, sign, look } = await stage.open()
    const order = newOrder()
    const first = await sign(order)
    expect(await chain.broadcast(order, first)).toEqual({ kind: 'accepted' })
    // anvil drops transactions below the base fee, so only what the endpoints tell of the fee is raised.
    for (const endpoint of stage.endpoints)
      endpoint.become({
        rewrite: ({ method }, reply) =>
          method === 'eth_getBlockByNumber' && reply.result
            ? { ...reply, result: { ...reply.result, baseFeePerGas: hex(900n * GWEI) } }
            : reply,
      })
    expect(await look(order, [first])).toEqual({ kind: 'waiting' })
    const second = await sign(order, [first])
    for (const field of ['max_fee_per_gas', 'max_priority_fee_per_gas'])
      expect(BigInt(second.terms[field]!) * 8n).toBeGreaterThanOrEqual(BigInt(first.terms[field]!) * 9n)
    expect(parseTransaction(second.signed as `0x02${string}`).nonce).toBe(
      parseTransaction(first.signed as `0x02${string}`).nonce,
    )
    expect(await chain.broadcast(order, second)).toEqual({ kind: 'accepted' })
    await stage.node.mine(32)
    expect(await look(order, [first, second])).toMatchObject({
      ...{ kind: 'mined', effect: 'paid', tx_hash: second.tx_hash },
    })
    for (const endpoint of stage.endpoints) endpoint.become({})
    const third = await chain.attempt(order, { wallet, nonce: 0n }, [first, second], 'pay')
    expect(third, 'fees have fallen since').toMatchObject({ kind: 'later' })
  })

  test('that the pools dropped because of its fee is replaced too', async () => {
    const { chain, order: newOrder, sign, look } = await stage.open()
    const order = newOrder()
    const first = await sign(order)
    await chain.broadcast(order, first)
    await raiseBaseFee(900n)
    expect(await look(order, [first])).toEqual({ kind: 'absent' })
    const second = await sign(order, [first])
    expect(await chain.broadcast(order, first), 'below the base fee').toEqual({ kind: 'unknown' })
    expect(await chain.broadcast(order, second)).toEqual({ kind: 'accepted' })
    await stage.node.mine(32)
    expect(await look(order, [first, second])).toMatchObject({ effect: 'paid', tx_hash: second.tx_hash })
  })

  test('may be mined although it was replaced', async () => {
    const { chain, token, order: newOrder, sign, look } = await stage.open()
    const order = newOrder()
    const first = await sign(order)
    await raiseBaseFee(30n)
    const second = await sign(order, [first])
    await raiseBaseFee(1n)
    await chain.broadcast(order, first)
    await stage.node.mine(32)
    expect(await look(order, [first, second])).toMatchObject({ effect: 'paid', tx_hash: first.tx_hash })
    expect(await token.balanceOf(order.destination_address)).toBe(order.amount)
  })

  test('is not replaced while it offers as much as today’s fees', async () => {
    const { chain, wallet, order: newOrder, sign } = await stage.open()
    const order = newOrder()
    const made = [await sign(order)]
    expect(await chain.attempt(order, { wallet, nonce: 0n }, made, 'pay')).toMatchObject({ kind: 'later' })
  })
})

describe('a cancel', () => {
  test('takes the place of the payment', async () => {
    const { chain, token, order: newOrder, sign, look } = await stage.open()
    const order = newOrder()
    const payment = await sign(order)
    await chain.broadcast(order, payment)
    const cancel = await sign(order, [payment], 'cancel')
    expect(cancel.terms.gas_limit).toBe('25200')
    expect(await chain.broadcast(order, cancel)).toEqual({ kind: 'accepted' })
    await stage.node.mine(32)
    expect(await look(order, [payment, cancel])).toMatchObject({
      ...{ kind: 'mined', effect: 'none', tx_hash: cancel.tx_hash },
    })
    expect(await token.balanceOf(order.destination_address)).toBe(0n)
  })

  test('comes too late if the payment is mined first', async () => {
    const { chain, token, order: newOrder, sign, look } = await stage.open()
    const order = newOrder()
    const payment = await sign(order)
    const cancel = await sign(order, [payment], 'cancel')
    await chain.broadcast(order, payment)
    await stage.node.mine()
    expect(await chain.broadcast(order, cancel)).toEqual({ kind: 'unknown' })
    await stage.node.mine(32)
    expect(await look(order, [payment, cancel])).toMatchObject({ effect: 'paid', tx_hash: payment.tx_hash })
    expect(await token.balanceOf(order.destination_address)).toBe(order.amount)
  })

  test('is the first transaction where nothing was signed yet', async () => {
    const { chain, order: newOrder, sign, look } = await stage.open()
    const order = newOrder()
    const cancel = await sign(order, [], 'cancel')
    await chain.broadcast(order, cancel)
    await stage.node.mine(32)
    expect(await look(order, [cancel])).toMatchObject({ effect: 'none', tx_hash: cancel.tx_hash })
  })
})

describe('a broadcast', () => {
  const isSend = ({ method }: RpcRequest) => method === 'eth_sendRawTransaction'

  test('goes to every endpoint, and is accepted if one of them knows the transaction then', async () => {
    const { chain, order: newOrder, sign } = await stage.open()
    const order = newOrder()
    const attempt = await sign(order)
    for (const endpoint of stage.endpoints) endpoint.taken()
    expect(await chain.broadcast(order, attempt)).toEqual({ kind: 'accepted' })
    for (const endpoint of stage.endpoints) expect(endpoint.taken().calls.filter(isSend)).toHaveLength(1)
    stage.endpoints[0].become({ cut: true })
    expect(await chain.broadcast(order, attempt), 'sent again: "already imported"').toEqual({
      kind: 'accepted',
    })
    await stage.node.mine()
    expect(await chain.broadcast(order, attempt), 'mined: "nonce too low"').toEqual({ kind: 'accepted' })
  })

  test('is unknown if no endpoint answers, or the answers are lost; a look finds the transaction', async () => {
    const { chain, order: newOrder, sign, look } = await stage.open()
    const order = newOrder()
    const attempt = await sign(order)
    for (const endpoint of stage.endpoints) endpoint.become({ cut: true })
    expect(await chain.broadcast(order, attempt)).toEqual({ kind: 'unknown' })
    for (const endpoint of stage.endpoints) endpoint.become({})
    expect(await look(order, [attempt])).toEqual({ kind: 'absent' })
    for (const endpoint of stage.endpoints) endpoint.become({ lose_answers: true })
    expect(await chain.broadcast(order, attempt)).toEqual({ kind: 'unknown' })
    for (const endpoint of stage.endpoints) endpoint.become({})
    expect(await look(order, [attempt])).toEqual({ kind: 'waiting' })
  })

  test('is unknown if an endpoint takes the bytes and does not know them', async () => {
    const { chain, order: newOrder, sign } = await stage.open()
    const order = newOrder()
    const attempt = await sign(order)
    for (const endpoint of stage.endpoints)
      endpoint.become({ answer: (request) => (isSend(request) ? { result: attempt.tx_hash } : undefined) })
    expect(await chain.broadcast(order, attempt)).toEqual({ kind: 'unknown' })
  })

  test('sends nothing once its caller has given up', async () => {
    const { chain, order: newOrder, sign } = await stage.open()
    const order = newOrder()
    const attempt = await sign(order)
    for (const endpoint of stage.endpoints) endpoint.taken()
    await expect(chain.broadcast(order, attempt, AbortSignal.abort(new Error('over')))).rejects.toThrow(
      'over',
    )
    for (const endpoint of stage.endpoints) expect(endpoint.taken().calls.filter(isSend)).toEqual([])
  })
})

describe('the wallet', () => {
  test('counts what is final, mined and in a pool; of endpoints that differ, the careful figures count', async () => {
    const { chain, wallet, order: newOrder, sign } = await stage.open()
    const order = newOrder()
    await chain.broadcast(order, await sign(order))
    expect(await chain.wallet()).toMatchObject({ wallet, mined: 0n, pool: 1n })
    await stage.node.mine()
    const { final, final_height, ...known } = await chain.wallet()
    expect({ final, ...known }).toEqual({ wallet, final: 0n, mined: 1n, pool: 1n, claimed: 1n })
    const { confirmations } = networks[stage.network]
    await stage.node.mine(confirmations - 2)
    expect(await chain.wallet(), 'one block is missing').toMatchObject({ final: 0n })
    await stage.node.mine()
    const then = final_height + BigInt(confirmations - 1)
    expect(await chain.wallet()).toMatchObject({ final: 1n, final_height: then })
    expect((await chain.holdings()).block_height, 'where holdings are read').toBe(then)
    stage.endpoints[1].become({
      rewrite: ({ method }, reply) =>
        method === 'eth_getTransactionCount' ? { ...reply, result: '0x5' } : reply,
    })
    expect(await chain.wallet(), 'one of two endpoints alone').toMatchObject({
      wallet,
      mined: 1n,
      pool: 1n,
      claimed: 5n,
    })
    stage.endpoints[0].become({
      rewrite: ({ method, params }, reply) =>
        method === 'eth_getTransactionCount' && params[1] === 'pending' ? { ...reply, result: '0x4' } : reply,
    })
    expect(await chain.wallet(), 'the highest that both know').toMatchObject({
      wallet,
      mined: 1n,
      pool: 4n,
      claimed: 5n,
    })
    stage.endpoints[0].become({})
    stage.endpoints[1].become({ cut: true })
    expect(await chain.wallet(), 'one endpoint is down').toMatchObject({ wallet, mined: 1n, pool: 1n })
    stage.endpoints[0].become({ cut: true })
    await expect(chain.wallet()).rejects.toMatchObject({ code: 'rail_unavailable' })
  })

  test('is said to have a nonce by the only endpoint that answers: that counts if the endpoint says so twice', async () => {
    const { chain, wallet } = await stage.open({ urls: [stage.endpoints[0].url] })
    let told = 0
    const sayFive = (times: number) => {
      told = 0
      stage.endpoints[0].become({
        rewrite: ({ method, params }, reply) =>
          method === 'eth_getTransactionCount' && params[1] === 'pending' && ++told <= times
            ? { ...reply, result: '0x5' }
            : reply,
      })
    }
    sayFive(1)
    expect(await chain.wallet(), 'a single reading').toMatchObject({ wallet, mined: 0n, pool: 0n })
    sayFive(2)
    expect(await chain.wallet(), 'two readings in a row').toMatchObject({ wallet, mined: 0n, pool: 5n })
  })

  test('holds tokens and gas coin at the newest block that no reorganisation removes', async () => {
    const { chain, wallet, token } = await stage.open({ tokens: 123_456_789n, gas_coin: 777n })
    const { confirmations } = networks.polygon
    await stage.node.mine(confirmations)
    const final = async () => {
      const head = BigInt(await stage.node.call<string>('eth_blockNumber'))
      const height = head + 1n - BigInt(confirmations)
      const block = await stage.node.call<any>('eth_getBlockByNumber', hex(height), false)
      return { block_height: height, block_hash: block.hash }
    }
    expect(await chain.holdings()).toEqual({
      ...{ wallet, asset: 123_456_789n, at_addresses: 0n, held_at: [], native: 777n },
      ...(await final()),
    })
    await token.mint(wallet, 1n)
    await stage.node.mine(confirmations - 2)
    expect(await chain.holdings(), 'one block short').toMatchObject({ asset: 123_456_789n })
    await stage.node.mine()
    expect(await chain.holdings()).toMatchObject({ asset: 123_456_790n, ...(await final()) })
    stage.endpoints[1].become({ cut: true })
    expect(await chain.holdings(), 'one endpoint is down').toMatchObject({ asset: 123_456_790n })
    for (const endpoint of stage.endpoints) endpoint.become({ cut: true })
    await expect(chain.holdings()).rejects.toMatchObject({ code: 'rail_unavailable' })
  })

  test('holds nothing that is told while two endpoints differ: in tokens, in gas coin, or in the block', async () => {
    const { chain, warnings } = await stage.open({ tokens: 123_456_789n, gas_coin: 777n })
    await stage.node.mine(networks.polygon.confirmations)
    const lies: ProxyMode[] = [
      {
        rewrite: ({ method, params }, reply) =>
          method === 'eth_call' && params[0].data.startsWith('0x70a08231')
            ? { ...reply, result: `0x${(10n ** 12n).toString(16).padStart(64, '0')}` }
            : reply,
      },
      {
        rewrite: ({ method }, reply) => (method === 'eth_getBalance' ? { ...reply, result: '0x30a' } : reply),
      },
      {
        rewrite: ({ method, params }, reply) =>
          method === 'eth_getBlockByNumber' && params[0] !== 'latest'
            ? { ...reply, result: { ...reply.result, hash: `0x${'ab'.repeat(32)}` } }
            : reply,
      },
    ]
    for (const lie of lies) {
      stage.endpoints[1].become(lie)
      await expect(chain.holdings()).rejects.toMatchObject({
        code: 'rail_unavailable',
        details: { why: 'endpoints_disagree' },
      })
    }
    expect(warnings).toHaveLength(3)
    stage.endpoints[1].become(await behind(stage.node.url))
    await stage.node.mine(3)
    expect(await chain.holdings(), 'at a block that both have').toMatchObject({ asset: 123_456_789n })
  })
})

describe('the check says what is wrong', () => {
  const problemOf = async (changes: Parameters<EvmStage['open']>[0] = {}) => {
    const { chain } = await stage.open(changes)
    const error = await chain.check().catch((error: unknown) => error as ChainCheckFailed)
    if (!error) return 'nothing'
    expect(error.message).toMatch(/^polygon: /)
    expect(error.message).not.toContain('secret-path')
    expect(error.message).not.toContain('127.0.0.1')
    return error.part
  }
  const second = () => stage.endpoints[1]

  test('nothing, also while one of two endpoints is down', async () => {
    expect(await problemOf()).toBe('nothing')
    second().become({ cut: true })
    expect(await problemOf()).toBe('nothing')
  })

  test('an endpoint of another chain, also beside a right one', async () => {
    second().become(ofAnotherChain(1))
    expect(await problemOf()).toBe('chain')
  })

  test('no endpoint', async () => {
    for (const endpoint of stage.endpoints) endpoint.become({ cut: true })
    expect(await problemOf()).toBe('endpoint')
  })

  test('a node that is synchronizing', async () => {
    second().become({
      answer: ({ method }) => (method === 'eth_syncing' ? { result: { currentBlock: '0x1' } } : undefined),
    })
    expect(await problemOf()).toBe('sync')
  })

  test('no contract', async () => {
    expect(await problemOf({ contract: `0x${'ab'.repeat(20)}` })).toBe('contract')
  })

  test('a token with other decimals', async () => {
    second().become({
      rewrite: ({ method, params }, reply) =>
        method === 'eth_call' && params[0].data === '0x313ce567'
          ? { ...reply, result: `0x${'12'.padStart(64, '0')}` }
          : reply,
    })
    expect(await problemOf()).toBe('decimals')
  })

  test('a signer without a key for the network', async () => {
    const signer = localSigner({ key: '1'.repeat(64), sealKey: async () => Buffer.alloc(32), networks: {} })
    expect(await problemOf({ signer })).toBe('wallet')
  })

  test('another wallet than the signer’s', async () => {
    expect(await problemOf({ wallet: `0x${'ab'.repeat(20)}` })).toBe('wallet')
  })
})

describe('inputs of the fee', () => {
  test('are the base fee and the priority of now; the flat fee of polygon needs no price', async () => {
    const { chain } = await stage.open()
    await raiseBaseFee(70n)
    const block = await stage.node.call<any>('eth_getBlockByNumber', 'latest', false)
    const priority = BigInt(await stage.node.call<string>('eth_maxPriorityFeePerGas'))
    const gas_price_wei = BigInt(block.baseFeePerGas) + priority
    expect(await chain.feeInputs()).toEqual({ gas_price_wei, eth_price: 0n, sat_per_vbyte: 0n })
    for (const endpoint of stage.endpoints) endpoint.become({ cut: true })
    await expect(chain.feeInputs()).rejects.toMatchObject({ code: 'rail_unavailable' })
  })

  test('of ethereum need the price of ether', async () => {
    const own = await openEvmStage('ethereum')
    try {
      const { chain } = await own.open({ ethPrice: async () => 3_000_000_000n })
      expect(await chain.feeInputs()).toMatchObject({ eth_price: 3_000_000_000n })
      const unknown = { code: 'rail_unavailable' }
      await expect((await own.open()).chain.feeInputs()).rejects.toMatchObject(unknown)
      const late = await own.open({ ethPrice: async () => undefined })
      await expect(late.chain.feeInputs()).rejects.toMatchObject(unknown)
    } finally {
      await own.stop()
    }
  })
})

test('the artefact of the test token was compiled from its source', () => {
  expect(tokenArtefact.source_sha256).toBe(createHash('sha256').update(tokenSource()).digest('hex'))
})
