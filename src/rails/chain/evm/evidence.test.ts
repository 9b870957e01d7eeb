import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { hex } from '../../../../test/chains/anvil.ts'
import { chainTest as test } from '../../../../test/chains/chain-test.ts'
import { type EvmStage, openEvmStage, type StageScene } from '../../../../test/chains/evm-stage.ts'
import { behind, ofAnotherChain, type ProxyMode } from '../../../../test/chains/rpc-proxy.ts'
import { networks } from '../../../core/networks.ts'
import type { Attempt, Seen } from '../rail.ts'
import { verdictOf } from './evidence.ts'

const DEPTH = networks.arbitrum.confirmations
const waiting = { kind: 'waiting' }
const absent = { kind: 'absent' }
let stage: EvmStage

beforeAll(async () => {
  stage = await openEvmStage('arbitrum')
})
afterEach(() => stage.clear())
afterAll(() => stage?.stop())

/** A payment that was broadcast and is not mined yet. */
async function broadcastPayment(scene: StageScene) {
  const order = scene.order()
  const attempt = await scene.sign(order)
  expect(await scene.chain.broadcast(order, attempt)).toEqual({ kind: 'accepted' })
  return { order, attempt, look: () => scene.look(order, [attempt]) }
}

describe('a reorganization', () => {
  for (const depth of [1, 2, 3, 4, 5, 6]) {
    test(`of ${depth} blocks that drops the payment: it is broadcast again and paid once`, async () => {
      const scene = await stage.open()
      const { order, attempt, look } = await broadcastPayment(scene)
      await stage.node.mine(depth)
      expect(await look()).toEqual(waiting)
      await stage.node.reorganize(depth)
      expect(await look()).toEqual(absent)
      expect(await scene.chain.broadcast(order, attempt)).toEqual({ kind: 'accepted' })
      await stage.node.mine(DEPTH)
      expect(await look()).toMatchObject({ kind: 'mined', effect: 'paid', tx_hash: attempt.tx_hash })
      expect(await scene.token.balanceOf(order.destination_address)).toBe(order.amount)
    })

    test(`of ${depth} blocks that moves the payment: the depth is counted anew from its new block`, async () => {
      const scene = await stage.open()
      const { attempt, look } = await broadcastPayment(scene)
      await stage.node.mine(depth)
      const before = await stage.node.call<any>('eth_getTransactionReceipt', attempt.tx_hash)
      await stage.node.reorganize(depth, [[attempt.signed, depth - 1]])
      const after = await stage.node.call<any>('eth_getTransactionReceipt', attempt.tx_hash)
      expect(after.blockHash).not.toBe(before.blockHash)
      await stage.node.mine(DEPTH - 2)
      expect(await look()).toEqual(waiting)
      await stage.node.mine()
      expect(await look()).toMatchObject({
        ...{ kind: 'mined', effect: 'paid', block_hash: after.blockHash },
        block_height: BigInt(after.blockNumber),
      })
    })
  }

  test('a receipt of a block that is no longer in the chain confirms nothing', async () => {
    const { attempt, look } = await broadcastPayment(await stage.open())
    await stage.node.mine(3)
    const receipt = await stage.node.call('eth_getTransactionReceipt', attempt.tx_hash)
    await stage.node.reorganize(3)
    await stage.node.mine(DEPTH)
    for (const endpoint of stage.endpoints)
      endpoint.become({
        answer: ({ method }) => (method === 'eth_getTransactionReceipt' ? { result: receipt } : undefined),
      })
    expect(await look()).toEqual(waiting)
  })
})

test('a block is open until the network has finalized it, and gone when another one takes its place', async () => {
  const scene = await stage.open()
  const { chain } = scene
  await stage.node.mine()
  const blockNow = async () => {
    const { number, hash } = await stage.node.call<any>('eth_getBlockByNumber', 'latest', false)
    return { block_height: BigInt(number), block_hash: hash as string }
  }
  const block = await blockNow()
  await stage.node.mine(60)
  expect(await chain.finality!(block)).toBe('open')
  await stage.node.mine(10)
  expect(await chain.finality!(block)).toBe('final')
  await broadcastPayment(scene)
  await stage.node.mine()
  const young = await blockNow()
  await stage.node.reorganize(1)
  expect(await chain.finality!(young)).toBe('gone')
  stage.endpoints[1].become({ cut: true })
  expect(await chain.finality!(young), 'one endpoint alone').toBe('open')
})

