import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Output } from '../command.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
/** What the benchmarks need beyond the service: they come with the sources. */
const PARTS = ['bench/run.ts', 'node_modules/tsx', 'node_modules/typescript']

/** The benchmarks start servers and databases of their own: neither is installed with a service that handles money. */
export async function bench(): Promise<Output> {
  const missing = PARTS.filter((part) => !existsSync(`${root}${part}`))
  if (missing.length > 0) {
    throw new Error(
      'The benchmarks are not installed with the service. In a folder with the sources run: npm ci && npm run bench',
    )
  }
  // What it prints on the way is for people; the figures are kept in bench/results.
  const { status } = spawnSync('npm', ['run', '--silent', 'bench'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) throw new Error(`The benchmarks ended with ${status}.`)
  const results = `${root}bench/results`
  return {
    json: { ok: true, results },
    text: `The figures are in ${results}, and told in docs/benchmarks.md.\n`,
  }
}
