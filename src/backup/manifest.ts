import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, writePrivately } from '../db/embedded/files.ts'
import type { KeySettings } from '../db/open.ts'
import { type WithKey, withKey } from './keys.ts'

/** What a backup holds. It is written last, so a folder without it is no backup. */
export type Manifest = {
  readonly format: 1
  /** Of the program that took it. */
  readonly version: string
  readonly postgres: string
  readonly started_at: string
  /** Whatever was committed before this moment is in it, and of the second after it perhaps more. */
  readonly until: string
  /** The names of the first and the last file of the log that it needs. */
  readonly wal: { readonly from: string; readonly to: string }
  readonly secret_key: {
    /** Names the key and tells nothing of it. The key itself is not in the backup. */
    readonly fingerprint: string
    /** Where the service had it: a restored folder has it in the same place. */
    readonly kept_in: 'data_dir' | 'setting'
  }
  /** Rows per schema when it began: there are at least as many in it. */
  readonly counts: Counts
  readonly files: readonly BackupFile[]
}

export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>

export type BackupFile = { readonly path: string; readonly bytes: number; readonly sha256: string }

/** Where PostgreSQL's files are in a backup. Not named as in a data folder: nobody shall start a server on a backup itself. */
export const DATABASE = 'database'
export const PASSWORD = 'postgres.password'
const MANIFEST = 'backup.json'

export const bytesOf = ({ files }: Manifest): number => files.reduce((sum, { bytes }) => sum + bytes, 0)

/**
 * Of its own text, under a key for this use alone. The manifest has the hash of every file: whoever does not have the secret
 * key can change nothing in a backup unseen, and what is restored is run.
 */
function macOf(manifest: unknown, secret_key: Buffer): Buffer {
  const key = Buffer.from(hkdfSync('sha256', secret_key, '', 'trilho: manifest of a backup', 32))
  return createHmac('sha256', key).update(JSON.stringify(manifest)).digest()
}

export async function writeManifest(folder: string, manifest: Manifest, secret_key: Buffer): Promise<void> {
  const hmac = macOf(manifest, secret_key).toString('hex')
  await writePrivately(join(folder, MANIFEST), `${JSON.stringify({ ...manifest, hmac }, null, 1)}\n`)
}

/** Also returns the settings with the key that the backup needs, and with no other one. */
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
