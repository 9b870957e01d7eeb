import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect } from 'vitest'
import { UNITS_MAX } from '../../src/core/money.ts'
import { isPaused } from '../../src/money/custody/controls.ts'
import { bloat } from './bloat.ts'
import { chainTest as test } from './chain-test.ts'
import { DEEP, type DepositStage, openDepositStage, TOKEN_OWNER } from './deposit-stage.ts'
import { behind, type ProxyMode } from './rpc-proxy.ts'

let stage: DepositStage
beforeEach(async () => {
  stage = await openDepositStage()
})
afterEach(async () => {
  expect(await stage.bench.findings()).toEqual([])
  await stage.stop()
})

const USDT = 1_000_000n

describe('a payment to a deposit address', () => {
  test('is pending when it is found, and credited once when it is deep enough', async () => {
    const { customer_id, address } = await stage.customer()
    const tx_hash = await stage.pay(address, 25n * USDT)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([
      { customer_id, tx_hash, output_index: 0, amount: 25n * USDT, status: 'pending', depth: 1 },
    ])
    await stage.node.mine(DEEP - 2)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'pending', depth: DEEP - 1 }])
    expect(await stage.balance(customer_id)).toBe(0n)
    await stage.node.mine(1)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'completed', depth: DEEP }])
    expect(await stage.balance(customer_id)).toBe(25n * USDT)
    await stage.node.mine(100)
    await stage.find()
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(25n * USDT)
    // Final: nobody asks any more.
    expect(await stage.deposits()).toMatchObject([{ status: 'completed', next_attempt_at: null }])
    expect(await stage.exceptions()).toEqual([])
  })

  test('is credited at once if it is deep already', async () => {
    const { customer_id, address } = await stage.customer()
    await stage.pay(address, 3n * USDT)
    await stage.node.mine(DEEP)
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(3n * USDT)
  })

  test('is credited although the first run comes an hour after the address was handed out', async () => {
    const { customer_id, address } = await stage.customer()
    await stage.pay(address, 3n * USDT)
    await stage.node.mine(2 * DEEP + 200)
    const shift = (by: string) =>
      stage.bench.admin(
        'ALTER TABLE deposit_addresses DISABLE TRIGGER deposit_addresses_stay',
        `UPDATE deposit_addresses SET created_at = created_at ${by} interval '1 hour'`,
        'ALTER TABLE deposit_addresses ENABLE TRIGGER deposit_addresses_stay',
      )
    // As if no node with workers had run before.
    await stage.bench.admin('DELETE FROM deposit_scans')
    await shift('-')
    await stage.find()
    await shift('+')
    expect(await stage.balance(customer_id)).toBe(3n * USDT)
  })

  test('is credited once by two nodes, and after a crash before the position was stored', async () => {
    const { customer_id, address } = await stage.customer()
    const before = await stage.bench.admin('SELECT * FROM deposit_scans')
    await stage.pay(address, 3n * USDT)
    await stage.node.mine(DEEP)
    const other = stage.openFinder({ world: stage.bench.openNode() })
    await Promise.all([stage.find(), stage.find(other)])
    const { height, hash } = before[0] as { height: bigint; hash: string }
    await stage.bench.admin(
      `UPDATE deposit_scans SET height = ${height}, hash = '${hash}', final_height = ${height}, final_hash = '${hash}'`,
    )
    await Promise.all([stage.find(), stage.find(other)])
    expect(await stage.deposits()).toMatchObject([{ status: 'completed', sequence: 2 }])
    expect(await stage.balance(customer_id)).toBe(3n * USDT)
  })

  test('by one transaction in several log entries is a deposit for each of them', async () => {
    const paid = await stage.customer()
    const owner = await stage.customer()
    expect(owner.address).toBe(TOKEN_OWNER)
    // The token pays its fee to its owner: one call, two log entries.
    await stage.token.setFee(2n * USDT)
    const tx_hash = await stage.pay(paid.address, 5n * USDT)
    await stage.node.mine(DEEP)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([
      { tx_hash, output_index: 0, amount: 3n * USDT, customer_id: paid.customer_id },
      { tx_hash, output_index: 1, amount: 2n * USDT, customer_id: owner.customer_id },
    ])
    expect(await stage.balance(paid.customer_id)).toBe(3n * USDT)
    expect(await stage.balance(owner.customer_id)).toBe(2n * USDT)
  })

  test('of nothing, to nobody, or that failed, is none', async () => {
    const { address } = await stage.customer()
    await stage.pay(address, 0n)
    await stage.pay('0x00000000000000000000000000000000000000aa', USDT)
    await stage.token.setPaused(true)
    await stage.pay(address, USDT)
    await stage.node.mine(DEEP)
    await stage.find()
    expect(await stage.deposits()).toEqual([])
  })

  test('below the minimum stays pending, and nobody asks about it any more', async () => {
    const { customer_id, address } = await stage.customer()
    await stage.pay(address, 1n)
    await stage.node.mine(DEEP)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([
      { status: 'pending', below_minimum: true, next_attempt_at: null },
    ])
    expect(await stage.balance(customer_id)).toBe(0n)
  })

  test('above the largest amount is an exception, and what comes after it is found', async () => {
    const { customer_id, address } = await stage.customer()
    await stage.token.mint(address, UNITS_MAX + 1n)
    await stage.pay(address, USDT)
    await stage.node.mine(DEEP)
    await stage.find()
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(USDT)
    expect(await stage.exceptions()).toMatchObject([
      { kind: 'deposit_unclear', details: { amount: (UNITS_MAX + 1n).toString() } },
    ])
  })
})

