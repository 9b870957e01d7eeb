import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openConsole, signedIn } from '../../../test/support/console.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { startTestService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'

const CROWD = 12
/** Longer than a successful write counts as proof of readiness (readiness.ts): the next check has to write again. */
const NEXT_WRITE_MS = 3500

let service: TestService
let going = true
let crowd: Promise<unknown>
beforeAll(async () => {
  service = await startTestService({ AUDIT_EVERY_MS: '0' })
})
afterAll(async () => {
  going = false
  await crowd
  await service.stop()
})

/** A change of name to `stuck` holds its connection until the statement times out. */
const makeNamesStick = () =>
  asAdmin(service.database.url, [
    `CREATE FUNCTION shared.stick() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(30); RETURN NEW; END'`,
    `CREATE TRIGGER stick BEFORE UPDATE ON shared.users FOR EACH ROW WHEN (NEW.name = 'stuck') EXECUTE FUNCTION shared.stick()`,
  ])

const stuckStatements = async () => {
  const rows = await asAdmin(service.database.url, [
    `SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`,
  ])
  return rows.length
}

test('users of one partner do not delay operators, sign-in or readiness', async () => {
  const { partner_id } = await service.partner()
  const { partner_id: other_id } = await service.partner()
  const people: Awaited<ReturnType<typeof signedIn>>[] = []
  while (people.length < CROWD) people.push(await signedIn(service, { partner_id, role: 'viewer' }))
  const operator = await signedIn(service, { role: 'admin', factor: true })
  const colleague = await signedIn(service, { partner_id: other_id, role: 'viewer' })
  await makeNamesStick()
  crowd = Promise.all(
    people.map(async (person) => {
      while (going) await person.patch('/me', { name: 'stuck' })
    }),
  )
  await until(async () => (await stuckStatements()) >= 2, 20_000)
  await sleep(NEXT_WRITE_MS)

  const ready = await fetch(`${service.url}/readyz`)
  expect(ready.status).toBe(200)
  const { person } = colleague
  const again = await openConsole(service.url).signIn(person.user.email, person.password)
  expect([again.status, again.text]).toEqual([200, again.text])
  const acted = await operator.patch('/me', { language: 'en' })
  expect([acted.status, acted.text]).toEqual([200, acted.text])
  expect((await colleague.get('/team')).status).toBe(200)
  // Between the end of one statement and the next there may be none for a moment.
  await until(async () => (await stuckStatements()) > 0, 20_000)
})
