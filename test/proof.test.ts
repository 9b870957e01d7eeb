import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** The page that says which test holds which promise must not outlive the tests. */
const page = new URL('../docs/proof/faults.md', import.meta.url)
const rows = [...readFileSync(page, 'utf8').matchAll(/\[[\w-]+\]\((\S+\.test\.ts)\): "([^"]+)" \|$/gm)].map(
  ([, path, name]) => ({ path: path!, name: name! }),
)

test('the page lists faults', () => expect(rows.length).toBeGreaterThan(50))

test.each(rows)('$path: $name', ({ path, name }) => {
  expect(readFileSync(new URL(path, page), 'utf8')).toContain(name)
})