describe('what a mined transaction did', () => {
  test('reverted: nothing', async () => {
    const scene = await stage.open()
    const order = scene.order()
    const attempt = await scene.sign(order)
    await scene.token.setPaused(true)
    await scene.chain.broadcast(order, attempt)
    await stage.node.mine(DEPTH)
    const seen = await scene.look(order, [attempt])
    expect(seen).toMatchObject({ kind: 'mined', effect: 'none', tx_hash: attempt.tx_hash })
  })

  test('a token that took a fee: something else, for a person', async () => {
    const scene = await stage.open()
    const order = scene.order()
    await scene.token.setFee(1n)
    const attempt = await scene.sign(order)
    await scene.chain.broadcast(order, attempt)
    await stage.node.mine(DEPTH)
    expect(await scene.look(order, [attempt])).toMatchObject({ kind: 'mined', effect: 'other' })
    expect(await scene.token.balanceOf(order.destination_address)).toBe(order.amount - 1n)
  })

  test('a payment of another order: something else', async () => {
    const scene = await stage.open()
    const { order, attempt } = await broadcastPayment(scene)
    await stage.node.mine(DEPTH)
    for (const changes of [{ amount: order.amount + 1n }, { destination_address: `0x${'12'.repeat(20)}` }])
      expect(await scene.look({ ...order, ...changes }, [attempt])).toMatchObject({ effect: 'other' })
    expect(await scene.look(order, [attempt])).toMatchObject({ effect: 'paid' })
  })
})

test('a cancel to whose receipt the network adds a log about its fee, as polygon does, has no effect', async () => {
  const scene = await stage.open()
  const order = scene.order()
  const attempt = await scene.sign(order)
  const cancel = await scene.sign(order, [attempt], 'cancel')
  expect(await scene.chain.broadcast(order, cancel)).toEqual({ kind: 'accepted' })
  await stage.node.mine(DEPTH)
  const receipt = await stage.node.call<any>('eth_getTransactionReceipt', cancel.tx_hash)
  const { transactionHash, blockHash } = receipt
  const fee_log = {
    ...{ address: `0x${'1010'.padStart(40, '0')}`, topics: [`0x${'4d'.repeat(32)}`], data: '0x' },
    ...{ transactionHash, blockHash },
  }
  for (const endpoint of stage.endpoints)
    endpoint.become({
      answer: ({ method, params }) =>
        method === 'eth_getTransactionReceipt' && params[0] === cancel.tx_hash
          ? { result: { ...receipt, logs: [fee_log] } }
          : undefined,
    })
  expect(await scene.look(order, [attempt, cancel])).toMatchObject({ kind: 'mined', effect: 'none' })
})

test('a payment that is stored as a cancel is something else, never nothing', async () => {
  const scene = await stage.open()
  const { order, attempt } = await broadcastPayment(scene)
  await stage.node.mine(DEPTH)
  expect(await scene.look(order, [{ ...attempt, purpose: 'cancel' }])).toMatchObject({ effect: 'other' })
})

test('a transaction that all pools dropped is absent', async () => {
  const { attempt, look } = await broadcastPayment(await stage.open())
  expect(await look()).toEqual(waiting)
  await stage.node.dropTransaction(attempt.tx_hash)
  expect(await look()).toEqual(absent)
})

