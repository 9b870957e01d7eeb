import { afterAll, beforeAll, expect, test } from 'vitest'
import { signedIn } from '../../../../test/support/console.ts'
import { someCpf, startTestService, type TestService } from '../../../../test/support/service.ts'
import { until } from '../../../../test/support/wait.ts'
import { simulatedChain, simulatedTransaction } from '../../../rails/chain/simulated.ts'
import { openJournal } from '../../../rails/journal.ts'
import { simulatedPix } from '../../../rails/pix/simulated.ts'

/** Every case of the desk, brought about in the sandbox and settled there. */
let service: TestService
let api: Awaited<ReturnType<TestService['partner']>>['api']
let ana: Awaited<ReturnType<typeof signedIn>>
let bea: typeof ana
let customer_id: string
const office = '/operator/sandbox'
const E2E = 'E18236120202611151226p0Xk2mQv71Z'
const evidence = 'The bank answered by e-mail, ticket 88-1204.'

beforeAll(async () => {
  service = await startTestService({
    AUDIT_EVERY_MS: '0',
    PIX_WAIT_MS: '100',
    STUCK_AFTER_MS: '1000',
    LEASE_MS: '3000',
    RAIL_TIMEOUT_MS: '1000',
  })
  ana = await signedIn(service, { role: 'admin', factor: true })
  bea = await signedIn(service, { role: 'resolver', factor: true })
  ;({ api } = await service.partner())
  customer_id = (await api.post('/v1/customers', { name: 'Rita Lima', document: someCpf() })).json.id
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1000000' })
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'USDT', amount: '1000000000' })
})
afterAll(() => service.stop())

let orders = 0
const pay = async (name: string): Promise<string> =>
  (
    await api.post('/v1/pix/payouts', {
      customer_id,
      amount: '1000',
      counterparty: { type: 'pix_key', pix_key: `${name}@sandbox.test` },
      idempotency_key: `rehearse-${++orders}`,
    })
  ).json.id
const transfer = async (ending: string): Promise<string> =>
  (
    await api.post('/v1/onchain/transfers', {
      customer_id,
      asset: 'USDT',
      network: 'polygon',
      amount: `100${ending}`,
      destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      idempotency_key: `rehearse-${++orders}`,
    })
  ).json.id

const onDesk = async (id: string) => {
  let item: any
  await until(async () => {
    item = (await bea.get(`${office}/desk`)).json.open.find((one: any) => one.id === id)
    return item !== undefined
  }, 30_000)
  return item
}
const resolve = (id: string, body: object, by = bea) =>
  by.post(`${office}/desk/${id}/resolution`, { evidence, ...body })
/** While a worker may still be sending, a payout is not settled as failed. */
const resolveOnceSent = async (id: string, body: object) => {
  let reply: Awaited<ReturnType<typeof resolve>> | undefined
  await until(async () => {
    reply = await resolve(id, body)
    return !/may be on its way/.test(reply.text)
  }, 30_000)
  return reply!
}
const statusOf = async (id: string) =>
  (await api.get(`/v1/${id.startsWith('po_') ? 'pix/payouts' : 'onchain/transfers'}/${id}`)).json.status

test('a payout that the network accepts and never ends is settled as paid only', async () => {
  const id = await pay('accepted')
  const item = await onDesk(id)
  expect(item.accepted_at).not.toBeNull()
  const refused = await resolveOnceSent(id, { paid: false, despite_acceptance: true })
  expect(refused.json.error.message).toContain('was accepted by the network, which may still pay it')
  expect((await resolve(id, { paid: true, end_to_end_id: E2E })).json.outcome).toBe('done')
  expect(await statusOf(id)).toBe('completed')
})

