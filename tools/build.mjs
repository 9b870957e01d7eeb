import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Builds everything that `npm start` serves, and says on stderr what it is doing. With `--if-changed` it builds nothing when
 * no input changed since the last build: a second start must not replace files under a server that is running.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const FINGERPRINT = join(root, 'dist/inputs.sha256')

const steps = [
  ['SDK', 'npm run --silent build:sdk'],
  ['service', 'tsc -p tsconfig.build.json && node tools/copy-assets.mjs'],
  ['console', 'vite build console --logLevel warn'],
  ['documentation', 'npm run --silent build:docs'],
]

const OUTPUTS = ['sdk/dist', 'dist/cli', 'dist/console', 'dist/docs']
const INPUTS = [
  ...['src', 'console', 'sdk', 'cli', 'python', 'released', 'site', 'docs', 'examples', 'tools'],
  ...['CHANGELOG.md', 'openapi.json', 'LICENSE'],
]
const CONFIGURATION = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
const isInput = (name) =>
  !['node_modules', 'dist', 'screenshots', '__pycache__'].includes(name) && !/\.test\.tsx?$/.test(name)

/** Path, size and time of every input: reading two thousand files would take longer than to compare these. */
function inputs(path) {
  const info = statSync(join(root, path), { throwIfNoEntry: false })
  if (!info) return []
  if (!info.isDirectory()) return [`${path} ${info.size} ${info.mtimeMs}`]
  return readdirSync(join(root, path))
    .filter(isInput)
    .sort()
    .flatMap((name) => inputs(join(path, name)))
}

const fingerprint = createHash('sha256')
  .update([process.version, ...[...INPUTS, ...CONFIGURATION].flatMap(inputs)].join('\n'))
  .digest('hex')

function isBuilt() {
  if (!OUTPUTS.every((path) => existsSync(join(root, path)))) return false
  try {
    return readFileSync(FINGERPRINT, 'utf8') === fingerprint
  } catch {
    return false
  }
}

if (!process.argv.includes('--if-changed') || !isBuilt()) build()

function build() {
  rmSync(FINGERPRINT, { force: true })
  const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}` }
  for (const [index, [what, command]] of steps.entries()) {
    process.stderr.write(`Building the ${what} (${index + 1} of ${steps.length}) …\n`)
    const { status } = spawnSync(command, {
      cwd: root,
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
      shell: true,
    })
    if (status !== 0) {
      process.stderr.write(`Building the ${what} failed. If packages are missing, run: npm ci\n`)
      process.exit(1)
    }
  }
  writeFileSync(FINGERPRINT, fingerprint)
}
