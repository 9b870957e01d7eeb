import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createDatabase, seatAt, type TestDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { openHints } from '../db/hints.ts'
import { openPool, type Pool } from '../db/pool.ts'
import { hearOfDeliveries, openElsewhere } from './elsewhere.ts'

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

/** Nodes that bring webhooks, one for each environment, and how often they were woken. */
async function openListeners() {
  const hints = openHints(seatAt(database.url, 'shared'), log)
  onTestFinished(hints.stop)
  const woken = { production: 0, sandbox: 0 }
  hearOfDeliveries(hints, {
    production: { wake: () => woken.production++ },
    sandbox: { wake: () => woken.sandbox++ },
  })
  // Whoever begins to listen may have missed something.
  await until(() => woken.production > 0 && woken.sandbox > 0, 10_000)
  return { woken, before: { ...woken } }
}

test('a node that brings no webhooks wakes one that does, in its own environment, and not for each event', async () => {
  const { woken, before } = await openListeners()
  const elsewhere = openElsewhere({ db, environment: 'sandbox' }, log)
  for (let i = 0; i < 1000; i++) elsewhere.wake()
  await until(() => woken.sandbox > before.sandbox, 10_000)
  await elsewhere.stop()
  expect(woken.sandbox - before.sandbox).toBeLessThanOrEqual(2)
  expect(woken.production).toBe(before.production)
})

test('what comes while one hint is under way is told by another', async () => {
  const { woken, before } = await openListeners()
  const elsewhere = openElsewhere({ db, environment: 'production' }, log)
  onTestFinished(elsewhere.stop)
  for (let n = 1; n <= 3; n++) {
    elsewhere.wake()
    await until(() => woken.production >= before.production + n, 10_000)
  }
})

test('a database that is away costs nothing but the hint', async () => {
  const away = openPool({
    ...seatAt('postgresql://nobody@127.0.0.1:1/nothing', 'sandbox'),
    max: 1,
    wait_ms: 1,
  })
  onTestFinished(() => away.end())
  const elsewhere = openElsewhere({ db: away, environment: 'sandbox' }, log)
  elsewhere.wake()
  await elsewhere.stop()
})
