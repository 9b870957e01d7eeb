import { expect, test } from 'vitest'
import { ApiError, isPassing, PersonChanged, Unreachable } from './errors.ts'

const refused = (status: number, retry_after?: number) =>
  new ApiError({ code: 'any', message: 'as the API says', status, retry_after })

test('a read is repeated after a short wait; a longer wait is shown to the person', () => {
  expect(isPassing(refused(429, 1))).toBe(true)
  expect(isPassing(refused(429, 40))).toBe(false)
  expect(isPassing(refused(503, 40))).toBe(true)
  expect(isPassing(refused(404))).toBe(false)
  expect(isPassing(new Unreachable('GET', undefined))).toBe(true)
  expect(isPassing(new PersonChanged())).toBe(false)
})
