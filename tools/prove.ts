import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ProofRun, renderProofPage } from './proof-page.ts'
import { type Proof, proofs } from './proofs.ts'

/**
 * Runs the proofs at full size and writes their results to docs/proof: `npm run prove` runs all, `npm run prove -- audit` one.
 */
const root = fileURLToPath(new URL('..', import.meta.url))

/** The part of vitest's JSON report that is read here. */
type Report = {
  readonly startTime: number
  readonly success: boolean
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
      readonly duration?: number
    }[]
  }[]
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !proofs.some((proof) => proof.name === name))
if (unknown.length > 0) {
  console.error(`No proof ${unknown.join(', ')}. There are: ${proofs.map(({ name }) => name).join(', ')}.`)
  process.exit(2)
}
mkdirSync(join(root, 'docs/proof'), { recursive: true })
for (const proof of proofs) {
  if (wanted.length > 0 && !wanted.includes(proof.name)) continue
  const run = runProof(proof)
  const page = `docs/proof/${proof.name}.md`
  writeFileSync(join(root, page), renderProofPage(proof, run))
  console.log(`Wrote ${page}.`)
  if (!run.passed) process.exitCode = 1
}

function runProof({ suites, except = [] }: Proof): ProofRun {
  const folder = mkdtempSync(join(tmpdir(), 'trilho-proof-'))
  const facts_file = join(folder, 'facts')
  const report_file = join(folder, 'report.json')
  writeFileSync(facts_file, '')
  const started = performance.now()
  spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...suites
        .flatMap(filesOf)
        .filter((path) => !except.some((other) => path === other || path.startsWith(`${other}/`))),
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report_file}`,
    ],
    { cwd: root, stdio: 'inherit', env: { ...process.env, PROVE: '1', PROOF_FILE: facts_file } },
  )
  const seconds = Math.round((performance.now() - started) / 1000)
  const report: Report = JSON.parse(readFileSync(report_file, 'utf8'))
  const facts = readFileSync(facts_file, 'utf8').split('\n').filter(Boolean)
  rmSync(folder, { recursive: true })
  return {
    date: new Date(report.startTime).toISOString().slice(0, 10),
    node: process.versions.node,
    cores: cpus().length,
    seconds,
    passed: report.success,
    suites: suitesOf(report),
    facts,
  }
}

/** The test files in a folder. vitest has no option that excludes one file from all its projects. */
function filesOf(suite: string): string[] {
  if (suite.endsWith('.ts')) return [suite]
  return readdirSync(join(root, suite), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(suite, name))
}

function suitesOf({ testResults }: Report): ProofRun['suites'] {
  return testResults
    .map(({ name, assertionResults }) => ({
      path: relative(root, name),
      tests: assertionResults.map(({ ancestorTitles, title, status, duration = 0 }) => ({
        name: [...ancestorTitles, title].join(' › '),
        status,
        seconds: duration / 1000,
      })),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}
