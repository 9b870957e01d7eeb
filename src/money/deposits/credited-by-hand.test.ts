import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { holdLock, lockWaits } from '../../../test/support/database.ts'
import { type Bench, openBench } from '../../../test/support/rail-bench.ts'
import { money } from '../../core/money.ts'
import { networks } from '../../core/networks.ts'
import { exceptionsAbout } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { reverseCredit } from '../adjustments/adjustments.ts'
import { addDepositAddress } from './addresses.ts'
import { operatorCredit } from './deposits.ts'
import { noteSighting } from './sightings.ts'
import { type Deposit, depositById } from './store.ts'

/** Credits of deposits on chains by operators, under the hash of the transaction: a payment is credited once. */
let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterEach(async () => {
  expect(await bench.findings()).toEqual([])
})
afterAll(async () => {
  await bench.stop()
})

const AMOUNT = 5_000_000n
const SMALL = networks.polygon.deposit_least - 1n
const DEEP = networks.polygon.confirmations

async function paying(amount = AMOUNT) {
  const customer_id = await bench.customer({})
  const { address } = await addDepositAddress(bench.world, bench.actor, { customer_id, network: 'polygon' })
  const tx_hash = `0x${randomBytes(32).toString('hex')}`
  const see = (depth: number, world: World = bench.world, output_index = 0, commit?: World['commit']) =>
    noteSighting(
      world,
      {
        ...{ network: 'polygon', tx_hash, output_index, amount, depth, address: address.address },
        block: { height: 100n, hash: `0x${'1'.repeat(64)}` },
      },
      commit ? { commit } : {},
    ) as Promise<Deposit>
  return { customer_id, tx_hash, see }
}

const credit = (customer_id: string, reference: string, units = AMOUNT, asset: 'BRL' | 'USDT' = 'USDT') =>
  bench.world.commit(
    operatorCredit(bench.world, {
      ...{ partner_id: bench.actor.partner_id, customer_id, money: money(asset, units) },
      ...{ reason: 'by hand', reference },
    }),
  )

const balance = async (customer_id: string) => (await bench.balance(customer_id, 'USDT'))?.balance ?? 0n
const told = async (deposit_id: string) =>
  (await exceptionsAbout(bench.world.db, deposit_id)).map(({ kind, details }) => [
    kind,
    Object(details.rail_says).kind,
  ])

test('a deposit on a chain, which the service credits itself, cannot be credited by hand, in any spelling of its hash', async () => {
  const { customer_id, tx_hash, see } = await paying()
  const { id } = await see(1)
  for (const reference of [tx_hash, tx_hash.slice(2)])
    await expect(credit(customer_id, reference)).rejects.toThrow(
      `Transaction ${reference} paid ${id}, which the service credits itself`,
    )
  const hash = tx_hash.slice(2).toUpperCase()
  for (const reference of [hash, `0x${hash}`, `0X${hash}`])
    await expect(credit(customer_id, reference)).rejects.toThrow('in lower case')
  await see(DEEP)
  await expect(credit(customer_id, tx_hash)).rejects.toThrow('credits itself')
  expect(await balance(customer_id)).toBe(AMOUNT)
})

test('a deposit that was credited by hand before it was found is not credited again, and a person is told once', async () => {
  const { customer_id, tx_hash, see } = await paying()
  const { id: by_hand } = await credit(customer_id, tx_hash)
  await expect(credit(customer_id, tx_hash.slice(2))).rejects.toThrow(`before, as ${by_hand}`)
  const { id } = await see(1)
  expect(await told(id)).toEqual([])
  for (let i = 0; i < 2; i++) expect(await see(DEEP + i)).toMatchObject({ status: 'pending' })
  expect(await balance(customer_id)).toBe(AMOUNT)
  expect(await told(id)).toEqual([['contradiction', 'credited_by_hand']])

  // The operators reverse their credit: the service credits the deposit.
  const deposit = (await depositById(bench.world.db, by_hand))!
  await bench.world.commit(
    reverseCredit(bench.world, { deposit, reason: 'the service credits it', reference: `r${tx_hash}` }),
  )
  expect(await see(DEEP + 2)).toMatchObject({ status: 'completed' })
  expect(await balance(customer_id)).toBe(AMOUNT)
})

