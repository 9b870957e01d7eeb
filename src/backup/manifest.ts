import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, writePrivately } from '../db/embedded/files.ts'

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

/** Of its own text, so that a changed byte in it is found too. */
const digestOf = (manifest: unknown) => createHash('sha256').update(JSON.stringify(manifest)).digest('hex')

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const text = JSON.stringify({ ...manifest, sha256: digestOf(manifest) }, null, 1)
  await writePrivately(join(folder, MANIFEST), `${text}\n`)
}

export async function readManifest(folder: string): Promise<Manifest> {
  const file = join(folder, MANIFEST)
  const text = await readIfThere(file)
  if (text === undefined)
    throw new Error(
      `${folder} holds no whole backup: ${MANIFEST} is written last, and is not there. Taking it was interrupted, or this is another folder. Take another one: trilho backup create DIR`,
    )
  const { sha256, ...manifest } = parse(text, file)
  if (digestOf(manifest) !== sha256)
    throw new Error(`${file} was changed after it was written. Use another backup.`)
  if (manifest.format !== 1)
    throw new Error(`${folder} was made by a newer version (${manifest.version}). Use that one.`)
  return manifest
}

function parse(text: string, file: string): Manifest & { sha256: string } {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is damaged: it is not JSON. Use another backup.`)
  }
}
