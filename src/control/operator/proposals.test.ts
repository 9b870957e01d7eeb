import { afterAll, beforeAll, expect, test } from 'vitest'
import { asAdmin } from '../../../test/support/database.ts'
import { openDesk } from '../../../test/support/operators.ts'
import { inParallel, times } from '../../../test/support/parallel.ts'
import { countsIn, noteFact } from '../../../test/support/proof.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { size } from '../../../test/support/size.ts'
import { sqlState } from '../../db/failure.ts'
import { balanceOf } from '../../ledger/balances.ts'
import { addCustomer, blockCustomer } from '../../parties/customers/customers.ts'
import type { World } from '../../world.ts'
import { describeProposal } from './description.ts'

const { approve, expireProposals, findProposal, listProposals, propose, reject, withdraw } = openDesk(
  () => service.office,
)

let service: TestService
let world: World
let partner_id: string
beforeAll(async () => {
  service = await startTestService()
  world = service.worlds.production
  partner_id = (await service.partner()).partner_id
})
afterAll(async () => {
  const { production, sandbox } = await service.audit()
  expect([production.findings, sandbox.findings]).toEqual([[], []])
  await service.stop()
})

const [ana, bea, eva] = ['ana@operator.example', 'bea@operator.example', 'eva@operator.example'] as const
let references = 0

async function newCustomer(): Promise<string> {
  return (await addCustomer(world, { partner_id, name: 'Rita Lima', document: someCpf() })).id
}
const booking = (customer_id: string, amount = '700') =>
  ({
    partner_id,
    customer_id,
    asset: 'BRL',
    amount,
    reason: 'wire 8841',
    reference: `r-${references++}`,
  }) as const
const proposeCredit = async (customer_id: string, amount?: string) =>
  (await propose(world, { name: 'credit', details: booking(customer_id, amount) }, ana)).id
const proposeDebit = async (customer_id: string, amount?: string) =>
  (await propose(world, { name: 'debit', details: booking(customer_id, amount) }, ana)).id
const brl = (customer_id: string) => balanceOf(world.db, { customer_id, asset: 'BRL' })
const expireAt = (id: string, time: Date) =>
  asAdmin(service.database.url, [
    'SET session_replication_role = replica',
    `UPDATE live.proposals SET expires_at = '${time.toISOString()}' WHERE id = '${id}'`,
  ])
const letTimePass = (id: string) => expireAt(id, new Date(Date.now() - 60_000))

test('of a concurrent approval, rejection, withdrawal and expiry exactly one happens, and the money agrees', async () => {
  const customer_id = await newCustomer()
  const rounds = size(400, 40)
  const ends: Record<string, number> = {}
  await inParallel(
    times(rounds, (i) => i),
    4,
    async (i) => {
      const id = await proposeCredit(customer_id, '1')
      const late = i % 4 === 3 ? letTimePass(id) : undefined
      const tries = await Promise.allSettled([
        approve(world, id, bea),
        reject(world, id, bea, 'no'),
        withdraw(world, id, ana, null),
        approve(world, id, eva),
        late?.then(() => expireProposals(world)),
      ])
      const { ended, resource_id, approved_by } = await findProposal(world, id)
      expect(ended).not.toBeNull()
      expect([resource_id !== null, approved_by !== null]).toEqual([ended === 'done', ended === 'done'])
      const [approved, rejected, withdrawn, again] = tries.map(({ status }) => status === 'fulfilled')
      expect([approved || again, rejected, withdrawn]).toEqual([
        ended === 'done',
        ended === 'rejected',
        ended === 'withdrawn',
      ])
      ends[ended!] = (ends[ended!] ?? 0) + 1
    },
  )
  expect(await brl(customer_id)).toBe(BigInt(ends.done ?? 0))
  noteFact(`${rounds} proposals approved, rejected, withdrawn and expired at once: ${countsIn(ends)}`)
})

