import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  asAdmin,
  createDatabase,
  isLockAwaited,
  seatAt,
  type TestDatabase,
} from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { openPool, type Pool } from '../db/pool.ts'
import type { AttemptResult } from './attempt-results.ts'
import { openRecorder } from './recorder.ts'

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

const COUNT = 100

/** Deliveries that were just tried, with their results. */
async function tried(name: string): Promise<AttemptResult[]> {
  await asAdmin(database.url, [
    `INSERT INTO sandbox.webhook_deliveries (event_id, endpoint_id, attempts, tries, next_attempt_at, created_at)
     SELECT '${name} ' || n, 'whe_1', 1, 1, now() + interval '1 hour', now() FROM generate_series(0, ${COUNT - 1}) n`,
  ])
  return Array.from({ length: COUNT }, (_, n) => ({
    event_id: `${name} ${n}`,
    endpoint_id: 'whe_1',
    partner_id: 'ptn_1',
    attempt: 1,
    tries: 1,
    lengthy: false,
    url: 'https://example.com/',
    headers: '{"user-agent":"test"}',
    status: 200,
    answer_headers: '{}',
    answer_body: 'ok',
    error: null,
    started_at: new Date(),
    duration_ms: 1,
    delivered: true,
    retry_ms: null,
  }))
}

