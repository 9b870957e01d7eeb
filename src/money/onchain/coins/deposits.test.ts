import { afterEach, expect } from 'vitest'
import { bitcoinTest as test } from '../../../../test/chains/bitcoin-node.ts'
import { mineCoins, openTestWallet, type TestWallet } from '../../../../test/chains/bitcoin-wallet.ts'
import { type CoinsStage, openCoinsStage, sandboxDepositKeys } from '../../../../test/chains/coins-stage.ts'
import { silent } from '../../../../test/support/rail-bench.ts'
import { networks } from '../../../core/networks.ts'
import type { Db } from '../../../db/pool.ts'
import type { Coin } from '../../../rails/chain/bitcoin/rail.ts'
import { scriptOf } from '../../../rails/chain/bitcoin/transaction.ts'
import { derivedAddresses } from '../../../rails/chain/deposit-addresses.ts'
import { exceptionsAbout } from '../../../records/exceptions/store.ts'
import type { World } from '../../../world.ts'
import { isPaused } from '../../custody/controls.ts'
import { reconcile } from '../../custody/reconcile.ts'
import { addDepositAddress } from '../../deposits/addresses.ts'
import type { Deposit } from '../../deposits/store.ts'
import { chainBooks } from '../books.ts'
import { attemptsOf } from '../transactions.ts'
import { followWithDeposits } from './deposits.ts'
import { coinsOf } from './store.ts'

const { confirmations, deposit_least } = networks.bitcoin
const AMOUNT = 1_000_000n
const FEE = 10_000n

let stage: CoinsStage
let payer: TestWallet
let purse: Coin[]

async function openStage(options: Parameters<typeof openCoinsStage>[0] = {}, coins = 2): Promise<void> {
  stage = await openCoinsStage(options)
  payer = openTestWallet()
  purse = [...(await mineCoins(stage.node, payer.script, coins))]
  await stage.follow()
}

afterEach(async () => {
  expect(await stage.bench.findings()).toEqual([])
  await stage.stop()
})

type Customer = { readonly customer_id: string; readonly address: string; readonly script: string }

async function newCustomer(): Promise<Customer> {
  const { bench, world } = stage
  const customer_id = await bench.customer({})
  const { address } = await addDepositAddress(world, bench.actor, { customer_id, network: 'bitcoin' })
  return { customer_id, address: address.address, script: scriptOf(address.address)! }
}

/** A transaction of somebody outside. The payer's change is the last output. */
function payment(...paid: readonly { readonly script: string; readonly amount: bigint }[]) {
  const coin = purse.pop()!
  const left = paid.reduce((rest, { amount }) => rest - amount, coin.amount) - FEE
  return payer.spend([coin], [...paid, { script: payer.script, amount: left }])
}

const deposits = async (): Promise<readonly Deposit[]> =>
  (await stage.world.db.query(`SELECT * FROM deposits WHERE rail = 'bitcoin' ORDER BY amount, id`)).rows
const eventsOf = async (id: string): Promise<readonly string[]> =>
  (
    await stage.world.db.query(`SELECT type FROM events WHERE object_id = $1 ORDER BY sequence`, [id])
  ).rows.map(({ type }) => type)
const balanceOf = async ({ customer_id }: Customer): Promise<bigint> =>
  (await stage.bench.balance(customer_id, 'BTC'))?.balance ?? 0n
const differenceNow = async () => (await reconcile(stage.world, 'bitcoin', chainBooks)).difference
const isRailPaused = () => isPaused(stage.world, 'bitcoin')

