import { expect, test } from 'vitest'
import { insertInto, keep, rowSource, updateOf, type Write, writeTo } from './command.ts'

const thingRows = rowSource<{ id: string; kept: bigint }>('things', 'SELECT 1')
const insertThings = insertInto('things', {
  id: 'text',
  amount: 'bigint',
  note: 'text?',
  made_at: 'timestamptz',
})
const markThings = updateOf(thingRows, 'things', { id: 'text', ended: 'boolean', ended_at: 'timestamptz?' })

const thing = { id: 'a', amount: 1n, note: null, made_at: new Date(0) }

test('a row with every column, each of its type, is accepted; further fields are not written', () => {
  const wider = { ...thing, note: 'b', more: 'of the object' }
  expect(writeTo(insertThings, wider).row).toBe(wider)
  expect(writeTo(markThings, { id: 'a', ended: true, ended_at: null }).target).toBe(markThings)
  expect(insertThings.columns).toEqual(['id', 'amount', 'note', 'made_at'])
})

test('a nullable column has its plain type in the statement', () => {
  expect(insertThings.sql).toContain('unnest($1::text[], $2::bigint[], $3::text[], $4::timestamptz[])')
  expect(markThings.sql).toContain('SET ended = new.ended, ended_at = new.ended_at')
})

// The type checker tests this: a line below that compiles is an error.
test('a misspelt, missing or wrongly typed column does not compile', () => {
  const { note, ...without_note } = thing
  // @ts-expect-error misspelt
  writeTo(insertThings, { ...without_note, notes: note })
  // @ts-expect-error misspelt, though nothing is missing
  writeTo(insertThings, { id: 'a', amount: 1n, note: null, made_at: new Date(0), notes: 'b' })
  // @ts-expect-error missing, though it may be null
  writeTo(insertThings, without_note)
  // @ts-expect-error missing in an update: every column is given in every row
  writeTo(markThings, { id: 'a', ended: true })
  // @ts-expect-error money is never a number
  writeTo(insertThings, { ...thing, amount: 1 })
  // @ts-expect-error a time is no text
  writeTo(insertThings, { ...thing, made_at: '2026-11-15T12:00:00.000Z' })
  // @ts-expect-error must not be null
  writeTo(insertThings, { ...thing, amount: null })
  // @ts-expect-error undefined is not null
  writeTo(insertThings, { ...thing, note: undefined })
  // @ts-expect-error no such type of column
  insertInto('things', { id: 'varchar' })
  // @ts-expect-error an update says of which row
  updateOf(thingRows, 'things', { ended: 'boolean' })
  // @ts-expect-error not held against its target
  const made_by_hand: Write = { target: insertThings, row: { anything: 1 } }
  // @ts-expect-error not a field of the held row
  keep(thingRows, { id: 'a', keeps: 1n })
  expect(made_by_hand).toBeDefined()
})
