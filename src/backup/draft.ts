import { mkdir, mkdtemp, realpath, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { hasCode, syncFolder } from '../db/embedded/files.ts'
import { SUPERSEDED } from '../db/embedded/superseded.ts'
import { assertEmpty, notEmpty } from './files.ts'
import { PASSWORD } from './manifest.ts'

/** A data folder in the making. A service that is started on it before its end is refused. */
export type Draft = {
  /** What it will be. */
  readonly data_dir: string
  /** Where it is made. */
  readonly folder: string
  finish(): Promise<void>
  /** Removes what is left of the making. */
  tidy(): Promise<void>
}

export async function draftOf(path: string): Promise<Draft> {
  const wanted = resolve(path)
  return (await isThere(wanted)) ? inside(await realpath(wanted)) : beside(wanted)
}

/** A folder that is not there yet appears by one rename. */
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
 * A folder that is there may be mounted, so that nothing can take its place. An empty `postgres` claims it, on which no service
 * starts; nor does one on a cluster without its password, which comes last.
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
      // Empty still when it was not finished.
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
