import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import '../../tools/link-sdk.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The command line and the tests use the SDK as it is shipped, compiled: once before all tests, where its sources are newer. */
export function setup(): void {
  if (changedAt('sdk/dist/index.js') > newest('sdk/src', 'sdk/package.json', 'sdk/tsconfig.json')) return
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'sdk'], {
    cwd: root,
    stdio: 'inherit',
  })
}

function changedAt(path: string): number {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function newest(folder: string, ...files: readonly string[]): number {
  const inside = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return Math.max(...[...inside.map((name) => `${folder}/${name}`), ...files].map(changedAt))
}
