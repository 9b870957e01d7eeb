import { afterAll, beforeAll, expect, test } from 'vitest'
import { asAdmin } from '../support/database.ts'
import { type History, openHistory } from '../support/history.ts'
import { moveIntoThePast } from '../support/past.ts'

let history: History

beforeAll(async () => {
  history = await openHistory({ AUDIT_EVERY_MS: '0', EVENT_RETENTION_DAYS: '30' })
  await history.fill([await history.addPartner(2, 25)], 60)
})
afterAll(() => history.stop())

const admin = (...statements: string[]) =>
  asAdmin(history.database.url, ['SET search_path = sandbox', ...statements])
const findings = async () => (await history.audit()).sandbox.findings

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
