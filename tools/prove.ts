import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Runs the suites about exactly-once at their full size, and writes down what was done and what came of it. */
const root = fileURLToPath(new URL('..', import.meta.url))
const suites = ['test/chaos', 'test/audit', 'test/webhooks/addresses.test.ts', 'src/ledger/commit.test.ts']
const report = 'docs/proof/exactly-once.md'

/** The part of vitest's JSON report that is read here. */
type Results = {
  readonly startTime: number
  readonly numTotalTests: number
  readonly numPassedTests: number
  readonly success: boolean
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly Result[]
  }[]
}

type Result = {
  readonly ancestorTitles: readonly string[]
  readonly title: string
  readonly status: string
  readonly duration?: number
}

const folder = mkdtempSync(join(tmpdir(), 'trilho-proof-'))
const facts_file = join(folder, 'facts')
const results_file = join(folder, 'results.json')
writeFileSync(facts_file, '')
const started = performance.now()
const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...suites,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${results_file}`,
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, PROVE: '1', PROOF_FILE: facts_file } },
)
const seconds = (performance.now() - started) / 1000
const results: Results = JSON.parse(readFileSync(results_file, 'utf8'))
const facts = readFileSync(facts_file, 'utf8').split('\n').filter(Boolean)
rmSync(folder, { recursive: true })

mkdirSync(join(root, 'docs/proof'), { recursive: true })
writeFileSync(join(root, report), render())
console.log(`Wrote ${report}.`)
process.exitCode = status ?? 1

function render(): string {
  const { numPassedTests, numTotalTests } = results
  const files = results.testResults
    .map(({ name, assertionResults }) => ({ path: relative(root, name), tests: assertionResults }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  return `# Exactly once: what was tried, and what came of it

Written by [tools/prove.ts](../../tools/prove.ts), which runs the suites below at their full size. \`npm test\` runs the
same suites in a small size. Every number was counted by the tests while they ran.

- Date: ${new Date(results.startTime).toISOString().slice(0, 10)}
- Node ${process.versions.node}, ${cpus().length} cores, ${Math.round(seconds)} seconds
- Result: ${results.success ? 'passed' : '**FAILED**'}, ${numPassedTests} of ${numTotalTests} tests

## What was done

${facts.map((fact) => `- ${fact}.`).join('\n')}

## What this does not show

The rails are the simulated ones of the sandbox: they take orders, forget, delay and refuse them, but no bank and no
blockchain stands behind them. Processes and connections were cut; the power was not, and PostgreSQL itself was neither
killed nor replaced by a standby.

## The tests

${files.map(({ path, tests }) => `[${path}](../../${path})\n\n${tests.map(lineOf).join('\n')}`).join('\n\n')}
`
}

function lineOf({ ancestorTitles, title, status, duration = 0 }: Result): string {
  return `- ${status}, ${(duration / 1000).toFixed(1)} s: ${[...ancestorTitles, title].join(' › ')}`
}
