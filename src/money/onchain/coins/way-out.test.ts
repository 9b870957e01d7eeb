import { afterEach, expect } from 'vitest'
import { bitcoinTest as test } from '../../../../test/chains/bitcoin-node.ts'
import { mineCoins, openTestWallet } from '../../../../test/chains/bitcoin-wallet.ts'
import { type CoinsStage, openCoinsStage } from '../../../../test/chains/coins-stage.ts'
import { bookDifference } from '../../../../test/support/custody.ts'
import { until } from '../../../../test/support/wait.ts'
import { perform } from '../../../control/operator/actions.ts'
import { isPaused } from '../../custody/controls.ts'
import { chainOrderOf } from '../order.ts'
import { attemptsOf, reserveNonce } from '../transactions.ts'
import { coinsOf } from './store.ts'

/** States of a transfer on Bitcoin that neither the chain nor the service ends by itself. */
const BALANCE = 1_000_000_000n

let stage: CoinsStage
afterEach(async () => {
  expect(await stage.bench.findings()).toEqual([])
  await stage.stop()
})

const cancel = (transfer_id: string) =>
  perform(stage.world, { name: 'cancel_transfer', details: { transfer_id, reason: 'for the test' } })
const resolveFailed = (transfer_id: string) =>
  perform(stage.world, {
    name: 'resolve_transfer',
    details: { transfer_id, outcome: 'failed', evidence: 'explorer' },
  })
const resume = () =>
  perform(stage.world, { name: 'resume_rail', details: { rail: 'bitcoin', reason: 'looked up' } })

test('a payment whose cancel is impossible is broadcast again when the nodes have dropped it', async () => {
  stage = await openCoinsStage({ of_production: true })
  const { bench, world, node } = stage
  await stage.fund(1)
  const customer = await bench.customer({ BTC: BALANCE })
  const [first, second] = [await stage.transfer(customer), await stage.transfer(customer)]
  for (const { id } of [first, second]) await stage.carry(id)
  expect(await coinsOf(world.db, second.id)).toMatchObject([{ made_by: first.id }])
  await cancel(first.id)
  await stage.carry(first.id)
  expect(await attemptsOf(world.db, first.id)).toHaveLength(1)
  await node.restart(['-persistmempool=0'])
  await node.mine(1)
  await stage.follow()
  for (const { id } of [first, second]) await stage.carry(id)
  expect(await node.call<string[]>('getrawmempool')).toHaveLength(2)
  await stage.mine(2)
  for (const { id } of [first, second]) {
    await stage.carry(id)
    expect(await stage.now(id)).toMatchObject({ status: 'confirmed' })
  }
})

test('a stranger spends the coin of a transfer that is not signed: operators cancel it and give the money back', async () => {
  stage = await openCoinsStage({ of_production: true })
  const { bench, world, wallet, node, chain } = stage
  const [coin] = await stage.fund(1)
  const customer = await bench.customer({ BTC: BALANCE })
  const transfer = await stage.transfer(customer)
  const state = await chain.wallet()
  const chosen = await chain.chooseCoins!(chainOrderOf(transfer))
  if (chosen.kind !== 'chosen') throw new Error(`no coins: ${chosen.why}`)
  await world.commit(reserveNonce(transfer, state, 10, { coins: chosen.coins }))
  const { script } = openTestWallet()
  await node.mineOnly([wallet.spend([coin!], [{ script, amount: coin!.amount - 1000n }])])
  await stage.mine(2)
  await stage.carry(transfer.id)
  await expect(resolveFailed(transfer.id)).rejects.toThrow('Cancel the transfer')
  await cancel(transfer.id)
  await bookDifference(world, 'bitcoin')
  await resume()
  await until(async () => !(await isPaused(world, 'bitcoin')), 20_000)
  await stage.carry(transfer.id)
  await resolveFailed(transfer.id)
  expect(await stage.now(transfer.id)).toMatchObject({ status: 'failed', failure_code: 'canceled' })
  expect(await bench.balance(customer, 'BTC')).toEqual({ balance: BALANCE, in_transit: 0n })
})

