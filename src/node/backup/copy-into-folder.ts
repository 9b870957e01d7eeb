import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OnProgress } from '../../core/progress.ts'
import { belongsInBackup, WRITTEN_ANEW } from './contents.ts'
import { copyFile, each, listBelow } from './files.ts'
import { DATABASE, type Manifest, PASSWORD } from './manifest.ts'

/** Folders that PostgreSQL expects, even when they are empty. */
const EXPECTED = ['pg_wal/archive_status', 'pg_wal/summaries']

/**
 * Copies a backup into a data folder, and compares every file with the manifest. The backup itself is only read. Returns
 * the problems: with any, the copy must not be used.
 */
export async function copyIntoFolder(
  backup: string,
  manifest: Manifest,
  { data_dir, lasting }: { data_dir: string; lasting: boolean },
  onProgress: OnProgress,
): Promise<string[]> {
  const misplaced = manifest.files.filter(({ path }) => !belongsInBackup(path))
  if (misplaced.length > 0) return misplaced.map(({ path }) => `${path} has no place in a backup`).sort()
  const { folders, files } = await listBelow(join(backup, DATABASE))
  const cluster = join(data_dir, 'postgres')
  await mkdir(cluster, { recursive: true, mode: 0o700 })
  for (const path of [...folders, ...EXPECTED])
    await mkdir(join(cluster, path), { recursive: true, mode: 0o700 })
  const known = new Set(manifest.files.map(({ path }) => path))
  const wrong = files
    .map((path) => `${DATABASE}/${path}`)
    .filter((path) => !known.has(path))
    .map((path) => `${path} does not belong to the backup`)
  for (const [name, text] of Object.entries(WRITTEN_ANEW))
    await writeFile(join(cluster, name), text, { flag: 'wx', mode: 0o600, flush: lasting })
  let done = 0
  await each(manifest.files, async ({ path, bytes, sha256 }) => {
    const place =
      path === PASSWORD ? join(data_dir, PASSWORD) : join(cluster, path.slice(DATABASE.length + 1))
    const copied = await copyFile(join(backup, path), place, { lasting })
    if (!copied) wrong.push(`${path} is missing`)
    else if (copied.bytes !== bytes) wrong.push(`${path} has ${copied.bytes} bytes, and had ${bytes}`)
    else if (copied.sha256 !== sha256) wrong.push(`${path} was changed`)
    onProgress({ what: 'comparing', done: ++done, of: manifest.files.length })
  })
  return wrong.sort()
}
