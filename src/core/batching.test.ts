import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openBatching, openPump } from './batching.ts'
import { QueueFull } from './fair-semaphore.ts'

/** Batches that end when the test says so. */
function openHand(options: { batch_max?: number; waiting_max?: number; at_once?: number } = {}) {
  const under_way: { batch: readonly number[]; end(error?: Error): void }[] = []
  const batches: (readonly number[])[] = []
  const batching = openBatching<number, string>({
    ...options,
    run: (batch) =>
      new Promise((resolve, reject) => {
        batches.push(batch)
        const end = (error?: Error) => (error ? reject(error) : resolve(batch.map((n) => `done ${n}`)))
        under_way.push({ batch, end })
      }),
  })
  return { batching, under_way, batches }
}

describe('a batch', () => {
  test('begins at once when none runs, with the items added in the same tick; later items form the next batch', async () => {
    const { batching, under_way, batches } = openHand()
    const answers = [1, 2].map(batching.add)
    await turn()
    expect(batches).toEqual([[1, 2]])
    answers.push(...[3, 4, 5].map(batching.add))
    await turn()
    expect(batches).toEqual([[1, 2]])
    under_way.shift()!.end()
    await turn()
    expect(batches).toEqual([
      [1, 2],
      [3, 4, 5],
    ])
    under_way.shift()!.end()
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5].map((n) => `done ${n}`))
  })

  test('that fails rejects its own items, and no others', async () => {
    const { batching, under_way } = openHand()
    const first = batching.add(1)
    await turn()
    const second = batching.add(2)
    under_way.shift()!.end(new Error('no'))
    await expect(first).rejects.toThrow('no')
    await turn()
    under_way.shift()!.end()
    expect(await second).toBe('done 2')
  })

  test('has a limited number of waiting items', async () => {
    const { batching, under_way, batches } = openHand({ waiting_max: 2 })
    const answers = [batching.add(1)]
    await turn()
    answers.push(batching.add(2), batching.add(3))
    await expect(batching.add(4)).rejects.toThrow(QueueFull)
    under_way.shift()!.end()
    await turn()
    answers.push(batching.add(5))
    under_way.shift()!.end()
    await turn()
    under_way.shift()!.end()
    await Promise.all(answers)
    expect(batches).toEqual([[1], [2, 3], [5]])
  })

  test('may gather items first; a stop ends the gathering, accepts no more items, and waits for the accepted ones', async () => {
    const batches: number[][] = []
    const batching = openBatching<number>({
      gather: (stopping) => new Promise((resolve) => stopping.addEventListener('abort', resolve)),
      async run(batch) {
        await turn()
        batches.push([...batch])
        return undefined
      },
    })
    const answers = [1, 2].map(batching.add)
    await turn()
    answers.push(batching.add(3))
    expect(batches).toEqual([])
    await batching.stop()
    expect(batches).toEqual([[1, 2, 3]])
    expect(await Promise.all(answers)).toEqual([undefined, undefined, undefined])
    await expect(batching.add(4)).rejects.toThrow(QueueFull)
    await batching.stop()
    expect(batches).toHaveLength(1)
  })

  test('goes on when gathering fails', async () => {
    const batching = openBatching<number, number>({
      gather: () => Promise.reject(new Error('no')),
      run: async (batch) => batch,
    })
    expect(await batching.add(1)).toBe(1)
    expect(await batching.add(2)).toBe(2)
  })
})

test('whenever items arrive and however batches end, each item is answered once, in order, within the limits', async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: fc.integer({ min: 1, max: 4 }), ticks: fc.nat(12) }) },
    {
      weight: 2,
      arbitrary: fc.record({ end: fc.constantFrom('well', 'badly'), which: fc.nat(3), ticks: fc.nat(12) }),
    },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { maxLength: 40 }),
      async (batch_max, waiting_max, at_once, steps) => {
        const { batching, under_way, batches } = openHand({ batch_max, waiting_max, at_once })
        const outcomes = new Map<number, string>()
        const expected = new Map<number, string>()
        const taken: number[] = []
        let made = 0
        const add = async (n: number) => {
          const outcome = await batching.add(n).catch((error: Error) => error)
          expect(outcomes.has(n)).toBe(false)
          outcomes.set(n, outcome instanceof Error ? outcome.message : outcome)
        }
        const end = ({ end, which }: { end: string; which: number }) => {
          const [one] = under_way.splice(which % Math.max(1, under_way.length), 1)
          for (const n of one?.batch ?? []) expected.set(n, end === 'well' ? `done ${n}` : 'failed')
          one?.end(end === 'well' ? undefined : new Error('failed'))
        }
        const all: Promise<void>[] = []
        for (const step of steps) {
          if ('add' in step) for (let i = 0; i < step.add; i++) all.push(add(made++))
          else end(step)
          // At any moment from now, through all following microtasks, to the next turn of the event loop.
          for (let tick = 0; tick < step.ticks; tick++) await undefined
          if (step.ticks === 12) await turn()
          expect(under_way.length).toBeLessThanOrEqual(at_once)
        }
        const stopped = batching.stop()
        for (let rest = 0; rest < 200; rest++) {
          end({ end: 'well', which: 0 })
          await turn()
        }
        await Promise.all([stopped, ...all])
        for (const batch of batches) {
          expect(batch.length).toBeLessThanOrEqual(batch_max)
          taken.push(...batch)
        }
        expect(taken).toEqual([...taken].sort((a, b) => a - b))
        for (const [n, outcome] of outcomes)
          expect(outcome).toBe(taken.includes(n) ? expected.get(n) : 'too many wait')
        expect(outcomes.size).toBe(made)
      },
    ),
  )
})

test('an item that arrives in the moment in which the pump becomes idle is not lost', async () => {
  for (let ticks = 0; ticks < 20; ticks++) {
    const queue = [1]
    const done: number[] = []
    const pump = openPump({
      hasMore: () => queue.length > 0,
      async step() {
        done.push(queue.shift()!)
      },
    })
    pump.start()
    for (let tick = 0; tick < ticks; tick++) await undefined
    queue.push(2)
    pump.start()
    await turn()
    expect(done).toEqual([1, 2])
  }
})

test('a pump continues when its last step adds more work', async () => {
  const queue = [1]
  const done: number[] = []
  const pump = openPump({
    hasMore: () => queue.length > 0,
    async step() {
      const [n] = queue.splice(0, 1)
      await turn()
      done.push(n!)
      if (n! < 5) {
        queue.push(n! + 1)
        pump.start()
      }
    },
  })
  await pump.idle()
  pump.start()
  pump.start()
  await pump.idle()
  expect(done).toEqual([1, 2, 3, 4, 5])
  queue.push(6)
  pump.start()
  await pump.idle()
  expect(done).toHaveLength(6)
})
