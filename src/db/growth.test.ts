import { EventEmitter } from 'node:events'
import type pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../../test/support/wait.ts'
import { PoolGrowth } from './growth.ts'

/** A pool with the given number of connections, all in use. */
function poolOf(totalCount: number, max: number) {
  const pool = Object.assign(new EventEmitter(), { totalCount, idleCount: 0, ending: false })
  const growth = new PoolGrowth(pool as unknown as pg.Pool, max)
  const entered: number[] = []
  const take = (who: number) => void growth.take(async () => void entered.push(who))
  return { pool, entered, take }
}

test('the first caller opens a connection at once', () => {
  const { entered, take } = poolOf(0, 8)
  take(1)
  expect(entered).toEqual([1])
})

test('a caller that finds an idle connection takes it at once', () => {
  const { pool, entered, take } = poolOf(3, 8)
  pool.idleCount = 1
  take(1)
  expect(entered).toEqual([1])
})

test('callers that find no idle connection wait for a release, in order', async () => {
  const { pool, entered, take } = poolOf(1, 8)
  for (const who of [1, 2, 3]) take(who)
  expect(entered).toEqual([])
  pool.emit('release')
  await Promise.resolve()
  expect(entered).toEqual([1])
  pool.emit('release')
  await Promise.resolve()
  expect(entered).toEqual([1, 2])
})

test('when no connection is released, the waiting callers open new ones, in order', async () => {
  const { entered, take } = poolOf(1, 8)
  for (const who of [1, 2, 3]) take(who)
  await until(() => entered.length === 3, 5000)
  expect(entered).toEqual([1, 2, 3])
})

test('connections are opened one at a time, unless one takes too long', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const pool = Object.assign(new EventEmitter(), { totalCount: 1, idleCount: 0, ending: false })
  const growth = new PoolGrowth(pool as unknown as pg.Pool, 8)
  const begun: number[] = []
  for (const who of [1, 2, 3]) void growth.take(() => new Promise(() => void begun.push(who)))
  await vi.advanceTimersByTimeAsync(20)
  expect(begun).toEqual([1])
  await vi.advanceTimersByTimeAsync(400)
  expect(begun).toEqual([1])
  await vi.advanceTimersByTimeAsync(200)
  expect(begun).toEqual([1, 2])
})

test('a pool that is full, or that ends, makes no caller wait here', async () => {
  const { pool, entered, take } = poolOf(7, 8)
  for (const who of [1, 2, 3]) take(who)
  pool.totalCount = 8
  take(4)
  expect(entered).toEqual([4])
  pool.emit('release')
  await Promise.resolve()
  expect(entered).toEqual([4, 1, 2, 3])
  pool.totalCount = 7
  pool.ending = true
  take(5)
  expect(entered).toEqual([4, 1, 2, 3, 5])
})