test('a deposit is found in its first block, credited at its depth, once, and the books match the chain at each step', async () => {
  await openStage()
  const ana = await newCustomer()
  await stage.node.send(payment({ script: ana.script, amount: AMOUNT }))
  await stage.follow()
  expect(await deposits(), 'the mempool is not searched').toEqual([])
  await stage.mine()
  const [pending] = await deposits()
  expect(pending).toMatchObject({ status: 'pending', amount: AMOUNT, depth: 1, output_index: 0 })
  expect(pending!.block_hash).toBe((await stage.node.head()).hash)
  expect(await balanceOf(ana)).toBe(0n)
  await stage.follow()
  expect(await deposits(), 'a second look changes nothing').toEqual([pending])
  await stage.mine(confirmations - 1)
  expect(await differenceNow()).toBe(0n)
  await stage.mine(3)
  expect(await deposits()).toMatchObject([{ id: pending!.id, status: 'completed', depth: confirmations }])
  expect(await eventsOf(pending!.id)).toEqual(['deposit.pending', 'deposit.completed'])
  expect(await balanceOf(ana)).toBe(AMOUNT)
  expect(await differenceNow()).toBe(0n)
  const { asset, at_addresses } = await stage.chain.holdings()
  expect({ asset, at_addresses }, 'without the key nothing of it can be paid out').toEqual({
    ...{ asset: 0n, at_addresses: AMOUNT },
  })
})

test('outputs of one transaction are deposits of their own; one below the minimum is not credited, and is no difference', async () => {
  await openStage()
  const [ana, bia] = [await newCustomer(), await newCustomer()]
  const small = deposit_least - 1n
  const outputs = [
    { script: ana.script, amount: AMOUNT },
    { script: bia.script, amount: small },
    { script: ana.script, amount: 2n * AMOUNT },
    { script: bia.script, amount: deposit_least },
  ]
  await stage.node.send(payment(...outputs))
  await stage.mine(10)
  expect(await deposits()).toMatchObject([
    { output_index: 1, amount: small, status: 'pending', below_minimum: true },
    { output_index: 3, amount: deposit_least, status: 'completed' },
    { output_index: 0, amount: AMOUNT, status: 'completed' },
    { output_index: 2, amount: 2n * AMOUNT, status: 'completed' },
  ])
  expect([await balanceOf(ana), await balanceOf(bia)]).toEqual([3n * AMOUNT, deposit_least])
  expect(await differenceNow()).toBe(0n)
  const before = await deposits()
  await stage.mine(3)
  expect(await deposits(), 'what is deep enough is not written again').toEqual(before)
  expect(await differenceNow()).toBe(0n)
})

/** Takes the newest blocks out of the chain, with what is in them. */
async function forgetBlocks(count: number): Promise<void> {
  const { height } = await stage.node.head()
  await stage.node.invalidate(await stage.node.call<string>('getblockhash', height - count + 1))
}

test.each([1, 2, 3, 4, 5, 6])(
  'a reorganisation of %s blocks: what is mined again stays one deposit, what is not is never credited',
  async (depth) => {
    await openStage({}, 3)
    const { node } = stage
    const [ana, bia, caio] = [await newCustomer(), await newCustomer(), await newCustomer()]
    const is_deep = depth >= confirmations
    const late = payment({ script: ana.script, amount: AMOUNT })
    const lost = payment({ script: bia.script, amount: AMOUNT + 1n })
    const old = payment({ script: caio.script, amount: AMOUNT + 2n })
    // Credited; its block goes too where it is not below the ones that go.
    await node.mineOnly([old])
    await node.mine(is_deep ? depth - 2 : confirmations)
    await node.mineOnly([late, lost])
    await stage.follow()
    const before = await deposits()
    expect(before.map(({ status }) => status)).toEqual(['pending', 'pending', 'completed'])
    await forgetBlocks(depth)
    // Another branch that is longer, without any of them.
    for (let made = 0; made <= depth; made++) await node.mineOnly([])
    await stage.follow()
    const dropped = await deposits()
    expect(dropped.slice(0, 2)).toMatchObject([{ status: 'dropped' }, { status: 'dropped' }])
    expect([await balanceOf(ana), await balanceOf(bia)]).toEqual([0n, 0n])
    expect(await isRailPaused(), 'only a credit that lost its block stops the rail').toBe(is_deep)
    expect(await exceptionsAbout(stage.world.db, before[2]!.id)).toHaveLength(is_deep ? 1 : 0)
    expect(await differenceNow()).toBe(is_deep ? -(AMOUNT + 2n) : 0n)
    // One comes back; the payer spends the coin of the other one elsewhere.
    await node.mineOnly([late, ...(is_deep ? [old] : [])])
    await stage.mineWithout(confirmations)
    const [again, never, credited] = await deposits()
    expect(again).toMatchObject({ id: before[0]!.id, status: 'completed' })
    expect(await eventsOf(again!.id)).toEqual([
      ...['deposit.pending', 'deposit.dropped', 'deposit.pending', 'deposit.completed'],
    ])
    expect(never).toMatchObject({ id: before[1]!.id, status: 'dropped' })
    expect(credited).toMatchObject({ id: before[2]!.id, status: 'completed' })
    expect([await balanceOf(ana), await balanceOf(bia), await balanceOf(caio)]).toEqual([
      ...[AMOUNT, 0n, AMOUNT + 2n],
    ])
    expect(await exceptionsAbout(stage.world.db, before[2]!.id)).toHaveLength(is_deep ? 1 : 0)
    expect(await differenceNow()).toBe(0n)
  },
  120_000,
)

