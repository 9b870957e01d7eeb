import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import './link-sdk.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The last file that a compilation writes. */
const LAST = 'sdk/dist/cjs/index.cjs'

/**
 * Compiles the SDK where its sources are newer than sdk/dist, as ES modules and, in dist/cjs, for CommonJS. The service, its
 * types and the tests use it compiled, as it is shipped.
 */
export function compileSdk() {
  const settings = ['sdk/package.json', 'sdk/tsconfig.json', 'sdk/tsconfig.cjs.json', 'tools/sdk-dist.mjs']
  if (changedAt(LAST) > newest('sdk/src', ...settings)) return
  rmSync(join(root, 'sdk/dist/cjs'), { recursive: true, force: true })
  for (const project of ['sdk', 'sdk/tsconfig.cjs.json'])
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project], {
      cwd: root,
      stdio: 'inherit',
    })
  const modules = readdirSync(join(root, 'sdk/dist/cjs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(js|d\.ts)$/.test(name))
    .sort((name) => (name === 'index.js' ? 1 : -1))
  for (const name of modules) nameAsCommonJs(join(root, 'sdk/dist/cjs', name))
}

/** In a package of ES modules a file is CommonJS by its ending. tsc cannot write .cjs from .ts, so the files are renamed. */
function nameAsCommonJs(path) {
  const text = readFileSync(path, 'utf8').replaceAll(/(["'])(\.\.?\/[^"']+)\.js\1/g, '$1$2.cjs$1')
  writeFileSync(path.replace(/\.js$/, '.cjs').replace(/\.d\.ts$/, '.d.cts'), text)
  rmSync(path)
}

function changedAt(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function newest(folder, ...files) {
  const inside = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return Math.max(...[...inside.map((name) => `${folder}/${name}`), ...files].map(changedAt))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) compileSdk()
