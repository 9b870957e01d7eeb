import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, writePrivately } from '../../db/embedded/files.ts'
import type { KeySettings } from '../../db/open.ts'
import { type WithKey, withKey } from './keys.ts'

/** The contents of a backup. The manifest is written last, so a folder without it is not a backup. */
export type Manifest = {
  readonly format: 1
  /** Of the service that took the backup. */
  readonly version: string
  readonly postgres: string
  readonly started_at: string
  /** Everything committed before this moment is in the backup, and possibly a little more. */
  readonly until: string
  /** The first and the last WAL file that a restore needs. */
  readonly wal: { readonly from: string; readonly to: string }
  readonly secret_key: {
    /** The public id of the key. The key itself is not in the backup. */
    readonly fingerprint: string
    /** Where the service had the key: a restored folder has it in the same place. */
    readonly kept_in: 'data_dir' | 'setting'
  }
  /** Rows per schema when the backup began: it has at least as many. */
  readonly counts: RowCounts
  readonly files: readonly BackupFile[]
}

export type RowCounts = Readonly<Record<string, Readonly<Record<string, number>>>>

export type BackupFile = { readonly path: string; readonly bytes: number; readonly sha256: string }

/** The folder of PostgreSQL's files in a backup. Another name than in a data folder, so that no server starts on a backup. */
export const DATABASE = 'database'
export const PASSWORD = 'postgres.password'
const MANIFEST = 'backup.json'

export const bytesOf = ({ files }: Manifest): number => files.reduce((sum, { bytes }) => sum + bytes, 0)

/**
 * The HMAC of the manifest, under a key derived for this use. The manifest has the hash of every file, so without the secret
 * key nobody can change a backup unnoticed. That matters because a restored database is executed.
 */
function macOf(manifest: unknown, secret_key: Buffer): Buffer {
  const key = Buffer.from(hkdfSync('sha256', secret_key, '', 'trilho: manifest of a backup', 32))
  return createHmac('sha256', key).update(JSON.stringify(manifest)).digest()
}

export async function writeManifest(folder: string, manifest: Manifest, secret_key: Buffer): Promise<void> {
  const hmac = macOf(manifest, secret_key).toString('hex')
  await writePrivately(join(folder, MANIFEST), `${JSON.stringify({ ...manifest, hmac }, null, 1)}\n`)
}

/** Also returns the settings with the key of the backup only. */
export async function readManifest<Settings extends KeySettings>(
  folder: string,
  settings: Settings,
): Promise<{ manifest: Manifest; settings: WithKey<Settings> }> {
  const file = join(folder, MANIFEST)
  const text = await readIfThere(file)
  if (text === undefined)
    throw new Error(
      `${folder} holds no whole backup: ${MANIFEST} is written last, and is not there. Taking it was interrupted, or this is another folder. Take another one: trilho backup create DIR`,
    )
  const { hmac, ...manifest } = parse(text, file)
  const fingerprint = String(manifest.secret_key?.fingerprint)
  if (manifest.format !== 1 || !/^[0-9a-f]{16}$/.test(fingerprint))
    throw new Error(`${file} is not of a backup that this version knows. Use the version that took it.`)
  const keyed = withKey(settings, fingerprint)
  const given = Buffer.from(String(hmac), 'hex')
  const right = macOf(manifest, keyed.secret_key)
  if (given.length !== right.length || !timingSafeEqual(given, right))
    throw new Error(`${file} was changed after it was written. Use another backup.`)
  return { manifest, settings: keyed }
}

function parse(text: string, file: string): Manifest & { hmac: string } {
  try {
    return { ...JSON.parse(text) }
  } catch {
    throw new Error(`${file} is damaged: it is not JSON. Use another backup.`)
  }
}
