import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderProofPage } from '../tools/proof-page.ts'
import { proofs } from '../tools/proofs.ts'

/** The page that says which test holds which promise must not outlive the tests. */
const page = new URL('../docs/proof/faults.md', import.meta.url)
const rows = [...readFileSync(page, 'utf8').matchAll(/\[[\w-]+\]\((\S+\.test\.ts)\): "([^"]+)" \|$/gm)].map(
  ([, path, name]) => ({ path: path!, name: name! }),
)

test('the page lists faults', () => expect(rows.length).toBeGreaterThan(50))

test.each(rows)('$path: $name', ({ path, name }) => {
  expect(readFileSync(new URL(path, page), 'utf8')).toContain(name)
})

test('a proof page counts the tests of a suite, and names only those that did not pass', () => {
  const run = (status: string) => ({
    ...{ date: '2026-01-02', node: '20.0.0', cores: 2, seconds: 9, facts: ['lists: 3 pages read.'] },
    passed: status === 'passed',
    suites: [
      {
        path: 'test/a.test.ts',
        tests: [
          { name: 'first', status: 'passed', seconds: 1.5 },
          { name: 'second', status, seconds: 0.5 },
        ],
      },
    ],
  })
  const page = (status: string) => renderProofPage(proofs[0]!, run(status))
  expect(page('passed')).toContain('**Passed: 2 of 2 tests** on 2026-01-02')
  expect(page('passed')).toContain('| [test/a.test.ts](../../test/a.test.ts) | 2 | 2.0 |')
  expect(page('passed')).toContain('- Lists: 3 pages read.\n')
  expect(page('passed')).not.toMatch(/first|second\n/)
  expect(page('failed')).toContain('**FAILED: 1 of 2 tests**')
  expect(page('failed')).toContain('## Tests that did not pass\n\n- failed: test/a.test.ts: second\n')
})
