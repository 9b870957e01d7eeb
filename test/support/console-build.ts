import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const vite = 'node_modules/vite/bin/vite.js'

/** Builds as a release is built: in a process of its own, because tests run under another NODE_ENV, which React heeds. */
export function buildPages(place: 'console' | 'console/gallery', options: readonly string[] = []): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    [vite, 'build', place, '--config', 'console/vite.config.ts', '--logLevel', 'error', ...options],
    { cwd: root, encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } },
  )
  if (status !== 0) throw new Error(`${place} does not build: ${stderr}`)
}

/** The console's pages, before the first of the tests that open them: a service reads them when it starts. */
export function setup(): void {
  if (!process.env.CONSOLE_BUILT) buildPages('console')
}