describe('a reorganisation', () => {
  /** A payment in block `H`, with some blocks on top. */
  async function paid(blocks: number) {
    const { customer_id, address } = await stage.customer()
    const raw = await stage.payer.sign(address, 4n * USDT)
    const tx_hash = await stage.payer.send(raw)
    await stage.node.mine(1 + blocks)
    await stage.find()
    return { customer_id, address, raw, tx_hash }
  }

  test('before the credit drops a deposit for good', async () => {
    const { customer_id } = await paid(3)
    expect(await stage.deposits()).toMatchObject([{ status: 'pending', depth: 4 }])
    await stage.node.reorganize(6)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'dropped', block_hash: null }])
    await stage.node.mine(2 * DEEP)
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(0n)
    expect(await stage.deposits()).toMatchObject([{ status: 'dropped' }])
    expect(await isPaused(stage.world, stage.network)).toBe(false)
  })

  test('that puts the payment into another block, behind another one, leaves it the same deposit', async () => {
    const other = stage.openPayer()
    await stage.fund(other)
    await stage.node.mine(DEEP)
    const { customer_id, address, raw, tx_hash } = await paid(3)
    const [before] = await stage.deposits()
    // The second payer offers more, so its log entry stands before ours.
    const first = await other.sign(address, 9n * USDT, 50n * 10n ** 9n)
    await stage.node.reorganize(6, [
      [first, 3],
      [raw, 3],
    ])
    const receipt = await stage.node.call<{ logs: { logIndex: string }[] }>(
      'eth_getTransactionReceipt',
      tx_hash,
    )
    expect(receipt.logs).toMatchObject([{ logIndex: '0x1' }])
    await stage.find()
    await stage.node.mine(2 * DEEP)
    await stage.find()
    const after = await stage.deposits()
    expect(after).toHaveLength(2)
    const same = after.find(({ id }) => id === before!.id)!
    expect(same).toMatchObject({ tx_hash, output_index: 0, status: 'completed' })
    expect(same.block_hash).not.toBe(before!.block_hash)
    expect(await stage.balance(customer_id)).toBe(13n * USDT)
  })

  test('that brings a dropped payment back makes it pending again, and credits it once', async () => {
    const { customer_id, raw } = await paid(3)
    await stage.node.reorganize(6)
    await stage.find()
    await stage.payer.send(raw)
    await stage.node.mine()
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'pending', sequence: 3 }])
    await stage.node.mine(DEEP)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'completed', sequence: 4 }])
    expect(await stage.balance(customer_id)).toBe(4n * USDT)
  })

  test('in which the payment pays another amount drops the deposit, and credits what is paid', async () => {
    const { customer_id, raw, tx_hash } = await paid(3)
    await stage.node.reorganize(6)
    await stage.token.setFee(USDT)
    await stage.payer.send(raw)
    await stage.node.mine(2)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([
      { tx_hash, output_index: 0, amount: 4n * USDT, status: 'dropped', sequence: 2 },
      { tx_hash, output_index: 0, amount: 3n * USDT, status: 'pending', sequence: 1 },
    ])
    // Back in the mempool, and mined again without the fee: the first deposit is the one that is there.
    await stage.node.reorganize(4)
    await stage.token.setFee(0n)
    await stage.payer.send(raw)
    await stage.find()
    await stage.node.mine(2)
    await stage.find()
    await stage.node.mine(DEEP)
    for (let i = 0; i < 3; i++) await stage.find()
    expect(await stage.deposits()).toMatchObject([
      { amount: 4n * USDT, status: 'completed', sequence: 4 },
      { amount: 3n * USDT, status: 'dropped', sequence: 2 },
    ])
    expect(await stage.balance(customer_id)).toBe(4n * USDT)
    expect((await stage.exceptions()).filter(({ kind }) => kind === 'contradiction')).toEqual([])
  })

  test('in which the payment fails takes the deposit away', async () => {
    const { raw } = await paid(3)
    await stage.node.reorganize(6)
    await stage.token.setPaused(true)
    const tx_hash = await stage.payer.send(raw)
    await stage.node.mine(DEEP)
    const receipt = await stage.node.call<{ status: string }>('eth_getTransactionReceipt', tx_hash)
    expect(receipt.status).toBe('0x0')
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'dropped' }])
  })

  test('after the credit opens an exception, pauses the rail and takes nothing back', async () => {
    const { customer_id, raw } = await paid(DEEP)
    expect(await stage.balance(customer_id)).toBe(4n * USDT)
    await stage.node.reorganize(DEEP + 4)
    await stage.find()
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(4n * USDT)
    const [deposit] = await stage.deposits()
    expect(deposit).toMatchObject({ status: 'completed' })
    const open = (await stage.exceptions()).filter(({ closed_at }) => closed_at === null)
    expect(open.map(({ kind, object_id }) => [kind, object_id])).toEqual([
      ['rail_paused', stage.network],
      ['contradiction', deposit!.id],
    ])
    expect(await isPaused(stage.world, stage.network)).toBe(true)
    // Mined again, and final: the exception closes, and the customer has the money once.
    await stage.payer.send(raw)
    await stage.node.mine(100)
    await stage.find()
    expect((await stage.exceptions()).filter(({ closed_at }) => closed_at === null)).toMatchObject([
      { kind: 'rail_paused' },
    ])
    expect(await stage.balance(customer_id)).toBe(4n * USDT)
    expect(await stage.deposits()).toMatchObject([{ status: 'completed', next_attempt_at: null }])
  })
})

