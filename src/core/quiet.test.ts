import { expect, test } from 'vitest'
import { openQuiet } from './quiet.ts'

const between = { least_ms: 250, most_ms: 4000 }

function openSilence() {
  let now = 1000
  const quiet = openQuiet(() => now)
  const told: number[] = []
  quiet.onStir(() => told.push(now))
  return {
    quiet,
    told,
    pass: (ms: number) => {
      now += ms
    },
    now: () => now,
  }
}

test('rests grow with the silence, between the least and the most', () => {
  const { quiet, pass } = openSilence()
  expect(quiet.rest(between)).toBe(250)
  pass(16_000)
  expect(quiet.rest(between)).toBe(1000)
  pass(600_000)
  expect(quiet.rest(between)).toBe(4000)
  expect(quiet.stirredSince(2000)).toBe(false)
  quiet.stir()
  expect(quiet.stirredSince(2000)).toBe(true)
  expect(quiet.rest(between)).toBe(250)
})

test('who found something looks again soon, while others go on resting', () => {
  const { quiet, pass, now } = openSilence()
  pass(600_000)
  const found_at = now()
  pass(1000)
  expect(quiet.rest(between, found_at)).toBe(250)
  expect(quiet.rest(between)).toBe(4000)
})

test('who rests for long is told of the first thing that happens, and nobody of what follows at once', () => {
  const { quiet, told, pass } = openSilence()
  quiet.stir()
  expect(told).toEqual([])
  pass(5000)
  quiet.stir()
  quiet.stir()
  pass(1000)
  quiet.stir()
  expect(told).toEqual([6000])
})
