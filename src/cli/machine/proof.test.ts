import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliStage, openCliStage } from '../../../test/support/cli-stage.ts'
import { asAdmin } from '../../../test/support/database.ts'

let stage: CliStage
beforeAll(async () => {
  stage = await openCliStage()
})
afterAll(() => stage.stop())

test('audit proves the ledger, and finds a difference of a single unit', async () => {
  const proof = await stage.json('audit')
  expect(proof).toMatchObject({
    ok: true,
    environments: {
      production: { ok: true, findings: [] },
      sandbox: { ok: true, findings: [], assets: { BTC: { customer: '5000000', external: '-5000000' } } },
    },
  })
  const where = `WHERE customer_id = '${stage.demo.customer_id}' AND asset = 'BTC'`
  const tampers: [string, string, RegExp][] = [
    [
      'entries',
      `UPDATE sandbox.entries SET amount = amount + 1 WHERE owner = '${stage.demo.customer_id}' AND asset = 'BTC'`,
      /sum to zero/,
    ],
    [
      'balances',
      `UPDATE sandbox.balances SET balance = balance + 1 ${where}`,
      /every balance is the sum of its entries/,
    ],
    [
      'deposits',
      `UPDATE sandbox.deposits SET amount = amount + 1 ${where}`,
      /every deposit is booked once and in full/,
    ],
  ]
  for (const [table, sql, finding] of tampers) {
    await asAdmin(stage.database_url, ['SET session_replication_role = replica', sql])
    const [found, elsewhere] = await Promise.all([
      stage.trilho('audit', '--json'),
      table === 'entries' ? stage.trilho('audit', '--environment', 'production') : undefined,
    ])
    await asAdmin(stage.database_url, ['SET session_replication_role = replica', sql.replace('+ 1', '- 1')])
    expect(found.code, table).toBe(1)
    expect(found.json.ok).toBe(false)
    expect(found.json.environments.production.ok).toBe(true)
    expect(found.json.environments.sandbox.findings.map(({ check }: { check: string }) => check)).toEqual(
      expect.arrayContaining([expect.stringMatching(finding)]),
    )
    if (elsewhere) expect(elsewhere).toMatchObject({ code: 0, out: expect.stringMatching(/all checks hold/) })
  }
})

test('the audit log is listed and verified, and a line that was changed in the database is named', async () => {
  await stage.operators()
  await stage.json('keys', 'create', '--environment', 'production')
  const [listed, whole] = await Promise.all([
    stage.json('log', 'list', '--environment', 'production', '--limit', '3'),
    stage.trilho('log', 'verify'),
  ])
  const [newest] = listed.data
  expect(newest).toMatchObject({ environment: 'production', actor_kind: 'operator' })
  expect(whole).toMatchObject({ code: 0, out: expect.stringMatching(/production: \d+ lines, unbroken/) })
  const anchor = `${newest.seq}:${newest.hash}`
  const change = (to: string) => `UPDATE live.acts SET action = '${to}' WHERE seq = ${newest.seq}`
  await asAdmin(stage.database_url, [change('x')])
  const [changed, audited] = await Promise.all([
    stage.trilho('log', 'verify', '--anchor', anchor, '--json'),
    stage.run(['audit', '--environment', 'production']),
  ])
  await asAdmin(stage.database_url, [change(newest.action)])
  expect(changed).toMatchObject({ code: 1, json: { ok: false } })
  expect(changed.json.logs[0].broken).toEqual([
    { object_id: `line ${newest.seq} of production`, wrong: expect.stringMatching(/^changed/) },
  ])
  expect(audited).toMatchObject({ code: 1, out: expect.stringMatching(/unbroken log: 1 found/) })
  const [there, gone] = await Promise.all([
    stage.trilho('log', 'verify', '--anchor', anchor, '--anchor', `production:${anchor}`),
    stage.trilho('log', 'verify', '--anchor', `shared:999:${newest.hash}`),
  ])
  expect([there.code, gone.code]).toEqual([0, 1])
  expect(gone.out).toMatch(/line 999 of shared: removed: its hash was noted as/)
})
