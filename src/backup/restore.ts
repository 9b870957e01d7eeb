import { mkdtemp, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { OnProgress } from '../core/progress.ts'
import { syncFolder } from '../db/embedded/files.ts'
import { startEmbedded } from '../db/embedded/start.ts'
import { secretKeyFile } from '../db/open.ts'
import { type Client, withOwner } from '../db/pool.ts'
import type { Config } from '../node/config.ts'
import { takeEmptyFolder } from './files.ts'
import { settingsWithKey } from './keys.ts'
import { layOut } from './lay-out.ts'
import { type Manifest, readManifest } from './manifest.ts'

export type Restored = {
  readonly manifest: Manifest
  readonly data_dir: string
  readonly problems: readonly string[]
}

/** Makes a data folder out of a backup. It appears whole or not at all. */
export async function restoreBackup(
  config: Config,
  { dir, to }: { dir: string; to: string },
  onProgress: OnProgress,
): Promise<Restored> {
  const backup = await realpath(dir)
  const manifest = await readManifest(backup)
  const { secret_key } = settingsWithKey(config, manifest)
  const data_dir = await takeEmptyFolder(to)
  const draft = await mkdtemp(join(dirname(data_dir), `${basename(data_dir)}.restoring-`))
  try {
    const problems = await layOut(backup, manifest, { data_dir: draft, lasting: true }, onProgress)
    if (problems.length > 0) return { manifest, data_dir, problems }
    const database = await startEmbedded({ data_dir: draft })
    try {
      await withOwner(database.url, leaveGaps)
    } finally {
      await database.stop()
    }
    if (manifest.secret_key.kept_in === 'data_dir')
      await writeFile(secretKeyFile(draft), `${secret_key.toString('hex')}\n`, { mode: 0o600, flush: true })
    await syncFolder(draft)
    await rmdir(data_dir)
    await rename(draft, data_dir)
    await syncFolder(dirname(data_dir))
    return { manifest, data_dir, problems }
  } finally {
    await rm(draft, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** More than a service writes between two backups. */
const GAP = 1_000_000_000

/**
 * Readers may have passed places in a log that the backup does not know of. Given again, to other events, they would be
 * skipped by those readers; so the log goes on beyond all of them.
 */
async function leaveGaps(owner: Client): Promise<void> {
  for (const schema of ['live', 'sandbox'])
    for (const table of ['event_positions', 'requests'])
      await owner.query(
        `SELECT setval(name, nextval(name) + $1) FROM pg_get_serial_sequence('${schema}.${table}', 'position') AS name`,
        [GAP],
      )
}
