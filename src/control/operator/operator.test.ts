import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDesk } from '../../../test/support/operators.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { overdue } from '../../db/due.ts'
import type { Payout } from '../../money/pix/store.ts'
import { addCustomer } from '../../parties/customers/customers.ts'
import { openExceptions } from '../../records/exceptions/store.ts'
import { perform } from './actions.ts'
import { noteStuck } from './stuck.ts'

const { approve, listProposals, propose, reject, withdraw } = openDesk(() => service.office)

let service: TestService
beforeAll(async () => {
  service = await startTestService({ PIX_WAIT_MS: '50' })
})
afterAll(async () => {
  const { production, sandbox } = await service.audit()
  expect([production.findings, sandbox.findings]).toEqual([[], []])
  await service.stop()
})

async function openPayout() {
  const { api } = await service.partner()
  const { id: customer_id } = (await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).json
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '5000' })
  const counterparty = { type: 'pix_key', pix_key: 'unknown@sandbox.test' }
  const { json } = await api.post('/v1/pix/payouts', {
    customer_id,
    amount: '1000',
    counterparty,
    idempotency_key: 'k',
  })
  expect(json.status).toBe('processing')
  return { api, customer_id, payout_id: json.id as string }
}

test('an open payout is listed for operators and is settled once, as the operator established', async () => {
  const { sandbox } = service.worlds
  const completed = await openPayout()
  const failed = await openPayout()
  const desk = await overdue<Payout>(sandbox.db, 'payouts', 0)
  expect(desk.map(({ id }) => id)).toEqual(expect.arrayContaining([completed.payout_id, failed.payout_id]))
  expect(await overdue(sandbox.db, 'payouts', 60_000)).toEqual([])
  const end_to_end_id = 'E00000000202611151200abcdefghijk'
  await perform(sandbox, {
    name: 'resolve_payout',
    details: { payout_id: completed.payout_id, outcome: 'completed', end_to_end_id, evidence: 'statement' },
  })
  const fail = () =>
    perform(sandbox, {
      name: 'resolve_payout',
      details: { payout_id: failed.payout_id, outcome: 'failed', evidence: 'statement' },
    })
  // Refused while the node that accepted the payout may be sending it.
  await until(() => fail().then(Boolean, () => false), 10_000)
  expect((await completed.api.get(`/v1/pix/payouts/${completed.payout_id}`)).json).toMatchObject({
    status: 'completed',
    end_to_end_id,
  })
  expect((await failed.api.get(`/v1/pix/payouts/${failed.payout_id}`)).json).toMatchObject({
    status: 'failed',
    failure: { code: 'resolved_by_operator' },
  })
  expect((await failed.api.get(`/v1/customers/${failed.customer_id}/balances`)).json.data[0]).toMatchObject({
    available: '5000',
    in_transit: '0',
  })
  const again = perform(sandbox, {
    name: 'resolve_payout',
    details: { payout_id: failed.payout_id, outcome: 'completed', end_to_end_id, evidence: 'x' },
  })
  await expect(again).rejects.toThrow(/is failed already/)
})

test('in production one operator proposes and another approves; a second approval changes nothing', async () => {
  const { production } = service.worlds
  const { partner_id } = await service.partner()
  const customer = await addCustomer(production, { partner_id, name: 'Ana', document: someCpf() })
  const details = {
    partner_id,
    customer_id: customer.id,
    asset: 'BRL',
    amount: '700',
    reason: 'wire 1',
    reference: 'wire-1',
  } as const
  const { id } = await propose(production, { name: 'credit', details }, 'a@example.com')
  await expect(approve(production, id, 'a@example.com')).rejects.toThrow(/another operator/)
  const done = await approve(production, id, 'b@example.com')
  expect(done).toMatchObject({ approved_by: 'b@example.com' })
  expect(await approve(production, id, 'c@example.com')).toEqual(done)
  expect((await listProposals(production))[0]).toEqual(done)
  const { rows } = await production.db.query(
    `SELECT balance FROM balances WHERE customer_id = $1 AND asset = 'BRL'`,
    [customer.id],
  )
  expect(rows[0].balance).toBe(700n)
})

test('a payout that stays open too long is an exception until its status is final', async () => {
  const { sandbox } = service.worlds
  const { api, payout_id } = await openPayout()
  const open = async () =>
    (await openExceptions(sandbox.db, 100)).filter(({ object_id }) => object_id === payout_id)
  await noteStuck(sandbox)
  expect(await open()).toEqual([])
  const impatient = { ...sandbox, stuck_after_ms: 0 }
  await noteStuck(impatient)
  await noteStuck(impatient)
  expect(await open()).toMatchObject([{ kind: 'stuck', rail: 'pix', details: { status: 'processing' } }])
  await api.post(`/v1/sandbox/pix/payouts/${payout_id}/complete`)
  await noteStuck(impatient)
  expect(await open()).toEqual([])
})

test('a resolution is booked by its approval, or not at all', async () => {
  const { sandbox } = service.worlds
  const [ana, bea] = ['a@example.com', 'b@example.com']
  const ended = async (end: 'approve' | 'reject') => {
    const { api, payout_id } = await openPayout()
    const details = { payout_id, outcome: 'failed', evidence: 'statement' } as const
    const proposing = () => propose(sandbox, { name: 'resolve_payout', details }, ana)
    // Refused while the node that accepted the payout may be sending it.
    let id = ''
    await until(
      () =>
        proposing().then(
          (proposal) => Boolean((id = proposal.id)),
          () => false,
        ),
      10_000,
    )
    if (end === 'reject') await reject(sandbox, id, bea, 'it was paid')
    if (end === 'approve')
      expect(await approve(sandbox, id, bea)).toMatchObject({ ended: 'done', resource_id: payout_id })
    else await expect(approve(sandbox, id, bea)).rejects.toThrow(/was rejected by b@example\.com/)
    return (await api.get(`/v1/pix/payouts/${payout_id}`)).json.status
  }
  expect([await ended('approve'), await ended('reject')]).toEqual(['failed', 'processing'])
})

test('a transfer whose booked end differs from the proposed one supersedes its proposal', async () => {
  const { sandbox } = service.worlds
  const { api, customer_id } = await openPayout()
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'USDT', amount: '9000000' })
  const { id: transfer_id } = (
    await api.post('/v1/onchain/transfers', {
      customer_id,
      asset: 'USDT',
      network: 'polygon',
      amount: '1009003',
      destination_address: '0x52908400098527886e0f7030069857d2e4169ee7',
      idempotency_key: 'stays',
    })
  ).json
  const status = async () => (await api.get(`/v1/onchain/transfers/${transfer_id}`)).json.status
  await until(async () => (await status()) === 'processing', 20_000)
  const resolve = (outcome: 'confirmed' | 'failed') =>
    propose(
      sandbox,
      { name: 'resolve_transfer', details: { transfer_id, outcome, evidence: 'explorer' } },
      'a@example.com',
    )
  const failed = await resolve('failed')
  await expect(resolve('confirmed')).rejects.toThrow(/has an open proposal already/)
  await api.post(`/v1/sandbox/onchain/transfers/${transfer_id}/confirm`)
  expect(await status()).toBe('confirmed')
  await expect(approve(sandbox, failed.id, 'b@example.com')).rejects.toThrow(
    /superseded: .* confirmed already/,
  )
  await expect(withdraw(sandbox, failed.id, 'a@example.com', null)).rejects.toThrow(/was superseded/)
  expect(await status()).toBe('confirmed')
})
