import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'
import { compileInto } from './compile.ts'
import { until } from './wait.ts'

/** Of the longest that somebody else may take to compile it. */
const COMPILING_MS = 200_000
let compiled: Promise<string> | undefined

/** The program of the command line, compiled. */
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
