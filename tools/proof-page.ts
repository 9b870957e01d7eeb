import type { Proof } from './proofs.ts'

/** A run of the suites of one proof. */
export type ProofRun = {
  readonly date: string
  readonly node: string
  readonly cores: number
  readonly seconds: number
  readonly passed: boolean
  readonly suites: readonly SuiteRun[]
  /** Lines of `noteFact`. */
  readonly facts: readonly string[]
}

type SuiteRun = { readonly path: string; readonly tests: readonly TestRun[] }

type TestRun = { readonly name: string; readonly status: string; readonly seconds: number }

/** The page of a proof: verdict, figures, a line for each suite. Only tests that did not pass are named. */
export function renderProofPage({ name, title, limits }: Proof, run: ProofRun): string {
  const tests = run.suites.flatMap((suite) => suite.tests)
  const passed = tests.filter(({ status }) => status === 'passed').length
  return `# ${title}

**${run.passed ? 'Passed' : 'FAILED'}: ${passed} of ${tests.length} tests** on ${run.date}, in ${run.seconds} seconds, with Node ${run.node} on ${run.cores} cores.

\`npm run prove -- ${name}\` writes this page. It runs the suites below at full size; \`npm test\` runs them at a smaller size. The
tests count every figure while they run.

## Figures

${run.facts.map((fact) => `- ${sentenceOf(fact)}`).join('\n')}

## Suites

| Suite | Tests | Seconds |
|---|---|---|
${run.suites.map(rowOf).join('\n')}
${notPassed(run.suites)}
## What the proof does not show

${limits}
`
}

const sentenceOf = (fact: string): string => `${fact[0]!.toUpperCase()}${fact.slice(1).replace(/\.+$/, '')}.`

function rowOf({ path, tests }: SuiteRun): string {
  const seconds = tests.reduce((sum, test) => sum + test.seconds, 0)
  return `| [${path}](../../${path}) | ${tests.length} | ${seconds.toFixed(1)} |`
}

function notPassed(suites: readonly SuiteRun[]): string {
  const lines = suites.flatMap(({ path, tests }) =>
    tests
      .filter(({ status }) => status !== 'passed')
      .map(({ name, status }) => `- ${status}: ${path}: ${name}`),
  )
  return lines.length === 0 ? '' : `\n## Tests that did not pass\n\n${lines.join('\n')}\n`
}
