import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { minedAs, signedAs } from '../../../test/support/chain.ts'
import { desk } from '../../../test/support/operators.ts'
import { type Bench, openBench, openGate, silent } from '../../../test/support/rail-bench.ts'
import { until } from '../../../test/support/wait.ts'
import type { Refusal } from '../../core/errors.ts'
import { columnsOf } from '../../db/columns.ts'
import { claimOf } from '../../ledger/once.ts'
import type { ChainRail } from '../../rails/chain/rail.ts'
import { openExceptions } from '../../records/exceptions/store.ts'
import { transferSteps } from '../onchain/steps.ts'
import { type Transfer, transferById } from '../onchain/store.ts'
import { attemptsOf } from '../onchain/transactions.ts'
import { createTransfer, TRANSFER_OPERATION } from '../onchain/transfers.ts'
import { payoutSteps } from '../pix/steps.ts'
import { payoutById } from '../pix/store.ts'
import {
  assertOrderFits,
  assertRailAccepts,
  controlOf,
  countOrder,
  isPaused,
  pauseRail,
  resumeRail,
  setRailLimits,
} from './controls.ts'
import { selectControls } from './controls-store.ts'
import { storeHoldings } from './store.ts'

const called: string[] = []
const WALLET = { wallet: 'simulated', final: 0n, final_height: 0n, mined: 0n, pool: 0n, claimed: 0n }
/** A network that notes what it is asked for, and lets a test act in between. */
let before: Partial<Record<string, () => Promise<unknown>>> = {}
let seen: Awaited<ReturnType<ChainRail['look']>> = { kind: 'absent' }
const chain: Partial<ChainRail<'sandbox'>> = {
  wallet: async () => WALLET,
  async screen() {
    called.push('screen')
    await before.screen?.()
    return { kind: 'payable' }
  },
  async attempt(order) {
    called.push('attempt')
    await before.attempt?.()
    return signedAs(order)
  },
  async broadcast() {
    called.push('broadcast')
    return { kind: 'accepted' }
  },
  async look() {
    called.push('look')
    return seen
  },
}

