import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { UNITS_MAX } from '../../src/core/money.ts'
import { networks } from '../../src/core/networks.ts'
import { isPaused } from '../../src/money/custody/controls.ts'
import { newestUnknownTokens } from '../../src/money/deposits/unknown-tokens-store.ts'
import { tronAddressOfKey } from '../../src/rails/chain/tron/address.ts'
import { openTronDepositStage, SOLID_DEPTH, type TronDepositStage } from './tron-deposit-stage.ts'

/** Deposits on a stub of Tron with two endpoints, on a real database. */
const USDT = 1_000_000n
const DEEP = networks.tron.confirmations
const RECEIPTS = 'gettransactioninfobyblocknum'

let stage: TronDepositStage
beforeEach(async () => {
  stage = await openTronDepositStage()
})
afterEach(async () => {
  expect(await stage.bench.findings()).toEqual([])
  await stage.stop()
})

describe('a payment to a deposit address on Tron', () => {
  test('is pending with its first block, and credited once when it is solidified and deep enough', async () => {
    const { customer_id, address } = await stage.customer()
    const tx_hash = stage.pay(address, 25n * USDT)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([
      { customer_id, address, tx_hash, output_index: 0, amount: 25n * USDT, status: 'pending', depth: 1 },
    ])
    stage.stub.mine(DEEP - 2)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'pending', depth: DEEP - 1 }])
    expect(await stage.balance(customer_id)).toBe(0n)
    stage.stub.mine(1)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'completed', depth: DEEP, sequence: 2 }])
    stage.stub.mine(200)
    await stage.find()
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(25n * USDT)
    expect(await stage.deposits(), 'nobody asks any more').toMatchObject([{ next_attempt_at: null }])
    expect(await stage.exceptions()).toEqual([])
  })

  test('is not credited before its block is solidified, however many blocks follow', async () => {
    const { customer_id, address } = await stage.customer()
    stage.pay(address, 3n * USDT)
    stage.stub.depth = 60
    stage.stub.mine(40)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'pending', depth: DEEP - 1 }])
    stage.stub.depth = SOLID_DEPTH
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(3n * USDT)
  })

  test('is credited once by two nodes, and after a crash before the position was stored', async () => {
    const { customer_id, address } = await stage.customer()
    const [before] = await stage.bench.admin('SELECT * FROM deposit_scans')
    stage.pay(address, 3n * USDT, DEEP)
    const other = stage.openFinder(stage.bench.openNode())
    await Promise.all([stage.find(), stage.find(other)])
    const { height, hash } = before as { height: bigint; hash: string }
    await stage.bench.admin(
      `UPDATE deposit_scans SET height = ${height}, hash = '${hash}', final_height = ${height}, final_hash = '${hash}'`,
    )
    await Promise.all([stage.find(), stage.find(other)])
    expect(await stage.deposits()).toMatchObject([{ status: 'completed', sequence: 2 }])
    expect(await stage.balance(customer_id)).toBe(3n * USDT)
  })

  test('with another one in the same transaction is a deposit of its own', async () => {
    const [ana, rui] = [await stage.customer(), await stage.customer()]
    const { payer: from } = stage
    const tx_hash = stage.stub.call({
      moves: [
        { from, to: ana.address, amount: 5n * USDT },
        { from, to: tronAddressOfKey(randomBytes(32)), amount: 7n * USDT },
        { from, to: rui.address, amount: 2n * USDT },
        { from, to: ana.address, amount: 5n * USDT },
      ],
      result: 'SUCCESS',
    })
    stage.stub.mine(1 + DEEP)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([
      { tx_hash, output_index: 0, amount: 5n * USDT, status: 'completed' },
      { tx_hash, output_index: 2, amount: 2n * USDT, status: 'completed' },
      { tx_hash, output_index: 3, amount: 5n * USDT, status: 'completed' },
    ])
    expect(await stage.balance(ana.customer_id)).toBe(10n * USDT)
    expect(await stage.balance(rui.customer_id)).toBe(2n * USDT)
  })

  test('of nothing, to itself, to nobody, of TRX, or that failed, is none', async () => {
    const { address } = await stage.customer()
    const { stub, payer } = stage
    const move = { from: payer, to: address, amount: USDT }
    const call = (changes: Partial<typeof move>, result: 'SUCCESS' | 'REVERT' | 'OUT_OF_ENERGY') =>
      stub.call({ moves: [{ ...move, ...changes }], result })
    call({ amount: 0n }, 'SUCCESS')
    call({ from: address, amount: USDT }, 'SUCCESS')
    call({ to: tronAddressOfKey(randomBytes(32)) }, 'SUCCESS')
    call({}, 'REVERT')
    stub.call({ moves: [move] })
    // As no node tells it: a call that failed, with the logs of one that went well.
    const failed = call({}, 'SUCCESS')
    for (const node of stub.nodes)
      node.lie = (_, answer) => {
        const changed = (info: any) =>
          info.id === failed ? { ...info, result: 'FAILED', receipt: { result: 'OUT_OF_ENERGY' } } : info
        return Array.isArray(answer) ? answer.map(changed) : changed(answer)
      }
    stub.mine(1 + DEEP)
    await stage.find()
    expect(await stage.deposits()).toEqual([])
    expect((await stage.world.db.query('SELECT final_height FROM deposit_scans')).rows).toEqual([
      { final_height: stub.head().height + 1n - BigInt(DEEP) },
    ])
  })

  test('below the minimum stays pending, and nobody asks about it any more', async () => {
    const { customer_id, address } = await stage.customer()
    stage.pay(address, USDT - 1n, DEEP)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([
      { status: 'pending', below_minimum: true, next_attempt_at: null },
    ])
    expect(await stage.balance(customer_id)).toBe(0n)
  })

  test('above the largest amount is an exception, and what comes after it is found', async () => {
    const { customer_id, address } = await stage.customer()
    stage.pay(address, UNITS_MAX + 1n)
    stage.pay(address, USDT, DEEP)
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(USDT)
    expect(await stage.exceptions()).toMatchObject([
      { kind: 'deposit_unclear', details: { amount: (UNITS_MAX + 1n).toString() } },
    ])
  })

  test('of another token is shown to operators, and never credited', async () => {
    const { address } = await stage.customer()
    const token = tronAddressOfKey(randomBytes(32))
    const { payer: from } = stage
    const move = { from, to: address, token }
    const tx_hash = stage.stub.call({
      moves: [
        { ...move, amount: 2n ** 255n },
        { ...move, to: tronAddressOfKey(randomBytes(32)), amount: 1n },
        { ...move, amount: 0n },
      ],
      result: 'SUCCESS',
    })
    stage.stub.mine(1 + DEEP)
    await stage.find()
    await stage.find()
    expect(await stage.deposits()).toEqual([])
    expect(await newestUnknownTokens(stage.world.db, 'tron', 10)).toMatchObject([
      { contract: token, tx_hash, log_index: 0, address, amount: 2n ** 255n },
    ])
  })
})