describe('an endpoint cannot confirm alone', () => {
  /** Rewrites the receipt of every transaction. */
  const lyingReceipt = (change: (receipt: any) => any): ProxyMode => ({
    rewrite: ({ method }, reply) =>
      method === 'eth_getTransactionReceipt' && reply.result
        ? { ...reply, result: change(structuredClone(reply.result)) }
        : reply,
  })

  test('that invents the receipt of a transaction that was never mined', async () => {
    const scene = await stage.open()
    const mined = await broadcastPayment(scene)
    await stage.node.mine(DEPTH)
    const model = await stage.node.call<any>('eth_getTransactionReceipt', mined.attempt.tx_hash)
    const order = scene.order()
    const attempt = await scene.sign(order, [], 'pay', 1n)
    const { tx_hash } = attempt
    const data = hex(order.amount).slice(2).padStart(64, '0')
    const to = `0x${order.destination_address.slice(2).padStart(64, '0')}`
    const [log] = model.logs
    const topics = [log.topics[0], log.topics[1], to]
    const invented = {
      ...{ ...model, transactionHash: tx_hash },
      logs: [{ ...log, transactionHash: tx_hash, topics, data: `0x${data}` }],
    }
    const lie: ProxyMode = {
      answer: ({ method, params }) =>
        method === 'eth_getTransactionReceipt' && params[0] === tx_hash ? { result: invented } : undefined,
    }
    for (const endpoint of stage.endpoints) {
      endpoint.become(lie)
      expect(await scene.look(order, [attempt], 1n)).toEqual(waiting)
      endpoint.become({})
    }
    for (const endpoint of stage.endpoints) endpoint.become(lie)
    expect(await scene.look(order, [attempt], 1n), 'the lie is a good one').toMatchObject({ effect: 'paid' })
  })

  const lies: Readonly<Record<string, (receipt: any) => any>> = {
    'that the transaction reverted': (receipt) => ({ ...receipt, status: '0x0', logs: [] }),
    'another amount in the log': (receipt) => {
      receipt.logs[0].data = `0x${'1'.padStart(64, '0')}`
      return receipt
    },
    'another destination in the log': (receipt) => {
      receipt.logs[0].topics[2] = `0x${'1'.padStart(64, '0')}`
      return receipt
    },
    'another block': (receipt) => {
      for (const one of [receipt, ...receipt.logs]) one.blockHash = `0x${'ab'.repeat(32)}`
      return receipt
    },
  }
  for (const [name, lie] of Object.entries(lies))
    test(`that invents ${name}`, async () => {
      const scene = await stage.open()
      const { look } = await broadcastPayment(scene)
      await stage.node.mine(DEPTH)
      for (const endpoint of stage.endpoints) {
        endpoint.become(lyingReceipt(lie))
        expect(await look()).toEqual(waiting)
        endpoint.become({})
      }
      expect(await look()).toMatchObject({ effect: 'paid' })
      if (name !== 'another block')
        expect(scene.warnings.filter((line) => line.includes('contradict each other'))).toHaveLength(2)
    })

  test('whose receipt is of another transaction or sender: it has failed, and counts as down', async () => {
    const scene = await stage.open()
    const { look } = await broadcastPayment(scene)
    await stage.node.mine(DEPTH)
    for (const field of ['transactionHash', 'from']) {
      stage.endpoints[0].become(
        lyingReceipt((receipt) => ({ ...receipt, [field]: `0x${'ab'.repeat(field === 'from' ? 20 : 32)}` })),
      )
      expect(await look()).toEqual(waiting)
      expect(scene.rpc.facts()[0]).toMatchObject({ last_failure: 'invalid' })
    }
  })

  test('while the other one is down, behind, or of another chain', async () => {
    const scene = await stage.open()
    const { look } = await broadcastPayment(scene)
    await stage.node.mine(1)
    const late = await behind(stage.node.url)
    await stage.node.mine(DEPTH - 1)
    for (const mode of [{ cut: true }, late, ofAnotherChain(1)]) {
      stage.endpoints[1].become(mode)
      expect(await look()).toEqual(waiting)
    }
  })

  test('unless it is the only one that is configured', async () => {
    const scene = await stage.open({ urls: [stage.endpoints[0].url] })
    const { look } = await broadcastPayment(scene)
    await stage.node.mine(DEPTH)
    expect(await look()).toMatchObject({ effect: 'paid' })
  })

  test('and nothing is known while no endpoint answers', async () => {
    const { look } = await broadcastPayment(await stage.open())
    for (const endpoint of stage.endpoints) endpoint.become({ cut: true })
    await expect(look()).rejects.toThrow('arbitrum: no endpoint answers')
  })
})

