import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { until } from './wait.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const COMPILE_MS = 60_000
let compiled: Promise<string> | undefined

/** The command line as it is installed: compiled. Started from its sources, each run would take three times as long. */
export function compiledCli(): Promise<string> {
  compiled ??= compile()
  return compiled
}

/** Once for all workers of a run: whoever comes second waits for the first. */
async function compile(): Promise<string> {
  const folder = join(inject('run_dir'), 'cli')
  const entry = join(folder, 'dist/cli/trilho.js')
  const ready = join(folder, 'ready')
  try {
    await mkdir(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    await until(() => existsSync(ready), COMPILE_MS)
    return entry
  }
  await compileInto(folder)
  await writeFile(ready, '')
  return entry
}

async function compileInto(folder: string): Promise<void> {
  const dist = join(folder, 'dist')
  const options = ['--noCheck', '--incremental', 'false', '--tsBuildInfoFile', 'null', '--outDir', dist]
  execFileSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...options],
    {
      cwd: root,
    },
  )
  // tsc compiles only TypeScript; what is SQL is read as it is.
  const filter = (path: string) => path.endsWith('.sql') || statSync(path).isDirectory()
  await cp(join(root, 'src/db'), join(dist, 'db'), { recursive: true, filter })
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  for (const name of ['node_modules', 'sdk']) await symlink(join(root, name), join(folder, name))
}
