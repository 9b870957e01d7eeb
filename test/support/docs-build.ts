import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The docs, before the first of the tests that read them: a service looks for them when it starts. Once for all projects. */
export function setup(): void {
  if (process.env.DOCS_BUILT) return
  buildDocs()
  process.env.DOCS_BUILT = '1'
}

export function buildDocs(): void {
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'site/build.ts'], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the docs do not build: ${stderr}`)
}
