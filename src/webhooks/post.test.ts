import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { newLanes } from './lanes.ts'
import { type Made, openPost } from './post.ts'
import type { TakenDelivery } from './queue.ts'

const TIMEOUT_MS = 1000
const delivery = (n: number) => ({ id: `evt_${n}`, endpoint_id: 'we_1' }) as TakenDelivery
const taken = (count: number) => Array.from({ length: count }, (_, i) => delivery(i))

/** An endpoint whose attempts end when they are told to. */
function openHand(wait_ms = 60_000) {
  const under_way: {
    id: string
    answer(made: Made): void
    written(): void
    end(made: Made): void
    fail(error: Error): void
  }[] = []
  const released: string[] = []
  const told = { hungry: 0, ends: 0 }
  const post = openPost(
    { endpoint_id: 'we_1', partner_id: 'part_1' },
    {
      log: pino({ level: 'silent' }),
      timeout_ms: TIMEOUT_MS,
      wait_ms,
      deliver: ({ id }, answer) =>
        new Promise((written, fail) => {
          const end = (made: Made) => {
            answer(made)
            written()
          }
          under_way.push({ id, answer, written, end, fail })
        }),
      release: (taken) => void released.push(...taken.map(({ id }) => id)),
      onHungry: () => told.hungry++,
      onEnd: () => told.ends++,
    },
  )
  return { post, under_way, released, told }
}

test('as many are under way as there are lanes, the others wait, in their order', async () => {
  const { post, under_way, told } = openHand()
  const count = newLanes.count + 3
  post.add(taken(count))
  expect(under_way).toHaveLength(newLanes.count)
  expect(post.seen()).toMatchObject({ partner_id: 'part_1', held: count })
  const ids: string[] = []
  while (under_way.length > 0) {
    const one = under_way.shift()!
    ids.push(one.id)
    one.end({ took_ms: 1, delivered: true, lengthy: false, gone: false })
    await turn()
  }
  expect(ids).toEqual(taken(count).map(({ id }) => id))
  expect(post.seen().held).toBe(0)
  expect(told).toEqual({ hungry: 0, ends: count })
})

test('a lane is free with the answer, a place only when that is written down', async () => {
  const { post, under_way, told } = openHand()
  post.add(taken(newLanes.count + 3))
  const [first] = under_way
  first!.answer({ took_ms: 1, delivered: true, lengthy: false, gone: false })
  await turn()
  // Its own lane, and the one that was gained.
  expect(under_way).toHaveLength(newLanes.count + 2)
  expect(post.seen().held).toBe(newLanes.count + 3)
  expect(told.ends).toBe(0)
  first!.written()
  await turn()
  expect(under_way).toHaveLength(newLanes.count + 2)
  expect(post.seen().held).toBe(newLanes.count + 2)
  expect(told.ends).toBe(1)
})

test('a lane is used again in the next round, when its connection is free', async () => {
  const { post, under_way } = openHand()
  post.add(taken(newLanes.count + 1))
  // It refuses, and so gains no lane.
  for (const one of [...under_way]) one.answer({ took_ms: 1, delivered: false, lengthy: false, gone: false })
  post.add([delivery(100)])
  expect(under_way).toHaveLength(newLanes.count)
  await turn()
  expect(under_way).toHaveLength(newLanes.count + 2)
})

test('who asks for no more gets no more, until that is written down', async () => {
  const { post, under_way } = openHand()
  post.add(taken(newLanes.count + 3))
  const [first, second] = under_way
  first!.answer({ took_ms: 1, delivered: false, lengthy: false, gone: true })
  second!.end({ took_ms: 1, delivered: true, lengthy: false, gone: false })
  await turn()
  expect(under_way).toHaveLength(newLanes.count)
  // Its endpoint was not disabled after all, or it would have been dropped.
  first!.written()
  await turn()
  expect(under_way.length).toBeGreaterThan(newLanes.count)
})

test('what waits behind an endpoint in trouble is given back, and asked for again', async () => {
  const { post, under_way, released, told } = openHand()
  post.add(taken(newLanes.count + 2))
  for (let i = 0; i < newLanes.count; i++)
    under_way.shift()!.end({ took_ms: TIMEOUT_MS, delivered: false, lengthy: false, gone: false })
  await turn()
  expect(released.length + under_way.length).toBe(2)
  expect(released.length).toBeGreaterThan(0)
  expect(told.hungry).toBe(1)
})

test('what has waited for too long is given back', async () => {
  const { post, under_way, released } = openHand(0)
  post.add(taken(newLanes.count + 2))
  expect(under_way).toHaveLength(newLanes.count)
  expect(released).toEqual([`evt_${newLanes.count}`, `evt_${newLanes.count + 1}`])
})

test('a bug in one attempt costs nobody else anything', async () => {
  const { post, under_way } = openHand()
  post.add(taken(newLanes.count + 1))
  under_way.shift()!.fail(new Error('bug'))
  await turn()
  expect(under_way).toHaveLength(newLanes.count)
})

test('dropped, nothing more begins; stopped, what is under way ends and the rest is told', async () => {
  const dropped = openHand()
  dropped.post.add(taken(newLanes.count + 2))
  dropped.post.drop()
  expect(dropped.post.seen().held).toBe(newLanes.count)

  const { post, under_way } = openHand()
  post.add(taken(newLanes.count + 2))
  post.stop()
  let over = false
  const ending = post.ended().finally(() => {
    over = true
  })
  for (const one of under_way) {
    expect(over).toBe(false)
    one.end({ took_ms: 1, delivered: true, lengthy: false, gone: false })
    await turn()
  }
  const untried = await ending
  expect(untried.map(({ id }) => id)).toEqual([`evt_${newLanes.count}`, `evt_${newLanes.count + 1}`])
  expect(post.hasRested(-1)).toBe(false)
})
