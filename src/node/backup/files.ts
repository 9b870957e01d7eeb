import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { hasCode, syncFolder } from '../../db/embedded/files.ts'
import type { BackupFile } from './manifest.ts'

type Listed = { readonly folders: readonly string[]; readonly files: readonly string[] }

/** Every folder and file below a folder, by relative path. `leaves` says which paths to skip, with everything below. */
export async function listBelow(
  root: string,
  leaves: (path: string) => boolean = () => false,
): Promise<Listed> {
  const folders: string[] = []
  const files: string[] = []
  async function walk(path: string): Promise<void> {
    for (const entry of await entriesOf(join(root, path))) {
      const below = path === '' ? entry.name : `${path}/${entry.name}`
      if (leaves(below)) continue
      if (entry.isDirectory()) {
        folders.push(below)
        await walk(below)
      } else if (entry.isFile()) {
        files.push(below)
      } else {
        throw new Error(`${join(root, below)} is neither a file nor a folder: it cannot be backed up.`)
      }
    }
  }
  await walk('')
  return { folders, files }
}

/** A folder that was removed meanwhile counts as empty. */
async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

const CHUNK = 1 << 20

/** Copies a file, readable by this user only. Undefined when it no longer exists. `lasting`: sync it to disk. */
export async function copyFile(
  from: string,
  to: string,
  { lasting }: { lasting: boolean },
): Promise<Pick<BackupFile, 'bytes' | 'sha256'> | undefined> {
  const hash = createHash('sha256')
  let bytes = 0
  const source = await openIfThere(from)
  if (!source) return undefined
  const target = await open(to, 'wx', 0o600).catch(async (error) => {
    await source.close()
    throw error
  })
  try {
    for await (const chunk of createReadStream(from, { fd: source, highWaterMark: CHUNK })) {
      hash.update(chunk)
      bytes += chunk.length
      await target.writeFile(chunk)
    }
    if (lasting) await target.datasync()
  } finally {
    await target.close()
  }
  return { bytes, sha256: hash.digest('hex') }
}

async function openIfThere(path: string) {
  try {
    return await open(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

const AT_ONCE = 8

/** Works on a few items at a time, in no particular order. Throws the first failure. */
export async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const item of rest) await work(item)
  })
  // Wait for all workers, so that the caller can remove files safely.
  const failed = (await Promise.allSettled(workers)).find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
}

/** Creates a folder, or accepts an existing empty one. Returns its path without links. */
export async function takeEmptyFolder(path: string): Promise<string> {
  const folder = resolve(path)
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(folder, { mode: 0o700 }).catch((error) => {
    if (!hasCode(error, 'EEXIST')) throw error
  })
  await assertEmpty(folder)
  return realpath(folder)
}

export const notEmpty = (folder: string): Error =>
  new Error(`${folder} is not empty. Name a new folder; nothing in this one was touched.`)

/** The root of an ext file system has this folder from the beginning. */
const OF_THE_FILE_SYSTEM = 'lost+found'

export async function assertEmpty(folder: string): Promise<void> {
  if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is not a folder. Name a new one.`)
  if ((await readdir(folder)).some((name) => name !== OF_THE_FILE_SYSTEM)) throw notEmpty(folder)
}

/** Whether a path is the folder or lies in it, with links resolved. The path need not exist yet. */
export async function isWithin(path: string, folder: string): Promise<boolean> {
  const way = relative(await realpath(folder), await realPathOf(resolve(path)))
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    return join(await realPathOf(dirname(path)), basename(path))
  }
}

/** Syncs all folders, so that the names of new files are on disk. */
export async function syncBelow(root: string): Promise<void> {
  const { folders } = await listBelow(root)
  await each(['', ...folders], (path) => syncFolder(join(root, path)))
}
