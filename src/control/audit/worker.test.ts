import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asAdmin, createDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { until } from '../../../test/support/wait.ts'
import { openTestWorld, type TestWorld } from '../../../test/support/world.ts'
import { audit } from '../../ledger/audit.ts'
import { sliceChecks } from '../../node/worlds.ts'
import { openExceptions } from '../../records/exceptions/store.ts'
import { readProgress, takeAuditLease } from './progress.ts'
import { openAuditWorker } from './worker.ts'

/** Recent changes are checked soon, along the log; old rows are checked by the slow pass. */
let database: TestDatabase
let stage: TestWorld
beforeAll(async () => {
  database = await createDatabase()
  stage = await openTestWorld({ url: database.url })
})
afterAll(() => stage.stop())

const AN_HOUR_MS = 3_600_000
const log = pino({ level: 'silent' })
const soon = (ask: () => Promise<boolean>) => until(ask, 30_000)

/** Sets the state in which a pass has just ended: the next one is due in an hour. */
const passEnded = () =>
  asAdmin(database.url, [
    `UPDATE sandbox.audit_progress SET started_at = NULL, stage = NULL, position = NULL, findings = 0,
       last_started_at = clock_timestamp(), last_finished_at = clock_timestamp(), last_findings = 0`,
  ])

async function credit(): Promise<string> {
  const { id } = await stage.customer({ BRL: 500n })
  const { rows } = await stage.db.query('SELECT id FROM deposits WHERE customer_id = $1', [id])
  return rows[0].id
}

/** Changes both lines, so that they still sum to zero. */
const corrupt = (deposit_id: string) =>
  asAdmin(database.url, [`UPDATE sandbox.entries SET amount = amount * 2 WHERE cause_id = '${deposit_id}'`])

const found = async () => new Set((await openExceptions(stage.db, 100)).map(({ object_id }) => object_id))
const progress = () => readProgress(stage.db)
const openHourly = () =>
  openAuditWorker(stage.world, {
    checks: sliceChecks,
    log,
    every_ms: AN_HOUR_MS,
    share_pct: 100,
    first_ms: 1,
  })

test('a recent change is checked soon, and an old row only by the pass', async () => {
  const old = await credit()
  await passEnded()
  const auditor = openHourly()
  await soon(async () => (await progress()).proved_upto === (await progress()).log_end)
  await corrupt(old)
  await auditor.stop()

  const fresh = await credit()
  await corrupt(fresh)
  const again = openHourly()
  await soon(async () => (await found()).has(fresh))
  await soon(async () => (await progress()).proved_upto === (await progress()).log_end)
  await again.stop()
  expect(await found()).not.toContain(old)
  expect((await progress()).last_started_at).not.toBeNull()
  expect((await progress()).findings).toBeGreaterThan(0)

  const whole = await audit(stage.db, sliceChecks)
  const named = whole.findings.flatMap(({ examples }) => examples.map(({ object_id }) => object_id))
  expect(named).toEqual(expect.arrayContaining([old, fresh]))

  const passing = openAuditWorker(stage.world, { checks: sliceChecks, log, every_ms: 1, share_pct: 100 })
  await soon(async () => (await found()).has(old))
  await passing.stop()
})

test('a piece of the log checks the objects of its events, and nothing else', async () => {
  await passEnded()
  const before = await progress()
  const ids = [await credit(), await credit(), await credit()]
  // Pieces with fewer rows than there are: several pieces are needed.
  const auditor = openAuditWorker(stage.world, {
    checks: sliceChecks,
    log,
    every_ms: AN_HOUR_MS,
    share_pct: 100,
    first_ms: 1,
    most: 4,
  })
  await soon(async () => (await progress()).proved_upto === (await progress()).log_end)
  await auditor.stop()
  expect((await progress()).proved_upto).toBeGreaterThan(before.proved_upto!)
  for (const id of ids) expect(await found()).not.toContain(id)
})

test('without new events and a due pass, nothing is written', async () => {
  await passEnded()
  const mark = async () => (await asAdmin(database.url, ['SELECT xmin FROM sandbox.audit_progress']))[0]
  const before = await mark()
  let looks = 0
  const reading = { ...stage.world, db: counting(() => looks++) }
  const auditor = openAuditWorker(reading, {
    checks: sliceChecks,
    log,
    every_ms: AN_HOUR_MS,
    share_pct: 100,
    first_ms: 1,
    poll_ms: 1,
  })
  await soon(async () => looks > 3)
  expect(await mark()).toEqual(before)
  await auditor.stop()
})

/** The same pool; calls back for each query. */
function counting(onQuery: () => void): TestWorld['db'] {
  const query = (...asked: [string]) => {
    onQuery()
    return stage.db.query(...asked)
  }
  return { query, connect: () => stage.db.connect() } as unknown as TestWorld['db']
}

test('after a newer version an older one does not get the lease', async () => {
  await asAdmin(database.url, [`UPDATE sandbox.audit_progress SET node = NULL, turn_until = '-infinity'`])
  expect(await takeAuditLease(stage.db, 'this one', 0)).toMatchObject({ node: 'this one' })
  await asAdmin(database.url, ['UPDATE sandbox.audit_progress SET edition = edition + 1'])
  expect(await takeAuditLease(stage.db, 'this one', 0)).toBeUndefined()
  await asAdmin(database.url, ['UPDATE sandbox.audit_progress SET edition = edition - 1'])
})