describe('a nonce that another program has spent', () => {
  /** A transaction of the same wallet that the service knows nothing of. */
  async function spendElsewhere({ key, wallet }: StageScene): Promise<void> {
    const raw = await privateKeyToAccount(key).signTransaction({
      ...{ type: 'eip1559', chainId: 42_161, nonce: 0, gas: 30_000n, to: wallet as `0x${string}` },
      maxFeePerGas: 10n ** 13n,
      maxPriorityFeePerGas: 10n ** 12n,
    })
    await stage.node.call('eth_sendRawTransaction', raw)
  }

  test('is taken once that transaction is final, and not before', async () => {
    const scene = await stage.open()
    const order = scene.order()
    const attempt = await scene.sign(order)
    await spendElsewhere(scene)
    await stage.node.mine(DEPTH - 1)
    expect(await scene.look(order, [attempt])).toEqual(absent)
    await stage.node.mine()
    expect(await scene.look(order, [attempt])).toEqual({ kind: 'taken' })
    expect(await scene.look(order, []), 'also if nothing was signed yet').toEqual({ kind: 'taken' })
  })

  test('is not taken while only one of two endpoints says so', async () => {
    const scene = await stage.open()
    const order = scene.order()
    const attempt = await scene.sign(order)
    await stage.node.mine(DEPTH)
    stage.endpoints[1].become({
      answer: ({ method }) => (method === 'eth_getTransactionCount' ? { result: '0x1' } : undefined),
    })
    expect(await scene.look(order, [attempt])).toEqual(waiting)
  })

  test('is not taken by one of our own transactions', async () => {
    const scene = await stage.open()
    const { order, attempt } = await broadcastPayment(scene)
    const cancel = await scene.sign(order, [attempt], 'cancel')
    await stage.node.mine(DEPTH)
    expect(await scene.look(order, [attempt, cancel])).toMatchObject({ effect: 'paid' })
  })
})

describe('the verdict over several endpoints', () => {
  const mined = (fields: Partial<Extract<Seen, { kind: 'mined' }>> = {}): Seen => ({
    ...{ kind: 'mined', tx_hash: '0x1', effect: 'paid', block_height: 1n, block_hash: '0xa' },
    ...fields,
  })
  const known: Seen = { kind: 'waiting' }
  const unknown: Seen = { kind: 'absent' }
  const taken: Seen = { kind: 'taken' }
  const verdict = (...views: Seen[]) =>
    verdictOf(
      views.map((answer, index) => ({ endpoint: index + 1, answer })),
      2,
    )

  const cases: readonly [name: string, views: readonly Seen[], seen: Seen, contradiction?: boolean][] = [
    ['two say mined', [mined(), mined()], mined()],
    ['two of three say mined, the third is behind', [mined(), known, mined()], mined()],
    ['two of three say mined, the third knows nothing', [mined(), unknown, mined()], mined()],
    ['one says mined', [mined()], known],
    ['one says mined, one waits', [mined(), known], known],
    ['one says mined, one knows nothing', [mined(), unknown], known],
    ['different blocks', [mined(), mined({ block_hash: '0xb' })], known, true],
    ['different effects', [mined(), mined({ effect: 'none' })], known, true],
    ['two against one', [mined(), mined(), mined({ effect: 'none' })], known, true],
    ['mined and taken', [mined(), taken], known, true],
    ['two say taken', [taken, taken], taken],
    ['two say taken, the third has our transaction', [taken, taken, known], known],
    ['one says taken', [taken, unknown], known],
    ['one waits', [unknown, known], known],
    ['nobody knows it', [unknown, unknown], unknown],
  ]
  for (const [name, views, seen, contradiction = false] of cases)
    test(name, () => expect(verdict(...views)).toEqual({ seen, contradiction }))
})

test('two attempts that both seem mined wait until the node has decided', async () => {
  const scene = await stage.open()
  const { order, attempt } = await broadcastPayment(scene)
  const cancel: Attempt = await scene.sign(order, [attempt], 'cancel')
  await stage.node.mine(DEPTH)
  const receipt = await stage.node.call<any>('eth_getTransactionReceipt', attempt.tx_hash)
  for (const endpoint of stage.endpoints)
    endpoint.become({
      answer: ({ method, params }) =>
        method === 'eth_getTransactionReceipt' && params[0] === cancel.tx_hash
          ? { result: { ...receipt, transactionHash: cancel.tx_hash, logs: [] } }
          : undefined,
    })
  expect(await scene.look(order, [attempt, cancel])).toEqual(waiting)
})
