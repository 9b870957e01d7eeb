import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createDatabase, seatAt, type TestDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { openHints } from '../db/hints.ts'
import { openPool, type Pool } from '../db/pool.ts'
import { listenForWakeUps, openRemoteWorker } from './remote-worker.ts'

const log = pino({ level: 'silent' })
let database: TestDatabase
let db: Pool
beforeAll(async () => {
  database = await createDatabase()
  db = openPool({ ...seatAt(database.url, 'sandbox'), max: 2 })
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

/** Webhook workers, one for each environment, that count how often they were woken. */
async function openListeners() {
  const hints = openHints(seatAt(database.url, 'shared'), log)
  onTestFinished(hints.stop)
  const woken = { production: 0, sandbox: 0 }
  listenForWakeUps(hints, {
    production: { wake: () => woken.production++ },
    sandbox: { wake: () => woken.sandbox++ },
  })
  // A listener that has just connected may have missed hints, so it wakes its workers once.
  await until(() => woken.production > 0 && woken.sandbox > 0, 10_000)
  return { woken, before: { ...woken } }
}

test('a node without a webhook worker wakes one that has it, in the same environment, and not once per event', async () => {
  const { woken, before } = await openListeners()
  const remote = openRemoteWorker({ db, environment: 'sandbox' }, log)
  for (let i = 0; i < 1000; i++) remote.wake()
  await until(() => woken.sandbox > before.sandbox, 10_000)
  await remote.stop()
  expect(woken.sandbox - before.sandbox).toBeLessThanOrEqual(2)
  expect(woken.production).toBe(before.production)
})

test('a wake-up that comes while a hint is being sent leads to another hint', async () => {
  const { woken, before } = await openListeners()
  const remote = openRemoteWorker({ db, environment: 'production' }, log)
  onTestFinished(remote.stop)
  for (let n = 1; n <= 3; n++) {
    remote.wake()
    await until(() => woken.production >= before.production + n, 10_000)
  }
})

test('an unreachable database loses the hint and nothing else', async () => {
  const away = openPool({
    ...seatAt('postgresql://nobody@127.0.0.1:1/nothing', 'sandbox'),
    max: 1,
    wait_ms: 1,
  })
  onTestFinished(() => away.end())
  const remote = openRemoteWorker({ db: away, environment: 'sandbox' }, log)
  remote.wake()
  await remote.stop()
})
