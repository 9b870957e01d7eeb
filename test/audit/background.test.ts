import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readProgress, releaseAuditLease, takeAuditLease } from '../../src/control/audit/progress.ts'
import { auditState } from '../../src/control/audit/state.ts'
import { openAuditWorker } from '../../src/control/audit/worker.ts'
import { audit, type Check } from '../../src/ledger/audit.ts'
import { settlePayout } from '../../src/money/pix/settle.ts'
import { execute } from '../../src/money/quotes/trades.ts'
import { sliceChecks } from '../../src/node/worlds.ts'
import { openExceptions } from '../../src/records/exceptions/store.ts'
import { asAdmin } from '../support/database.ts'
import { type History, openHistory } from '../support/history.ts'
import { scrape } from '../support/metrics.ts'
import { inParallel, times } from '../support/parallel.ts'
import { noteFact } from '../support/proof.ts'
import { size } from '../support/size.ts'
import { until } from '../support/wait.ts'
import { openTestWorld } from '../support/world.ts'

/** The audit that runs by itself, over a history that grows while it runs: silent as long as all is well. */
const ENTRIES = size(1_000_000, 8_000)
/** So many are made over HTTP; more than that go straight through the door, which is faster and no different. */
const OVER_HTTP = Math.min(ENTRIES, 40_000)
const ENTRIES_PER_ACT = 3.3

/** Deposits, payouts that end well and badly, and trades with fees, many at once, until there are about so many entries. */
async function flood(entries: number): Promise<void> {
  const stage = await openTestWorld({ url: history.database.url })
  const { world } = stage
  const customers = await Promise.all(
    times(50, () => stage.customer({ BRL: 10n ** 12n, USDT: 10n ** 12n, BTC: 10n ** 10n })),
  )
  let made = 0
  await inParallel(
    times(Math.max(0, Math.ceil(entries / 13)), (n) => n),
    256,
    async (n) => {
      const customer = customers[n % customers.length]!
      await world.commit(stage.depositTo(customer.id, 'BRL', 500n))
      const done = await world.commit(stage.payout(customer, 100n))
      if (done.kind !== 'made') throw new Error(done.kind)
      const end_to_end_id = `E00000000202611151200${done.made.id.slice(-11)}`
      const outcome =
        n % 10 === 0
          ? ({ kind: 'refused', rail_code: 'AC03' } as const)
          : ({ kind: 'settled', end_to_end_id } as const)
      await world.commit(settlePayout(world, done.made, outcome, { by: 'rail', attempt: 1 }))
      const quote = await world.commit(await stage.quote(customer.id))
      await world.commit(execute(world, stage.actor, quote, () => true))
      made++
    },
  )
  expect(made).toBe(Math.max(0, Math.ceil(entries / 13)))
  await stage.stop()
}

let history: History
let entries: bigint

beforeAll(async () => {
  // Pass after pass, all the time: a busier audit than anybody would run.
  history = await openHistory({ AUDIT_EVERY_MS: '1', AUDIT_SHARE_PCT: '50', LOG_LEVEL: 'silent' })
  const partners = []
  for (let i = 0; i < 4; i++) partners.push(await history.addPartner(25, i * 10))
  await history.fill(partners, Math.ceil(OVER_HTTP / ENTRIES_PER_ACT))
  await flood(ENTRIES - OVER_HTTP)
}, 3_600_000)
afterAll(() => history.stop())

/** The history has exceptions of other kinds too: payouts that came back, and payments without a charge. */
const foundByAudit = async () =>
  (await openExceptions(history.world.db, 1_000_000)).filter(({ kind }) => kind === 'audit')

test('stays silent while money moves, and comes to the end of its passes', async () => {
  const before = await readProgress(history.world.db)
  await until(
    async () => {
      const { last_finished_at, last_started_at } = await readProgress(history.world.db)
      return last_finished_at !== null && (last_started_at ?? 0) >= before.now
    },
    size(1_800_000, 120_000),
  )
  const progress = await readProgress(history.world.db)
  expect(progress.last_findings).toBe(0)
  expect(await foundByAudit()).toEqual([])
}, 1_900_000)

test('a history of every kind of cause has no findings', async () => {
  const started = performance.now()
  const report = (await history.audit()).sandbox
  const seconds = (performance.now() - started) / 1000
  entries = report.entries
  expect(report.findings).toEqual([])
  expect(Number(entries)).toBeGreaterThan(ENTRIES * 0.9)
  noteFact(
    `${entries} correct entries of every kind of cause: no finding by the whole audit (${seconds.toFixed(1)} s), nor by the audit in the background while they were written`,
  )
}, 1_900_000)

