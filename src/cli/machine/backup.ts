import { realpath } from 'node:fs/promises'
import { act } from '../../control/operator/act.ts'
import type { BackupNote } from '../../control/operator/backups.ts'
import { runningEmbedded } from '../../db/embedded/running.ts'
import { renderAudit } from '../../node/audit-database.ts'
import { createBackup } from '../../node/backup/create.ts'
import { bytesOf, type Manifest } from '../../node/backup/manifest.ts'
import { type Restored, restoreBackup } from '../../node/backup/restore.ts'
import { verifyBackup } from '../../node/backup/verify.ts'
import { argument, type Input, type Output, type Reach, requiredOption, usage } from '../command.ts'
import { exit, exitOfStop } from '../exit.ts'
import { actOutput } from '../operator/act-output.ts'
import { actorIfAny } from '../operator/actor.ts'
import { watched } from '../progress.ts'
import { withDatabase } from '../with-database.ts'

export async function backupCreate(input: Input): Promise<Output> {
  const dir = argument(input, 0, 'DIR')
  const manifest = await watched(input.io, (onProgress) => createBackup(input.config, dir, onProgress))
  const noted = await noteWhileRunning(input, await noteOf(dir, manifest, false))
  return {
    json: { ok: true, dir, noted, ...inShort(manifest) },
    text:
      `Backed up to ${dir}: ${sizeOf(manifest)}, everything until ${manifest.until}.\n` +
      `The secret key ${manifest.secret_key.fingerprint} is not in it, and nothing can be restored without: keep that elsewhere.\n` +
      `Now prove it: trilho backup verify ${dir}\n`,
  }
}

export async function backupVerify(input: Input): Promise<Output> {
  const dir = argument(input, 0, 'DIR')
  const stopped = input.io.stopped()
  const verified = await watched(input.io, (onProgress) =>
    verifyBackup(input.config, dir, onProgress, stopped),
  ).catch((error: unknown) => {
    if (!stopped.aborted) throw error
  })
  if (!verified) return { exit_code: exitOfStop(stopped.reason) }
  const { manifest, problems, audit } = verified
  const ok = problems.length === 0
  const noted = ok && (await noteWhileRunning(input, await noteOf(dir, manifest, true)))
  const said = ok ? `The backup in ${dir} is good` : `The backup in ${dir} is NOT GOOD`
  return {
    json: {
      ok,
      problems,
      noted,
      ...inShort(manifest),
      environments: Object.fromEntries(audit.map(({ environment, ...report }) => [environment, report])),
    },
    text: `${said}: ${sizeOf(manifest)}, everything until ${manifest.until}.\n${listOf(problems)}${renderAudit(audit)}`,
    exit_code: ok ? exit.done : exit.refused,
  }
}

const noteOf = async (dir: string, { until }: Manifest, verified: boolean): Promise<BackupNote> => ({
  until,
  source: await realpath(dir),
  verified,
})

/**
 * Notes a backup in the database that a running service uses. Without a running service nothing is noted: the database would have to
 * be started and migrated for it. The backup is good either way.
 */
async function noteWhileRunning(input: Input, details: BackupNote): Promise<boolean> {
  const { config } = input
  try {
    if (config.database_url || (await runningEmbedded(config.data_dir)) === undefined) return false
    await withDatabase(config, (reach) => noteBackup(input, reach, details))
    return true
  } catch (error) {
    input.io.stderr.write(`The backup could not be noted for trilho golive: ${(error as Error).message}\n`)
    return false
  }
}

const noteBackup = async (input: Input, { office, shared }: Reach, details: BackupNote) =>
  act(office, await actorIfAny(input, shared), { name: 'note_backup', details })

const SOURCE_MOST = 200

export async function backupNote(input: Input, reach: Reach): Promise<Output> {
  const time = new Date(requiredOption(input, 'until'))
  const source = requiredOption(input, 'source').trim()
  if (Number.isNaN(time.getTime())) usage('--until must be a time, such as 2026-11-16T04:00:00Z.')
  if (source === '' || source.length > SOURCE_MOST)
    usage(`--source must have 1 to ${SOURCE_MOST} characters.`)
  const details = { until: time.toISOString(), source, verified: input.options.verified === true }
  return actOutput(await noteBackup(input, reach, details), () => ({
    json: { ok: true, ...details },
    text: `Noted: ${source} holds everything until ${details.until}${details.verified ? ', and was restored on trial' : ''}.\n`,
  }))
}

export async function backupRestore(input: Input): Promise<Output> {
  const dir = argument(input, 0, 'DIR')
  const to = requiredOption(input, 'to')
  const restored = await watched(input.io, (onProgress) =>
    restoreBackup(input.config, { dir, to, beside_running: input.options.yes === true }, onProgress),
  )
  const { manifest, data_dir, problems, look_only, superseded } = restored
  const ok = problems.length === 0
  return {
    json: { ok, problems, data_dir, look_only, superseded: superseded ?? null, ...inShort(manifest) },
    text: ok
      ? look_only
        ? toLookAt(restored)
        : afterRestore(restored)
      : `The backup in ${dir} is NOT GOOD, and nothing was restored:\n${listOf(problems)}`,
    exit_code: ok ? exit.done : exit.refused,
  }
}

const toLookAt = ({ manifest: { until }, data_dir }: Restored) =>
  `Restored into ${data_dir}, to look at: everything until ${until}. A service runs on the folder that the backup comes from, so none
starts on this one. Look at it with: DATA_DIR=${data_dir} trilho audit
`

const afterRestore = ({ manifest: { until }, data_dir, superseded }: Restored) =>
  `Restored into ${data_dir}: everything until ${until}, and nothing that was done later.
${superseded === undefined ? '' : `No service starts on ${superseded} any more: the backup comes from it. To undo that: trilho database unmark\n`}
Payouts and transfers that were sent later are not in it, although their money is gone. A partner that repeats such an order, even
under the same idempotency key, pays it twice. So, before you let anybody use the service:

  1. Stop the service on the old folder, and never start it again: two services pay the same order twice.
  2. Prove it:   DATA_DIR=${data_dir} trilho audit
  3. Compare what your rails have paid since ${until} with it, and debit what is missing:
                 DATA_DIR=${data_dir} trilho customers debit …
  4. Only then:  DATA_DIR=${data_dir} trilho serve
`

/** The manifest with the number of files in place of their list. */
const inShort = (manifest: Manifest) => ({
  ...manifest,
  files: manifest.files.length,
  bytes: bytesOf(manifest),
})

function sizeOf(manifest: Manifest): string {
  const { files, bytes } = inShort(manifest)
  return `${files.toLocaleString('en')} files, ${(bytes / 1e6).toFixed(1)} MB`
}

const SHOWN = 20

function listOf(problems: readonly string[]): string {
  const more = problems.length > SHOWN ? `  … and ${problems.length - SHOWN} more\n` : ''
  return (
    problems
      .slice(0, SHOWN)
      .map((problem) => `  ${problem}\n`)
      .join('') + more
  )
}
