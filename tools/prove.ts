import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Runs the proofs at full size and writes their results to docs/proof: `npm run prove` runs all, `npm run prove -- audit` one.
 */
type Proof = {
  readonly name: string
  readonly title: string
  readonly suites: readonly string[]
  /** A conclusion that the proof does not support. */
  readonly not_shown: string
}

const proofs: readonly Proof[] = [
  {
    name: 'exactly-once',
    title: 'Exactly once',
    suites: [
      'test/chaos',
      'test/webhooks/addresses.test.ts',
      'test/retention.test.ts',
      'test/examples/shop.test.ts',
      'test/examples/treasury.test.ts',
      'src/ledger',
      'src/control/operator/proposals.test.ts',
      'src/money/adjustments',
      'src/money/money-limits',
      'sdk/test/retries.test.ts',
    ],
    not_shown: `The rails are the simulated ones of the sandbox: they take orders, forget, delay and refuse them, but no bank and no
blockchain stands behind them. Processes and connections were cut; the power was not.`,
  },
  {
    name: 'memory',
    title: 'Memory under mixed load',
    suites: ['test/mixed-load.test.ts'],
    not_shown:
      'Ten minutes are not a month: connections of the ledger are renewed every half hour, which this does not wait for.',
  },
  {
    name: 'audit',
    title: 'An audit that names every corruption',
    suites: ['test/audit'],
    not_shown: `Whoever owns the database can also change a resource, all its entries, events and balances together into another
history that might have been: no sum can tell the two apart.`,
  },
  {
    name: 'fairness',
    title: 'Nobody is in anybody’s way',
    suites: ['test/fairness.test.ts', 'test/chaos/webhook-receivers.test.ts'],
    not_shown: `Server, database, attacker and receivers shared the cores of one machine; the attacker had the lowest priority there, as
if its own work were done elsewhere. A flood that fills the line to the machine must be held off in front of it.`,
  },
  {
    name: 'lists',
    title: 'Lists that read little more than they show',
    suites: ['test/lists'],
    not_shown: `Three filters or more at once go the way of two, and were not all tried. Rows and blocks that a page reads were
counted, not the time that takes on a disk that is slow.`,
  },
  {
    name: 'walls',
    title: 'Whatever is sent, and whoever sends it',
    suites: [
      'test/http/fuzz.test.ts',
      'test/http/scopes.test.ts',
      'test/patterns.test.ts',
      'test/walls.test.ts',
    ],
    not_shown: `The fuzzer makes its requests from openapi.json and from a list of ways to make them wrong: what is in neither, it
does not send. It looks at single answers, not at what many calls do together.`,
  },
  {
    name: 'console',
    title: 'The console',
    suites: ['test/browser', 'test/console', 'src/doors/console-api', 'src/parties/team'],
    not_shown: `One browser, Chromium, without a screen reader: axe finds what rules can find. Nobody who is new to the console was
watched using it.`,
  },
  {
    name: 'backup',
    title: 'Backups, and the way to another database',
    suites: ['src/node/backup', 'src/node/database-copy'],
    not_shown: `All of it was on one machine and one disk, with a small database. The rails are the simulated ones: what a bank paid
after a backup was taken, no backup knows.`,
  },
  {
    name: 'first-hour',
    title: 'The first hour of a stranger',
    suites: [
      'test/quickstart.test.ts',
      'test/docs',
      'test/examples',
      'test/browser/docs.test.ts',
      'src/doors/reference/docs.test.ts',
      'sdk/test',
    ],
    not_shown: `Packages were on the machine already, and nobody who is new was watched. Languages that the machine lacks are named as
skipped; Postman and the editors that read .http files were not run, only their files were sent in order.`,
  },
  {
    name: 'fail-over',
    title: 'Fail-over',
    suites: ['test/cluster'],
    not_shown: `All servers ran on one machine, and the test itself promoted the standby. What Patroni, a cloud or a human decides,
and how long that takes, is theirs. The restarts went through HAProxy with the file of deploy/; a balancer that notices a node
later than DRAIN_MS loses requests.`,
  },
]

const root = fileURLToPath(new URL('..', import.meta.url))

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

type Ran = { readonly results: Results; readonly facts: readonly string[]; readonly seconds: number }

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !proofs.some((proof) => proof.name === name))
if (unknown.length > 0) {
  console.error(`No proof ${unknown.join(', ')}. There are: ${proofs.map(({ name }) => name).join(', ')}.`)
  process.exit(2)
}
mkdirSync(join(root, 'docs/proof'), { recursive: true })
for (const proof of proofs) {
  if (wanted.length > 0 && !wanted.includes(proof.name)) continue
  const ran = run(proof)
  const report = `docs/proof/${proof.name}.md`
  writeFileSync(join(root, report), render(proof, ran))
  console.log(`Wrote ${report}.`)
  if (!ran.results.success) process.exitCode = 1
}

function run({ suites }: Proof): Ran {
  const folder = mkdtempSync(join(tmpdir(), 'trilho-proof-'))
  const facts_file = join(folder, 'facts')
  const results_file = join(folder, 'results.json')
  writeFileSync(facts_file, '')
  const started = performance.now()
  spawnSync(
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
  return { results, facts, seconds }
}

function render({ title, not_shown }: Proof, { results, facts, seconds }: Ran): string {
  const { numPassedTests, numTotalTests } = results
  const files = results.testResults
    .map(({ name, assertionResults }) => ({ path: relative(root, name), tests: assertionResults }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  return `# ${title}: what was tried, and what came of it

Written by [tools/prove.ts](../../tools/prove.ts), which runs the suites below at their full size. \`npm test\` runs the
same suites in a small size. Every number was counted by the tests while they ran.

- Date: ${new Date(results.startTime).toISOString().slice(0, 10)}
- Node ${process.versions.node}, ${cpus().length} cores, ${Math.round(seconds)} seconds
- Result: ${results.success ? 'passed' : '**FAILED**'}, ${numPassedTests} of ${numTotalTests} tests

## What was done

${facts.map((fact) => `- ${fact}.`).join('\n')}

## What this does not show

${not_shown}

## The tests

${files.map(({ path, tests }) => `[${path}](../../${path})\n\n${tests.map(lineOf).join('\n')}`).join('\n\n')}
`
}

function lineOf({ ancestorTitles, title, status, duration = 0 }: Result): string {
  return `- ${status}, ${(duration / 1000).toFixed(1)} s: ${[...ancestorTitles, title].join(' › ')}`
}
