import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { columnsOf, tableNames } from '../src/db/columns.ts'
import { asAdmin, createDatabase } from './support/database.ts'

const src = fileURLToPath(new URL('../src/', import.meta.url))

/** What is not a table of ours has the columns that the statement itself gives it. */
const OWN = /\b(?:SELECT \*(?:, \d+)? FROM unnest\(|SELECT \*, count\(\*\) OVER \(\) AS found FROM \()/g

test('no statement asks a table for all its columns: a newer version may have added one', () => {
  const found = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .flatMap((path) => {
      const text = readFileSync(join(src, path), 'utf8').replaceAll(OWN, '')
      const stars =
        text.match(/\b(?:SELECT|RETURNING)\s+(?:\w+\.)?\*(?!\/).*|\bSELECT\b[^`']*\b\w+\.\*/g) ?? []
      return stars.map((star) => `${path}: ${star.slice(0, 80)}`)
    })
  expect(found).toEqual([])
})

test('the columns that are named are those that there are', async () => {
  const database = await createDatabase()
  onTestFinished(database.drop)
  const rows = await asAdmin(database.url, [
    `SELECT table_name, array_agg(DISTINCT column_name::text ORDER BY column_name::text)::text[] AS columns FROM information_schema.columns
     WHERE table_schema IN ('sandbox', 'shared') GROUP BY table_name`,
  ])
  const actual = new Map(rows.map((row) => [row.table_name, row.columns]))
  for (const table of tableNames)
    expect(columnsOf(table).split(', ').sort(), table).toEqual(actual.get(table))
})
