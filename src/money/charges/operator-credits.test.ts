import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { holdLock, lockWaits } from '../../../test/support/database.ts'
import { type Bench, openBench } from '../../../test/support/rail-bench.ts'
import { money } from '../../core/money.ts'
import { claimOf } from '../../ledger/once.ts'
import { openExceptions } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { operatorCredit } from '../deposits/deposits.ts'
import { acceptCharge } from './charges.ts'
import { bookReceivedReturns } from './deposit-returns.ts'
import { noteReceived } from './received.ts'
import { changeCharge } from './states.ts'
import { type Charge, chargeById, receivedById } from './store.ts'

/** Credits of Pix payments by operators, under the payment's end_to_end_id: a payment is credited once, and each return is told. */
let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(async () => {
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const AMOUNT = 1050n

let count = 0
const payment = (txid?: string, amount = AMOUNT) => ({
  end_to_end_id: `E0000000020261118120${String(++count).padStart(12, '0')}`,
  ...(txid === undefined ? {} : { txid }),
  ...{ amount, paid_at: new Date() },
})

async function openCharge(customer_id: string): Promise<Charge> {
  const key = `c${++count}`
  const order = {
    ...{ customer_id, amount: money('BRL', AMOUNT), expires_in_seconds: 3600, description: null },
    ...{ idempotency_key: key, metadata: {} },
  }
  const claim = claimOf(bench.actor.key_id, 'pix.charge', { idempotency_key: key })
  const request = { order, claim, bodyOf: () => '' }
  const done = await bench.world.commit(acceptCharge(bench.world, bench.actor, request))
  if (done.kind !== 'made') throw new Error(`the charge was ${done.kind}`)
  return bench.world.commit(changeCharge(bench.world, done.made, { to: 'open', br_code: 'code' }))
}

const credit = (customer_id: string, reference: string, units = AMOUNT, asset: 'BRL' | 'USDT' = 'BRL') =>
  bench.world.commit(
    operatorCredit(bench.world, {
      ...{ partner_id: bench.actor.partner_id, customer_id, money: money(asset, units) },
      ...{ reason: 'unknown payment', reference },
    }),
  )

const balance = async (customer_id: string) => (await bench.balance(customer_id, 'BRL'))?.balance ?? 0n
const told = async () =>
  (await openExceptions(bench.world.db, 100)).map(({ kind, object_id }) => [kind, object_id])
const giveBack = (end_to_end_id: string, amount: bigint, id = `D${++count}`) =>
  bookReceivedReturns(bench.world, { end_to_end_id, returns: [{ id, amount, state: 'settled' }] })

test('a payment of a charge, which the service credits itself, cannot be credited by hand too', async () => {
  const customer = await bench.customer({})
  const charge = await openCharge(customer)
  const paid = payment(charge.txid)
  await noteReceived(bench.world, paid)
  await expect(credit(customer, paid.end_to_end_id)).rejects.toThrow(
    `Payment ${paid.end_to_end_id} is of charge ${charge.id}, and the service credits it itself`,
  )
  expect(await balance(customer)).toBe(AMOUNT)
})

test('the audit finds a payment that was credited by the service and by hand', async () => {
  const customer = await bench.customer({})
  const paid = payment((await openCharge(customer)).txid)
  await noteReceived(bench.world, paid)
  const { id } = await credit(customer, 'by hand')
  const rename = (to: string) =>
    bench.admin(
      'SET session_replication_role = replica',
      `UPDATE deposits SET reference = '${to}' WHERE id = '${id}'`,
      `UPDATE claims SET key = '${to}' WHERE resource_id = '${id}'`,
    )
  await rename(paid.end_to_end_id)
  expect(await bench.findings()).toMatchObject([
    { check: 'no Pix payment is credited by the service and by an operator' },
  ])
  await rename('by hand')
})

test('a payment that was credited by hand before the service could read it is not credited again', async () => {
  const customer = await bench.customer({})
  const charge = await openCharge(customer)
  const paid = payment(charge.txid)
  await credit(customer, paid.end_to_end_id)
  for (let i = 0; i < 2; i++) await noteReceived(bench.world, paid)
  expect(await balance(customer)).toBe(AMOUNT)
  expect(await chargeById(bench.world.db, charge.id)).toMatchObject({ status: 'open', amount_received: 0n })
  expect(await receivedById(bench.world.db, paid.end_to_end_id)).toMatchObject({
    ...{ charge_id: null, deposit_id: null, amount: AMOUNT },
  })
  expect(await told()).toEqual([['contradiction', paid.end_to_end_id]])
})

test('an operator and the service that credit one payment at the same instant, to two customers on two nodes, credit it once', async () => {
  const [paying, other] = [await bench.customer({}), await bench.customer({})]
  const charge = await openCharge(paying)
  const paid = payment(charge.txid)
  const node = bench.openNode()
  const release = await holdLock(bench.database.url, 'sandbox.commits')
  const both = Promise.allSettled([credit(other, paid.end_to_end_id), noteReceived(node, paid)])
  // Each of them has read what it decides by, or waits for the other one.
  await vi.waitFor(async () => expect(await lockWaits(bench.database.url)).toBe(2), { timeout: 60_000 })
  await release()
  await both
  expect((await balance(paying)) + (await balance(other))).toBe(AMOUNT)
})

test('an operator whose credit shares a batch with the service’s own credit of a payment is refused', async () => {
  const [paying, other] = [await bench.customer({}), await bench.customer({})]
  const charge = await openCharge(paying)
  const paid = payment(charge.txid)
  const release = await holdLock(bench.database.url, 'sandbox.commits')
  // Both wait in one lane until the batch before them has ended.
  const before = credit(paying, 'another one', 1n)
  await vi.waitFor(async () => expect(await lockWaits(bench.database.url)).toBe(1), { timeout: 60_000 })
  const submitted = vi.fn()
  const commit: World['commit'] = (command) => {
    submitted()
    return bench.world.commit(command)
  }
  const noted = noteReceived(bench.world, paid, { commit })
  await vi.waitFor(() => expect(submitted).toHaveBeenCalled(), { timeout: 60_000 })
  const refused = expect(credit(other, paid.end_to_end_id)).rejects.toThrow(`is of charge ${charge.id}`)
  await release()
  await Promise.all([before, noted, refused])
  expect([await balance(paying), await balance(other)]).toEqual([AMOUNT + 1n, 0n])
})

test('of a payment without a charge operators credit what came in and is still there, and no more', async () => {
  const customer = await bench.customer({})
  const paid = payment()
  const { end_to_end_id } = paid
  await noteReceived(bench.world, paid)
  await expect(credit(customer, end_to_end_id, AMOUNT + 1n)).rejects.toThrow('brought 10.50 BRL')
  await expect(credit(customer, end_to_end_id, 1n, 'USDT')).rejects.toThrow('brought 10.50 BRL')
  await giveBack(end_to_end_id, 1000n)
  await expect(credit(customer, end_to_end_id)).rejects.toThrow('0.50 BRL of it are left')
  expect(await told()).toEqual([['unknown_payment', end_to_end_id]])
  await credit(customer, end_to_end_id, 50n)
  expect(await credit(customer, end_to_end_id, 50n)).toMatchObject({ replayed: true })
  expect(await balance(customer)).toBe(50n)
})

test('a payment without a charge that went back whole is no question any more', async () => {
  const customer = await bench.customer({})
  const paid = payment()
  const { end_to_end_id } = paid
  await noteReceived(bench.world, paid)
  await giveBack(end_to_end_id, AMOUNT)
  expect(await told()).toEqual([])
  await expect(credit(customer, end_to_end_id)).rejects.toThrow('0.00 BRL of it are left')
})

test('a payment that operators credited, and that goes back after all, is told to the desk once', async () => {
  const customer = await bench.customer({})
  const paid = payment()
  const { end_to_end_id } = paid
  await noteReceived(bench.world, paid)
  const { id } = await credit(customer, end_to_end_id)
  for (let i = 0; i < 2; i++) await giveBack(end_to_end_id, AMOUNT, 'D1')
  expect(await told()).toEqual([
    ['contradiction', id],
    ['unknown_payment', end_to_end_id],
  ])
  const [contradiction] = await openExceptions(bench.world.db, 100)
  expect(contradiction!.details).toMatchObject({
    problem: expect.stringContaining('10.50 BRL of it went back'),
    check: expect.stringContaining('debit the customer'),
  })
})

test('a payment that goes back while an operator credits it is told to the desk', async () => {
  const customer = await bench.customer({})
  const paid = payment()
  await noteReceived(bench.world, paid)
  const release = await holdLock(bench.database.url, 'sandbox.commits')
  const credited = credit(customer, paid.end_to_end_id)
  await vi.waitFor(async () => expect(await lockWaits(bench.database.url)).toBe(1), { timeout: 60_000 })
  const done = vi.fn()
  const back = giveBack(paid.end_to_end_id, AMOUNT).finally(done)
  // It waits for the credit; or it has ended without a look at it.
  await vi.waitFor(
    async () => {
      if (done.mock.calls.length === 0) expect(await lockWaits(bench.database.url)).toBe(2)
    },
    { timeout: 60_000 },
  )
  await release()
  await back
  expect(await told()).toContainEqual(['contradiction', (await credited).id])
})

test('another reference, and a payment that nobody has seen, are credited as before', async () => {
  const customer = await bench.customer({})
  await credit(customer, 'transfer of 18 November')
  await credit(customer, payment().end_to_end_id)
  expect(await balance(customer)).toBe(2n * AMOUNT)
})
