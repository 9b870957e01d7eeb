import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openFairSemaphore, QueueFull, type Release } from './fair-semaphore.ts'

const settle = () => new Promise((done) => setImmediate(done))

describe('places', () => {
  test('never exceed the limit in all, nor the limit of a name, and none stays unused', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(
          fc.record({ name: fc.constantFrom('a', 'b', 'c'), leaves: fc.integer({ min: 0, max: 3 }) }),
          {
            maxLength: 60,
          },
        ),
        async (at_once, per_name, steps) => {
          const semaphore = openFairSemaphore({ at_once, per_name })
          const inside: { name: string; leave: Release }[] = []
          let asked = 0
          for (const { name, leaves } of steps) {
            asked++
            void semaphore.take(name).then((leave) => inside.push({ name, leave }))
            await settle()
            for (let i = 0; i < leaves; i++) {
              inside.shift()?.leave()
              await settle()
            }
            expect(inside.length).toBeLessThanOrEqual(at_once)
            for (const of of ['a', 'b', 'c'])
              expect(inside.filter((one) => one.name === of).length).toBeLessThanOrEqual(per_name)
            expect(semaphore.facts().busy).toBe(inside.length)
          }
          let served = 0
          for (let rounds = 0; inside.length > 0 && rounds < 1000; rounds++) {
            served++
            inside.shift()!.leave()
            await settle()
          }
          expect(semaphore.facts()).toEqual({ busy: 0, waiting: 0 })
          expect(served).toBeLessThanOrEqual(asked)
        },
      ),
      { numRuns: 50 },
    )
  })

  test('go to the names in turn, however many callers wait under one of them', async () => {
    const semaphore = openFairSemaphore({ at_once: 1, per_name: 1 })
    const first = await semaphore.take('crowd')
    const order: string[] = []
    const visit = async (name: string) => {
      const leave = await semaphore.take(name)
      order.push(name)
      leave()
    }
    const visits = [...Array(50).fill('crowd'), 'ana', 'bia'].map(visit)
    first()
    await Promise.all(visits)
    expect(order.indexOf('ana')).toBeLessThanOrEqual(2)
    expect(order.indexOf('bia')).toBeLessThanOrEqual(3)
    expect(order).toHaveLength(52)
  })

  test('of one name that are all taken do not block other names', async () => {
    const semaphore = openFairSemaphore({ at_once: 4, per_name: 2 })
    await semaphore.take('slow')
    await semaphore.take('slow')
    void semaphore.take('slow')
    expect(await Promise.race([semaphore.take('other'), settle()])).toBeTypeOf('function')
  })
})

describe('a waiting caller', () => {
  test('is refused when too many wait already, in all or under its name', async () => {
    const semaphore = openFairSemaphore({ at_once: 1, per_name: 1, waiting_per_name: 2, waiting_max: 3 })
    await semaphore.take('a')
    void semaphore.take('a')
    void semaphore.take('a')
    await expect(semaphore.take('a')).rejects.toThrow(QueueFull)
    void semaphore.take('b')
    await expect(semaphore.take('c')).rejects.toThrow(QueueFull)
    expect(semaphore.facts()).toEqual({ busy: 1, waiting: 3 })
  })

  test('gives up in time, and leaves nothing behind', async () => {
    const semaphore = openFairSemaphore({ at_once: 1, per_name: 1, wait_ms: 20 })
    const leave = await semaphore.take('a')
    await expect(semaphore.take('a')).rejects.toThrow(QueueFull)
    expect(semaphore.facts()).toEqual({ busy: 1, waiting: 0 })
    leave()
    leave()
    expect(semaphore.facts().busy).toBe(0)
    expect(await semaphore.take('a')).toBeTypeOf('function')
  })
})