describe('endpoints', () => {
  /** Shows a payment that is not there: in the logs of a range, and in the receipt. */
  const lying = (from: string, to: string): ProxyMode => {
    const word = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
    const told = (log: any) => ({
      ...log,
      topics: log.topics.map((topic: string) => (topic === word(from) ? word(to) : topic)),
    })
    return {
      rewrite({ method }, reply) {
        if (method === 'eth_getLogs') return { ...reply, result: reply.result.map(told) }
        if (method === 'eth_getTransactionReceipt' && reply.result)
          return { ...reply, result: { ...reply.result, logs: reply.result.logs.map(told) } }
        return reply
      },
    }
  }
  const stranger = '0x00000000000000000000000000000000000000aa'

  test('one that shows a payment which the other does not show credits nothing, and a person is told', async () => {
    const { customer_id, address } = await stage.customer()
    stage.endpoints[0].become(lying(stranger, address))
    await stage.pay(stranger, 7n * USDT)
    await stage.node.mine(2 * DEEP)
    await stage.find()
    await stage.find()
    expect(await stage.deposits()).toEqual([])
    expect(await stage.balance(customer_id)).toBe(0n)
    expect(await stage.exceptions()).toMatchObject([
      { kind: 'deposit_unclear', object_id: 'deposits polygon', closed_at: null },
    ])
    stage.endpoints[0].become({})
    await stage.find()
    expect((await stage.exceptions())[0]!.closed_at).not.toBeNull()
    expect(await stage.balance(customer_id)).toBe(0n)
  })

  test('one that leaves a payment out hides nothing', async () => {
    const { customer_id, address } = await stage.customer()
    stage.endpoints[0].become({
      rewrite: ({ method }, reply) => (method === 'eth_getLogs' ? { ...reply, result: [] } : reply),
    })
    await stage.pay(address, 7n * USDT)
    await stage.node.mine(DEEP)
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(7n * USDT)
  })

  test('that both leave a payment out of new blocks show it when the blocks are final', async () => {
    const { customer_id, address } = await stage.customer()
    for (const endpoint of stage.endpoints)
      endpoint.become({
        rewrite: ({ method }, reply) => (method === 'eth_getLogs' ? { ...reply, result: [] } : reply),
      })
    await stage.pay(address, 7n * USDT)
    await stage.find()
    for (const endpoint of stage.endpoints) endpoint.become({})
    await stage.find()
    expect(await stage.deposits()).toEqual([])
    await stage.node.mine(DEEP)
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(7n * USDT)
  })

  /** As where several machines answer for an endpoint, and the one that is asked for a transaction is behind. */
  const withoutTransactions = (lacksBlock: (height: bigint) => boolean = () => false): ProxyMode => ({
    rewrite: ({ method, params }, reply) =>
      /getTransaction(Receipt|ByHash)/.test(method) ||
      (method === 'eth_getBlockByNumber' && /^0x/.test(params[0]) && lacksBlock(BigInt(params[0])))
        ? { ...reply, result: null }
        : reply,
  })
  const height = async () => BigInt(await stage.node.call<string>('eth_blockNumber'))
  const finalHeight = async () => {
    const [scan] = await stage.bench.admin('SELECT final_height FROM deposit_scans')
    return BigInt(scan!.final_height as string)
  }

  for (const lacking of ['its receipt', 'its receipt and its block'])
    test(`that show a payment in the logs without ${lacking} do not pass over it`, async () => {
      const { customer_id, address } = await stage.customer()
      await stage.pay(address, 7n * USDT)
      const paid_at = await height()
      await stage.node.mine(2 * DEEP)
      const lacksBlock = (height: bigint) => lacking !== 'its receipt' && height === paid_at
      for (const endpoint of stage.endpoints) endpoint.become(withoutTransactions(lacksBlock))
      for (let run = 0; run < 2; run++) await stage.find()
      expect(await stage.deposits()).toEqual([])
      expect(await finalHeight()).toBeLessThan(paid_at)
      for (const endpoint of stage.endpoints) endpoint.become({})
      await stage.find()
      expect(await stage.balance(customer_id)).toBe(7n * USDT)
      expect((await stage.exceptions()).filter(({ closed_at }) => closed_at === null)).toEqual([])
    })

  test('of which one names another block for a payment do not pass over it either', async () => {
    const { customer_id, address } = await stage.customer()
    await stage.pay(address, 7n * USDT)
    await stage.node.mine(DEEP)
    const { rewrite } = withoutTransactions()
    const elsewhere = (log: any) => ({ ...log, blockHash: `0x${'ab'.repeat(32)}` })
    for (const [n, endpoint] of stage.endpoints.entries())
      endpoint.become({
        rewrite: (request, reply) =>
          request.method === 'eth_getLogs' && n === 1
            ? { ...reply, result: reply.result.map(elsewhere) }
            : rewrite!(request, reply),
      })
    await stage.find()
    for (const endpoint of stage.endpoints) endpoint.become({})
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(7n * USDT)
  })

  test('one that shows a payment in a block which is not in the chain holds up nothing', async () => {
    const { customer_id, address } = await stage.customer()
    const invented = (log: any) => ({
      ...log,
      ...{ blockHash: `0x${'ab'.repeat(32)}`, transactionHash: `0x${'cd'.repeat(32)}` },
    })
    stage.endpoints[1].become({
      rewrite: ({ method }, reply) =>
        method === 'eth_getLogs'
          ? { ...reply, result: [...reply.result, ...reply.result.map(invented)] }
          : reply,
    })
    await stage.pay(address, 7n * USDT)
    await stage.node.mine(DEEP)
    await stage.find()
    expect(await finalHeight()).toBe((await height()) + 1n - BigInt(DEEP))
    expect(await stage.balance(customer_id)).toBe(7n * USDT)
    expect(await stage.exceptions()).toEqual([])
  })

  test('one that is behind proves neither that a payment is there nor that it is gone', async () => {
    const { customer_id, address } = await stage.customer()
    stage.endpoints[1].become(await stage.without(await behind(stage.node.url)))
    await stage.pay(address, 7n * USDT)
    await stage.node.mine(DEEP)
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(0n)
    stage.endpoints[1].become({})
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(7n * USDT)
    stage.endpoints[0].become({
      answer: ({ method }) => (/Receipt|ByHash/.test(method) ? { result: null } : undefined),
    })
    await stage.find()
    expect(await stage.exceptions()).toEqual([])
  })

  test('one that is down leaves what is pending as it is', async () => {
    const { customer_id, address } = await stage.customer()
    await stage.pay(address, 7n * USDT)
    await stage.find()
    stage.endpoints[1].become({ cut: true })
    await stage.node.mine(DEEP)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'pending' }])
    expect(await stage.balance(customer_id)).toBe(0n)
  })

  test('that refuse long ranges are asked for shorter ones', async () => {
    const { customer_id, address } = await stage.customer()
    await stage.pay(address, 7n * USDT)
    await stage.node.mine(500)
    const most = 30n
    const spans: bigint[] = []
    for (const endpoint of stage.endpoints)
      endpoint.become({
        answer({ method, params }) {
          if (method !== 'eth_getLogs') return undefined
          const span = BigInt(params[0].toBlock) - BigInt(params[0].fromBlock) + 1n
          spans.push(span)
          return span > most
            ? { error: { code: -32005, message: 'query returned more than 10000 results' } }
            : undefined
        },
      })
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(7n * USDT)
    expect(spans.some((span) => span > most)).toBe(true)
    expect(await stage.bench.admin('SELECT height - final_height AS gap FROM deposit_scans')).toEqual([
      { gap: String(DEEP - 1) },
    ])
  })
})

