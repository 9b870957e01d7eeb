import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestWallet } from '../../../../test/chains/bitcoin-wallet.ts'
import { drawChain, drawTransaction } from '../../../../test/support/drawn-chain.ts'
import { type Bench, openBench } from '../../../../test/support/rail-bench.ts'
import { readSigned } from '../../../rails/chain/bitcoin/bytes.ts'
import type { ChosenCoin } from '../../../rails/chain/rail.ts'
import { addWallet } from '../../custody/wallets.ts'
import { stepTransfer } from '../settle.ts'
import type { Transfer } from '../store.ts'
import { attemptsOf, reserveNonce } from '../transactions.ts'
import { coinIdOf, outpointOf } from './block-effects.ts'
import { follow } from './follower.ts'
import { coinsOf } from './store.ts'

const wallet = openTestWallet()
const STATE = { wallet: wallet.address, final: 0n, final_height: 0n, mined: 0n, pool: 0n, claimed: 0n }

let bench: Bench
let customer: string
beforeAll(async () => {
  bench = await openBench()
  await addWallet(bench.world.db, 'bitcoin', STATE)
  customer = await bench.customer({ BTC: 10n ** 12n })
})
afterAll(async () => {
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const chain = drawChain()
let mined = 0

/** Coins in a new block. */
async function mineCoins(count: number): Promise<ChosenCoin[]> {
  const outputs = Array.from({ length: count }, () => ({ amount: 1_000_000n, script: wallet.script }))
  const paid = drawTransaction(`coins ${mined++}`, { outputs })
  chain.grow([drawTransaction(`miner ${mined}`, {}), paid])
  const db = await bench.world.db.connect()
  try {
    const at = { network: 'bitcoin', wallet_id: `bitcoin:${wallet.address}`, script: wallet.script } as const
    await follow(db, { ...at, rail: chain.rail, start_height: 0n })
  } finally {
    db.release()
  }
  return outputs.map(({ amount, script }, vout) => ({
    ...{ id: coinIdOf({ txid: paid.txid, vout }), amount, script },
    made_by: null,
  }))
}

const order = () =>
  bench.transfer(customer, {
    network: 'bitcoin',
    amount: 10_000n,
    destination_address: openTestWallet().address,
  })
const reserve = (transfer: Transfer, coins: readonly ChosenCoin[]) =>
  bench.world.commit(reserveNonce(transfer, STATE, 1000, { coins }))

/** Signs with the coins of the transfer and stores the transaction. Returns its change. */
async function sign(transfer: Transfer, attempt: number): Promise<ChosenCoin> {
  const coins = (await coinsOf(bench.world.db, transfer.id)).map(({ id, amount, script }) => ({
    ...{ ...outpointOf(id), amount, script },
  }))
  const amount = coins.reduce((sum, coin) => sum + coin.amount, 0n) - 1000n * BigInt(attempt)
  const signed = wallet.spend(coins, [{ script: wallet.script, amount }])
  const { txid } = readSigned(signed)
  const step = { kind: 'signed', attempt, purpose: 'pay', tx_hash: txid, signed, terms: {} } as const
  await bench.world.commit(stepTransfer(bench.world, transfer, step, { by: 'rail' }))
  return {
    id: coinIdOf({ txid, vout: 0 }),
    amount,
    script: wallet.script,
    made_by: transfer.id,
  }
}

const broadcast = (transfer: Transfer) =>
  bench.world.commit(stepTransfer(bench.world, transfer, { kind: 'broadcast' }, { by: 'rail' }))

test('of transfers that want one coin at once a single one gets it, with the next number', async () => {
  const [coin, other] = await mineCoins(2)
  const transfers = await Promise.all(Array.from({ length: 6 }, order))
  const reserved = await Promise.all(transfers.map((transfer) => reserve(transfer, [coin!])))
  const won = reserved.filter((transfer) => transfer?.nonce !== null)
  expect(won).toHaveLength(1)
  expect(await coinsOf(bench.world.db, won[0]!.id)).toMatchObject([{ id: coin!.id }])
  const lost = transfers.find(({ id }) => id !== won[0]!.id)!
  expect(await reserve(lost, [coin!, other!]), 'all of the coins or none').toMatchObject({ nonce: null })
  expect(await reserve(lost, [other!])).toMatchObject({ nonce: won[0]!.nonce! + 1n })
  expect(await reserve(lost, [coin!]), 'reserved once').toMatchObject({ nonce: won[0]!.nonce! + 1n })
  expect(await coinsOf(bench.world.db, lost.id)).toMatchObject([{ id: other!.id }])
})

test('change that is not mined is reserved once; then its maker is not replaced', async () => {
  const [coin] = await mineCoins(1)
  const [maker, second, third] = [await order(), await order(), await order()]
  await reserve(maker, [coin!])
  const change = await sign(maker, 1)
  expect(await reserve(second, [change]), 'no node is known to have it').toMatchObject({ nonce: null })
  await broadcast(maker)
  const both = await Promise.all([second, third].map((transfer) => reserve(transfer, [change])))
  expect(both.filter((transfer) => transfer?.nonce !== null)).toHaveLength(1)
  await sign(maker, 2)
  expect(await attemptsOf(bench.world.db, maker.id)).toHaveLength(1)
})

test('the change of a transfer that was replaced is not reserved, also in one batch with the replacement', async () => {
  const [coin] = await mineCoins(1)
  const [maker, second] = [await order(), await order()]
  await reserve(maker, [coin!])
  const change = await sign(maker, 1)
  await broadcast(maker)
  const [, reserved] = await Promise.all([sign(maker, 2), reserve(second, [change])])
  const made = (await attemptsOf(bench.world.db, maker.id)).length
  expect(made === 2, 'either the replacement or the reservation').toBe(reserved!.nonce === null)
  if (made === 2) expect(await reserve(second, [change])).toMatchObject({ nonce: null })
})

test('the database releases no coin, and changes none', async () => {
  const [coin] = await mineCoins(1)
  const transfer = await order()
  await reserve(transfer, [coin!])
  const change = (sql: string) => bench.world.db.query(`UPDATE coins SET ${sql} WHERE id = $1`, [coin!.id])
  for (const sql of ['reserved_by = NULL', `reserved_by = 'tr_x'`, 'amount = amount + 1', `made_by = 'tr_x'`])
    await expect(change(sql), sql).rejects.toThrow('never changes, and is reserved once')
  await expect(bench.world.db.query('DELETE FROM coins')).rejects.toThrow('permission denied')
})

test('a coin that the database does not know, or that is spent, is not reserved; nor any, once a block has a foreign transaction', async () => {
  const [coin, free] = await mineCoins(2)
  const transfer = await order()
  expect(await reserve(transfer, [{ ...coin!, id: `${'ab'.repeat(32)}:0` }])).toMatchObject({ nonce: null })
  chain.grow([
    drawTransaction(`m ${mined++}`, {}),
    drawTransaction(`foreign ${mined++}`, { inputs: [outpointOf(coin!.id)] }),
  ])
  await mineCoins(1)
  expect(await reserve(transfer, [coin!])).toMatchObject({ nonce: null })
  expect(await reserve(transfer, [free!]), 'the transfer may be what it paid').toMatchObject({ nonce: null })
})
