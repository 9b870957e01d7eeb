import { afterEach, expect } from 'vitest'
import { chainTest as test } from '../../../test/chains/chain-test.ts'
import { type CustodyStage, openCustodyStage } from '../../../test/support/custody.ts'
import { byTwoOperators } from '../../../test/support/operators.ts'
import { silent } from '../../../test/support/rail-bench.ts'
import { exceptionsAbout } from '../../records/exceptions/store.ts'
import { isPaused } from '../custody/controls.ts'
import { transferSteps } from './steps.ts'
import { attemptsOf } from './transactions.ts'

/** Blocks of a real node vanish after they were deep enough, with transactions by which transfers have ended. */
const DEPTH = 3
/** anvil finalizes the block that is so far below the newest one. */
const FINALIZED = 64
const AMOUNT = 1_500_000n

let custody: CustodyStage
afterEach(async () => {
  expect(await custody.bench.findings()).toEqual([])
  await custody.stop()
})

/** A transfer that is broadcast. */
async function openScene() {
  custody = await openCustodyStage({ confirmations: DEPTH })
  const { bench, world, stage, scene } = custody
  const { carry, compare } = transferSteps(world, silent)
  const { id, destination_address } = await custody.transfer(await bench.customer({ USDT: 50_000_000n }))
  const now = () => bench.transferNow(id)
  await carry(await now())
  return {
    id,
    now,
    node: stage.node,
    carry: async () => carry(await now()),
    compare: (asked = 1) => compare({ resource_id: id, asked }),
    paid: () => scene.token.balanceOf(destination_address),
    blocks: async () => (await attemptsOf(world.db, id)).map(({ block_height }) => block_height),
    exceptions: async () =>
      (await exceptionsAbout(world.db, id)).map(({ kind, closed_reason }) => [kind, closed_reason]),
    async isAsked() {
      const { rows } = await world.db.query('SELECT ask_at IS NOT NULL AS asked FROM follow_ups')
      return rows.map(({ asked }) => asked)
    },
  }
}

async function openConfirmed() {
  const scene = await openScene()
  await scene.node.mine(DEPTH)
  await scene.carry()
  expect(await scene.now()).toMatchObject({ status: 'confirmed' })
  return scene
}

test('a confirmed transfer whose block vanished is broadcast again until it is paid, and the exception closes by itself', async () => {
  const scene = await openConfirmed()
  const { node, compare, exceptions, blocks } = scene
  const before = await blocks()
  await node.reorganize(DEPTH)
  expect([await scene.paid(), await custody.sent()]).toEqual([0n, 0])
  // The last of the scheduled queries: what is not in the chain is asked about for as long as it takes.
  await custody.bench.admin('UPDATE follow_ups SET ask_at = NULL')
  await compare(6)
  expect(await custody.sent(), 'the same bytes are in the pool again').toBe(1)
  expect([await exceptions(), await scene.isAsked()]).toEqual([[['contradiction', null]], [true]])
  expect(await isPaused(custody.world, 'polygon')).toBe(true)

  await node.mine()
  await compare()
  expect(await exceptions(), 'it is mined, and not deep enough').toEqual([['contradiction', null]])
  expect(await blocks()).toEqual(before)
  await node.mine(DEPTH - 1)
  await compare()
  const [height] = await blocks()
  expect(height).toBeGreaterThan(before[0]!)
  expect(await exceptions()).toEqual([
    ['contradiction', expect.stringMatching(new RegExp(`mined again, in block ${height} \\(0x\\w{64}\\)`))],
  ])
  expect([await scene.paid(), (await scene.now()).status]).toEqual([AMOUNT, 'confirmed'])
  expect(await scene.isAsked(), 'the new block may vanish too').toEqual([true])
  await node.mine(FINALIZED)
  await compare()
  expect(await scene.isAsked()).toEqual([false])
  const moved = custody.world.db.query('UPDATE transactions SET block_height = block_height + 1')
  await expect(moved, 'what is finalized stays').rejects.toThrow(/its block is final/)
  expect(await isPaused(custody.world, 'polygon'), 'operators resume the rail').toBe(true)
})

test('a rail that operators resumed stays resumed while the transfer is broadcast again; a second block that vanishes pauses it', async () => {
  const { node, compare, exceptions } = await openConfirmed()
  const resume = () =>
    byTwoOperators(custody.world, { name: 'resume_rail', details: { rail: 'polygon', reason: 'looked up' } })
  await node.reorganize(DEPTH)
  await compare()
  await resume()
  await compare()
  expect(await isPaused(custody.world, 'polygon')).toBe(false)
  await node.mine(DEPTH)
  await compare()
  await node.reorganize(DEPTH)
  await compare()
  expect(await isPaused(custody.world, 'polygon')).toBe(true)
  expect(await exceptions()).toEqual([
    ['contradiction', null],
    ['contradiction', expect.stringContaining('mined again')],
  ])
  await node.mine(DEPTH)
  await compare()
})

test('a vanished transfer whose nonce another transaction took stays an exception for a person, and nothing is sent', async () => {
  const { node, compare, exceptions, now, paid, id } = await openConfirmed()
  await node.reorganize(DEPTH)
  const { scene, world } = custody
  const stranger = scene.order()
  await scene.chain.broadcast(stranger, await scene.sign(stranger))
  await node.mine(DEPTH)
  for (const endpoint of custody.stage.endpoints) endpoint.taken()
  await compare()
  await compare(2)
  const sends = custody.stage.endpoints.flatMap((endpoint) =>
    endpoint.taken().calls.filter(({ method }) => method === 'eth_sendRawTransaction'),
  )
  expect(sends).toEqual([])
  expect(await exceptions()).toEqual([['contradiction', null]])
  const [open] = await exceptionsAbout(world.db, id)
  expect(open?.details.problem).toMatch('its nonce was spent by a transaction that the service did not sign')
  expect([(await now()).status, await paid()]).toEqual(['confirmed', 0n])
})

