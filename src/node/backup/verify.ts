import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkSecretKey, findUnopened, reachedBy } from '../../control/secrets/check.ts'
import type { OnProgress } from '../../core/progress.ts'
import { startEmbedded } from '../../db/embedded/start.ts'
import { migrate } from '../../db/migrate.ts'
import { openSealer, seatsOf } from '../../db/open.ts'
import { type Client, withOwner } from '../../db/pool.ts'
import { auditDatabase, type DatabaseAudit } from '../audit-database.ts'
import type { Config } from '../config.ts'
import { copyIntoFolder } from './copy-into-folder.ts'
import { COUNTED_TABLES, countRows } from './create.ts'
import type { WithKey } from './keys.ts'
import { type Manifest, type RowCounts, readManifest } from './manifest.ts'

type VerifiedBackup = {
  readonly manifest: Manifest
  /** Empty when the backup is good. */
  readonly problems: readonly string[]
  /** Empty when the files were wrong, so that no audit ran. */
  readonly audit: DatabaseAudit
}

/**
 * Restores a backup into a temporary folder and audits the result. The folder is removed afterwards, also after an abort.
 */
export async function verifyBackup(
  config: Config,
  dir: string,
  onProgress: OnProgress,
  signal?: AbortSignal,
): Promise<VerifiedBackup> {
  const backup = await realpath(dir)
  const { manifest, settings } = await readManifest(backup, config)
  const folder = await mkdtemp(join(tmpdir(), 'trilho-verify-'))
  try {
    // PostgreSQL may run as another user, who must be able to enter the folder.
    await chmod(folder, 0o755)
    const data_dir = join(folder, 'data')
    const onFile: OnProgress = (progress) => {
      signal?.throwIfAborted()
      onProgress(progress)
    }
    const problems = await copyIntoFolder(backup, manifest, { data_dir, lasting: false }, onFile)
    if (problems.length > 0) return { manifest, problems, audit: [] }
    onProgress({ what: 'auditing', done: 0, of: 1 })
    return { manifest, ...(await tryOut(data_dir, settings, manifest, signal)) }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function tryOut(
  data_dir: string,
  config: WithKey<Config>,
  manifest: Manifest,
  signal: AbortSignal | undefined,
): Promise<Tried> {
  const database = await startEmbedded({ data_dir })
  try {
    signal?.throwIfAborted()
    const trying = examine(database.url, config, manifest)
    // An abort does not wait for the audit, which ends with its database.
    return await Promise.race(signal ? [trying, rejectOnAbort(signal)] : [trying])
  } finally {
    await database.stop()
  }
}

const rejectOnAbort = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

type Tried = Pick<VerifiedBackup, 'problems' | 'audit'>

async function examine(url: string, config: WithKey<Config>, { counts }: Manifest): Promise<Tried> {
  const found = await withOwner(url, countRows)
  const sealed: string[] = []
  const check = async (owner: Client) => void sealed.push(...(await cannotBeOpened(owner, config)))
  await migrate(url, { seats: await seatsOf(url, config), check })
  if (sealed.length > 0) return { problems: [...missing(counts, found), ...sealed], audit: [] }
  const audit = await auditDatabase(url, config)
  const failed = audit.flatMap(({ environment, findings }) =>
    findings.map(({ check, found }) => `${environment}: the check ${check} fails, ${found} times`),
  )
  return { problems: [...missing(counts, found), ...failed], audit }
}

/** Opens every sealed value, whatever key id its row has. */
async function cannotBeOpened(owner: Client, config: WithKey<Config>): Promise<string[]> {
  const sealer = openSealer(config, [config.secret_key])
  const unopened = await findUnopened(reachedBy(owner), sealer)
  if (unopened.length === 0) await checkSecretKey(reachedBy(owner), sealer)
  return unopened.map(
    ({ environment, object, count, ids }) =>
      `${count} ${object}${count === 1 ? '' : 's'} in ${environment} cannot be opened with the key ${sealer.keyIds()[0]}: ${ids.join(', ')}${count > ids.length ? ', …' : ''}`,
  )
}

function missing(counted: RowCounts, found: RowCounts): string[] {
  return Object.entries(counted).flatMap(([schema, tables]) =>
    COUNTED_TABLES.filter((table) => (found[schema]?.[table] ?? 0) < (tables[table] ?? 0)).map(
      (table) => `${schema}.${table} has ${found[schema]?.[table]} rows, and had ${tables[table]}`,
    ),
  )
}