describe('a stranger who fills a block', () => {
  /** What was paid after it is credited, and the endpoints do not rest because of it. */
  async function expectFound(customer_id: string, address: string) {
    await stage.pay(address, 7n * USDT)
    await stage.node.mine(DEEP)
    for (let run = 0; run < 3; run++) await stage.find()
    expect(await stage.balance(customer_id)).toBe(7n * USDT)
    expect(stage.scene.rpc.facts().map(({ state }) => state)).toEqual(['healthy', 'healthy'])
  }

  test('with a transaction whose receipt is very long, and that pays a deposit address, stops nothing', async () => {
    const { customer_id, address } = await stage.customer()
    const tx_hash = await bloat(stage.node, stage.token, { to: address, transfers: 1, bytes: 1_300_000 })
    await expectFound(customer_id, address)
    expect(await stage.deposits()).toMatchObject([
      { tx_hash, amount: 1n, below_minimum: true },
      { amount: 7n * USDT, status: 'completed' },
    ])
  })

  test('with thousands of transfers of the token stops nothing', async () => {
    const { customer_id, address } = await stage.customer()
    const to = '0x00000000000000000000000000000000000000aa'
    await bloat(stage.node, stage.token, { to, transfers: 4000 })
    await expectFound(customer_id, address)
  })

  test('and sends twenty long receipts at once stops nothing', async () => {
    const { customer_id, address } = await stage.customer()
    for (let i = 0; i < 20; i++)
      await bloat(stage.node, stage.token, { to: address, transfers: 1, bytes: 100_000 })
    await expectFound(customer_id, address)
  })
})

describe('an endpoint that tells another hash of every block', () => {
  test('does not move the positions back', async () => {
    const { customer_id, address } = await stage.customer()
    const read = () => stage.bench.admin('SELECT final_height FROM deposit_scans')
    await stage.node.mine(10)
    const [before] = await read()
    const rewrite: ProxyMode['rewrite'] = ({ method, params }, reply) =>
      method === 'eth_getBlockByNumber' && /^0x/.test(params[0]) && reply.result
        ? { ...reply, result: { ...reply.result, hash: `0x${randomBytes(32).toString('hex')}` } }
        : reply
    stage.endpoints[0].become({ rewrite })
    await stage.find()
    await stage.find()
    expect(await read()).toEqual([before])
    stage.endpoints[0].become({})
    await stage.pay(address, 7n * USDT)
    await stage.node.mine(DEEP)
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(7n * USDT)
  })
})