test('a cancel whose block vanished is broadcast again: the payment that it replaced must not be mined', async () => {
  const { node, carry, compare, now, paid, id, exceptions } = await openScene()
  const details = { transfer_id: id, reason: 'wrong address' }
  await byTwoOperators(custody.world, { name: 'cancel_transfer', details })
  await carry()
  await node.mine(DEPTH)
  await carry()
  expect(await now()).toMatchObject({ status: 'failed', failure_code: 'canceled' })
  await node.reorganize(DEPTH)
  await compare()
  await node.mine(DEPTH)
  await compare()
  expect(await exceptions()).toEqual([['contradiction', expect.stringContaining('mined again')]])
  expect([(await now()).status, await paid()]).toEqual(['failed', 0n])

  // A late cancel is not what the operators asked for.
  const { bench } = custody
  const trigger = (how: string) => `ALTER TABLE transactions ${how} TRIGGER transactions_stay`
  const moved = (by: string) =>
    bench.admin(
      trigger('DISABLE'),
      `UPDATE transactions SET created_at = created_at ${by} interval '1 hour' WHERE purpose = 'cancel'`,
      trigger('ENABLE'),
    )
  await moved('+')
  expect((await bench.findings()).map(({ check }) => check)).toContain(
    'every transaction belongs to a transfer, which shows one of its payments and ends by at most one of them',
  )
  await moved('-')
})

test('a reverted payment whose block vanished never pays later: a cancel takes its nonce, and the exception closes by itself', async () => {
  const { node, carry, compare, now, exceptions, id, paid, isAsked } = await openScene()
  const { tx_hash, destination_address } = await now()
  await node.dropTransaction(tx_hash!)
  await custody.scene.token.setBlackListed(destination_address, true)
  await carry()
  await node.mine(DEPTH)
  await carry()
  expect(await now()).toMatchObject({ status: 'failed', failure_code: 'reverted' })
  await node.reorganize(DEPTH)
  await custody.scene.token.setBlackListed(destination_address, false)
  await compare()
  expect(await exceptions()).toEqual([['contradiction', null]])
  const purposes = async () => (await attemptsOf(custody.world.db, id)).map(({ purpose }) => purpose)
  expect(await purposes()).toEqual(['pay', 'cancel'])
  // The node of the service died before the broadcast, and whoever kept the bytes of the payment sends them.
  const [payment, cancel] = await attemptsOf(custody.world.db, id)
  await node.dropTransaction(cancel!.tx_hash)
  await node.call('eth_sendRawTransaction', payment!.signed)
  await compare()
  await node.mine(DEPTH)
  await compare()
  expect(await purposes(), 'one cancel is enough').toEqual(['pay', 'cancel'])
  expect(await exceptions()).toEqual([['contradiction', expect.stringContaining('mined again')]])
  expect((await attemptsOf(custody.world.db, id)).map(({ block_hash }) => block_hash !== null)).toEqual([
    false,
    true,
  ])
  expect(await now()).toMatchObject({ status: 'failed', failure_code: 'reverted', tx_hash })
  expect(await paid()).toBe(0n)
  await node.mine(FINALIZED)
  await compare()
  expect(await isAsked()).toEqual([false])
})

test('a reverted payment that is mined again without effect needs no cancel any more', async () => {
  const { node, carry, compare, now, exceptions, id } = await openScene()
  const { tx_hash, destination_address } = await now()
  await node.dropTransaction(tx_hash!)
  await custody.scene.token.setBlackListed(destination_address, true)
  await carry()
  await node.mine(DEPTH)
  await carry()
  await node.reorganize(DEPTH)
  await custody.scene.token.setBlackListed(destination_address, true)
  await compare()
  const [payment, cancel] = await attemptsOf(custody.world.db, id)
  await node.dropTransaction(cancel!.tx_hash)
  await node.call('eth_sendRawTransaction', payment!.signed)
  await node.mine(DEPTH)
  await compare()
  expect(await exceptions()).toEqual([['contradiction', expect.stringContaining('mined again')]])
  expect((await attemptsOf(custody.world.db, id)).map(({ block_hash }) => block_hash !== null)).toEqual([
    true,
    false,
  ])
})

test('a canceled transfer whose payment is mined without effect in place of its cancel stays with a person, and the audit finds nothing', async () => {
  const { node, carry, compare, now, paid, id, exceptions } = await openScene()
  const details = { transfer_id: id, reason: 'wrong address' }
  await byTwoOperators(custody.world, { name: 'cancel_transfer', details })
  await carry()
  await node.mine(DEPTH)
  await carry()
  const { destination_address } = await now()
  await node.reorganize(DEPTH)
  await custody.scene.token.setBlackListed(destination_address, true)
  const [payment, cancel] = await attemptsOf(custody.world.db, id)
  await node.dropTransaction(cancel!.tx_hash)
  await node.call('eth_sendRawTransaction', payment!.signed)
  await node.mine(DEPTH)
  await compare()
  expect(await exceptions()).toEqual([['contradiction', null]])
  expect([(await now()).status, await paid()]).toEqual(['failed', 0n])
})