test('an end is final: a rejected, withdrawn or expired proposal cannot be approved', async () => {
  const customer_id = await newCustomer()
  const [rejected, withdrawn, late] = [
    await proposeCredit(customer_id),
    await proposeCredit(customer_id),
    await proposeCredit(customer_id),
  ]
  await expect(reject(world, rejected, ana, 'no')).rejects.toThrow(/trilho proposals withdraw/)
  await expect(withdraw(world, withdrawn, bea, null)).rejects.toThrow(/Only who made a proposal/)
  expect(await reject(world, rejected, bea, 'wrong customer')).toMatchObject({
    ended: 'rejected',
    ended_by: bea,
    ended_reason: 'wrong customer',
  })
  expect(await withdraw(world, withdrawn, ana, null)).toMatchObject({ ended: 'withdrawn', ended_by: ana })
  await letTimePass(late)
  await expect(approve(world, rejected, bea)).rejects.toThrow(/was rejected by bea.*\(wrong customer\)/)
  await expect(approve(world, withdrawn, bea)).rejects.toThrow(/was withdrawn by ana/)
  await expect(approve(world, late, bea)).rejects.toThrow(/has expired/)
  await expect(reject(world, late, bea, 'no')).rejects.toThrow(/has expired/)
  await expect(withdraw(world, rejected, ana, null)).rejects.toThrow(/was rejected by bea/)
  expect(await findProposal(world, late)).toMatchObject({ ended: 'expired', ended_by: null })
  const done = await proposeCredit(customer_id)
  await approve(world, done, bea)
  await expect(reject(world, done, bea, 'no')).rejects.toThrow(
    /was approved by bea.*, and has happened: dep_/,
  )
  expect(await brl(customer_id)).toBe(700n)
})

test('a proposal that a rule refuses at the approval stays open, to be approved later or withdrawn', async () => {
  const customer_id = await newCustomer()
  const id = await proposeDebit(customer_id, '700')
  await expect(approve(world, id, bea)).rejects.toThrow(/has 0\.00 BRL available.*does not cover 7\.00 BRL/)
  expect(await findProposal(world, id)).toMatchObject({ approved_by: null, ended: null })
  await approve(world, await proposeCredit(customer_id, '700'), bea)
  const blocked = await proposeCredit(customer_id, '5')
  await blockCustomer(world, customer_id, 'blocked')
  await expect(approve(world, blocked, bea)).rejects.toThrow(/is blocked/)
  expect(await withdraw(world, blocked, ana, 'not now')).toMatchObject({ ended: 'withdrawn' })
  // A correction is allowed although the customer is blocked.
  expect(await approve(world, id, bea)).toMatchObject({ ended: 'done', approved_by: bea })
  expect(await brl(customer_id)).toBe(0n)
})

test('after a crash between the booking and its record a second approval completes the proposal, and nothing else does', async () => {
  const customer_id = await newCustomer()
  const id = await proposeCredit(customer_id)
  const dying: World = {
    ...world,
    async commit(command) {
      await world.commit(command)
      throw new Error('died')
    },
  }
  await expect(approve(dying, id, bea)).rejects.toThrow('died')
  expect(await findProposal(world, id)).toMatchObject({ approved_by: bea, ended: null })
  await expect(reject(world, id, eva, 'no')).rejects.toThrow(/was approved by bea/)
  await expect(withdraw(world, id, ana, null)).rejects.toThrow(/was approved by bea/)
  const { expires_at } = await findProposal(world, id)
  await letTimePass(id)
  expect(await expireProposals(world)).toBe(0)
  await expireAt(id, expires_at)
  expect(await approve(world, id, eva)).toMatchObject({ ended: 'done', approved_by: bea })
  expect(await brl(customer_id)).toBe(700n)
})

