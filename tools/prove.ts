import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPages } from '../test/support/console-build.ts'
import { buildDocs } from '../test/support/docs-build.ts'
import { type ProofRun, renderProofPage } from './proof-page.ts'
import { type Proof, proofs } from './proofs.ts'
import { compileSdk } from './sdk-dist.mjs'

/**
 * Runs the proofs at full size and writes their results to docs/proof: `npm run prove` runs all, `npm run prove -- audit` one. Two run at
 * a time; proofs that compare times, or hold a time to a bound, run alone at the end.
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

/** Proofs that run at the same time: most of their tests wait for processes, blocks and pauses. */
const LANES = 2

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !proofs.some((proof) => proof.name === name))
if (unknown.length > 0) {
  console.error(`No proof ${unknown.join(', ')}. There are: ${proofs.map(({ name }) => name).join(', ')}.`)
  process.exit(2)
}
mkdirSync(join(root, 'docs/proof'), { recursive: true })
const logs = mkdtempSync(join(tmpdir(), 'trilho-prove-'))
const chosen = proofs.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
if (chosen.length > 1) console.log(`The output of each proof is in ${logs}.`)
buildOnce()
const beside = chosen.filter(({ is_alone }) => !is_alone)
await Promise.all(Array.from({ length: LANES }, () => runAll(beside)))
await runAll(chosen.filter(({ is_alone }) => is_alone))

/** The runs share these outputs, so no run may write them while another one reads them. */
function buildOnce(): void {
  compileSdk()
  buildDocs()
  buildPages('console')
  process.env.DOCS_BUILT = '1'
  process.env.CONSOLE_BUILT = '1'
}

/** Takes proofs from the list until it is empty. */
async function runAll(waiting: Proof[]): Promise<void> {
  for (let proof = waiting.shift(); proof; proof = waiting.shift()) {
    console.log(`${proof.name}: begun.`)
    const run = await runProof(proof)
    if (!run) {
      console.error(
        `${proof.name}: Vitest ended without a report; docs/proof/${proof.name}.md stays as it is.`,
      )
      process.exitCode = 1
      continue
    }
    writeFileSync(join(root, `docs/proof/${proof.name}.md`), renderProofPage(proof, run))
    console.log(
      `${proof.name}: ${run.passed ? 'passed' : 'FAILED'} in ${run.seconds} s. See docs/proof/${proof.name}.md.`,
    )
    if (!run.passed) process.exitCode = 1
  }
}

async function runProof({ name, suites, except = [] }: Proof): Promise<ProofRun | undefined> {
  const facts_file = join(logs, `${name}.facts`)
  const report_file = join(logs, `${name}.json`)
  const log = chosen.length > 1 ? openSync(join(logs, `${name}.log`), 'w') : undefined
  writeFileSync(facts_file, '')
  const started = performance.now()
  const child = spawn(
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
    {
      cwd: root,
      stdio: ['ignore', log ?? 'inherit', log ?? 'inherit'],
      env: { ...process.env, PROVE: '1', PROOF_FILE: facts_file },
    },
  )
  await once(child, 'close')
  if (log !== undefined) closeSync(log)
  const seconds = Math.round((performance.now() - started) / 1000)
  if (!existsSync(report_file)) return undefined
  const report: Report = JSON.parse(readFileSync(report_file, 'utf8'))
  const facts = readFileSync(facts_file, 'utf8').split('\n').filter(Boolean)
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
