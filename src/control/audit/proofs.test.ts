import { afterAll, beforeAll, expect, test } from 'vitest'
import { asAdmin } from '../../../test/support/database.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { REPLAY_NAME } from '../../money/treasury/replay.ts'
import { sliceChecks } from '../../node/worlds.ts'
import { AUDITOR, forgetProofs, latestProofs, prove } from './proofs.ts'

let service: TestService
let customer_id: string
beforeAll(async () => {
  service = await startTestService({ AUDIT_EVERY_MS: '500', AUDIT_SHARE_PCT: '100', PIX_WAIT_MS: '3000' })
  const { api } = await service.partner()
  const document = someCpf()
  customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document })).json.id
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '10000' })
  await api.post('/v1/pix/payouts', {
    customer_id,
    amount: '4000',
    counterparty: { type: 'pix_key', pix_key: document },
    idempotency_key: 'one',
  })
})
afterAll(() => service.stop())

const world = () => service.worlds.sandbox

/** The newest proof by this author, after the given one. */
async function nextBy(by: string, after = '0') {
  const newest = async () =>
    (await latestProofs(world().db)).find((proof) => proof.by === by && BigInt(proof.id) > BigInt(after))
  await until(async () => (await newest()) !== undefined, 30_000)
  return (await newest())!
}

test('a background pass is stored as a proof, with the sums of all accounts', async () => {
  await until(async () => (await nextBy(AUDITOR)).entries >= 5n, 20_000)
  const proof = await nextBy(AUDITOR)
  expect(proof).toMatchObject({ by: AUDITOR, customers: 1n, found: 0, findings: [] })
  expect(proof.finished_at.getTime()).toBeGreaterThanOrEqual(proof.started_at.getTime())
  expect(proof.checks.length).toBeGreaterThan(20)
  const { customer, in_transit, external } = proof.sums.BRL!
  expect(Object.values(proof.sums.BRL!).reduce((sum, part) => sum + part, 0n)).toBe(0n)
  expect(customer! + in_transit!).toBeLessThanOrEqual(6000n)
  expect(external).toBe(-6000n)
})

test('an audit on request is stored as a proof, under the name of who requested it', async () => {
  const report = await prove(world(), { checks: sliceChecks, by: 'usr_somebody' })
  expect(report.ok).toBe(true)
  expect(await nextBy('usr_somebody')).toMatchObject({
    entries: report.entries,
    sums: report.assets,
    found: 0,
  })
})

test('each proof names its checks; a pass has none that needs all rows at once', async () => {
  await prove(world(), { checks: sliceChecks, by: 'usr_names' })
  const whole = (await nextBy('usr_names')).checks
  const { checks } = await nextBy(AUDITOR)
  const all_at_once = ['no quote was executed twice', 'every asset sums to zero over all accounts']
  const in_pieces = ['every balance equals balance_after of its last statement line']
  const in_both = [REPLAY_NAME, 'the lines of every movement sum to zero per asset']
  expect(whole).toEqual(expect.arrayContaining([...all_at_once, ...in_both]))
  expect(checks).toEqual(expect.arrayContaining([...in_pieces, ...in_both]))
  expect(checks).toContain('every act of a person is a line of an unbroken log')
  expect(checks.filter((name) => all_at_once.includes(name))).toEqual([])
  expect(new Set(checks).size).toBe(checks.length)
})

test('a unit that came from nowhere is in both kinds of proofs, with its account', async () => {
  const before = await nextBy(AUDITOR)
  await asAdmin(service.database.url, [
    `UPDATE sandbox.balances SET balance = balance + 1 WHERE customer_id = '${customer_id}'`,
  ])
  const report = await prove(world(), { checks: sliceChecks, by: 'usr_other' })
  expect(report.ok).toBe(false)
  const asked = await nextBy('usr_other')
  expect(asked.found).toBeGreaterThan(0)
  expect(JSON.stringify(asked.findings)).toContain(customer_id)
  let last = before.id
  await until(async () => {
    const proof = await nextBy(AUDITOR, last)
    last = proof.id
    return proof.found > 0 && JSON.stringify(proof.findings).includes(customer_id)
  }, 30_000)
})

test('proofs are removed after a year', async () => {
  await asAdmin(service.database.url, [
    `INSERT INTO sandbox.proofs (by, started_at, finished_at, entries, customers, checks, sums, found, findings)
     SELECT 'old', now() - d * interval '1 day', now() - d * interval '1 day', 0, 0, '{}', '{}', 0, '[]' FROM unnest(ARRAY[364, 366]) d`,
  ])
  await forgetProofs(world().db, new Date(Date.now() - 365 * 24 * 3_600_000))
  const { rows } = await world().db.query(`SELECT count(*)::int AS n FROM proofs WHERE by = 'old'`)
  expect(rows[0].n).toBe(1)
})
