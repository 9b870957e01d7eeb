import { afterEach, expect, onTestFinished } from 'vitest'
import { bitcoinTest as test } from '../../../../test/chains/bitcoin-node.ts'
import { openTestWallet } from '../../../../test/chains/bitcoin-wallet.ts'
import { type CoinsStage, openCoinsStage } from '../../../../test/chains/coins-stage.ts'
import { bookDifference, copyRows } from '../../../../test/support/custody.ts'
import { createDatabase } from '../../../../test/support/database.ts'
import { silent } from '../../../../test/support/rail-bench.ts'
import { until } from '../../../../test/support/wait.ts'
import { perform } from '../../../control/operator/actions.ts'
import { audit } from '../../../ledger/audit.ts'
import { sliceChecks } from '../../../node/worlds.ts'
import { exceptionsAbout } from '../../../records/exceptions/store.ts'
import { isPaused, resumeRail } from '../../custody/controls.ts'
import { reconcile } from '../../custody/reconcile.ts'
import { chainBooks } from '../books.ts'
import { chainOrderOf } from '../order.ts'
import { stepTransfer } from '../settle.ts'
import { transferSteps } from '../steps.ts'
import { transferById } from '../store.ts'
import { attemptsOf, reserveNonce, signedWithinAnHour } from '../transactions.ts'
import { coinsOf } from './store.ts'

const BALANCE = 1_000_000_000n

let stage: CoinsStage
afterEach(async () => {
  expect(await stage.bench.findings()).toEqual([])
  await stage.stop()
})

const differenceNow = async () => (await reconcile(stage.world, 'bitcoin', chainBooks)).difference
const paidTo = async (script: string) => {
  const { total_amount } = await stage.node.call<{ total_amount: number }>('scantxoutset', 'start', [
    `raw(${script})`,
  ])
  return BigInt(Math.round(total_amount * 10 ** 8))
}

test('a transfer reserves coins, is signed, broadcast, mined and confirmed; the miner’s fee is booked', async () => {
  stage = await openCoinsStage({ of_production: true })
  const { bench, world } = stage
  await stage.fund(2)
  expect(await differenceNow()).toBe(0n)
  const recipient = openTestWallet()
  const { id } = await stage.transfer(await bench.customer({ BTC: BALANCE }), 250_000n, recipient.address)
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({ status: 'processing', nonce: 0n })
  const [coin, ...more] = await coinsOf(world.db, id)
  expect(more).toEqual([])
  expect(coin).toMatchObject({ reserved_by: id, spent_by: null })
  await stage.mine()
  await stage.carry(id)
  expect(await stage.now(id), 'one block is not deep enough').toMatchObject({ status: 'processing' })
  expect(await differenceNow()).toBe(0n)
  await stage.mine()
  expect(await differenceNow(), 'mined and not booked').toBe(0n)
  await stage.carry(id)
  const [attempt] = await attemptsOf(world.db, id)
  expect(await stage.now(id)).toMatchObject({
    status: 'confirmed',
    tx_hash: attempt!.tx_hash,
    charged: BigInt(attempt!.terms.fee!),
  })
  expect(await differenceNow(), 'booked').toBe(0n)
  expect(await paidTo(recipient.script)).toBe(250_000n)
  expect(await coinsOf(world.db, id)).toMatchObject([{ spent_by: attempt!.tx_hash }])
})

test('what was signed within the last hour is read for a signer that starts: the coin, the amount and the fee', async () => {
  stage = await openCoinsStage({ of_production: true })
  await stage.fund(1)
  const { id } = await stage.transfer(await stage.bench.customer({ BTC: BALANCE }), 250_000n)
  await stage.carry(id)
  const [coin] = await coinsOf(stage.world.db, id)
  const [attempt] = await attemptsOf(stage.world.db, id)
  expect(await signedWithinAnHour(stage.world.db)).toEqual([
    {
      ...{ network: 'bitcoin', spends: coin!.id, amount: 250_000n, at: attempt!.created_at },
      cost: BigInt(attempt!.terms.fee!),
    },
  ])
})

test('a transfer that the signer does not sign within this hour reserves no coins', async () => {
  stage = await openCoinsStage({ of_production: true, count_per_hour: 1 })
  const { bench, world } = stage
  await stage.fund(2)
  const customer = await bench.customer({ BTC: BALANCE })
  const [first, second] = [await stage.transfer(customer), await stage.transfer(customer)]
  for (const { id } of [first, second]) await stage.carry(id)
  expect(await stage.now(first.id)).toMatchObject({ status: 'processing', nonce: 0n })
  expect(await stage.now(second.id)).toMatchObject({ status: 'pending', nonce: null })
  expect(await coinsOf(world.db, second.id)).toEqual([])
})

