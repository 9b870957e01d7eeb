import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, seatAt, type TestDatabase } from '../../test/support/database.ts'
import { Refusal, refuse } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { type Claim, type Command, insertInto, rowSource, writeTo } from './command.ts'
import { type Door, openDoor } from './commit.ts'

/** A claim is inserted once, by the first transaction; all others find it, however late it becomes visible. */
let database: TestDatabase
let other: pg.Client
/** Another session: within the transaction of `other`, pg_stat_activity does not change. */
let watcher: pg.Client
let door: Door
const warnings: string[] = []

beforeAll(async () => {
  database = await createDatabase()
  other = new pg.Client({ connectionString: database.url })
  watcher = new pg.Client({ connectionString: database.url })
  await Promise.all([other.connect(), watcher.connect()])
  await other.query('SET search_path = sandbox')
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) })
  door = openDoor({ seat: seatAt(database.url, 'sandbox'), lanes: 1, log })
})
afterAll(async () => {
  await door.stop()
  await Promise.all([other.end(), watcher.end()])
  await database.drop()
})

const marks = { ...insertInto('commits', { id: 'text' }), name: 'marks of a test' }
let names = 0
const newClaim = (): Claim => ({ scope: 's', operation: 'o', key: `k${++names}`, fingerprint: 'f' })

/** A row that another transaction may hold while a command needs it. */
const latch = rowSource<{ id: string }>(
  'latch of a test',
  `SELECT customer_id AS id FROM balances WHERE customer_id = ANY($1::text[]) FOR UPDATE`,
)

async function newLatch(): Promise<string> {
  const id = newId('customer', Date.now())
  await other.query(`INSERT INTO balances (customer_id, partner_id, asset) VALUES ($1, 'ptn_test', 'BRL')`, [
    id,
  ])
  return id
}

type Made = { readonly id: string; readonly replayed: boolean }

/** Makes a row under a claim; `refused`: refuses instead, and leaves no record. */
function make(claim: Claim | undefined, more: { refused?: true; row?: string } = {}): Command<Made> {
  const id = newId('batch', Date.now())
  return {
    partner_id: 'ptn_test',
    locks: { ...(claim ? { claim } : {}), rows: more.row ? [{ source: latch, id: more.row }] : [] },
    decide(held) {
      const before = claim && held.record(claim)
      if (before?.resource_id) return { result: { id: before.resource_id, replayed: true } }
      if (more.refused) refuse('customer_blocked')
      const kept = { resource_id: id, expires_at: null, final: true, response: null }
      return {
        writes: [writeTo(marks, { id })],
        ...(claim ? { record: { fingerprint: claim.fingerprint, ...kept } } : {}),
        result: { id, replayed: false },
      }
    },
  }
}

const insertClaim = ({ scope, operation, key }: Claim, resource_id: string | null) =>
  other.query(
    `INSERT INTO claims (scope, operation, key, fingerprint, resource_id, final) VALUES ($1, $2, $3, 'f', $4, $5)`,
    [scope, operation, key, resource_id, resource_id !== null],
  )

const claimsOf = async ({ key }: Claim) =>
  (await other.query('SELECT resource_id, xmin::text FROM claims WHERE key = $1', [key])).rows