describe('a reorganisation of Tron', () => {
  test('before the credit drops a deposit; mined again it is the same one, credited once', async () => {
    const { customer_id, address } = await stage.customer()
    const tx_hash = stage.pay(address, 4n * USDT, 3)
    await stage.find()
    stage.stub.reorganise(6)
    stage.stub.mine(1)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'dropped', sequence: 2, block_hash: null }])
    stage.stub.mine(2 * DEEP)
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(0n)
    const move = { from: stage.payer, to: address, amount: 4n * USDT }
    stage.stub.call({ moves: [move], result: 'SUCCESS' }, tx_hash)
    stage.stub.mine(1)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'pending', sequence: 3 }])
    stage.stub.mine(DEEP)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ status: 'completed', sequence: 4 }])
    expect(await stage.balance(customer_id)).toBe(4n * USDT)
    expect(await isPaused(stage.world, 'tron')).toBe(false)
  })

  test('that puts a payment into a block that was read already is found', async () => {
    const { customer_id, address } = await stage.customer()
    stage.stub.mine(4)
    await stage.find()
    const { height } = stage.stub.head()
    stage.stub.reorganise(6)
    const tx_hash = stage.stub.call({
      moves: [{ from: stage.payer, to: address, amount: 4n * USDT }],
      result: 'SUCCESS',
    })
    stage.stub.reorganise(3)
    stage.stub.mine(1)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ tx_hash, status: 'pending' }])
    expect((await stage.deposits())[0]!.block_height).toBeLessThanOrEqual(height + 1n)
    stage.stub.mine(DEEP)
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(4n * USDT)
  })

  test('in which the payment pays another amount drops the deposit, and credits what is paid', async () => {
    const { customer_id, address } = await stage.customer()
    const tx_hash = stage.pay(address, 4n * USDT, 3)
    await stage.find()
    stage.stub.reorganise(6)
    const move = { from: stage.payer, to: address, amount: 3n * USDT }
    stage.stub.call({ moves: [move], result: 'SUCCESS' }, tx_hash)
    stage.stub.mine(2)
    await stage.find()
    stage.stub.mine(DEEP)
    await stage.find()
    expect(await stage.deposits()).toMatchObject([
      { tx_hash, amount: 4n * USDT, status: 'dropped' },
      { tx_hash, amount: 3n * USDT, status: 'completed' },
    ])
    expect(await stage.balance(customer_id)).toBe(3n * USDT)
  })

  test('after the credit opens an exception, pauses the rail and takes nothing back', async () => {
    const { customer_id, address } = await stage.customer()
    stage.pay(address, 4n * USDT, DEEP - 1)
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(4n * USDT)
    // All endpoints were wrong together: a solidified block does not leave the chain.
    stage.stub.reorganise(DEEP + 2, { solid: true })
    stage.stub.mine(3)
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(4n * USDT)
    const [deposit] = await stage.deposits()
    expect(deposit).toMatchObject({ status: 'completed' })
    const open = (await stage.exceptions()).filter(({ closed_at }) => closed_at === null)
    expect(open.map(({ kind, object_id }) => [kind, object_id])).toEqual([
      ['rail_paused', 'tron'],
      ['contradiction', deposit!.id],
    ])
    expect(await isPaused(stage.world, 'tron')).toBe(true)
  })
})

