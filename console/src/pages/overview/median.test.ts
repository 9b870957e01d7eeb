import { expect, test } from 'vitest'
import { medianText } from './median.ts'

const text = (kind: string, completed: number, median_ms: number | null) =>
  medianText({ kind, completed, median_ms }, 'at once', 'en')

test('only a conversion takes no time; a rail without a success has no median', () => {
  expect(text('pix', 3, 790)).toBe('790 ms')
  expect(text('conversions', 1, null)).toBe('at once')
  expect(text('conversions', 0, null)).toBe('—')
  expect(text('ethereum', 0, null)).toBe('—')
  expect(text('ethereum', 1, null)).toBe('—')
})
