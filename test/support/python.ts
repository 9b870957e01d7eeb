import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packWheel, wheelName } from '../../tools/pack-wheel.ts'
import { testRun } from './test-run.ts'

/** Why nothing of Python can run on this machine; undefined when it can. */
export const pythonIsMissing = missing()

function missing(): string | undefined {
  const enough = 'import sys; sys.exit(sys.version_info < (3, 9))'
  const { error, status } = spawnSync('python3', ['-c', enough])
  const why = error ? 'python3 is not on the path' : status !== 0 && 'python3 is older than 3.9'
  if (!why) return undefined
  if (process.env.SNIPPETS === 'all') throw new Error(`the Python package cannot be tested: ${why}`)
  console.warn(`the Python package was not tested: ${why}`)
  return why
}

export type Python = {
  /** A folder for files of the test. */
  readonly folder: string
  readonly wheel: string
  /** For programs that import the package out of its wheel, as it is shipped. */
  readonly env: Record<string, string>
  run(args: readonly string[], env?: Record<string, string>): Promise<string>
  stop(): void
}

export function openPython(): Python {
  const folder = mkdtempSync(join(tmpdir(), 'trilho-python-'))
  const wheel = join(folder, wheelName)
  writeFileSync(wheel, packWheel())
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, ...testRun(), PYTHONPATH: wheel, PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1' }
  return {
    folder,
    wheel,
    env,
    run: (args, own = {}) =>
      new Promise((resolve, reject) =>
        execFile(
          'python3',
          args,
          { cwd: folder, env: { ...env, ...own }, maxBuffer: 2 ** 26 },
          (error, out, err) => (error ? reject(new Error(`${out}\n${err}`)) : resolve(out)),
        ),
      ),
    stop: () => rmSync(folder, { recursive: true, force: true }),
  }
}
