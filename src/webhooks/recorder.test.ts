import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asAdmin, createDatabase, seatAt, type TestDatabase } from '../../test/support/database.ts'
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

/** Deliveries that were just tried, and what came of each. */
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
  await Promise.all(outcomes.map((one) => recorder.record(one, { gone: false, was_failing: false })))
  await recorder.stop()
  return { losses, lines }
}

const stored = (name: string) =>
  asAdmin(database.url, [
    `SELECT d.event_id, d.status, a.status AS answered, a.answer_body FROM sandbox.webhook_deliveries d
     LEFT JOIN sandbox.webhook_attempts a USING (event_id, endpoint_id) WHERE d.event_id LIKE '${name} %'`,
  ])

test('an answer that cannot be stored costs its neighbours nothing, and is not asked for again', async () => {
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
  expect(lines).toMatchObject([{ event_id, msg: 'webhooks: the answer cannot be stored, left out' }])
})

test('an outcome that cannot be written at all is lost alone, and told of', async () => {
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

test('a database that is away is asked once for a batch, not once for each of its rows', async () => {
  const away = openPool({ ...seatAt('postgresql://nobody@127.0.0.1:1/nothing', 'sandbox'), max: 1 })
  const { losses, lines } = await record(away, await tried('away'))
  expect(losses).toHaveLength(COUNT)
  expect(lines).toMatchObject([{ attempts: COUNT }])
  await away.end()
})

describe('an endpoint that answers differently within one batch', () => {
  const answer = (outcome: AttemptResult, status: number) => ({
    ...outcome,
    status,
    delivered: status === 200,
    retry_ms: status === 200 ? null : 5000,
  })
  test.each([
    { answers: [200, 200, 410], ends: 'disabled' },
    { answers: [410, 500], ends: 'disabled' },
    { answers: [410, 200], ends: 'enabled' },
    { answers: [200, 500], ends: 'enabled' },
  ])('$answers: $ends', async ({ answers, ends }) => {
    const id = `we ${answers.join(' ')}`
    await asAdmin(database.url, [
      `INSERT INTO sandbox.webhook_endpoints (id, partner_id, url, events, secret, created_at)
       VALUES ('${id}', 'ptn_1', 'https://example.com/', '{*}', '', now())`,
    ])
    const outcomes = (await tried(id)).slice(0, answers.length)
    // The first is written alone: the others gather meanwhile.
    const recorder = openRecorder(db, { log: pino({ level: 'silent' }) })
    const about = (status: number) => ({ gone: status === 410, was_failing: false })
    const first = recorder.record((await tried(`${id} first`))[0]!, about(200))
    const others = answers.map((status, i) =>
      recorder.record(answer({ ...outcomes[i]!, endpoint_id: id }, status), about(status)),
    )
    await Promise.all([first, ...others])
    await recorder.stop()
    const [row] = await asAdmin(database.url, [
      `SELECT status FROM sandbox.webhook_endpoints WHERE id = '${id}'`,
    ])
    expect(row).toEqual({ status: ends })
  })
})
