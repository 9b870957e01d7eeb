import { afterEach, expect, onTestFinished, vi } from 'vitest'
import { bitcoinTest as test } from '../../../../test/chains/bitcoin-node.ts'
import { mineCoins, openTestWallet } from '../../../../test/chains/bitcoin-wallet.ts'
import { type CoinsStage, openCoinsStage } from '../../../../test/chains/coins-stage.ts'
import { copyRows } from '../../../../test/support/custody.ts'
import { createDatabase } from '../../../../test/support/database.ts'
import { silent } from '../../../../test/support/rail-bench.ts'
import { until } from '../../../../test/support/wait.ts'
import { readSigned } from '../../../rails/chain/bitcoin/bytes.ts'
import type { Coin } from '../../../rails/chain/bitcoin/rail.ts'
import type { ChosenCoin } from '../../../rails/chain/rail.ts'
import { isPaused } from '../../custody/controls.ts'
import { findForeignNonces, nextNonceOf, recordForeign, walletIdOf } from '../../custody/wallets.ts'
import { chainBooks } from '../books.ts'
import { chainOrderOf } from '../order.ts'
import { transferSteps } from '../steps.ts'
import { transferById } from '../store.ts'
import { attemptsOf, reserveNonce } from '../transactions.ts'
import { coinIdOf } from './block-effects.ts'
import { coinsOf } from './store.ts'

/** A database that was restored from a backup, while what it forgot is in the mempools only. */
let stage: CoinsStage
afterEach(async () => {
  expect(await stage.bench.findings()).toEqual([])
  await stage.stop()
})

const BALANCE = 1_000_000_000n

/** A wallet with one coin, two transfers, and somebody who will pay the wallet one more coin. */
async function openScene() {
  stage = await openCoinsStage()
  const { bench, node, wallet } = stage
  const somebody = openTestWallet()
  const [theirs] = await mineCoins(node, somebody.script, 1)
  await stage.fund(1)
  const customer = await bench.customer({ BTC: BALANCE })
  const [first, second] = [await stage.transfer(customer), await stage.transfer(customer)]
  const gift = somebody.spend([theirs!], [{ script: wallet.script, amount: theirs!.amount - 1000n }])
  return { first, second, gift }
}

/** The service over a copy of the database as it is now. */
async function openBackup() {
  const copy = await createDatabase()
  onTestFinished(() => copy.drop())
  await copyRows(stage.bench.database.url, copy.url)
  return copy.url
}

/** A new coin is mined without what is in the mempool; then the restored service carries the transfer. */
async function carryRestored(url: string, gift: string, id: string) {
  await stage.node.mineOnly([gift])
  await stage.node.mineOnly()
  const restored = stage.openOn(url)
  onTestFinished(restored.stop)
  await restored.follow()
  const steps = transferSteps(restored.world, silent)
  await steps.carry((await transferById(restored.world.db, id))!)
  expect(await transferById(restored.world.db, id)).toMatchObject({ status: 'pending', nonce: null })
  expect(await isPaused(restored.world, 'bitcoin')).toBe(true)
}

test('a payment that spends change of a known transfer is not made again with another coin', async () => {
  const { first, second, gift } = await openScene()
  await stage.carry(first.id)
  const backup = await openBackup()
  await stage.carry(second.id)
  expect(await coinsOf(stage.world.db, second.id)).toMatchObject([{ made_by: first.id }])
  await carryRestored(backup, gift, second.id)
})

test('the same, where the transfer that made the change was not signed yet', async () => {
  const { first, second, gift } = await openScene()
  const { chain, world } = stage
  const chosen = await chain.chooseCoins!(chainOrderOf(first))
  if (chosen.kind !== 'chosen') throw new Error(`no coins: ${chosen.why}`)
  await world.commit(reserveNonce(first, await chain.wallet(), 10, { coins: chosen.coins }))
  const backup = await openBackup()
  await stage.carry(first.id)
  await stage.carry(second.id)
  expect(await coinsOf(world.db, second.id)).toMatchObject([{ made_by: first.id }])
  await carryRestored(backup, gift, second.id)
})

/** What another program with the wallet's key makes of a coin. */
const spentBySomebody = (coin: Coin): string =>
  stage.wallet.spend([coin], [{ script: openTestWallet().script, amount: coin.amount - 1000n }])

