import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('../../tools/sdk-dist.mjs', import.meta.url))

/** The command line and the tests use the SDK as it is shipped, compiled: once before all tests, where its sources are newer. */
export function setup(): void {
  execFileSync(process.execPath, [script], { stdio: 'inherit' })
}
