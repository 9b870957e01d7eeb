import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Output } from '../command.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
/** Files that the benchmarks need and only a source checkout has. */
const PARTS = ['bench/run.ts', 'node_modules/tsx', 'node_modules/typescript']

/**
 * Runs the benchmarks from a source checkout: they start their own servers and databases, which do not belong in an installed
 * service.
 */
export async function bench(): Promise<Output> {
  const missing = PARTS.filter((part) => !existsSync(`${root}${part}`))
  if (missing.length > 0) {
    throw new Error(
      'The benchmarks are not installed with the service. In a folder with the sources run: npm ci && npm run bench',
    )
  }
  // The output of the benchmarks is for people and goes to standard error; the figures are stored in bench/results.
  const { status } = spawnSync('npm', ['run', '--silent', 'bench'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) throw new Error(`The benchmarks ended with ${status}.`)
  const results = `${root}bench/results`
  return {
    json: { ok: true, results },
    text: `The figures are in ${results}, and docs/benchmarks.md explains them.\n`,
  }
}