test('a coin that a mempool spends is not passed over for another one, although the mempools were clean a moment before', async () => {
  stage = await openCoinsStage()
  const { bench, chain, node } = stage
  const coins = await stage.fund(2)
  const order = chainOrderOf(await stage.transfer(await bench.customer({ BTC: BALANCE })))
  const { pool } = await chain.wallet()
  const chosen = await chain.chooseCoins!(order)
  if (chosen.kind !== 'chosen') throw new Error(`no coins: ${chosen.why}`)
  const [first] = chosen.coins
  await node.send(spentBySomebody(coins.find((coin) => coinIdOf(coin) === first!.id)!))
  expect(await chain.chooseCoins!(order)).toMatchObject({ kind: 'later', why: 'endpoints_disagree' })
  expect((await chain.wallet()).pool).toBe(pool + 1n)
})

/** From now on the database says that it is another incarnation of itself. */
function promoteStandby(): void {
  const { db } = stage.world
  const query = db.query.bind(db) as (asked: unknown) => Promise<{ rows: unknown[] }>
  vi.spyOn(db, 'query').mockImplementation((async (asked: { text?: string }) =>
    asked.text?.includes('pg_control_system')
      ? { rows: [{ incarnation: 'promoted' }] }
      : query(asked)) as never)
}

test('after a fail-over the mempools are asked again, although they were clean a moment before', async () => {
  stage = await openCoinsStage()
  const { chain, node } = stage
  const [coin] = await stage.fund(2)
  const { pool } = await chain.wallet()
  await node.send(spentBySomebody(coin!))
  expect((await chain.wallet()).pool, 'the mempools are not asked each time').toBe(pool)
  promoteStandby()
  expect(await chain.wallet()).toMatchObject({ pool: pool + 1n, spent_in_pool: [coinIdOf(coin!)] })
})

test('no coin is reserved while a mempool spends another one, although another transfer has taken the next number meanwhile', async () => {
  stage = await openCoinsStage()
  const { bench, chain, node, world } = stage
  const [first] = await stage.fund(3)
  const customer = await bench.customer({ BTC: BALANCE })
  const [transfer, other] = [await stage.transfer(customer), await stage.transfer(customer)]
  const clean = await chain.wallet()
  const { rows } = await world.db.query('SELECT id, amount, script, made_by FROM coins WHERE id <> $1', [
    coinIdOf(first!),
  ])
  await node.send(spentBySomebody(first!))
  const anew = stage.openOn(bench.database.url)
  onTestFinished(anew.stop)
  const taken = await anew.world.chains.bitcoin.wallet()
  expect(taken).toMatchObject({ spent_in_pool: [coinIdOf(first!)] })
  const reserve = (what: typeof transfer, state: typeof clean, coin: unknown) =>
    world.commit(reserveNonce(what, state, 10, { coins: [coin as ChosenCoin] }))
  expect(await reserve(other, clean, rows[0])).toMatchObject({ nonce: clean.pool })
  expect(await reserve(transfer, taken, rows[1])).toMatchObject({ nonce: null })
  expect(
    await reserve(transfer, { ...clean, claimed: clean.pool + 1n, is_unclear: true }, rows[1]),
  ).toMatchObject({
    nonce: null,
  })
})

test('a coin that a mempool spends is not passed over for another one because another transfer has reserved a second coin meanwhile', async () => {
  stage = await openCoinsStage()
  const { bench, chain, rail, world } = stage
  await stage.fund(4)
  const customer = await bench.customer({ BTC: BALANCE })
  const [order, other] = [chainOrderOf(await stage.transfer(customer)), await stage.transfer(customer)]
  const of_two_coins = { ...order, amount: 6_000_000_000n }
  const state = await chain.wallet()
  const ask = rail.outputStates
  rail.outputStates = async (_, outputs) => {
    rail.outputStates = ask
    const [, second] = outputs
    const { rows } = await world.db.query(`SELECT id, amount, script, made_by FROM coins WHERE id = $1`, [
      coinIdOf(second!),
    ])
    await world.commit(reserveNonce(other, state, 10, { coins: rows }))
    return outputs.map(() => 'spent')
  }
  expect(await chain.chooseCoins!(of_two_coins)).toMatchObject({ kind: 'later', why: 'endpoints_disagree' })
})