test('deposits below the minimum are credited by hand up to their sum, in their asset', async () => {
  const { customer_id, tx_hash, see } = await paying(SMALL)
  await see(DEEP)
  await see(DEEP, bench.world, 1)
  await expect(credit(customer_id, tx_hash, 2n * SMALL + 1n)).rejects.toThrow('Credit no more than the rest')
  await expect(credit(customer_id, tx_hash, 1n, 'BRL')).rejects.toThrow('in USDT')
  await credit(customer_id, tx_hash, SMALL)
  expect(await credit(customer_id, tx_hash, SMALL)).toMatchObject({ replayed: true })
  await expect(credit(customer_id, tx_hash.slice(2), SMALL + 1n)).rejects.toThrow('no more than the rest')
  await credit(customer_id, tx_hash.slice(2), SMALL)
  expect(await see(DEEP + 1)).toMatchObject({ status: 'pending' })
  expect(await balance(customer_id)).toBe(2n * SMALL)
})

test('an operator and the service that credit one deposit at the same instant, to two customers on two nodes, credit it once', async () => {
  const { customer_id, tx_hash, see } = await paying()
  const other = await bench.customer({})
  const node = bench.openNode()
  const release = await holdLock(bench.database.url, 'sandbox.commits')
  const both = Promise.allSettled([credit(other, tx_hash), see(DEEP, node)])
  // Each of them has read what it decides by, or waits for the other one.
  await vi.waitFor(async () => expect(await lockWaits(bench.database.url)).toBe(2), { timeout: 60_000 })
  await release()
  await both
  expect((await balance(customer_id)) + (await balance(other))).toBe(AMOUNT)
})

test('an operator whose credit shares a batch with the first sighting of a deposit is refused', async () => {
  const { customer_id, tx_hash, see } = await paying()
  const other = await bench.customer({})
  const release = await holdLock(bench.database.url, 'sandbox.commits')
  // Both wait in one lane until the batch before them has ended.
  const before = credit(customer_id, `another one ${tx_hash}`, 1n)
  await vi.waitFor(async () => expect(await lockWaits(bench.database.url)).toBe(1), { timeout: 60_000 })
  const submitted = vi.fn()
  const commit: World['commit'] = (command) => {
    submitted()
    return bench.world.commit(command)
  }
  const noted = see(DEEP, bench.world, 0, commit)
  await vi.waitFor(() => expect(submitted).toHaveBeenCalled(), { timeout: 60_000 })
  const refused = expect(credit(other, tx_hash)).rejects.toThrow('which the service credits itself')
  await release()
  await Promise.all([before, noted, refused])
  expect([await balance(customer_id), await balance(other)]).toEqual([AMOUNT + 1n, 0n])
})

test('the audit finds a deposit that was credited by the service and by hand', async () => {
  const { customer_id, tx_hash, see } = await paying()
  await see(DEEP)
  const by_hand = `by hand ${tx_hash}`
  const { id } = await credit(customer_id, by_hand)
  const rename = (to: string) =>
    bench.admin(
      'SET session_replication_role = replica',
      `UPDATE deposits SET reference = '${to}' WHERE id = '${id}'`,
      `UPDATE claims SET key = '${to}' WHERE resource_id = '${id}'`,
    )
  for (const reference of [tx_hash, tx_hash.slice(2).toUpperCase()]) {
    await rename(reference)
    expect(await bench.findings()).toMatchObject([
      { check: 'no payment on a chain is credited by the service and by an operator' },
    ])
  }
  await rename(by_hand)
})
