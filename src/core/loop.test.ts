import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type LoopOptions, openLoop, openWakeSignal } from './loop.ts'

const NEVER = 1_000_000

/** Work that ends when the test says so. */
function openHand(options: Partial<LoopOptions> = {}) {
  const errors: unknown[] = []
  let begun = 0
  let end: (error?: Error) => void = () => {}
  const loop = openLoop(
    () => {
      begun++
      return new Promise((resolve, reject) => {
        end = (error) => (error ? reject(error) : resolve())
      })
    },
    { poll_ms: NEVER, onError: (error) => errors.push(error), ...options },
  )
  const finish = async (error?: Error) => {
    end(error)
    await turn()
  }
  onTestFinished(async () => {
    const stopped = loop.stop()
    for (let i = 0; i < 3; i++) await finish()
    await stopped
  })
  return { loop, finish, errors, begun: () => begun }
}

const reaches = (count: () => number, n: number) =>
  expect.poll(count, { timeout: 5000, interval: 5 }).toBeGreaterThanOrEqual(n)

test('a loop runs at once, then when it is woken, and never twice at once', async () => {
  const { loop, finish, begun } = openHand()
  expect(begun()).toBe(1)
  loop.wake()
  loop.wake()
  await turn()
  expect(begun()).toBe(1)
  // Several wake-ups during a run cause one more run.
  await finish()
  await reaches(begun, 2)
  await finish()
  await turn()
  expect(begun()).toBe(2)
  loop.wake()
  await reaches(begun, 3)
})

test('a loop that is woken all the time pauses between two runs; a stop ends the pause', async () => {
  const { loop, finish, begun } = openHand({ gather_ms: NEVER })
  loop.wake()
  await finish()
  loop.wake()
  await turn()
  expect(begun()).toBe(1)
  await loop.stop()
  expect(begun()).toBe(1)
})

test('a loop runs again after its interval, which may change', async () => {
  const rests = [1, 1, NEVER]
  const { finish, begun } = openHand({ poll_ms: () => rests.shift()! })
  await finish()
  await reaches(begun, 2)
  await finish()
  await reaches(begun, 3)
  await finish()
  expect(rests).toEqual([])
  expect(begun()).toBe(3)
})

test('an error of the work is reported, and the loop continues', async () => {
  const { finish, errors, begun } = openHand({ poll_ms: 1 })
  const error = new Error('no')
  await finish(error)
  expect(errors).toEqual([error])
  await reaches(begun, 2)
})

test('a stop waits for the run under way, and no run begins after it', async () => {
  const { loop, finish, begun } = openHand({ poll_ms: 1 })
  let stopped = false
  const stopping = loop.stop().then(() => {
    stopped = true
  })
  await turn()
  expect(stopped).toBe(false)
  await finish()
  await stopping
  loop.wake()
  await turn()
  expect(begun()).toBe(1)
})

test('a loop may delay its first run; a stop ends the delay', async () => {
  const { loop, begun } = openHand({ first_ms: NEVER })
  await turn()
  expect(begun()).toBe(0)
  await loop.stop()
  expect(begun()).toBe(0)
  const woken = openHand({ first_ms: NEVER })
  woken.loop.wake()
  await reaches(woken.begun, 1)
})

test('a notification while no caller waits ends the next wait, once', async () => {
  const wake_up = openWakeSignal()
  wake_up.notify()
  expect(wake_up.isPending()).toBe(true)
  await wake_up.wait(NEVER)
  expect(wake_up.isPending()).toBe(false)
  const waiting = wake_up.wait(NEVER)
  wake_up.notify()
  await waiting
  wake_up.notify()
  wake_up.clear()
  await wake_up.wait(1)
})
