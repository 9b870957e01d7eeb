import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { arrayOf, type ElementType, scalarOf } from './arrays.ts'

let client: pg.Client
beforeAll(async () => {
  client = new pg.Client({ connectionString: inject('postgres_url'), options: '-c timezone=UTC' })
  await client.connect()
})
afterAll(() => client.end())

const MS_MAX = Date.UTC(9999, 0, 1)
const UNITS = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const text = fc.string({ unit: 'binary' }).map((some) => some.replaceAll('\0', '').toWellFormed())
const values: Record<ElementType, fc.Arbitrary<unknown>> = {
  text,
  json: fc.json().filter((document) => !document.includes('\\u0000')),
  bigint: fc.bigInt(UNITS),
  integer: fc.integer(),
  smallint: fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }),
  boolean: fc.boolean(),
  timestamptz: fc.integer({ min: Date.UTC(1, 0, 1), max: MS_MAX }).map((ms) => new Date(ms)),
  numeric: fc.oneof(fc.bigInt(UNITS), fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n })),
}
const types = Object.keys(values) as ElementType[]

/** Each element as the server reads it when it is sent alone and as text. */
async function readBy(type: ElementType, given: unknown[]): Promise<unknown[]> {
  const { rows } = await client.query({
    text: `SELECT ARRAY(SELECT element::text FROM unnest($1::${type}[]) WITH ORDINALITY AS a (element, place) ORDER BY place) AS read,
      ARRAY(SELECT element::${type}::text FROM unnest($2::text[]) WITH ORDINALITY AS b (element, place) ORDER BY place) AS wanted`,
    values: [arrayOf(type, given), given.map(asText)],
  })
  expect(rows[0].read).toEqual(rows[0].wanted)
  if (given.length > 0) {
    const alone = await client.query({
      rowMode: 'array',
      text: `SELECT ${given.map((_, i) => `$${i + 1}::${type}::text`).join(', ')}`,
      values: given.map((value) => scalarOf(type, value)),
    })
    expect(alone.rows[0]).toEqual(rows[0].wanted)
  }
  return rows[0].read
}

const asText = (value: unknown) =>
  value === null ? null : value instanceof Date ? value.toISOString() : String(value)

test.each(types)('%s: the server reads what was given', async (type) => {
  const property = fc.asyncProperty(fc.array(fc.option(values[type]), { maxLength: 40 }), async (given) => {
    expect(await readBy(type, given)).toHaveLength(given.length)
  })
  await fc.assert(property, { numRuns: 60 })
})

test('edge cases: an empty array, the smallest and largest values, more than the first buffer holds', async () => {
  for (const type of types) expect(await readBy(type, [])).toEqual([])
  expect(await readBy('numeric', [0n, 9999n, 10_000n, -10_000n, 100_000_000n])).toHaveLength(5)
  expect(await readBy('bigint', [UNITS.min, UNITS.max])).toHaveLength(2)
  expect(await readBy('text', ['', 'a'.repeat(100_000), 'ç€😀'.repeat(5000), '"\\{},NULL'])).toHaveLength(4)
  expect(await readBy('timestamptz', [new Date(0), new Date(MS_MAX), null])).toHaveLength(3)
})

describe('a wrong value throws before anything is sent', () => {
  const wrong: [ElementType, unknown][] = [
    ['bigint', 2n ** 63n],
    ['integer', 2 ** 31],
    ['integer', 1.5],
    ['smallint', 40_000],
    ['timestamptz', new Date(Number.NaN)],
    ['text', 5],
    ['json', { id: 'po_1' }],
  ]
  test.each(wrong)('%s: %s', (type, value) => {
    expect(() => arrayOf(type, [value])).toThrow()
  })
})