test('an approval written into the row by hand cannot end an ended proposal, and is never completed', async () => {
  const customer_id = await newCustomer()
  const mark = (id: string) =>
    world.db.query(
      'UPDATE proposals SET approved_by = $2, approved_at = clock_timestamp() WHERE id = $1 AND approved_by IS NULL',
      [id, bea],
    )
  const note = (id: string) =>
    world.db.query('UPDATE proposals SET resource_id = $2 WHERE id = $1 RETURNING *', [id, 'dep_x'])
  const [rejected, late, open] = [
    await proposeCredit(customer_id),
    await proposeCredit(customer_id),
    await proposeCredit(customer_id),
  ]
  await reject(world, rejected, bea, 'no')
  await letTimePass(late)
  for (const id of [rejected, late]) {
    expect(sqlState(await mark(id).catch((error: unknown) => error))).toBe('P0001')
  }
  expect(sqlState(await note(rejected).catch((error: unknown) => error))).toBe('P0001')
  await mark(open)
  await expect(reject(world, open, eva, 'no')).rejects.toThrow(/was approved by bea/)
  await expect(approve(world, open, eva)).rejects.toThrow(/made or changed past the service/)
  expect(sqlState(await note(open).catch((error: unknown) => error))).toBe('23514')
  expect(await brl(customer_id)).toBe(0n)
})

test('the details of a proposal cannot be changed by any role', async () => {
  const id = await proposeCredit(await newCustomer())
  for (const set of [
    `details = '{}'`,
    `proposed_by = 'x'`,
    `expires_at = expires_at + interval '1 day'`,
    `action = 'debit'`,
  ]) {
    const error = await world.db
      .query(`UPDATE proposals SET ${set} WHERE id = $1`, [id])
      .catch((error: unknown) => error)
    expect(sqlState(error)).toBe('P0001')
  }
  expect(sqlState(await world.db.query('DELETE FROM proposals').catch((error: unknown) => error))).toBe(
    '42501',
  )
})

test('a proposal for another partner’s customer moves nothing', async () => {
  const customer_id = await newCustomer()
  await approve(world, await proposeCredit(customer_id, '700'), bea)
  const other = (await service.partner()).partner_id
  for (const name of ['credit', 'debit'] as const) {
    const details = { ...booking(customer_id), partner_id: other }
    const { id } = await propose(world, { name, details }, ana)
    await expect(approve(world, id, bea)).rejects.toThrow(/No such customer/)
  }
  expect(await brl(customer_id)).toBe(700n)
})

test('the description shows the whole proposal: customer, partner, amount, reason, author, time, expiry', async () => {
  const customer_id = await newCustomer()
  const id = await proposeCredit(customer_id, '123456')
  const described = await describeProposal(world, await findProposal(world, id))
  expect(described).toMatchObject({
    state: 'open',
    what: `Credit 1234.56 BRL to ${customer_id}`,
    customer: {
      id: customer_id,
      name: 'Rita Lima',
      document: expect.stringMatching(/^\*\*\*\./),
      status: 'active',
    },
    partner: { id: partner_id },
    amount: 123456n,
    amount_text: '1234.56 BRL',
    reason: 'wire 8841',
    proposed_by: ana,
  })
  expect(described.expires_at.getTime() - described.proposed_at.getTime()).toBeGreaterThan(6.9 * 86_400_000)
  const done = await approve(world, id, bea)
  const reversal = { deposit_id: done.resource_id!, reason: 'typed twice', reference: `r-${references++}` }
  const { id: second } = await propose(world, { name: 'reverse_credit', details: reversal }, ana)
  expect(await describeProposal(world, await findProposal(world, second))).toMatchObject({
    what: expect.stringMatching(
      /^Reverse the credit dep_\w+ of 1234\.56 BRL to cus_\w+, made .* for "wire 8841"$/,
    ),
    customer: { id: customer_id },
    amount_text: '1234.56 BRL',
    reason: 'typed twice',
  })
  expect((await listProposals(world))[0]).toMatchObject({ id: second, ended: null })
})