async function onOneConnection<T>(work: (db: Db) => Promise<T>): Promise<T> {
  const db = await stage.world.db.connect()
  try {
    return await work(db)
  } finally {
    db.release()
  }
}

test('a crash after a block, or after a deposit was told, repeats the report and credits once', async () => {
  await openStage()
  const ana = await newCustomer()
  await stage.node.mineOnly([payment({ script: ana.script, amount: AMOUNT })])
  await stage.node.mine(confirmations)
  await onOneConnection((db) => stage.chain.follow(db))
  expect(await deposits(), 'the block is stored, and the process ends').toEqual([])
  await stage.follow()
  const [credited] = await deposits()
  expect(credited).toMatchObject({ status: 'completed' })
  await stage.bench.admin('UPDATE coins SET is_reported = false WHERE address_index IS NOT NULL')
  await stage.follow()
  await stage.mine()
  expect(await deposits()).toEqual([credited])
  expect(await balanceOf(ana)).toBe(AMOUNT)
  expect(await eventsOf(credited!.id)).toEqual(['deposit.pending', 'deposit.completed'])
})

test('two nodes that follow and report at once make one deposit, and one credit', async () => {
  await openStage()
  const [ana, bia] = [await newCustomer(), await newCustomer()]
  const second = stage.openOn(stage.bench.database.url)
  try {
    const outputs = [ana, bia].flatMap(({ script }) => [1n, 2n].map((n) => ({ script, amount: n * AMOUNT })))
    await stage.node.mineOnly([payment(...outputs)])
    for (let block = 0; block < confirmations + 1; block++) {
      await Promise.all([stage.follow(), second.follow(), stage.follow(), second.follow()])
      await stage.node.mineOnly([])
    }
  } finally {
    await second.stop()
  }
  expect(await deposits()).toHaveLength(4)
  for (const { id } of await deposits())
    expect(await eventsOf(id)).toEqual(['deposit.pending', 'deposit.completed'])
  expect([await balanceOf(ana), await balanceOf(bia)]).toEqual([3n * AMOUNT, 3n * AMOUNT])
})

test('a node that read a coin before a reorganisation, and reports after it, credits nothing', async () => {
  await openStage()
  const { node, world, chain } = stage
  const ana = await newCustomer()
  await node.mineOnly([payment({ script: ana.script, amount: AMOUNT })])
  await node.mine(confirmations - 1)
  // The second node undoes the block right before the commit of the first one.
  const slow: World = {
    ...world,
    async commit(command) {
      await forgetBlocks(confirmations)
      await stage.mineWithout(confirmations + 1)
      return world.commit(command)
    },
  }
  await onOneConnection((db) => followWithDeposits(slow, chain, silent)(db))
  expect(await deposits()).toEqual([])
  await stage.mineWithout(1)
  expect(await deposits()).toEqual([])
  expect(await balanceOf(ana)).toBe(0n)
})

test('a reward of a miner to a deposit address is credited when it can be spent', async () => {
  await openStage()
  const ana = await newCustomer()
  await stage.node.mine(1, ana.script)
  await stage.mine(98)
  expect(await deposits()).toMatchObject([{ status: 'pending', depth: confirmations - 1 }])
  await stage.mine(1)
  const [credited] = await deposits()
  expect(credited).toMatchObject({ status: 'completed', depth: 100 })
  expect(await balanceOf(ana)).toBe(credited!.amount)
  expect(await differenceNow()).toBe(0n)
})

