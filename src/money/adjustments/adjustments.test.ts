import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asAdmin, seatsAt } from '../../../test/support/database.ts'
import { times } from '../../../test/support/parallel.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { size } from '../../../test/support/size.ts'
import { perform } from '../../control/operator/actions.ts'
import { systemClock } from '../../core/clock.ts'
import { money } from '../../core/money.ts'
import { balanceOf } from '../../ledger/balances.ts'
import { readConfig } from '../../node/config.ts'
import { openWorlds } from '../../node/worlds.ts'
import { addCustomer, blockCustomer } from '../../parties/customers/customers.ts'
import type { World } from '../../world.ts'
import { operatorCredit } from '../deposits/deposits.ts'
import { depositById } from '../deposits/store.ts'
import { debit } from './adjustments.ts'

let service: TestService
let world: World
beforeAll(async () => {
  service = await startTestService()
  world = service.worlds.sandbox
})
afterAll(async () => {
  const { production, sandbox } = await service.audit()
  expect([production.findings, sandbox.findings]).toEqual([[], []])
  await service.stop()
})

let references = 0
const reference = () => `ref-${references++}`

async function newCustomer() {
  const { api, partner_id } = await service.partner()
  const { id } = await addCustomer(world, { partner_id, name: 'Ana', document: someCpf() })
  const order = { partner_id, customer_id: id, reason: 'x' }
  return {
    api,
    id,
    brl: () => balanceOf(world.db, { customer_id: id, asset: 'BRL' }),
    credit: async (units: bigint) => {
      const credit = { ...order, money: money('BRL', units), reference: reference() }
      return (await world.commit(operatorCredit(world, credit))).id
    },
    debit: (units: bigint, under = reference()) =>
      perform(world, {
        name: 'debit',
        details: { ...order, asset: 'BRL', amount: units.toString(), reference: under },
      }),
  }
}
const reverse = (deposit_id: string, under = reference()) =>
  perform(world, { name: 'reverse_credit', details: { deposit_id, reason: 'typed twice', reference: under } })

test('a debit reduces the balance once per reference, and is an adjustment on the statement', async () => {
  const customer = await newCustomer()
  const credit = await customer.credit(1000n)
  const under = reference()
  const first = await customer.debit(300n, under)
  expect(first.id).toMatch(/^adj_/)
  expect(await customer.debit(300n, under)).toMatchObject({
    id: first.id,
    text: expect.stringMatching(/before/),
  })
  await expect(customer.debit(301n, under)).rejects.toThrow(/was used for another adjustment/)
  expect(await customer.brl()).toBe(700n)
  const { json } = await customer.api.get(`/v1/customers/${customer.id}/statement`)
  expect(json.data[0]).toMatchObject({
    amount: '-300',
    balance_after: '700',
    cause: { type: 'adjustment', id: first.id },
  })
  expect(json.data[1]).toMatchObject({ amount: '1000', cause: { type: 'deposit', id: credit } })
})

test('a correction beyond the balance is refused as a whole', async () => {
  const customer = await newCustomer()
  await customer.credit(500n)
  await expect(customer.debit(501n)).rejects.toMatchObject({ code: 'insufficient_balance' })
  await expect(customer.debit(999_999_999_999_999_999n)).rejects.toThrow(/has 5\.00 BRL available/)
  const deposit = await customer.credit(400n)
  await customer.debit(600n)
  const under = reference()
  await expect(reverse(deposit, under)).rejects.toMatchObject({ code: 'insufficient_balance' })
  expect(await customer.brl()).toBe(300n)
  // The refusal did not use up the reference.
  await customer.credit(100n)
  await reverse(deposit, under)
  expect(await customer.brl()).toBe(0n)
})

