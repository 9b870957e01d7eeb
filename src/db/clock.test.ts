import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createDatabase, seatAt } from '../../test/support/database.ts'
import { measureOffset } from './clock.ts'
import { type Db, openPool } from './pool.ts'

test('one slow answer does not move the clock', async () => {
  const database = await createDatabase()
  onTestFinished(database.drop)
  const pool = openPool({ ...seatAt(database.url, 'shared', 'clock'), max: 1 })
  onTestFinished(() => pool.end())
  await pool.query('SELECT 1')
  let asked = 0
  // One answer takes long on its way back: half of that round trip is a bad estimate.
  const slow = {
    async query(text: string) {
      const answer = await pool.query(text)
      if (++asked === 1) await sleep(1500)
      return answer
    },
  } as Db
  const { offset_ms, round_trip_ms } = await measureOffset(slow)
  expect(asked).toBe(5)
  expect(round_trip_ms).toBeLessThan(1000)
  expect(Math.abs(offset_ms)).toBeLessThan(500)
})