describe('an endpoint of Tron', () => {
  type Lie = NonNullable<TronDepositStage['stub']['nodes'][number]['lie']>
  const finalHeight = async () =>
    (await stage.world.db.query('SELECT final_height FROM deposit_scans')).rows[0].final_height as bigint

  test('that leaves out a log hides nothing', async () => {
    const { customer_id, address } = await stage.customer()
    const leaves_out: Lie = (path, answer) =>
      path.endsWith(RECEIPTS) ? (answer as any[]).map(({ log: _, ...info }) => info) : answer
    for (const lying of [0, 1]) {
      stage.stub.nodes[lying]!.lie = leaves_out
      stage.pay(address, 3n * USDT, DEEP)
      await stage.find()
      stage.stub.nodes[lying]!.lie = undefined
    }
    expect(await stage.balance(customer_id)).toBe(6n * USDT)
  })

  test('that leaves out a log everywhere keeps the deposit pending, and is named as a contradiction until it agrees', async () => {
    const { customer_id, address } = await stage.customer()
    stage.stub.nodes[1]!.lie = (path, answer) =>
      path.endsWith('gettransactioninfobyid') ? { ...(answer as object), log: [] } : answer
    const before = await finalHeight()
    stage.pay(address, 3n * USDT, DEEP)
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(0n)
    expect(await finalHeight()).toBeLessThan(stage.stub.head().height - BigInt(DEEP))
    expect(await stage.exceptions()).toMatchObject([
      { kind: 'deposit_unclear', object_id: 'deposits tron', closed_at: null },
    ])
    stage.stub.nodes[1]!.lie = undefined
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(3n * USDT)
    expect(await finalHeight()).toBeGreaterThan(before)
    expect((await stage.exceptions()).filter(({ closed_at }) => closed_at === null)).toEqual([])
  })

  test('that invents a payment has nothing credited, and holds the position', async () => {
    const { customer_id, address } = await stage.customer()
    const real = stage.pay(tronAddressOfKey(randomBytes(32)), 9n * USDT)
    const own = stage.stub.call({
      moves: [{ from: stage.payer, to: address, amount: 1n }],
      result: 'SUCCESS',
    })
    stage.stub.mine(1)
    const log = ((await ask(0, 'wallet/gettransactioninfobyid', { value: own })) as any).log[0]
    const invented = (info: any) =>
      info.id === real ? { ...info, log: [{ ...log, data: '5f5e100'.padStart(64, '0') }] } : info
    stage.stub.nodes[0]!.lie = (_, answer) =>
      Array.isArray(answer) ? answer.map(invented) : invented(answer)
    stage.stub.mine(DEEP)
    await stage.find()
    await stage.find()
    expect((await stage.deposits()).filter(({ status }) => status === 'completed')).toEqual([])
    expect(await stage.balance(customer_id)).toBe(0n)
    expect(await stage.exceptions()).toMatchObject([
      { kind: 'deposit_unclear', details: { transactions: expect.stringContaining(real) } },
    ])
    stage.stub.nodes[0]!.lie = undefined
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(0n)
    expect((await stage.exceptions()).filter(({ closed_at }) => closed_at === null)).toEqual([])
  })

  test.each([
    ['the receipts of a block', (path: string, answer: unknown) => (path.endsWith(RECEIPTS) ? [] : answer)],
    [
      'a block',
      (path: string, answer: unknown, body: any) =>
        path.endsWith('getblock') && body.id_or_num !== undefined && body.id_or_num !== '0' ? {} : answer,
    ],
  ])('that does not have %s yet is asked again, and no block is passed over', async (_, lacks) => {
    const { customer_id, address } = await stage.customer()
    const before = await finalHeight()
    for (const node of stage.stub.nodes) node.lie = lacks as Lie
    stage.pay(address, 3n * USDT, DEEP + 5)
    const { height } = stage.stub.head()
    await stage.find()
    expect(await stage.deposits()).toEqual([])
    const blocks_without = height - BigInt(DEEP) - 5n - 1n
    expect(await finalHeight()).toBeLessThanOrEqual(blocks_without > before ? blocks_without : before)
    for (const node of stage.stub.nodes) node.lie = undefined
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(3n * USDT)
  })

  test('that answers few questions at once is read all the same, after a pause of many blocks', async () => {
    const { customer_id, address } = await stage.customer()
    stage.pay(address, 3n * USDT, DEEP + 40)
    for (const node of stage.stub.nodes) node.busy_at = 10
    await stage.find()
    expect(await stage.balance(customer_id)).toBe(3n * USDT)
    for (const node of stage.stub.nodes) node.busy_at = Infinity
  })

  test('that shows a payment in a block, and for a while not the transaction, does not have it passed over', async () => {
    const { customer_id, address } = await stage.customer()
    const tx_hash = stage.pay(address, 3n * USDT, DEEP + 5)
    const paid_at = stage.stub.head().height - BigInt(DEEP) - 5n
    for (const node of stage.stub.nodes)
      node.lie = (path, answer) => (/gettransaction(infobyid|byid)$/.test(path) ? {} : answer)
    await stage.find()
    expect(await stage.deposits()).toEqual([])
    expect(await finalHeight()).toBeLessThan(paid_at)
    for (const node of stage.stub.nodes) node.lie = undefined
    await stage.find()
    expect(await stage.deposits()).toMatchObject([{ tx_hash, status: 'completed' }])
    expect(await stage.balance(customer_id)).toBe(3n * USDT)
    expect((await stage.exceptions()).filter(({ closed_at }) => closed_at === null)).toEqual([])
  })

  test('that is down leaves the deposit pending where two are configured', async () => {
    const { customer_id, address } = await stage.customer()
    stage.stub.nodes[0]!.is_down = true
    stage.pay(address, 3n * USDT, DEEP)
    for (let i = 0; i < 4; i++) await stage.find()
    expect(await stage.balance(customer_id)).toBe(0n)
    stage.stub.nodes[0]!.is_down = false
    await expect
      .poll(
        async () => {
          await stage.find()
          return stage.balance(customer_id)
        },
        { timeout: 60_000, interval: 100 },
      )
      .toBe(3n * USDT)
  })

  const ask = async (node: number, path: string, body: object): Promise<unknown> => {
    const { url } = stage.stub.nodes[node]!
    const answer = await fetch(`${url}/${path}`, { method: 'POST', body: JSON.stringify(body) })
    return answer.json()
  }
})
