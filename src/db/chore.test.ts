import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createDatabase, seatAt } from '../../test/support/database.ts'
import { openChore } from './chore.ts'
import { openPool, type Pool } from './pool.ts'

const idleMost = async (pool: Pick<Pool, 'query'>) =>
  (await pool.query('SHOW idle_session_timeout')).rows[0].idle_session_timeout

test('a chore that stands still loses its lock: the limit is set while it has the lock, and on no other connection', async () => {
  const { url } = await createDatabase()
  const pools = [1, 1].map((max) => openPool({ ...seatAt(url, 'shared', 'trilho'), max }))
  onTestFinished(() => Promise.all(pools.map((pool) => pool.end())).then(() => {}))
  const [pool, other] = pools as [Pool, Pool]
  const limits: string[] = []
  const open = (pool: Pool, work: () => Promise<unknown>) =>
    openChore(
      {
        ...{ name: 'sweep the floor', every_ms: 86_400_000, pool },
        async work(db) {
          limits.push(await idleMost(db))
          await work()
        },
      },
      { log: pino({ level: 'silent' }) },
    )
  const second = open(other, async () => {})
  const first = open(pool, async () => expect(await second.run()).toBe('elsewhere'))
  onTestFinished(() => Promise.all([first.stop(), second.stop()]).then(() => {}))
  expect(await first.run()).toBe('done')
  expect(limits).toEqual(['90s'])
  expect([await idleMost(pool), await idleMost(other)]).toEqual(['0', '0'])
  expect(await second.run()).toBe('done')
})