test('a payout that the network accepts and forgets is given back only with the statement', async () => {
  const id = await pay('forgotten')
  await onDesk(id)
  const kinds = async () =>
    (await bea.get(`${office}/exceptions`)).json.data
      .filter((one: any) => one.object_id === id)
      .map((one: any) => one.kind)
  await until(async () => (await kinds()).includes('accepted_then_absent'), 30_000)
  const refused = await resolve(id, { paid: false })
  expect(refused.json.error.message).toContain('may have been paid')
  expect((await resolveOnceSent(id, { paid: false, despite_acceptance: true })).json.outcome).toBe('done')
  expect(await statusOf(id)).toBe('failed')
})

test('a transfer that is never signed is settled as failed only, one that no node knows as confirmed only', async () => {
  const [unsigned, unknown] = [await transfer('9007'), await transfer('9008')]
  await onDesk(unsigned)
  expect((await resolve(unsigned, { paid: true })).json.error.message).toContain('was never signed')
  expect((await resolve(unsigned, { paid: false })).json.outcome).toBe('done')
  expect(await statusOf(unsigned)).toBe('failed')
  await until(async () => (await statusOf(unknown)) === 'processing', 30_000)
  await onDesk(unknown)
  expect((await resolve(unknown, { paid: false })).json.error.message).toContain('no node knows it')
  expect((await resolve(unknown, { paid: true })).json.outcome).toBe('done')
  expect(await statusOf(unknown)).toBe('confirmed')
})

test('in a rehearsal one operator proposes and cannot approve, and another one approves', async () => {
  const id = await pay('unknown')
  await onDesk(id)
  const proposed = await resolveOnceSent(id, { paid: false, rehearsed: true })
  expect(proposed.json).toMatchObject({ outcome: 'proposed', line: { place: 'sandbox' } })
  expect(await statusOf(id)).toBe('processing')
  const decision = `${office}/proposals/${proposed.json.proposal_id}`
  expect((await bea.post(`${decision}/approve`)).json.error.code).toBe('second_person_needed')
  expect((await ana.post(`${decision}/approve`)).json.outcome).toBe('done')
  expect(await statusOf(id)).toBe('failed')
  const { resolved } = (await ana.get(`${office}/desk`)).json
  expect(resolved[0]).toMatchObject({ id, outcome: 'failed', proposal_id: proposed.json.proposal_id })
})

test('two operators cancel a transfer: operators see both transactions, the partner sees the payment and the end', async () => {
  const id = await transfer('9003')
  await until(async () => (await statusOf(id)) === 'processing', 30_000)
  const { tx_hash } = (await api.get(`/v1/onchain/transfers/${id}`)).json
  const seen = async () => (await bea.get(`${office}/desk/${id}`)).json
  expect(await seen()).toMatchObject({ cancelable: true, cancel_requested_at: null })
  const body = { reason: 'wrong address', rehearsed: true }
  const proposed = await bea.post(`${office}/desk/${id}/cancel`, body)
  expect(proposed.json).toMatchObject({ outcome: 'proposed' })
  expect((await seen()).item.proposal).toMatchObject({ outcome: 'canceled', evidence: 'wrong address' })
  const decision = `${office}/proposals/${proposed.json.proposal_id}`
  expect((await bea.post(`${decision}/approve`)).json.error.code).toBe('second_person_needed')
  expect((await ana.post(`${decision}/approve`)).json.outcome).toBe('done')
  expect((await seen()).cancelable).toBe(false)
  expect((await bea.post(`${office}/desk/${id}/cancel`, body)).status).toBe(409)
  await until(async () => (await statusOf(id)) === 'failed', 30_000)
  const ended = (await api.get(`/v1/onchain/transfers/${id}`)).json
  expect(ended).toMatchObject({ tx_hash, failure: { code: 'canceled' } })
  expect((await seen()).transactions).toMatchObject([
    { attempt: 1, purpose: 'pay', tx_hash, block_height: null },
    { attempt: 2, purpose: 'cancel', terms: { fee: '150' }, block_height: expect.any(String) },
  ])
})