/** Waits until a lane waits for a lock. */
async function untilWaiting(): Promise<void> {
  for (;;) {
    const { rows } = await watcher.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    if (rows.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const codeOf = (work: Promise<unknown>) =>
  work.then(() => 'ok').catch((error: unknown) => (error instanceof Refusal ? error.code : String(error)))

describe('a claim that another transaction inserted while a batch was being decided', () => {
  test('is found, and the whole batch runs again unsplit', async () => {
    const claim = newClaim()
    await other.query('BEGIN')
    await insertClaim(claim, 'made elsewhere')
    warnings.length = 0
    const batch = [undefined, claim, undefined, newClaim()].map((each) => door.commit(make(each)))
    await untilWaiting()
    await other.query('COMMIT')
    const made = await Promise.all(batch)
    expect(made.map(({ replayed }) => replayed)).toEqual([false, true, false, false])
    expect(made[1]!.id).toBe('made elsewhere')
    expect(warnings).toEqual([])
    const { rows } = await other.query('SELECT count(*)::integer AS kept FROM commits WHERE id = ANY($1)', [
      made.map(({ id }) => id),
    ])
    expect(rows[0].kept).toBe(3)
  })

  test.each(['ROLLBACK', 'DELETE'])('and removed again (%s) does not block the batch', async (how) => {
    const claim = newClaim()
    await other.query('BEGIN')
    await insertClaim(claim, null)
    const made = door.commit(make(claim))
    await untilWaiting()
    if (how === 'DELETE') await other.query('DELETE FROM claims WHERE key = $1', [claim.key])
    await other.query(how === 'DELETE' ? 'COMMIT' : 'ROLLBACK')
    expect((await made).replayed).toBe(false)
    expect((await claimsOf(claim)).map(({ resource_id }) => resource_id)).toEqual([(await made).id])
  })

  test.each(['commit', 'preview'] as const)(
    'is the result of a %s, instead of a refusal that was decided on a free claim',
    async (way) => {
      const claim = newClaim()
      const row = await newLatch()
      await other.query('BEGIN')
      await other.query('SELECT FROM balances WHERE customer_id = $1 FOR UPDATE', [row])
      // The batch has read its claims, and now waits for a lock.
      const waiting: Promise<Made> =
        way === 'commit'
          ? door.commit(make(claim, { refused: true, row }))
          : door.preview(make(claim, { refused: true, row })).then(({ result }) => result)
      await untilWaiting()
      await insertClaim(claim, 'made elsewhere')
      await other.query('COMMIT')
      expect(await waiting).toEqual({ id: 'made elsewhere', replayed: true })
    },
  )

  test('is found also when another command of the batch writes something', async () => {
    const claim = newClaim()
    const row = await newLatch()
    await other.query('BEGIN')
    await other.query('SELECT FROM balances WHERE customer_id = $1 FOR UPDATE', [row])
    const batch = [door.commit(make(claim, { refused: true, row })), door.commit(make(newClaim()))]
    await untilWaiting()
    await insertClaim(claim, 'made elsewhere')
    await other.query('COMMIT')
    expect((await Promise.all(batch)).map(({ replayed }) => replayed)).toEqual([true, false])
  })
})

test('two equal commands of one batch make one claim', async () => {
  const claim = newClaim()
  const [first, second] = await Promise.all([door.commit(make(claim)), door.commit(make(claim))])
  expect(second).toEqual({ id: first!.id, replayed: true })
  expect(await claimsOf(claim)).toHaveLength(1)
})

test('a refused command leaves the claim to the next command of its batch, or free when it is alone', async () => {
  const claim = newClaim()
  const [refused, made] = [door.commit(make(claim, { refused: true })), door.commit(make(claim))]
  expect(await codeOf(refused)).toBe('customer_blocked')
  expect((await made).replayed).toBe(false)
  const free = newClaim()
  expect(await codeOf(door.commit(make(free, { refused: true })))).toBe('customer_blocked')
  expect(await claimsOf(free)).toEqual([])
})

test('a response before the end updates the claim in place (HOT): no index is written', async () => {
  const claim = newClaim()
  await insertClaim(claim, null)
  await other.query(`UPDATE claims SET expires_at = now() WHERE key = $1`, [claim.key])
  await other.query('BEGIN')
  await other.query(
    `UPDATE claims SET fingerprint = fingerprint, expires_at = expires_at, final = false, answer_status = 201,
       answer_body = '{}', answer_sequence = NULL WHERE key = $1`,
    [claim.key],
  )
  const { rows } = await other.query(
    `SELECT n_tup_hot_upd AS in_place FROM pg_stat_xact_user_tables WHERE schemaname = 'sandbox' AND relname = 'claims'`,
  )
  await other.query('COMMIT')
  expect(Number(rows[0].in_place)).toBe(1)
})
