import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { link, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createSealer, type Sealer } from '../core/seal.ts'
import { withoutPasswords } from './address.ts'
import { syncFolder } from './embedded/files.ts'
import { existingCluster } from './embedded/folder.ts'
import { runningEmbedded } from './embedded/running.ts'
import { startEmbedded } from './embedded/start.ts'
import { openSeats, type Seats } from './seat.ts'

/** The database this process works with. */
export type Database = {
  readonly url: string
  /** Whether this process started the server. */
  readonly embedded: boolean
  /** Lets the command line on this machine find the API that this process serves. */
  announce(api_url: string): Promise<void>
  stop(): Promise<void>
}

type Place = { readonly database_url: string | undefined; readonly data_dir: string }

/** A server that this process neither starts nor stops. */
const elsewhere = (url: string): Database => ({
  url,
  embedded: false,
  announce: async () => {},
  stop: async () => {},
})

/** For a server: the database of DATABASE_URL, or an embedded one that this process holds alone. */
export async function startDatabase(
  place: Place,
  log: (line: string) => void,
  onGiveUp: (error: Error) => void,
): Promise<Database> {
  if (place.database_url) return elsewhere(place.database_url)
  const embedded = await startEmbedded({ data_dir: place.data_dir, log, onGiveUp })
  return { ...embedded, embedded: true }
}

/**
 * For the command line: uses the embedded database of a running server, otherwise starts it for the command. Without `make`
 * no new database is created: a misspelt DATA_DIR must not give an empty one.
 */
export async function reachDatabase(
  place: Place,
  { make = false }: { make?: boolean } = {},
): Promise<Database> {
  if (place.database_url) return elsewhere(place.database_url)
  const running = await runningEmbedded(place.data_dir)
  if (running) return elsewhere(running)
  if (!make) await existingCluster(place.data_dir)
  return startDatabase(
    place,
    () => {},
    () => {},
  )
}

/** The name of the database for people: its folder, or its address without passwords. */
export const shownDatabase = ({ database_url, data_dir }: Place): string =>
  database_url ? withoutPasswords(database_url) : data_dir

export const secretKeyFile = (data_dir: string): string => join(data_dir, 'secret.key')

/** The new key during a rotation, until everything is sealed under it. */
const nextKeyFile = (data_dir: string): string => `${secretKeyFile(data_dir)}.next`

/** Creates the key file beside the embedded database if there is none. */
async function ensureSecretKey(data_dir: string): Promise<Buffer> {
  await mkdir(data_dir, { recursive: true, mode: 0o700 })
  return ensureKeyFile(secretKeyFile(data_dir))
}

/**
 * The file appears whole or not at all, and is on disk before anything is sealed under the key: a crash must leave neither
 * half a key nor a database whose key is lost.
 */
async function ensureKeyFile(file: string): Promise<Buffer> {
  const draft = `${file}.${randomBytes(4).toString('hex')}`
  if (!existsSync(file)) {
    await writeFile(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await rm(draft)
    await syncFolder(dirname(file))
  }
  return readKeyFile(file)
}

function readKeyFile(file: string): Buffer {
  const key = readFileSync(file, 'utf8').trim()
  if (!/^[0-9a-f]{64}$/.test(key))
    throw new Error(`${file} does not hold a key of 64 hex digits. Restore it from a backup.`)
  return Buffer.from(key, 'hex')
}

export type KeySettings = {
  readonly secret_key: Buffer | undefined
  readonly secret_keys_previous: readonly Buffer[]
  readonly data_dir: string
}

/** The keys that this process knows, the current one first: from its settings, or from the data folder. */
export async function secretKeysOf(settings: KeySettings): Promise<readonly Buffer[]> {
  const { secret_key, secret_keys_previous, data_dir } = settings
  if (secret_key) return [secret_key, ...secret_keys_previous]
  await ensureSecretKey(data_dir)
  return readKeyFiles(data_dir)
}

/** Like `secretKeysOf`, but creates no key: for commands that only read. */
export function presentKeysOf({
  secret_key,
  secret_keys_previous,
  data_dir,
}: KeySettings): readonly Buffer[] {
  if (secret_key) return [secret_key, ...secret_keys_previous]
  return existsSync(secretKeyFile(data_dir)) ? readKeyFiles(data_dir) : []
}

/** A sealer that also finds keys that a rotation adds later, without a restart. */
export function openSealer(settings: KeySettings, keys: readonly Buffer[]): Sealer {
  const { secret_key, data_dir } = settings
  return createSealer(keys, secret_key ? undefined : () => readKeyFiles(data_dir))
}

/** The seats of a database. Their passwords are derived from the same keys, including those that a rotation adds later. */
export async function seatsOf(url: string, settings: KeySettings): Promise<Seats> {
  const { secret_key, data_dir } = settings
  return openSeats(url, await secretKeysOf(settings), secret_key ? undefined : () => readKeyFiles(data_dir))
}

/** Reads the next key first: if it replaces the current one between the two reads, it is read twice and never missed. */
function readKeyFiles(data_dir: string): Buffer[] {
  const taking_over: Buffer[] = []
  try {
    taking_over.push(readKeyFile(nextKeyFile(data_dir)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return [readKeyFile(secretKeyFile(data_dir)), ...taking_over]
}

/** Begins or continues a rotation of the data folder's key. */
export const ensureNextKey = (data_dir: string): Promise<Buffer> => ensureKeyFile(nextKeyFile(data_dir))

/** Replaces the key file with the next key. The old key is lost then: nothing may still be sealed under it. */
export async function promoteNextKey(data_dir: string, key: Buffer): Promise<void> {
  // A next key that was made anew meanwhile must not replace the key that everything is sealed under.
  if (!readKeyFile(nextKeyFile(data_dir)).equals(key))
    throw new Error(`${nextKeyFile(data_dir)} was changed meanwhile. Nothing was lost; rotate again.`)
  await rename(nextKeyFile(data_dir), secretKeyFile(data_dir))
  await syncFolder(data_dir)
}
