import { afterAll, beforeAll, expect, test } from 'vitest'
import { asAdmin, createDatabase, seatAt, type TestDatabase } from '../../test/support/database.ts'
import { openPool, type Pool } from '../db/pool.ts'
import { countersOf } from './store.ts'
import { openTally } from './tally.ts'
import type { CountedRequest, WindowLimit } from './windows.ts'

let database: TestDatabase
let pool: Pool
beforeAll(async () => {
  database = await createDatabase()
  pool = openPool({ ...seatAt(database.url, 'shared'), max: 2, wait_ms: 200 })
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})

const day: WindowLimit = { name: 'day', kind: 'day', limit: 100 }
const request = (subject: string): CountedRequest => ({ subject, window_limits: [day], now: Date.now() })
const savedOf = async (subject: string) => (await countersOf(pool, subject)).map(({ count }) => count)

test('a count is unsaved until a save succeeds', async () => {
  const tally = openTally(pool)
  await tally.save()
  tally.count(request('a'))
  tally.count(request('a'))
  expect(tally.hasUnsaved()).toBe(true)
  await asAdmin(database.url, ['ALTER TABLE shared.windows RENAME TO gone'])
  await expect(tally.save()).rejects.toThrow('windows')
  expect(tally.hasUnsaved()).toBe(true)
  await asAdmin(database.url, ['ALTER TABLE shared.gone RENAME TO windows'])
  await tally.saveSoon(5000)
  expect(tally.hasUnsaved()).toBe(false)
  expect(await savedOf('a')).toEqual([2])
})

test('a count made while a save is under way stays unsaved', async () => {
  const tally = openTally(pool)
  tally.count(request('b'))
  const saving = tally.save()
  await new Promise((resolve) => setImmediate(resolve))
  tally.count(request('b'))
  await saving
  expect(tally.hasUnsaved()).toBe(true)
  await tally.save()
  expect(await savedOf('b')).toEqual([2])
})

test('load takes higher counts from the database, and never lower ones', async () => {
  const [mine, other] = [openTally(pool), openTally(pool)]
  for (let i = 0; i < 3; i++) other.count(request('c'))
  other.count(request('d'))
  await other.save()
  mine.count(request('d'))
  mine.count(request('d'))
  await mine.load()
  expect(mine.count(request('c')).window.remaining).toBe(96)
  expect(mine.count(request('d')).window.remaining).toBe(97)
})
