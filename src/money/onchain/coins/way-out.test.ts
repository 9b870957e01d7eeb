import { afterEach, expect } from 'vitest'
import { bitcoinTest as test } from '../../../../test/chains/bitcoin-node.ts'
import { openTestWallet } from '../../../../test/chains/bitcoin-wallet.ts'
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
}, 120_000)

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
}, 120_000)
