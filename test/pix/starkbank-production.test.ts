import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../src/node/config.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { runCli } from '../support/cli.ts'
import { openDesk } from '../support/operators.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { eventually, until } from '../support/wait.ts'
import { efiSettings, startEfiStub } from './efi-stub.ts'
import { commonFaults, type StubFault } from './provider-stub.ts'
import { type StarkStub, starkSettings, startStarkStub } from './starkbank-stub.ts'

/** A service whose production world pays Pix over Stark Bank: nothing but the adapter and its settings is of this provider. */
let stark: StarkStub
let service: TestService

beforeEach(async () => {
  stark = await startStarkStub()
  service = await startTestService({
    ...starkSettings(stark),
    ...{ LEASE_MS: '3000', RAIL_TIMEOUT_MS: '900', PIX_WAIT_MS: '100' },
  })
})
afterEach(async () => {
  expect((await service.audit()).production.findings).toEqual([])
  await service.stop()
  await stark.stop()
})

async function newCustomer() {
  const world = service.worlds.production
  const { api, partner_id } = await service.partner({ environment: 'production' })
  const document = someCpf()
  const { id: customer_id } = await addCustomer(world, { partner_id, name: 'Ana Souza', document })
  const { propose, approve } = openDesk(() => service.office)
  const details = { partner_id, customer_id, asset: 'BRL', amount: '100000' } as const
  const order = { ...details, reason: 'funding', reference: randomBytes(6).toString('hex') }
  const { id } = await propose(world, { name: 'credit', details: order }, 'maria@operator.example')
  await approve(world, id, 'joao@operator.example')
  const pay = (pix_key: string) => {
    stark.holds(pix_key, document)
    const counterparty = { type: 'pix_key', pix_key }
    return api.post('/v1/pix/payouts', {
      customer_id,
      amount: '1050',
      counterparty,
      idempotency_key: pix_key,
    })
  }
  const balance = async () => {
    const { rows } = await world.db.query(
      'SELECT balance, in_transit FROM balances WHERE customer_id = $1 AND asset = $2',
      [customer_id, 'BRL'],
    )
    return rows[0]
  }
  return { api, pay, balance }
}

/** The service does not wait for the pauses between two questions. */
const hurry = () =>
  service.worlds.production.db.query(
    `UPDATE payouts SET next_attempt_at = now() WHERE status = 'processing' AND next_attempt_at > now() + interval '4 seconds'`,
  )

test('payouts complete or fail as the bank has them, and charges are refused', async () => {
  const { api, pay, balance } = await newCustomer()
  const paid = await pay('ana@example.com')
  expect(paid.status, paid.text).toBe(201)
  await eventually(async () => {
    await hurry()
    const { json } = await api.get(`/v1/pix/payouts/${paid.json.id}`)
    const [payment] = [...stark.bank.sent.values()]
    expect(json).toMatchObject({ status: 'completed', end_to_end_id: payment!.end_to_end_id })
  })
  stark.bank.decide(() => ({ refused: 'failed' }))
  const refused = await pay('ana2@example.com')
  await eventually(async () => {
    await hurry()
    const { json } = await api.get(`/v1/pix/payouts/${refused.json.id}`)
    expect(json).toMatchObject({ status: 'failed', failure: { code: 'provider_error', rail_code: 'failed' } })
  })
  expect(await balance()).toEqual({ balance: 98_950n, in_transit: 0n })
  const charge = await api.post('/v1/pix/charges', {
    ...{ customer_id: paid.json.customer_id, amount: '100', idempotency_key: 'c1' },
  })
  expect(charge).toMatchObject({ status: 503, json: { error: { code: 'rail_unavailable' } } })
})

test('every payout is paid once, although answers are lost, late, doubled and replaced', async () => {
  const COUNT = 24
  const { pay, balance } = await newCustomer()
  const faults: StubFault[] = [
    ...commonFaults(1200).filter(({ kind }) => kind !== 'drop' && kind !== 'answer'),
    { kind: 'replace', reply: { http: 504, text: '<html></html>' } },
    { kind: 'replace', reply: { http: 400, body: { errors: [{ code: 'somethingNew', message: 'x' }] } } },
  ]
  let calls = 0
  stark.disturbAnswers((name) =>
    name === 'key' || calls++ % 2 === 0 ? undefined : faults[calls % faults.length],
  )
  for (let i = 0; i < COUNT; i++) expect((await pay(`ana${i}@example.com`)).status).toBe(201)
  await until(async () => {
    await hurry()
    const { rows } = await service.worlds.production.db.query(
      `SELECT count(*)::integer AS count FROM payouts WHERE status = 'completed'`,
    )
    return rows[0].count === COUNT
  }, 120_000)
  stark.disturbAnswers(() => undefined)
  expect(stark.bank.sent.size).toBe(COUNT)
  expect(await balance()).toEqual({ balance: 100_000n - BigInt(COUNT) * 1050n, in_transit: 0n })
})

test('half a provider, and two of them, do not start; a check reads the balance', async () => {
  const efi = await startEfiStub()
  const env: Record<string, string> = { DATABASE_URL: 'postgres://localhost/x', ...starkSettings(stark) }
  const { STARKBANK_PRIVATE_KEY: _key, ...half } = env
  expect(() => readConfig(half)).toThrow(/STARKBANK_PRIVATE_KEY/)
  expect(() => readConfig({ ...env, ...efiSettings(efi) })).toThrow(/both set; keep one/)
  await efi.stop()
  const { code, out } = await runCli(['rails', 'check', '--json'], starkSettings(stark))
  expect(code).toBe(0)
  expect(JSON.parse(out).pix).toEqual({ available: '100000000', problem: null, charges_problem: null })
  const text = (await runCli(['rails', 'check'], starkSettings(stark))).out
  expect(text).toContain('pix over Stark Bank: ready, 100000000 centavos available; charges: none\n')
})