test('what looks spent once stops payments, and pauses the rail if it looks so again later', async () => {
  stage = await openCoinsStage({ recheck_ms: 10_000 })
  const { bench, chain, node } = stage
  const [coin] = await stage.fund(1)
  const { pool } = await chain.wallet()
  await node.send(spentBySomebody(coin!))
  const anew = stage.openOn(bench.database.url)
  onTestFinished(anew.stop)
  const { bitcoin } = anew.world.chains
  expect(await bitcoin.wallet()).toMatchObject({ pool, claimed: pool + 1n, is_unclear: true })
  await expect(findForeignNonces(anew.world, 'bitcoin', { books: chainBooks })).rejects.toMatchObject({
    sentence: expect.stringContaining('cannot tell at the moment'),
  })
  await until(async () => (await bitcoin.wallet()).pool === pool + 1n, 60_000)
  expect(await bitcoin.wallet()).toMatchObject({ spent_in_pool: [coinIdOf(coin!)] })
})

test('of two foreign transactions in a mempool one is mined and one is not shown any more: the rail is not resumed', async () => {
  stage = await openCoinsStage()
  const { chain, node, rail, world } = stage
  const [first, second] = await stage.fund(2)
  const foreign = spentBySomebody(first!)
  const ask = rail.outputStates
  rail.outputStates = async (_, outputs) => outputs.map(() => 'spent')
  const state = await chain.wallet()
  const next_nonce = await nextNonceOf(world.db, walletIdOf('bitcoin', state.wallet))
  await recordForeign(world, { network: 'bitcoin', state, next_nonce })
  rail.outputStates = ask
  await node.mineOnly([foreign])
  await stage.mineWithout(6)
  const resume = findForeignNonces(world, 'bitcoin', { books: chainBooks })
  await expect(resume).rejects.toMatchObject({
    sentence: expect.stringContaining(`do not show that transaction any more: ${coinIdOf(second!)}.`),
    details: { reason: 'foreign_transactions_wait' },
  })
})

/** How many transactions of the wallet a node of the service finds that the database does not know. It starts now, and has asked nothing before. */
async function unknownNonces(): Promise<bigint> {
  const node = stage.openOn(stage.bench.database.url)
  onTestFinished(node.stop)
  const { pool, wallet } = await node.world.chains.bitcoin.wallet()
  return pool - (await nextNonceOf(node.world.db, walletIdOf('bitcoin', wallet)))
}

/** Somebody spends the change of the newest transaction of this transfer, in the mempool. */
async function spendChangeOf(transfer_id: string): Promise<void> {
  const { node, wallet, world } = stage
  const { signed } = (await attemptsOf(world.db, transfer_id)).at(-1)!
  const { txid, outputs } = readSigned(signed)
  await node.send(signed).catch(() => {})
  const vout = outputs.findIndex(({ script }) => script === wallet.script)
  await node.send(spentBySomebody({ txid, vout, ...outputs[vout]! }))
}

test('a foreign transaction that spends change of a payment stops the rail, although the database has the payment as signed only', async () => {
  const { first } = await openScene()
  stage.rail.broadcast = async () => ({ kind: 'unknown' })
  await stage.carry(first.id)
  expect(await stage.now(first.id)).toMatchObject({ status: 'pending' })
  await spendChangeOf(first.id)
  expect(await unknownNonces()).toBe(1n)
})

test('a foreign transaction that spends unmined change stops the rail, although a transfer without a signature has reserved the change', async () => {
  const { first, second } = await openScene()
  const { chain, world } = stage
  await stage.carry(first.id)
  const chosen = await chain.chooseCoins!(chainOrderOf(second))
  if (chosen.kind !== 'chosen') throw new Error(`no coins: ${chosen.why}`)
  await world.commit(reserveNonce(second, await chain.wallet(), 10, { coins: chosen.coins }))
  expect(await coinsOf(world.db, second.id)).toMatchObject([{ made_by: first.id, block_height: null }])
  await spendChangeOf(first.id)
  expect(await unknownNonces()).toBe(1n)
})

test('no coin is reserved once a block with a foreign transaction is stored, although the chain was asked before it', async () => {
  stage = await openCoinsStage()
  const { bench, chain, node, world } = stage
  const coins = await stage.fund(2)
  const transfer = await stage.transfer(await bench.customer({ BTC: BALANCE }))
  const before = await chain.wallet()
  await node.mineOnly([spentBySomebody(coins[0]!)])
  await stage.follow()
  const chosen = await chain.chooseCoins!(chainOrderOf(transfer))
  if (chosen.kind !== 'chosen') throw new Error(`no coins: ${chosen.why}`)
  expect(chosen.coins).toMatchObject([{ id: coinIdOf(coins[1]!) }])
  const options = { coins: chosen.coins, although_paused: true }
  expect(await world.commit(reserveNonce(transfer, before, 10, options))).toMatchObject({ nonce: null })
})
