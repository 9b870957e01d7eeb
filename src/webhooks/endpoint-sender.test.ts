import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { type AttemptAnswer, openEndpointSender } from './endpoint-sender.ts'
import { newLanes } from './lanes.ts'
import type { TakenDelivery } from './queue.ts'

const TIMEOUT_MS = 1000
const delivery = (n: number) => ({ id: `evt_${n}`, endpoint_id: 'we_1' }) as TakenDelivery
const taken = (count: number) => Array.from({ length: count }, (_, i) => delivery(i))

/** A sender whose attempts end when the test says so. */
function openManualSender(wait_ms = 60_000) {
  const under_way: {
    id: string
    answer(answer: AttemptAnswer): void
    written(): void
    end(answer: AttemptAnswer): void
    fail(error: Error): void
  }[] = []
  const released: string[] = []
  const told = { backlogs: 0, ends: 0 }
  const sender = openEndpointSender(
    { endpoint_id: 'we_1', partner_id: 'part_1' },
    {
      log: pino({ level: 'silent' }),
      timeout_ms: TIMEOUT_MS,
      wait_ms,
      deliver: ({ id }, answer) =>
        new Promise((written, fail) => {
          const end = (made: AttemptAnswer) => {
            answer(made)
            written()
          }
          under_way.push({ id, answer, written, end, fail })
        }),
      release: (taken) => void released.push(...taken.map(({ id }) => id)),
      onBacklog: () => told.backlogs++,
      onEnd: () => told.ends++,
    },
  )
  return { sender, under_way, released, told }
}

test('one attempt per lane is under way, the other deliveries wait in order', async () => {
  const { sender, under_way, told } = openManualSender()
  const count = newLanes.count + 3
  sender.add(taken(count))
  expect(under_way).toHaveLength(newLanes.count)
  expect(sender.load()).toMatchObject({ partner_id: 'part_1', held: count })
  const ids: string[] = []
  while (under_way.length > 0) {
    const one = under_way.shift()!
    ids.push(one.id)
    one.end({ took_ms: 1, delivered: true, lengthy: false, gone: false })
    await turn()
  }
  expect(ids).toEqual(taken(count).map(({ id }) => id))
  expect(sender.load().held).toBe(0)
  expect(told).toEqual({ backlogs: 0, ends: count })
})

test('an answer frees the lane at once, and the slot when the result is recorded', async () => {
  const { sender, under_way, told } = openManualSender()
  sender.add(taken(newLanes.count + 3))
  const [first] = under_way
  first!.answer({ took_ms: 1, delivered: true, lengthy: false, gone: false })
  await turn()
  // The lane that became free, and the lane gained by the success.
  expect(under_way).toHaveLength(newLanes.count + 2)
  expect(sender.load().held).toBe(newLanes.count + 3)
  expect(told.ends).toBe(0)
  first!.written()
  await turn()
  expect(under_way).toHaveLength(newLanes.count + 2)
  expect(sender.load().held).toBe(newLanes.count + 2)
  expect(told.ends).toBe(1)
})

test('a lane is used again in the next turn of the event loop, when its connection is free', async () => {
  const { sender, under_way } = openManualSender()
  sender.add(taken(newLanes.count + 1))
  // A failure gains no lane.
  for (const one of [...under_way]) one.answer({ took_ms: 1, delivered: false, lengthy: false, gone: false })
  sender.add([delivery(100)])
  expect(under_way).toHaveLength(newLanes.count)
  await turn()
  expect(under_way).toHaveLength(newLanes.count + 2)
})

test('after a 410 no attempt starts until the 410 is recorded', async () => {
  const { sender, under_way } = openManualSender()
  sender.add(taken(newLanes.count + 3))
  const [first, second] = under_way
  first!.answer({ took_ms: 1, delivered: false, lengthy: false, gone: true })
  second!.end({ took_ms: 1, delivered: true, lengthy: false, gone: false })
  await turn()
  expect(under_way).toHaveLength(newLanes.count)
  // Nothing dropped the endpoint, so recording the 410 did not disable it.
  first!.written()
  await turn()
  expect(under_way.length).toBeGreaterThan(newLanes.count)
})

test('deliveries that wait for an endpoint that became slow are released, and the endpoint is backlogged', async () => {
  const { sender, under_way, released, told } = openManualSender()
  sender.add(taken(newLanes.count + 2))
  for (let i = 0; i < newLanes.count; i++)
    under_way.shift()!.end({ took_ms: TIMEOUT_MS, delivered: false, lengthy: false, gone: false })
  await turn()
  expect(released.length + under_way.length).toBe(2)
  expect(released.length).toBeGreaterThan(0)
  expect(told.backlogs).toBe(1)
})

test('deliveries that waited too long for a lane are released', async () => {
  const { sender, under_way, released } = openManualSender(0)
  sender.add(taken(newLanes.count + 2))
  expect(under_way).toHaveLength(newLanes.count)
  expect(released).toEqual([`evt_${newLanes.count}`, `evt_${newLanes.count + 1}`])
})

test('a bug in one attempt frees its lane for the next delivery', async () => {
  const { sender, under_way } = openManualSender()
  sender.add(taken(newLanes.count + 1))
  under_way.shift()!.fail(new Error('bug'))
  await turn()
  expect(under_way).toHaveLength(newLanes.count)
})

test('drop starts nothing more; stop waits for attempts under way and returns the untried deliveries', async () => {
  const dropped = openManualSender()
  dropped.sender.add(taken(newLanes.count + 2))
  dropped.sender.drop()
  expect(dropped.sender.load().held).toBe(newLanes.count)

  const { sender, under_way } = openManualSender()
  sender.add(taken(newLanes.count + 2))
  sender.stop()
  let over = false
  const ending = sender.ended().finally(() => {
    over = true
  })
  for (const one of under_way) {
    expect(over).toBe(false)
    one.end({ took_ms: 1, delivered: true, lengthy: false, gone: false })
    await turn()
  }
  const untried = await ending
  expect(untried.map(({ id }) => id)).toEqual([`evt_${newLanes.count}`, `evt_${newLanes.count + 1}`])
  expect(sender.isIdleFor(-1)).toBe(false)
})