test('a coin that is left over by a transfer whose other coin a stranger spent is freed by moving it to the wallet by hand', async () => {
  stage = await openCoinsStage({ of_production: true })
  const { bench, world, wallet, node } = stage
  const [coin, left] = await stage.fund(2)
  const customer = await bench.customer({ BTC: 10n * BALANCE })
  const { id } = await stage.transfer(customer, coin!.amount + 100_000n)
  await stage.carry(id)
  expect(await coinsOf(world.db, id)).toHaveLength(2)
  const { script } = openTestWallet()
  await node.mineOnly([wallet.spend([coin!], [{ script, amount: coin!.amount - 1000n }])])
  await stage.mine(2)
  await stage.carry(id)
  await resolveFailed(id)
  expect(await bench.findings(), 'one coin of the two is spent, and no payment was made').toEqual([])
  const second = await stage.transfer(customer)
  await bookDifference(world, 'bitcoin')
  await resume()
  await until(async () => !(await isPaused(world, 'bitcoin')), 20_000)
  await stage.carry(second.id)
  expect(await stage.now(second.id), 'the coin is kept for a payment that was signed').toMatchObject({
    nonce: null,
  })

  await node.mineOnly([wallet.spend([left!], [{ script: wallet.script, amount: left!.amount - 1000n }])])
  await stage.mine(2)
  await bookDifference(world, 'bitcoin')
  await resume()
  await until(async () => !(await isPaused(world, 'bitcoin')), 20_000)
  await stage.carry(second.id)
  expect(await stage.now(second.id)).toMatchObject({ status: 'processing' })
})

/** Two transactions for the first transfer, and none for the second, which has no other coin than the change of the first. */
async function replacedOnce() {
  stage = await openCoinsStage({ replace_after_ms: 0 })
  await stage.fund(1)
  const customer = await stage.bench.customer({ BTC: BALANCE })
  const [first, second] = [await stage.transfer(customer), await stage.transfer(customer)]
  await stage.carry(first.id)
  await stage.carry(first.id)
  const [older, newer] = await attemptsOf(stage.world.db, first.id)
  return { customer, first, second, older: older!, newer: newer! }
}

test('the change of a transfer with several transactions is chosen when its block is final, not before', async () => {
  const { second, newer } = await replacedOnce()
  await stage.node.mineOnly([newer.signed])
  await stage.follow()
  await stage.carry(second.id)
  expect(await stage.now(second.id), 'the older one may be mined instead').toMatchObject({ nonce: null })
  await stage.mine(1)
  await stage.carry(second.id)
  expect(await stage.now(second.id)).toMatchObject({ status: 'processing' })
})

test('a coin that somebody paid to the wallet is chosen when its block is final, not before', async () => {
  stage = await openCoinsStage()
  const { bench, node, wallet } = stage
  const somebody = openTestWallet()
  const [coin] = await mineCoins(node, somebody.script, 1)
  const gift = somebody.spend([coin!], [{ script: wallet.script, amount: coin!.amount - 1000n }])
  await node.mineOnly([gift])
  await stage.follow()
  const { id } = await stage.transfer(await bench.customer({ BTC: BALANCE }))
  await stage.carry(id)
  expect(await stage.now(id), 'whoever paid it may take it back').toMatchObject({ nonce: null })
  await stage.mine(1)
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({ status: 'processing' })
})

test('a reorganisation takes the coin of a transfer away for good: operators give the money back', async () => {
  const { customer, first, second, older, newer } = await replacedOnce()
  const { node, bench, world } = stage
  const replaced = await node.mineOnly([newer.signed])
  await stage.mine(1)
  await stage.carry(second.id)
  const third = await stage.transfer(customer)
  await stage.carry(third.id)
  expect(await coinsOf(world.db, third.id)).toMatchObject([{ made_by: second.id }])
  await node.invalidate(replaced)
  await node.mineOnly([older.signed])
  await stage.mine(2)
  await stage.carry(second.id)
  await expect(resolveFailed(second.id), 'the block may vanish again').rejects.toThrow('can still be mined')
  await stage.mine(4)
  await stage.carry(first.id)
  expect(await stage.now(first.id)).toMatchObject({ status: 'confirmed', tx_hash: older.tx_hash })
  for (const { id } of [second, third]) {
    await stage.carry(id)
    expect(await isPaused(world, 'bitcoin')).toBe(true)
    await resolveFailed(id)
    expect(await stage.now(id)).toMatchObject({ status: 'failed' })
  }
  const { in_transit } = await bench.balance(customer, 'BTC')
  expect(in_transit).toBe(0n)
})
