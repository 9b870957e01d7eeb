import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import './link-sdk.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The last file that a compilation writes. */
const LAST = 'sdk/dist/cjs/package.json'

/**
 * Compiles the SDK where its sources are newer than sdk/dist, as ES modules and, in dist/cjs, for CommonJS. The service, its
 * types and the tests use it compiled, as it is shipped.
 */
export function compileSdk() {
  const settings = ['sdk/package.json', 'sdk/tsconfig.json', 'sdk/tsconfig.cjs.json', 'tools/sdk-dist.mjs']
  if (changedAt(LAST) > newest('sdk/src', ...settings)) return
  rmSync(join(root, LAST), { force: true })
  for (const project of ['sdk', 'sdk/tsconfig.cjs.json'])
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project], {
      cwd: root,
      stdio: 'inherit',
    })
  writeFileSync(join(root, LAST), `${JSON.stringify(cjsManifest(), null, 2)}\n`)
}

/** Says that the files beside it are CommonJS, and which of them `#crypto` is. */
function cjsManifest() {
  const { imports } = JSON.parse(readFileSync(join(root, 'sdk/package.json'), 'utf8'))
  const beside = Object.entries(imports['#crypto']).map(([condition, path]) => [
    condition,
    path.replace('./dist/', './'),
  ])
  return { type: 'commonjs', imports: { '#crypto': Object.fromEntries(beside) } }
}

function changedAt(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function newest(folder, ...files) {
  const inside = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return Math.max(...[...inside.map((name) => `${folder}/${name}`), ...files].map(changedAt))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) compileSdk()
