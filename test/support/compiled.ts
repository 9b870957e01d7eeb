import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { cp, mkdtemp, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
let compiled: Promise<string> | undefined

/** The command line as it is installed: compiled. Started from its sources, each run would take three times as long. */
export function compiledCli(): Promise<string> {
  compiled ??= compile()
  return compiled
}

async function compile(): Promise<string> {
  const folder = await mkdtemp(join(inject('run_dir'), 'cli-'))
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
  return join(dist, 'cli/trilho.js')
}