test('a credit is reversed exactly and once, however many nodes try at once', async () => {
  const customer = await newCustomer()
  const other = openWorlds({
    seats: seatsAt(service.database.url),
    clock: systemClock(),
    log: pino({ level: 'silent' }),
    config: readConfig({}),
    pool: 2,
    logKey: async () => Buffer.alloc(32),
  })
  try {
    for (const _ of times(size(50, 5), (i) => i)) {
      const before = await customer.brl()
      const deposit = await customer.credit(250n)
      await customer.credit(1000n)
      const tries = await Promise.allSettled(
        times(12, (i) =>
          perform(i % 2 ? other.worlds.sandbox : world, {
            name: 'reverse_credit',
            details: { deposit_id: deposit, reason: 'twice', reference: reference() },
          }),
        ),
      )
      expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const tried of tries) {
        if (tried.status === 'rejected') expect(tried.reason.message).toMatch(/was reversed before, by adj_/)
      }
      expect(await customer.brl()).toBe(before + 1000n)
    }
  } finally {
    await other.stop()
  }
  const { json } = await customer.api.get(`/v1/customers/${customer.id}/statement?limit=1`)
  expect(json.data[0]).toMatchObject({ amount: '-250', cause: { type: 'reversal' } })
})

test('test money is reversed to the rail that it came from', async () => {
  const customer = await newCustomer()
  const made = await customer.api.post('/v1/sandbox/deposits', {
    customer_id: customer.id,
    asset: 'BRL',
    amount: '77',
  })
  const { id } = await reverse(made.json.id)
  const { rows } = await world.db.query(
    'SELECT movement, account, owner, amount FROM entries WHERE cause_id = $1 ORDER BY line',
    [id],
  )
  expect(rows).toEqual([
    { movement: 'reversed', account: 'customer', owner: customer.id, amount: -77n },
    { movement: 'reversed', account: 'external:sandbox', owner: '', amount: 77n },
  ])
  await expect(reverse('dep_none')).rejects.toThrow(/No deposit dep_none/)
})

test('a blocked customer can be corrected', async () => {
  const customer = await newCustomer()
  const deposit = await customer.credit(500n)
  await customer.credit(100n)
  await blockCustomer(world, customer.id, 'blocked')
  await customer.debit(100n)
  await reverse(deposit)
  expect(await customer.brl()).toBe(0n)
})

test('concurrent debits never exceed the balance', async () => {
  const customer = await newCustomer()
  await customer.credit(1000n)
  const tries = await Promise.allSettled(times(30, () => customer.debit(90n)))
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(11)
  expect(await customer.brl()).toBe(10n)
})

test('another partner’s customer cannot be debited', async () => {
  const customer = await newCustomer()
  await customer.credit(1000n)
  const { partner_id } = await service.partner()
  const order = {
    partner_id,
    customer_id: customer.id,
    money: money('BRL', 1n),
    reason: 'x',
    reference: reference(),
  }
  await expect(world.commit(debit(world, order))).rejects.toMatchObject({ code: 'customer_not_found' })
})

test('the audit finds every adjustment that differs from its booking', async () => {
  const customer = await newCustomer()
  const deposit = await customer.credit(500n)
  const { id } = await reverse(deposit)
  expect((await depositById(world.db, deposit))?.amount).toBe(500n)
  const tampers: [string, string, RegExp][] = [
    [
      `UPDATE sandbox.adjustments SET amount = amount + 1 WHERE id = '${id}'`,
      `UPDATE sandbox.adjustments SET amount = amount - 1 WHERE id = '${id}'`,
      /booked once and in full/,
    ],
    [
      `UPDATE sandbox.adjustments SET rail = 'pix' WHERE id = '${id}'`,
      `UPDATE sandbox.adjustments SET rail = 'operator' WHERE id = '${id}'`,
      /exact inverse of its deposit/,
    ],
    [
      `UPDATE sandbox.entries SET account = 'external:pix' WHERE cause_id = '${id}' AND account = 'external:operator'`,
      `UPDATE sandbox.entries SET account = 'external:operator' WHERE cause_id = '${id}' AND account = 'external:pix'`,
      /booked once and in full/,
    ],
    [
      `UPDATE sandbox.claims SET resource_id = 'adj_x' WHERE resource_id = '${id}'`,
      `UPDATE sandbox.claims SET resource_id = '${id}' WHERE resource_id = 'adj_x'`,
      /under its reference/,
    ],
  ]
  for (const [tamper, mend, name] of tampers) {
    await asAdmin(service.database.url, [tamper])
    const { sandbox } = await service.audit()
    await asAdmin(service.database.url, [mend])
    expect(sandbox.findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining([expect.stringMatching(name)]),
    )
  }
})
