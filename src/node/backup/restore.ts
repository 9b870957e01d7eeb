import { realpath, writeFile } from 'node:fs/promises'
import { keyCheckOf } from '../../control/secrets/check.ts'
import type { OnProgress } from '../../core/progress.ts'
import { clusterFolder, folderHolder } from '../../db/embedded/folder.ts'
import { identityOf } from '../../db/embedded/identity.ts'
import { startEmbedded } from '../../db/embedded/start.ts'
import { supersede } from '../../db/embedded/superseded.ts'
import { migrate } from '../../db/migrate.ts'
import { seatsOf, secretKeyFile } from '../../db/open.ts'
import { type Client, withOwner } from '../../db/pool.ts'
import type { Config } from '../config.ts'
import { copyIntoFolder } from './copy-into-folder.ts'
import { draftOf } from './draft.ts'
import { syncBelow } from './files.ts'
import { type Manifest, readManifest } from './manifest.ts'

export type Restored = {
  readonly manifest: Manifest
  readonly data_dir: string
  readonly problems: readonly string[]
  /** DATA_DIR, if the backup comes from it: no service starts on it any more. */
  readonly superseded?: string | undefined
  /** No service starts on the new folder: it was restored beside a running service, for reading only. */
  readonly look_only: boolean
}

type RestoreOptions = {
  readonly dir: string
  readonly to: string
  /** Allows a restore while a service runs on DATA_DIR. */
  readonly beside_running?: boolean
}

/** Makes a data folder from a backup. The folder appears whole or not at all. */
export async function restoreBackup(
  config: Config,
  { dir, to, beside_running = false }: RestoreOptions,
  onProgress: OnProgress,
): Promise<Restored> {
  const backup = await realpath(dir)
  const { manifest, settings } = await readManifest(backup, config)
  const draft = await draftOf(to)
  const { data_dir, folder } = draft
  try {
    const look_only = (await folderHolder(config.data_dir)) !== undefined
    if (look_only && !beside_running) throw serviceRuns(config)
    const problems = await copyIntoFolder(backup, manifest, { data_dir: folder, lasting: true }, onProgress)
    if (problems.length > 0) return { manifest, data_dir, problems, look_only }
    const database = await startEmbedded({ data_dir: folder })
    try {
      const { url } = database
      await migrate(url, { seats: await seatsOf(url, settings), check: await keyCheckOf(settings) })
      await withOwner(url, leaveGaps)
    } finally {
      await database.stop()
    }
    if (manifest.secret_key.kept_in === 'data_dir')
      await writeFile(secretKeyFile(folder), `${settings.secret_key.toString('hex')}\n`, {
        mode: 0o600,
        flush: true,
      })
    if (look_only) await supersede(folder, { how: 'looked_at', to: config.data_dir })
    const is_origin = !look_only && (await isSameOrigin(config.data_dir, folder))
    await syncBelow(folder)
    if (is_origin) await supersede(config.data_dir, { how: 'restored', to: data_dir })
    await draft.finish()
    return { manifest, data_dir, problems, look_only, superseded: is_origin ? config.data_dir : undefined }
  } finally {
    await draft.tidy()
  }
}

/** A restored service and its origin must not run at the same time, in containers neither: each would pay the same orders. */
function serviceRuns({ data_dir }: Config): Error {
  return new Error(
    `A service runs on ${data_dir}. A restored service would not know the orders that this one pays from now on: they would be paid twice, even under the same idempotency keys. ` +
      'Stop the service first, and never start it again. To restore a copy for reading only, on which no service starts: --yes',
  )
}

/** Whether the cluster of this folder has the same origin as the restored one. */
async function isSameOrigin(data_dir: string, restored: string): Promise<boolean> {
  const [ours, theirs] = await Promise.all(
    [data_dir, restored].map(async (dir) => identityOf(await clusterFolder(dir))),
  )
  return ours !== undefined && ours === theirs
}

/** More than a service writes between two backups. */
const GAP = 1_000_000_000
/** Positions of events are times in microseconds: positions given since the backup are below now, if clocks agree. */
const CLOCKS_DIFFER = 60_000_000

/**
 * Readers may have read positions of the log that were assigned after the backup. If new events got the same positions, those
 * readers would skip them; so the log continues beyond all of them. Deposit addresses that were handed out after the backup must not be
 * given to other customers: the newest known one is marked, and the next index leaves a gap behind it (`indexFor`). Payments on Tron that
 * were signed after the backup may still be mined: wallets are quiet until these payments have expired.
 */
async function leaveGaps(owner: Client): Promise<void> {
  for (const schema of ['live', 'sandbox']) {
    await owner.query(
      `SELECT setval('${schema}.event_log', greatest(last_value, extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $1)
       FROM ${schema}.event_log`,
      [CLOCKS_DIFFER],
    )
    await owner.query(
      `SELECT setval(name, nextval(name) + $1) FROM pg_get_serial_sequence('${schema}.requests', 'position') AS name`,
      [GAP],
    )
    const addresses = `${schema}.deposit_addresses`
    await owner.query(
      `BEGIN;
       ALTER TABLE ${addresses} DISABLE TRIGGER deposit_addresses_stay;
       UPDATE ${addresses} SET made_in = 'before a restore' WHERE address_index = (SELECT max(address_index) FROM ${addresses});
       ALTER TABLE ${addresses} ENABLE TRIGGER deposit_addresses_stay;
       UPDATE ${schema}.wallet_scans SET read_in = 'before a restore';
       COMMIT`,
    )
  }
}
