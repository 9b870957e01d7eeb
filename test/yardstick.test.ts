import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** What the benchmarks are held against does not move: another yardstick is another folder, beside this one. */
const FROZEN = 'fb816d2b72a2451e47e52c376b1ea581191e590ea6e669176ec1eacde8dc5e6d'

test('the yardstick of the benchmarks is the frozen one', () => {
  const folder = fileURLToPath(new URL('../bench/yardstick/', import.meta.url))
  const digest = createHash('sha256')
  for (const name of readdirSync(folder).sort())
    digest.update(`${name}\n${readFileSync(folder + name, 'utf8')}\n`)
  expect(digest.digest('hex')).toBe(FROZEN)
})