test('a transfer spends coins of two customers and of the wallet together, is replaced by a higher fee, and is confirmed', async () => {
  await openStage({ of_production: true, has_deposit_keys: true, replace_after_ms: 0 })
  const { bench, world, rates } = stage
  const [own] = await stage.fund(1)
  const [ana, bia] = [await newCustomer(), await newCustomer()]
  const most = purse[0]!.amount / 2n
  await stage.node.send(payment({ script: ana.script, amount: most }))
  await stage.node.send(payment({ script: bia.script, amount: most + 1n }))
  await stage.mine(confirmations)
  expect(await differenceNow()).toBe(0n)
  const { asset, at_addresses } = await stage.chain.holdings()
  expect({ asset, at_addresses }).toEqual({ asset: own!.amount + 2n * most + 1n, at_addresses: 0n })
  const recipient = openTestWallet()
  const amount = own!.amount + 2n * most - 50_000n
  const { id } = await stage.transfer(await bench.customer({ BTC: 2n * amount }), amount, recipient.address)
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({ status: 'processing' })
  expect((await coinsOf(world.db, id)).map(({ address_index }) => address_index).sort()).toEqual([0, 1, null])
  rates.fallback = 10_000n
  await stage.carry(id)
  const made = await attemptsOf(world.db, id)
  expect(made).toHaveLength(2)
  await stage.mine(1)
  expect(await differenceNow()).toBe(0n)
  await stage.mine(1)
  expect(await differenceNow(), 'mined and not booked').toBe(0n)
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({ status: 'confirmed', tx_hash: made[1]!.tx_hash })
  expect(await differenceNow(), 'booked').toBe(0n)
  expect([await balanceOf(ana), await balanceOf(bia)]).toEqual([most, most + 1n])
})

test('without the deposit key a transfer waits for the wallet, and spends no coin of a customer’s address', async () => {
  await openStage({ of_production: true })
  const ana = await newCustomer()
  await stage.node.send(payment({ script: ana.script, amount: AMOUNT }))
  await stage.mine(confirmations + 1)
  const { id } = await stage.transfer(await stage.bench.customer({ BTC: AMOUNT * 10n }), AMOUNT / 2n)
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({ status: 'pending', nonce: null })
  await stage.fund(1)
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({ status: 'processing' })
  expect(await coinsOf(stage.world.db, id)).toMatchObject([{ address_index: null }])
})

test('a coin that is not final, or costs more than it brings, is not spent', async () => {
  await openStage({ of_production: true, has_deposit_keys: true })
  const [ana, bia] = [await newCustomer(), await newCustomer()]
  await stage.node.mineOnly([
    payment({ script: ana.script, amount: 400n }, { script: bia.script, amount: 60_000n }),
  ])
  await stage.mineWithout(confirmations - 1)
  await stage.node.mineOnly([payment({ script: ana.script, amount: AMOUNT })])
  await stage.follow()
  stage.rates.fallback = 6_000n
  const { id } = await stage.transfer(await stage.bench.customer({ BTC: AMOUNT * 10n }), 59_500n)
  await stage.carry(id)
  expect(await stage.now(id), 'the third coin is in one block only').toMatchObject({ nonce: null })
  await stage.mineWithout(1)
  await stage.carry(id)
  expect(await coinsOf(stage.world.db, id)).toMatchObject([{ amount: AMOUNT }])
})