async function record(pool: Pool, outcomes: readonly AttemptResult[]) {
  const losses: { kept: boolean }[] = []
  const lines: any[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const recorder = openRecorder(pool, { log, onLost: (loss) => losses.push(loss) })
  await Promise.all(outcomes.map((one) => recorder.record(one)))
  await recorder.stop()
  return { losses, lines }
}

const stored = (name: string) =>
  asAdmin(database.url, [
    `SELECT d.event_id, d.status, a.status AS answered, a.answer_body FROM sandbox.webhook_deliveries d
     LEFT JOIN sandbox.webhook_attempts a USING (event_id, endpoint_id) WHERE d.event_id LIKE '${name} %'`,
  ])

test('a response that cannot be stored affects no other row of its batch, and its event is not sent again', async () => {
  const outcomes = await tried('bad body')
  const { event_id } = outcomes[37]!
  outcomes[37] = { ...outcomes[37]!, answer_body: 'a NUL \u0000 in it' }
  const { losses, lines } = await record(db, outcomes)
  const rows = await stored('bad body')
  expect(rows.filter(({ status, answered }) => status === 'delivered' && answered === 200)).toHaveLength(
    COUNT,
  )
  expect(rows.filter(({ answer_body }) => answer_body === 'ok')).toHaveLength(COUNT - 1)
  expect(losses).toEqual([{ kept: true }])
  expect(lines).toMatchObject([
    { event_id, msg: 'webhooks: the response cannot be stored; attempt recorded without it' },
  ])
})

test('a result that cannot be recorded at all is lost alone, and reported', async () => {
  const outcomes = await tried('bad row')
  const { event_id } = outcomes[99]!
  outcomes[99] = { ...outcomes[99]!, attempt: 2 ** 40 }
  const { losses, lines } = await record(db, outcomes)
  const rows = await stored('bad row')
  expect(rows.filter(({ status }) => status === 'delivered')).toHaveLength(COUNT - 1)
  expect(rows.find((row) => row.event_id === event_id)).toMatchObject({ status: 'pending', answered: null })
  expect(losses).toEqual([{ kept: false }])
  expect(lines).toMatchObject([{ event_id, attempts: 1 }])
})

test('an unreachable database is tried once per batch, not once per row', async () => {
  const away = openPool({ ...seatAt('postgresql://nobody@127.0.0.1:1/nothing', 'sandbox'), max: 1 })
  const { losses, lines } = await record(away, await tried('away'))
  expect(losses).toHaveLength(COUNT)
  expect(lines).toMatchObject([{ attempts: COUNT }])
  await away.end()
})

const endpoint = (id: string) =>
  `INSERT INTO sandbox.webhook_endpoints (id, partner_id, url, events, secret, created_at)
   VALUES ('${id}', 'ptn_1', 'https://example.com/', '{*}', '', now())`
const answer = (outcome: AttemptResult, status: number): AttemptResult => ({
  ...outcome,
  status,
  delivered: status === 200,
  retry_ms: status === 200 ? null : 5000,
})

describe('an endpoint that answers differently within one batch', () => {
  test.each([
    { answers: [200, 200, 410], ends: 'disabled' },
    { answers: [410, 500], ends: 'disabled' },
    { answers: [410, 200], ends: 'enabled' },
    { answers: [200, 500], ends: 'enabled' },
  ])('$answers: $ends', async ({ answers, ends }) => {
    const id = `we ${answers.join(' ')}`
    await asAdmin(database.url, [endpoint(id)])
    const outcomes = (await tried(id)).slice(0, answers.length)
    // The first result is recorded alone; the others form a batch meanwhile.
    const recorder = openRecorder(db, { log: pino({ level: 'silent' }) })
    const first = recorder.record((await tried(`${id} first`))[0]!)
    const others = answers.map((status, i) =>
      recorder.record(answer({ ...outcomes[i]!, endpoint_id: id }, status)),
    )
    await Promise.all([first, ...others])
    await recorder.stop()
    const [row] = await asAdmin(database.url, [
      `SELECT status FROM sandbox.webhook_endpoints WHERE id = '${id}'`,
    ])
    expect(row).toEqual({ status: ends })
  })
})

test('any success clears failing_since, also one that was sent before the endpoint began to fail', async () => {
  const [works, fails] = ['we works', 'we fails']
  const row = async (id: string) =>
    (
      await asAdmin(database.url, [
        `SELECT failing_since, xmin::text AS written_by FROM sandbox.webhook_endpoints WHERE id = '${id}'`,
      ])
    )[0]!
  await asAdmin(database.url, [endpoint(works), endpoint(fails)])
  const before = await row(works)
  const outcomes = await tried(works)
  const recorder = openRecorder(db, { log: pino({ level: 'silent' }) })
  const [failed] = await tried(fails)
  await recorder.record(answer({ ...failed!, endpoint_id: fails }, 500))
  expect((await row(fails)).failing_since).not.toBeNull()
  await Promise.all(
    outcomes.flatMap((outcome) => [
      recorder.record({ ...outcome, endpoint_id: works }),
      recorder.record({ ...outcome, endpoint_id: fails }),
    ]),
  )
  await recorder.stop()
  expect((await row(fails)).failing_since).toBeNull()
  // A success of a healthy endpoint writes no endpoint row.
  expect(await row(works)).toEqual(before)
})

describe('a result of a URL that the endpoint no longer has', () => {
  const old = 'https://old.example.com/'
  const read = async (id: string) => {
    const [row] = await asAdmin(database.url, [
      `SELECT status, failing_since FROM sandbox.webhook_endpoints WHERE id = '${id}'`,
    ])
    return row
  }
  const silent = () => openRecorder(db, { log: pino({ level: 'silent' }) })

  test.each([410, 500])('does not count: %i', async (status) => {
    const id = `we moved ${status}`
    await asAdmin(database.url, [endpoint(id)])
    const [outcome] = await tried(id)
    const recorder = silent()
    await recorder.record(answer({ ...outcome!, endpoint_id: id, url: old }, status))
    await recorder.stop()
    expect(await read(id)).toEqual({ status: 'enabled', failing_since: null })
  })

  test('does not count beside results of the new URL', async () => {
    const id = 'we moves'
    await asAdmin(database.url, [endpoint(id)])
    const [first, ...others] = (await tried(id)).map((outcome) => ({ ...outcome, endpoint_id: id }))
    const recorder = silent()
    await Promise.all([
      recorder.record(first!),
      recorder.record(answer(others[0]!, 500)),
      recorder.record(answer({ ...others[1]!, url: old }, 200)),
      recorder.record(answer({ ...others[2]!, url: old }, 410)),
    ])
    await recorder.stop()
    expect(await read(id)).toEqual({ status: 'enabled', failing_since: expect.any(Date) })
  })

  test('does not count while the URL is being changed', async () => {
    const id = 'we moving'
    await asAdmin(database.url, [endpoint(id)])
    const [outcome] = await tried(id)
    const mover = new pg.Client({ connectionString: database.url })
    await mover.connect()
    onTestFinished(() => mover.end())
    await mover.query('BEGIN')
    await mover.query(
      `UPDATE sandbox.webhook_endpoints SET url = 'https://new.example.com/' WHERE id = '${id}'`,
    )
    const recorder = silent()
    const recorded = recorder.record(answer({ ...outcome!, endpoint_id: id }, 410))
    await until(() => isLockAwaited(database.url), 10_000)
    await mover.query('COMMIT')
    await recorded
    await recorder.stop()
    expect(await read(id)).toEqual({ status: 'enabled', failing_since: null })
  })
})