test('a second transfer spends the change of the first, which is then neither replaced nor canceled', async () => {
  stage = await openCoinsStage({ replace_after_ms: 0 })
  const { bench, world } = stage
  await stage.fund(1)
  const customer = await bench.customer({ BTC: BALANCE })
  const [first, second] = [await stage.transfer(customer), await stage.transfer(customer)]
  await stage.carry(first.id)
  await stage.carry(second.id)
  expect(await coinsOf(world.db, second.id)).toMatchObject([{ made_by: first.id, block_height: null }])
  expect(await stage.now(second.id)).toMatchObject({ status: 'processing', nonce: 1n })
  await stage.carry(first.id)
  expect(await attemptsOf(world.db, first.id), 'not replaced').toHaveLength(1)
  await stage.carry(second.id)
  expect(await attemptsOf(world.db, second.id), 'the last of the chain is').toHaveLength(2)
  await stage.mine(2)
  for (const { id } of [first, second]) await stage.carry(id)
  for (const { id } of [first, second]) expect(await stage.now(id)).toMatchObject({ status: 'confirmed' })
  expect(await differenceNow()).toBe(0n)
})

test('without coins a transfer waits, and is paid once the wallet is funded', async () => {
  stage = await openCoinsStage()
  const { bench, world } = stage
  await stage.follow()
  const { id } = await stage.transfer(await bench.customer({ BTC: BALANCE }))
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({ status: 'pending', nonce: null })
  await stage.fund(1)
  await stage.node.mine()
  await stage.carry(id)
  expect(await stage.now(id), 'the newest block is not read yet').toMatchObject({ nonce: null })
  await stage.follow()
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({ status: 'processing' })
  expect(await coinsOf(world.db, id)).toHaveLength(1)
})

test('of a replaced payment the older one may be mined: it counts, with its own fee', async () => {
  stage = await openCoinsStage({ replace_after_ms: 0 })
  const { bench, world, node } = stage
  await stage.fund(1)
  const { id } = await stage.transfer(await bench.customer({ BTC: BALANCE }))
  await stage.carry(id)
  await stage.carry(id)
  const [older, newer] = await attemptsOf(world.db, id)
  expect(await stage.rail.knows(newer!.tx_hash)).toBe(true)
  await node.mineOnly([older!.signed])
  await stage.mine()
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({
    status: 'confirmed',
    tx_hash: older!.tx_hash,
    charged: BigInt(older!.terms.fee!),
  })
  expect(await differenceNow()).toBe(0n)
})

test('a block that a reorganisation removes is undone, and the payment counts in the other branch', async () => {
  stage = await openCoinsStage()
  const { bench, world, node } = stage
  await stage.fund(1)
  const { id } = await stage.transfer(await bench.customer({ BTC: BALANCE }))
  await stage.carry(id)
  await stage.mine()
  const { hash } = await node.head()
  expect(await coinsOf(world.db, id)).toMatchObject([{ spent_by: expect.any(String) }])
  await node.invalidate(hash)
  await node.mineOnly()
  await node.mineOnly()
  await stage.follow()
  expect(await coinsOf(world.db, id)).toMatchObject([{ spent_by: null, spent_height: null }])
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({ status: 'processing' })
  await stage.mine(2)
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({ status: 'confirmed' })
  expect(await differenceNow()).toBe(0n)
})

test('a database that was restored from a backup sends nothing before operators have looked', async () => {
  stage = await openCoinsStage()
  const { bench, world } = stage
  await stage.fund(2)
  const customer = await bench.customer({ BTC: BALANCE })
  const [first, second] = [await stage.transfer(customer), await stage.transfer(customer)]
  const copy = await createDatabase()
  onTestFinished(() => copy.drop())
  await copyRows(bench.database.url, copy.url)
  await stage.carry(first.id)
  expect(await stage.now(first.id)).toMatchObject({ status: 'processing' })

  const restored = stage.openOn(copy.url)
  onTestFinished(restored.stop)
  await restored.follow()
  const later = transferSteps(restored.world, silent)
  const carry = async (id: string) => later.carry((await transferById(restored.world.db, id))!)
  const seen = async () => stage.node.call<string[]>('getrawmempool')
  const before = await seen()
  await carry(second.id)
  expect(await isPaused(restored.world, 'bitcoin'), 'its coin is spent in the mempool').toBe(true)
  for (const { id } of [first, second])
    expect(await transferById(restored.world.db, id)).toMatchObject({ status: 'pending', nonce: null })
  const resume = () =>
    perform(restored.world, { name: 'resume_rail', details: { rail: 'bitcoin', reason: 'looked up' } })
  await expect(resume()).rejects.toMatchObject({ details: { reason: 'foreign_transactions_wait' } })

  await stage.mine(2)
  await restored.follow()
  const object_id = `bitcoin:${stage.wallet.address}`
  expect(await exceptionsAbout(restored.world.db, object_id)).toMatchObject([
    { kind: 'foreign_transactions' },
  ])
  expect(await seen()).toEqual([])
  expect(before).toHaveLength(1)
  await perform(restored.world, {
    name: 'resolve_transfer',
    details: { transfer_id: first.id, outcome: 'failed', evidence: 'explorer' },
  })
  await expect(resume(), 'what the unknown transaction paid is not booked').rejects.toMatchObject({
    details: { reason: 'books_differ' },
  })
  await bookDifference(restored.world, 'bitcoin')
  await resume()
  await until(async () => !(await isPaused(restored.world, 'bitcoin')), 20_000)
  await carry(second.id)
  expect(await transferById(restored.world.db, second.id)).toMatchObject({ status: 'processing', nonce: 1n })
  expect((await audit(restored.world.db, sliceChecks)).findings).toEqual([])
  await stage.carry(first.id)
  expect(await stage.now(first.id)).toMatchObject({ status: 'confirmed' })
  expect(await isPaused(world, 'bitcoin')).toBe(false)
})

