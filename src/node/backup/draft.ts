import { mkdir, mkdtemp, realpath, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { hasCode, syncFolder } from '../../db/embedded/files.ts'
import { SUPERSEDED } from '../../db/embedded/superseded.ts'
import { assertEmpty, notEmpty } from './files.ts'
import { PASSWORD } from './manifest.ts'

/** A data folder that is being made. No service can start on it before it is finished. */
type Draft = {
  /** The final path. */
  readonly data_dir: string
  /** The folder in which the files are laid out. */
  readonly folder: string
  finish(): Promise<void>
  /** Removes temporary files. */
  tidy(): Promise<void>
}

export async function draftOf(path: string): Promise<Draft> {
  const wanted = resolve(path)
  return (await isThere(wanted)) ? inside(await realpath(wanted)) : beside(wanted)
}

/** For a folder that does not exist yet: it appears by one rename. */
async function beside(data_dir: string): Promise<Draft> {
  await mkdir(dirname(data_dir), { recursive: true })
  const folder = await mkdtemp(`${data_dir}.restoring-`)
  return {
    data_dir,
    folder,
    async finish() {
      await rename(folder, data_dir).catch((error) => {
        throw hasCode(error, 'ENOTEMPTY', 'EEXIST') ? notEmpty(data_dir) : error
      })
      await syncFolder(dirname(data_dir))
    },
    tidy: () => remove(folder),
  }
}

/**
 * For an existing folder, which may be a mount point and cannot be replaced. An empty `postgres` claims it: no service starts
 * on that, nor on a cluster without its password file, which is moved in last.
 */
async function inside(data_dir: string): Promise<Draft> {
  await assertEmpty(data_dir)
  const cluster = join(data_dir, 'postgres')
  await mkdir(cluster, { mode: 0o700 }).catch((error) => {
    throw hasCode(error, 'EEXIST') ? notEmpty(data_dir) : error
  })
  const folder = await mkdtemp(join(data_dir, '.restoring-'))
  const move = async (name: string) => {
    await rename(join(folder, name), join(data_dir, name))
    await syncFolder(data_dir)
  }
  return {
    data_dir,
    folder,
    async finish() {
      for (const name of [SUPERSEDED, SECRET_KEY]) if (await isThere(join(folder, name))) await move(name)
      await move('postgres')
      await move(PASSWORD)
    },
    async tidy() {
      await remove(folder)
      // Still empty when the draft was not finished.
      await rmdir(cluster).catch((error) => {
        if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error
      })
    },
  }
}

const SECRET_KEY = 'secret.key'

const remove = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 5 })

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}
