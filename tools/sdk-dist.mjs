import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import './link-sdk.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Compiles the SDK where its sources are newer than sdk/dist. The service, its types and the tests use it compiled, as it is shipped. */
export function compileSdk() {
  if (changedAt('sdk/dist/index.js') > newest('sdk/src', 'sdk/package.json', 'sdk/tsconfig.json')) return
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'sdk'], {
    cwd: root,
    stdio: 'inherit',
  })
}

function changedAt(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function newest(folder, ...files) {
  const inside = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return Math.max(...[...inside.map((name) => `${folder}/${name}`), ...files].map(changedAt))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) compileSdk()