test('the desk counts what is on its way, also while nothing is late', async () => {
  await transfer('9003')
  const { under_way } = (await bea.get(`${office}/desk`)).json
  expect(under_way).toContainEqual({ rail: 'polygon', count: expect.any(Number) })
})

test('a late network is silent for five minutes, then reports the outcome', async () => {
  let now = Date.now()
  const clock = { now: () => now, adjust: () => {} }
  const pix = simulatedPix({ clock, journal: openJournal(undefined) })
  const order = {
    send_id: 'TRILHO1',
    sent_at: new Date(now),
    attempt: 1,
    accepted: false,
    to: { pix_key: 'late@sandbox.test' },
  } as never
  expect((await pix.send(order)).kind).toBe('unknown')
  expect((await pix.status(order)).kind).toBe('unknown')
  const chain = simulatedChain({
    network: 'polygon',
    clock,
    journal: openJournal(undefined),
    broadcast_ms: 0,
    confirm_ms: 0,
  })
  const moved = { id: 'tr_1', network: 'polygon', amount: 1009009n, created_at: new Date(now) } as never
  const wallet = { ...(await chain.wallet()), nonce: 0n }
  const attempt = { ...simulatedTransaction(moved), attempt: 1, created_at: new Date(now) }
  await chain.broadcast(moved, attempt)
  expect((await chain.look(moved, wallet, [attempt])).kind).toBe('waiting')
  now += 300_000
  expect((await pix.status(order)).kind).toBe('settled')
  expect(await chain.look(moved, wallet, [attempt])).toMatchObject({ kind: 'mined', effect: 'none' })
})

test('a statement is noted, and proof and overview compare it with the books', async () => {
  await bea.post(`${office}/proof`)
  await until(async () => (await bea.get(`${office}/proof`)).json.running === null, 60_000)
  const brl = async (page: 'proof' | 'overview') => {
    const { json } = await bea.get(`${office}/${page}`)
    const holdings = page === 'proof' ? json.holdings : json.money.holdings
    return holdings.find((one: any) => one.asset === 'BRL')
  }
  const before = await brl('proof')
  expect(before.statement).toBeNull()
  expect(BigInt(before.held) - BigInt(before.owed)).toBe(BigInt(before.own))
  const amount = (BigInt(before.held) - 250n).toString()
  const said = { asset: 'BRL', amount, as_of: '2026-01-15T12:00:00.000Z', source: 'Banco Azul, 118' }
  const rui = await signedIn(service, { role: 'reader', factor: true })
  expect((await rui.post(`${office}/statements`, said)).json.error.code).toBe('not_permitted')
  const future = { ...said, as_of: '2199-01-01T00:00:00.000Z' }
  expect((await bea.post(`${office}/statements`, future)).json.error.param).toBe('as_of')
  expect((await bea.post(`${office}/statements`, said)).json).toMatchObject({ outcome: 'done' })
  for (const page of ['proof', 'overview'] as const)
    expect((await brl(page)).statement).toEqual({
      amount,
      difference: '-250',
      as_of: said.as_of,
      source: said.source,
      noted_by: bea.person.user.email,
    })
  const { money } = (await bea.get(`${office}/overview`)).json
  expect(money).toMatchObject({
    found: 0,
    oldest: { rail: 'polygon', partner: { name: expect.any(String) } },
  })
  expect(money.in_transit).toContainEqual(expect.objectContaining({ rail: 'polygon', asset: 'USDT' }))
})

test('the second operator of a rehearsal sees whose money it is, and how much', async () => {
  const id = await pay('unknown')
  await onDesk(id)
  expect((await resolveOnceSent(id, { paid: false, rehearsed: true })).status).toBe(200)
  const { data } = (await ana.get(`${office}/proposals`)).json
  const proposal = data.find(({ details }: any) => details.payout_id === id)
  expect(proposal).toMatchObject({ customer: { name: 'Rita Lima' }, asset: 'BRL', amount: '1000' })
})