let bench: Bench
beforeEach(async () => {
  called.length = 0
  before = {}
  seen = { kind: 'absent' }
  bench = await openBench({ chain })
})
afterEach(async () => {
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const pause = (rail: 'pix' | 'tron' = 'tron', reason = 'fees look wrong', by = 'service') =>
  pauseRail(bench.world, { rail, by, reason })
const resume = (rail: 'pix' | 'tron' = 'tron') =>
  bench.world.commit(resumeRail({ rail, by: 'shell', reason: 'fees are right', proposal_id: null }))

/** The newest changes of all rails. */
async function newestRailChanges(limit: number) {
  const { rows } = await bench.world.db.query(
    `SELECT ${columnsOf('rail_changes')} FROM rail_changes ORDER BY id DESC LIMIT $1`,
    [limit],
  )
  return rows
}

/** The worker's own delay and the age of what a node knows are not waited for. */
async function carry(id: string): Promise<Transfer> {
  const world = bench.openNode()
  await transferSteps(world, silent).carry((await transferById(world.db, id))!)
  return (await transferById(world.db, id))!
}

describe('a pause', () => {
  test('keeps its first reason, records one exception, and ends with a resume', async () => {
    const { db } = bench.world
    expect((await pause('tron', 'first')).changed).toBe(true)
    expect(await pause('tron', 'second', 'ana@operator.example')).toMatchObject({
      changed: false,
      control: { paused_by: 'service', paused_reason: 'first' },
    })
    expect(await openExceptions(db, 10)).toMatchObject([
      { kind: 'rail_paused', rail: 'tron', object_id: 'tron', details: { reason: 'first' } },
    ])
    expect(await isPaused(bench.world, 'tron')).toBe(true)
    expect(await isPaused(bench.world, 'polygon')).toBe(false)
    expect(await resume()).toEqual({ replayed: false })
    expect(await openExceptions(db, 10)).toEqual([])
    expect(await selectControls(db)).toMatchObject([{ rail: 'tron', paused_at: null, paused_by: null }])
    expect(await newestRailChanges(10)).toMatchObject([
      { rail: 'tron', changed_by: 'shell', reason: 'fees are right', before: { paused_by: 'service' } },
      { rail: 'tron', changed_by: 'service', reason: 'first', after: { paused_reason: 'first' } },
    ])
    await expect(resume()).rejects.toThrow(/not paused/)
  })

  test('is decided once when two nodes pause at the same moment', async () => {
    const other = bench.openNode()
    const both = await Promise.all([
      pause('pix', 'one'),
      pauseRail(other, { rail: 'pix', by: 'service', reason: 'two' }),
    ])
    expect(both.map(({ changed }) => changed).sort()).toEqual([false, true])
    expect(await newestRailChanges(10)).toHaveLength(1)
  })

  test('is known to every node within a second or so', async () => {
    const other = bench.openNode()
    expect(await isPaused(other, 'tron')).toBe(false)
    await pause()
    expect(await isPaused(bench.world, 'tron')).toBe(true)
    await until(() => isPaused(other, 'tron'), 10_000)
  })

  test('refuses new orders', async () => {
    await pause()
    const refused = await assertRailAccepts(bench.world, { rail: 'tron', units: 1n }).catch((error) => error)
    expect(refused).toMatchObject({ code: 'rail_unavailable', message: expect.stringContaining('paused') })
    await assertRailAccepts(bench.world, { rail: 'polygon', units: 1n })
  })

  test('keeps a transfer from being screened, and a resume lets it go', async () => {
    const customer = await bench.customer({ USDT: 100_000_000n })
    const { id } = await bench.transfer(customer)
    await pause()
    expect(await carry(id)).toMatchObject({ status: 'pending', nonce: null })
    expect(called).toEqual([])
    await resume()
    expect(await carry(id)).toMatchObject({ status: 'processing', nonce: 0n })
    expect(called).toEqual(['screen', 'attempt', 'broadcast'])
  })

  test('that comes while the transfer is screened keeps it from a nonce', async () => {
    const { id } = await bench.transfer(await bench.customer({ USDT: 100_000_000n }))
    before.screen = () => pause()
    expect(await carry(id)).toMatchObject({ status: 'pending', nonce: null, tx_hash: null })
    expect(called).toEqual(['screen'])
  })

  test('that comes while the transfer is signed drops the signature', async () => {
    const { id } = await bench.transfer(await bench.customer({ USDT: 100_000_000n }))
    before.attempt = () => pause()
    expect(await carry(id)).toMatchObject({ status: 'pending', nonce: 0n, tx_hash: null })
    expect(await attemptsOf(bench.world.db, id)).toEqual([])
    expect(called).toEqual(['screen', 'attempt'])
    before = {}
    await resume()
    expect(await carry(id)).toMatchObject({ status: 'processing', nonce: 0n })
  })

  test('keeps a signed transfer from its first broadcast, asks whether it is out, and follows it if so', async () => {
    const { id } = await bench.transfer(await bench.customer({ USDT: 100_000_000n }))
    // Signed, and its node died before the broadcast was noted.
    const dying = bench.openNode({ chain: { ...chain, broadcast: () => Promise.reject(new Error('died')) } })
    await transferSteps(dying, silent).carry((await transferById(dying.db, id))!)
    await pause()
    called.length = 0
    expect(await carry(id)).toMatchObject({ status: 'pending' })
    expect(called).toEqual(['look'])
    seen = { kind: 'waiting' }
    expect(await carry(id)).toMatchObject({ status: 'processing' })
    expect(called).toEqual(['look', 'look'])
  })

  test('that a node does not know of yet still stops its first broadcast', async () => {
    const { id } = await bench.transfer(await bench.customer({ USDT: 100_000_000n }))
    const node = bench.openNode({ chain: { ...chain, broadcast: () => Promise.reject(new Error('died')) } })
    await transferSteps(node, silent).carry((await transferById(node.db, id))!)
    const late = bench.openNode()
    expect(await isPaused(late, 'tron')).toBe(false)
    await pause()
    called.length = 0
    await transferSteps(late, silent).carry((await transferById(late.db, id))!)
    expect(called).toEqual([])
    expect(await transferById(late.db, id)).toMatchObject({ status: 'pending' })
  })

  test('lets what is out go on: asked, broadcast again, settled', async () => {
    const { id } = await bench.transfer(await bench.customer({ USDT: 100_000_000n }))
    await carry(id)
    await pause()
    called.length = 0
    await carry(id)
    expect(called).toEqual(['look', 'broadcast'])
    seen = minedAs(await attemptsOf(bench.world.db, id))
    expect(await carry(id)).toMatchObject({ status: 'confirmed' })
  })
})

describe('a pause of Pix', () => {
  const steps = (world = bench.openNode()) => payoutSteps(world, silent, () => {})

  test('keeps an accepted payout from being sent, and a resume lets it go', async () => {
    const payout = await bench.payout(await bench.customer({ BRL: 10_000n }))
    await pause('pix')
    const ends = performance.now() + bench.world.lease_ms
    expect(await steps().send(payout, ends)).toBeUndefined()
    await bench.past(payout)
    await steps().queryThenSend((await payoutById(bench.world.db, payout.id))!)
    expect(await payoutById(bench.world.db, payout.id)).toMatchObject({
      status: 'processing',
      accepted_at: null,
    })
    const { rows } = await bench.world.db.query('SELECT FROM sends')
    expect(rows).toEqual([])
    await resume('pix')
    await steps().queryThenSend((await payoutById(bench.world.db, payout.id))!)
    expect(await payoutById(bench.world.db, payout.id)).toMatchObject({ status: 'completed' })
  })
})

describe('limits', () => {
  const limit = (change: Parameters<typeof setRailLimits>[1]['change'], rail: 'pix' | 'tron' = 'tron') =>
    setRailLimits(bench.world, { rail, by: 'ana@operator.example', reason: 'a new wallet', change })

  test('are set one by one, and removed by null', async () => {
    await limit({ order_most: 5n, gas_floor: 10n ** 24n })
    expect(await limit({ day_most: 9n })).toMatchObject({
      order_most: 5n,
      day_most: 9n,
      gas_floor: 10n ** 24n,
    })
    expect(await limit({ order_most: null })).toMatchObject({ order_most: null, day_most: 9n, floor: null })
    expect(await controlOf(bench.world, 'tron')).toMatchObject({ order_most: null, day_most: 9n })
    expect(await newestRailChanges(10)).toHaveLength(3)
    // A pause keeps them.
    await pause()
    expect(await controlOf(bench.world, 'tron')).toMatchObject({ day_most: 9n, paused_by: 'service' })
  })

  test('of one order: an order above it is too large', async () => {
    await limit({ order_most: 1_000_000n })
    const { order_most } = await assertRailAccepts(bench.world, { rail: 'tron', units: 1_000_001n })
    assertOrderFits('tron', { units: 1_000_000n, order_most })
    expect(() => assertOrderFits('tron', { units: 1_000_001n, order_most })).toThrow(/USDT/)
  })

  test('of a day: failed orders do not count, and other rails neither', async () => {
    const customer = await bench.customer({ USDT: 100_000_000n, BRL: 10_000n })
    await bench.transfer(customer, { amount: 10_000_000n })
    const { id } = await bench.transfer(customer, { amount: 20_000_000n })
    await bench.transfer(customer, {
      amount: 30_000_000n,
      network: 'polygon',
      destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    })
    await bench.payout(customer)
    await limit({ day_most: 40_000_000n })
    await limit({ day_most: 1000n }, 'pix')
    const may = (units: bigint, rail: 'pix' | 'tron' = 'tron', world = bench.openNode()) =>
      assertRailAccepts(world, { rail, units }).then(
        () => 'accepted',
        (error) => error.code,
      )
    expect([await may(10_000_000n), await may(10_000_001n)]).toEqual(['accepted', 'rail_unavailable'])
    expect([await may(300n, 'pix'), await may(301n, 'pix')]).toEqual(['accepted', 'rail_unavailable'])
    const refusing = bench.openNode({
      chain: { ...chain, screen: async () => ({ kind: 'refused', rail_code: 'x' }) },
    })
    await transferSteps(refusing, silent).carry((await transferById(refusing.db, id))!)
    expect([await may(30_000_000n), await may(30_000_001n)]).toEqual(['accepted', 'rail_unavailable'])
    // What this node accepted since it read the sum counts at once.
    const node = bench.openNode()
    expect(await may(30_000_000n, 'tron', node)).toBe('accepted')
    countOrder(node, 'tron', 1n)
    expect(await may(30_000_000n, 'tron', node)).toBe('rail_unavailable')
  })
})

describe('a resume by two operators', () => {
  const details = { rail: 'tron', reason: 'fees are right' } as const
  const ana = 'ana@operator.example'
  const bea = 'bea@operator.example'

  test('is written with its proposal, and approved again changes nothing', async () => {
    await pause()
    const { id } = await desk.propose(bench.world, { name: 'resume_rail', details }, ana)
    expect(await desk.approve(bench.world, id, bea)).toMatchObject({ ended: 'done', resource_id: 'tron' })
    expect(await newestRailChanges(1)).toMatchObject([{ proposal_id: id, changed_by: bea }])
    await pause('tron', 'again')
    expect(await bench.world.commit(resumeRail({ ...details, by: bea, proposal_id: id }))).toEqual({
      replayed: true,
    })
    expect(await selectControls(bench.world.db)).toMatchObject([{ paused_reason: 'again' }])
  })

  test('does not end a later pause than the one that was looked at', async () => {
    await pause()
    const stale = await desk.propose(bench.world, { name: 'resume_rail', details }, ana)
    await resume()
    await pause('tron', 'the wallet was robbed')
    await expect(desk.approve(bench.world, stale.id, bea)).rejects.toThrow(/paused again/)
    expect(await isPaused(bench.world, 'tron')).toBe(true)
  })

  test('cannot be proposed for a rail that is not paused', async () => {
    await expect(desk.propose(bench.world, { name: 'resume_rail', details }, ana)).rejects.toThrow(
      /not paused/,
    )
  })
})

test('the history of a rail never changes, and the audit names a control that differs from it', async () => {
  await pause()
  await expect(bench.admin(`UPDATE rail_changes SET reason = 'x'`)).rejects.toThrow(/never changes/)
  await expect(bench.admin('DELETE FROM rail_changes')).rejects.toThrow(/never changes/)
  await bench.admin('UPDATE rail_controls SET paused_at = NULL, paused_by = NULL, paused_reason = NULL')
  expect((await bench.findings()).map(({ check }) => check)).toEqual([
    'the pause and the limits of every rail are those of its last change',
  ])
  await bench.admin(
    `UPDATE rail_controls SET paused_by = 'service', paused_reason = 'fees look wrong', paused_at = (SELECT changed_at FROM rail_changes)`,
  )
})

test('an order that the balance does not cover takes nothing of the wallet from other orders, and is refused as ever', async () => {
  const block = { block_height: 1n, block_hash: '01' }
  const world = bench.openNode({ chain: { ...chain, has_wallet: true } })
  await storeHoldings(world.db, 'tron', {
    ...block,
    wallet: 'simulated',
    asset: 50_000_000n,
    native: 10n ** 18n,
    at_addresses: 0n,
  })
  const [poor, rich] = [
    await bench.customer({ USDT: 40_999_999n }),
    await bench.customer({ USDT: 90_000_000n }),
  ]
  const order = (customer_id: string, idempotency_key: string, amount_net = 40_000_000n) => ({
    order: {
      customer_id,
      asset: 'USDT' as const,
      network: 'tron' as const,
      amount_net,
      destination_address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
      idempotency_key,
      metadata: {},
    },
    claim: claimOf(bench.actor.key_id, TRANSFER_OPERATION, { idempotency_key }),
    bodyOf: ({ code }: Refusal) => JSON.stringify({ error: { code } }),
  })
  /** Orders whose checks are done and whose command is not judged yet. */
  const openHeld = () => {
    const gate = openGate()
    const commit: typeof world.commit = async (command) => {
      await gate.arrive()
      return world.commit(command)
    }
    return { ...gate, world: { ...world, commit } }
  }
  const create = (request: ReturnType<typeof order>, at = world) => createTransfer(at, bench.actor, request)
  const refused = { response: { status: 422, body: '{"error":{"code":"insufficient_balance"}}' } }

  // Stored holdings are read anew every second, and then claims are forgotten.
  const stopped = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  onTestFinished(() => stopped.mockRestore())
  await expect(create(order(poor, 'too much for the wallet', 50_000_001n))).rejects.toMatchObject({
    code: 'rail_unavailable',
  })
  const first = openHeld()
  const uncovered = create(order(poor, 'uncovered'), first.world)
  await first.reached
  const second = openHeld()
  const covered = create(order(rich, 'covered'), second.world)
  await Promise.race([second.reached, covered])
  await expect(create(order(rich, 'beside a claim'))).rejects.toMatchObject({ code: 'rail_unavailable' })
  first.open()
  second.open()
  expect(await uncovered).toMatchObject({ ...refused, replayed: false })
  expect((await covered).response.status).toBe(201)
  expect(await create(order(poor, 'uncovered'))).toMatchObject({ ...refused, replayed: true })
})