test('what it finds is an exception, once, and is told by /readyz and the metrics', async () => {
  const [row] = await asAdmin(history.database.url, [
    `UPDATE sandbox.entries SET owner = (SELECT min(id) FROM sandbox.customers)
     WHERE (cause_id, movement, line) = (SELECT cause_id, movement, line FROM sandbox.entries
       WHERE account = 'in_transit:pix' AND owner <> (SELECT min(id) FROM sandbox.customers) ORDER BY cause_id LIMIT 1) RETURNING cause_id`,
  ])
  const seen = await readProgress(history.world.db)
  const passedSince = async (at: Date) => ((await readProgress(history.world.db)).last_started_at ?? 0) > at
  await until(() => passedSince(seen.now), size(1_800_000, 120_000))
  expect(await foundByAudit()).toMatchObject([
    {
      object_id: row!.cause_id,
      partner_id: expect.stringMatching(/^ptn_/),
      details: { check: 'every payout is debited once and in full, and ends in exactly one place' },
    },
  ])
  const again = await readProgress(history.world.db)
  await until(() => passedSince(again.now), size(1_800_000, 120_000))
  expect(await foundByAudit()).toHaveLength(1)
  const ready = await fetch(`${history.url}/readyz`)
  expect(ready.status).toBe(200)
  const { details } = (await ready.json()) as { details: { audit: Record<string, { findings: number }> } }
  const { audit } = details
  expect(audit.sandbox!.findings).toBeGreaterThan(0)
  expect(audit.production!.findings).toBe(0)
  const metrics = await scrape(history.url)
  expect(metrics).toMatch(/trilho_audit_findings\{environment="sandbox"\} [1-9]/)
  expect(metrics).toMatch(/trilho_audit_age_seconds\{environment="production"\} \d/)
}, 3_600_000)

test('one node at a time is at it; another goes on where it stopped', async () => {
  await history.stopServer()
  const { db } = history.worlds.production
  expect(await takeAuditLease(db, 'a', 60_000)).toBeDefined()
  expect(await takeAuditLease(db, 'b', 60_000)).toBeUndefined()
  await releaseAuditLease(db, 'a')
  expect(await takeAuditLease(db, 'b', 50)).toBeDefined()
  await sleep(60)
  expect(await takeAuditLease(db, 'a', 1)).toBeDefined()
})

test('a check that cannot be done is a finding under its own name, and hides no other', async () => {
  const world = history.worlds.production
  const broken: Check = {
    name: 'a check that divides by zero',
    walk: 'causes',
    // Its bounds are in it, because a statement is refused that does not use the parameters of its piece.
    sql: (within) => `SELECT 1 / (random() * 0)::integer AS object_id WHERE ${within(`'cus_0'`)} OR true`,
  }
  // An event that no check can read, on the way to an account of nobody.
  await world.db.query(
    `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at)
     VALUES ('evt_0', 'ptn_0', 'deposit.completed', 'dep_0', 1, '{"id":"\\ud800"}', now())`,
  )
  await world.db.query(
    `INSERT INTO balances (customer_id, asset, partner_id) VALUES ('cus_0', 'BRL', 'ptn_0')`,
  )
  const names = [
    broken.name,
    'every customer has a partner and one account per asset, and every account has a customer',
    'every deposit was told once, as it is',
  ]
  const checks = [broken, ...sliceChecks]
  const { ok, findings } = await audit(world.db, checks)
  expect(ok).toBe(false)
  expect(findings.map(({ check }) => check)).toEqual(names)

  // As if this were the first pass.
  await world.db.query(
    `UPDATE audit_progress SET started_at = now() - interval '7 hours', stage = 'causes', position = NULL, findings = 0,
       last_started_at = NULL, last_finished_at = NULL, last_findings = NULL`,
  )
  expect((await auditState(world)).age_seconds).toBeGreaterThan(6 * 3600)
  const log = pino({ level: 'silent' })
  const auditor = openAuditWorker(world, { checks, log, every_ms: 20, share_pct: 50 })
  await until(async () => (await readProgress(world.db)).last_finished_at !== null, 60_000)
  await auditor.stop()
  const exceptions = (await openExceptions(world.db, 10)).filter(({ kind }) => kind === 'audit')
  expect(exceptions.map(({ object_id }) => object_id).sort()).toEqual([names[0], 'cus_0', names[2]])
  expect(exceptions.map(({ details }) => details.check).sort()).toEqual(names)
})