test('a transaction of another program with the wallet’s key stops the rail, and the transfer whose coin it took stays open', async () => {
  stage = await openCoinsStage()
  const { bench, world, wallet, node } = stage
  const [coin] = await stage.fund(1)
  const { id } = await stage.transfer(await bench.customer({ BTC: BALANCE }))
  await stage.carry(id)
  const foreign = wallet.spend([coin!], [{ script: openTestWallet().script, amount: coin!.amount - 50_000n }])
  await node.mineOnly([foreign])
  expect(await stage.mine()).toMatchObject({ kind: 'at_head', foreign: [expect.any(String)] })
  expect(await isPaused(world, 'bitcoin')).toBe(true)
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({ status: 'processing' })
  expect((await exceptionsAbout(world.db, id)).map(({ kind }) => kind)).toContain('contradiction')
})

test('a cancel spends the coins to the wallet: the customer gets everything back, and the miner’s fee is booked', async () => {
  stage = await openCoinsStage({ of_production: true })
  const { bench, world } = stage
  await stage.fund(1)
  const customer = await bench.customer({ BTC: BALANCE })
  const { id } = await stage.transfer(customer)
  await stage.carry(id)
  const cancel = { kind: 'cancel' } as const
  await world.commit(stepTransfer(world, await stage.now(id), cancel, { by: 'operator' }))
  await stage.carry(id)
  const made = await attemptsOf(world.db, id)
  expect(made.map(({ purpose }) => purpose)).toEqual(['pay', 'cancel'])
  await stage.mine(2)
  expect(await differenceNow(), 'mined and not booked').toBe(0n)
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({
    status: 'failed',
    failure_code: 'canceled',
    charged: BigInt(made[1]!.terms.fee!),
  })
  expect(await bench.balance(customer, 'BTC')).toEqual({ balance: BALANCE, in_transit: 0n })
  expect(await differenceNow(), 'booked').toBe(0n)
})

test('coins that arrive without a custody move are a difference, and dust or the own address is refused', async () => {
  stage = await openCoinsStage()
  const { bench, world, node, wallet } = stage
  const [coin] = await stage.fund(1)
  await node.mine(1, wallet.script)
  await stage.mine(1)
  expect(await differenceNow()).toBe(coin!.amount)
  const customer = await bench.customer({ BTC: BALANCE })
  const dust = await stage.transfer(customer, 293n)
  const own = await stage.transfer(customer, 100_000n, wallet.address)
  for (const { id } of [dust, own]) await stage.carry(id)
  expect(await stage.now(dust.id)).toMatchObject({ status: 'failed', rail_code: 'dust' })
  expect(await stage.now(own.id)).toMatchObject({ status: 'failed', rail_code: 'own_address' })
  expect(await world.chains.bitcoin.finality?.({ block_height: 1n, block_hash: 'ab'.repeat(32) })).toBe(
    'gone',
  )
})

test('nothing is signed for a transfer whose coins a block has spent', async () => {
  stage = await openCoinsStage()
  const { bench, world, wallet, node, chain } = stage
  const [coin] = await stage.fund(1)
  const transfer = await stage.transfer(await bench.customer({ BTC: BALANCE }))
  const state = await chain.wallet()
  const chosen = await chain.chooseCoins!(chainOrderOf(transfer))
  if (chosen.kind !== 'chosen') throw new Error(`no coins: ${chosen.why}`)
  await world.commit(reserveNonce(transfer, state, 10, { coins: chosen.coins }))
  await node.mineOnly([wallet.spend([coin!], [{ script: wallet.script, amount: coin!.amount - 1000n }])])
  await stage.follow()
  await world.commit(resumeRail({ rail: 'bitcoin', by: 'shell', reason: 'for the test', proposal_id: null }))
  const reservation = { wallet: wallet.address, nonce: 0n }
  expect(await chain.attempt(chainOrderOf(transfer), reservation, [], 'pay')).toMatchObject({ kind: 'later' })
})