test('a transfer to a deposit address of a customer leaves the books as a payment, and enters them as a deposit', async () => {
  await openStage({ of_production: true, has_deposit_keys: true })
  const { bench, world } = stage
  await stage.fund(1)
  const ana = await newCustomer()
  const { id } = await stage.transfer(await bench.customer({ BTC: AMOUNT * 10n }), AMOUNT, ana.address)
  await stage.carry(id)
  await stage.mine(1)
  expect(await differenceNow()).toBe(0n)
  expect(await deposits()).toMatchObject([{ status: 'pending', amount: AMOUNT, address: ana.address }])
  await stage.mine(1)
  expect(await differenceNow(), 'credited, and the transfer is not booked').toBe(0n)
  await stage.carry(id)
  expect(await stage.now(id)).toMatchObject({ status: 'confirmed' })
  expect(await balanceOf(ana)).toBe(AMOUNT)
  expect(await differenceNow()).toBe(0n)
  const { rows } = await world.db.query('SELECT made_by FROM coins WHERE address_index IS NOT NULL')
  expect(rows, 'the payment is no change').toEqual([{ made_by: null }])
  // The customer's coin pays the next transfer, whatever became of the first one.
  const next = await stage.transfer(await bench.customer({ BTC: AMOUNT * 10n }), AMOUNT / 2n)
  await stage.carry(next.id)
  expect(await coinsOf(world.db, next.id)).toMatchObject([{ address_index: 0, amount: AMOUNT }])
})

/** BIP 32, test vector 1. */
const OTHER_XPUB =
  'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8'

test('with another key than that of the stored addresses the rail is paused, and no address is handed out', async () => {
  await openStage()
  const ana = await newCustomer()
  const { world, bench, chain } = stage
  const customer_id = await bench.customer({})
  const wrong = { ...world, deposit_addresses: derivedAddresses('sandbox', { bitcoin: OTHER_XPUB }) }
  await expect(addDepositAddress(wrong, bench.actor, { customer_id, network: 'bitcoin' })).rejects.toThrow(
    /not derived from the key/,
  )
  expect(await isRailPaused()).toBe(false)
  await stage.node.send(payment({ script: ana.script, amount: AMOUNT }))
  await stage.node.mine(confirmations)
  await onOneConnection((db) => followWithDeposits(wrong, chain, silent)(db))
  expect(await isRailPaused()).toBe(true)
  expect(await balanceOf(ana), 'what arrives is credited all the same').toBe(AMOUNT)
})

test('a wallet that is a deposit address too is not followed: its change would be credited', async () => {
  await openStage({ wallet_key: sandboxDepositKeys().secretAt(0) })
  await newCustomer()
  await stage.node.mine(1, stage.wallet.script)
  await expect(stage.follow()).rejects.toThrow(/is a deposit address too, at index 0/)
  expect(await deposits()).toEqual([])
})

test('a version that does not look for deposits cannot store blocks once an address is handed out', async () => {
  await openStage()
  const insert = () =>
    stage.world.db.query(
      `INSERT INTO blocks (network, height, hash, parent_hash) VALUES ('bitcoin', 9999999, 'x', 'y')`,
    )
  await insert()
  await stage.bench.admin('DELETE FROM blocks WHERE height = 9999999')
  await newCustomer()
  await expect(insert()).rejects.toThrow(/only a version that looks for deposits/)
})

test('the audit names a coin at a deposit address with another script, index or end than its deposit', async () => {
  await openStage()
  const [ana, bia] = [await newCustomer(), await newCustomer()]
  await stage.node.send(
    payment({ script: ana.script, amount: AMOUNT }, { script: bia.script, amount: AMOUNT }),
  )
  await stage.mine(confirmations - 1)
  const names = async (change: string, restore: string) => {
    const set = (values: string) =>
      stage.bench.admin(
        'SET session_replication_role = replica',
        `UPDATE coins SET ${values} WHERE id LIKE '%:0'`,
      )
    await set(change)
    const found = (await stage.bench.findings()).map(({ check }) => check)
    await set(restore)
    return found
  }
  const check = 'every coin at a deposit address has its script, and the deposit that follows from it'
  expect(await stage.bench.findings()).toEqual([])
  expect(await names('is_reported = true', 'is_reported = false')).toContain(check)
  expect(await names('address_index = 1', 'address_index = 0')).toContain(check)
  expect(await names('address_index = 7', 'address_index = 0')).toContain(check)
  expect(await names('address_index = NULL', 'address_index = 0')).toContain(check)
  expect(await names('amount = amount + 1', 'amount = amount - 1')).toContain(check)
  expect(await names(`script = '${bia.script}'`, `script = '${ana.script}'`)).toContain(check)
  await stage.mine(1)
})
