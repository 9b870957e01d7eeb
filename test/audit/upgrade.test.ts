import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { foldTrades } from '../../src/money/treasury/treasury.ts'
import { asAdmin } from '../support/database.ts'
import { type History, openHistory } from '../support/history.ts'
import { moveIntoThePast } from '../support/past.ts'

/** Books that are older than the audit that reads them. */
let history: History
let partner: Awaited<ReturnType<History['addPartner']>>

beforeAll(async () => {
  history = await openHistory({ AUDIT_EVERY_MS: '0', EVENT_RETENTION_DAYS: '30' })
  partner = await history.addPartner(2, 25)
  await history.fill([partner], 60)
})
afterAll(() => history.stop())

const admin = (...statements: string[]) =>
  asAdmin(history.database.url, ['SET search_path = sandbox', ...statements])
const findings = async () => (await history.audit()).sandbox.findings

/** They make, or change, the tables that are undone below. */
const UNDONE = ['0013-audit.sql', '0035-audit.sql', '0039-audit-turns.sql', '0052-retention.sql']

/** As the database was before. */
const UNDO = [
  'DROP TRIGGER note_fold ON unfolded',
  'DROP TRIGGER note_forgotten_events ON events',
  'DROP FUNCTION note_fold, note_forgotten_events',
  'DROP TABLE folds, fold_base, fold_start, event_horizon, audit_progress, retention',
  'ALTER TABLE end_to_end_ids RENAME CONSTRAINT payouts_end_to_end_id TO of_now',
  'DROP INDEX transfers_tx_hash, deposits_reference, fee_payouts_reference, proposals_reference',
  `DELETE FROM migrations WHERE name IN ('${UNDONE.join("', '")}')`,
]

/** And as a later migration leaves it. */
async function migrateAgain(): Promise<string[]> {
  const applied = await migrate(history.database.url)
  await admin(
    'DROP INDEX payouts_end_to_end_id',
    'ALTER TABLE end_to_end_ids RENAME CONSTRAINT of_now TO payouts_end_to_end_id',
  )
  return applied
}

test('positions that were folded before that was written down are gone on from', async () => {
  await foldTrades(history.world.db)
  await admin(...UNDO)
  expect(await migrateAgain()).toEqual(UNDONE.map((name) => `sandbox/${name}`))
  expect(await findings()).toEqual([])
  const [base] = await admin(
    'SELECT count(*)::integer AS positions, sum(paid)::integer AS paid FROM fold_base',
  )
  expect(base).toMatchObject({ paid: 14 })
  expect(base!.positions).toBeGreaterThan(3)
  for (let n = 0; n < 24; n++) await history.trade(partner, partner.customers[n % 2]!, n)
  await history.payFees(partner, null, 'after-1')
  expect(await findings()).toEqual([])
  await admin(`UPDATE positions SET cost = cost + 1 WHERE id = 'treasury  BTC'`)
  expect((await findings()).map(({ check }) => check)).toEqual([
    'every position has the amount, the cost and the result that its trades make',
  ])
  await admin(`UPDATE positions SET cost = cost - 1 WHERE id = 'treasury  BTC'`)
})

test('a reference that was used twice does not stop the upgrade: the audit names it', async () => {
  await admin(
    ...UNDO,
    `INSERT INTO fee_payouts SELECT 'fp_x', partner_id, asset, amount, customer_id, reason, reference, created_at FROM fee_payouts WHERE reference = 'after-1'`,
  )
  await migrateAgain()
  expect((await findings()).map(({ check }) => check)).toContain('no reference pays fees twice')
  await admin(`DELETE FROM fee_payouts WHERE id = 'fp_x'`, ...UNDO)
  await migrateAgain()
  expect(await findings()).toEqual([])
})

test('events that were forgotten may be missing; the same events removed otherwise are missed', async () => {
  const [old, older] = await admin(`SELECT id FROM payouts WHERE status = 'completed' ORDER BY id LIMIT 2`)
  for (const [payout, by] of [
    [old, '40 days'],
    [older, '80 days'],
  ] as const)
    await moveIntoThePast(history.database.url, { table: 'payouts', id: String(payout!.id), by })
  expect(await findings()).toEqual([])
  const remove = (id: unknown) => [`DELETE FROM events WHERE object_id = '${id}'`]
  // Nobody forgets in the order of this test: the younger one goes first, by hand.
  await admin('CREATE TABLE kept_events AS SELECT * FROM events')
  await admin(...remove(old!.id))
  expect((await findings()).map(({ check }) => check)).toEqual([
    'every payout was told at each of its states, as it is',
  ])
  await admin(
    'SET session_replication_role = replica',
    'INSERT INTO events SELECT * FROM kept_events ON CONFLICT DO NOTHING',
    'DROP TABLE kept_events',
  )
  expect(await findings()).toEqual([])
  await history.world.db.query(`SELECT forget_old_events(now() - interval '30 days', '', 100000)`)
  const [left] = await admin(
    `SELECT count(*)::integer AS events FROM events WHERE object_id IN ('${old!.id}', '${older!.id}')`,
  )
  expect(left).toEqual({ events: 0 })
  expect(await findings()).toEqual([])
})

test('of a payout that took long, the events were forgotten up to its end', async () => {
  const [slow] = await admin(`SELECT max(id) AS id FROM payouts WHERE status = 'completed'`)
  const id = String(slow!.id)
  await moveIntoThePast(history.database.url, { table: 'payouts', id, by: '20 days' })
  // It took ten minutes, and everything was forgotten by the version before, which noted nothing down.
  await admin(
    'SET session_replication_role = replica',
    `UPDATE payouts SET completed_at = completed_at + interval '10 min' WHERE id = '${id}'`,
    `UPDATE entries SET created_at = created_at + interval '10 min' WHERE cause_id = '${id}' AND movement = 'completed'`,
    `DELETE FROM events WHERE object_id = '${id}'`,
    `DELETE FROM claims WHERE resource_id = '${id}'`,
    ...UNDO,
  )
  await migrateAgain()
  expect(await findings()).toEqual([])
})
