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

/** The database this process works with, and what to do with it at the end. */
export type Database = {
  readonly url: string
  /** Started here, by this process. */
  readonly embedded: boolean
  /** Lets the command line on this machine find the API that this process serves. */
  announce(api_url: string): Promise<void>
  stop(): Promise<void>
}

type Place = { readonly database_url: string | undefined; readonly data_dir: string }

/** Somebody else's to start and to stop. */
const elsewhere = (url: string): Database => ({
  url,
  embedded: false,
  announce: async () => {},
  stop: async () => {},
})

/** For a server: the one of DATABASE_URL, or an embedded one that nobody else may use meanwhile. */
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
 * For the command line: joins the server's embedded database while that runs, otherwise starts it for a moment. Only who
 * says `make` gets a new one where there is none: a misspelt DATA_DIR must not be answered by an empty database.
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

/** Tells people which database this is: its folder, or its address. */
export const shownDatabase = ({ database_url, data_dir }: Place): string =>
  database_url ? withoutPasswords(database_url) : data_dir

export const secretKeyFile = (data_dir: string): string => join(data_dir, 'secret.key')

/** The key that is taking over, until everything is sealed under it. */
const nextKeyFile = (data_dir: string): string => `${secretKeyFile(data_dir)}.next`

/** Made once, beside the embedded database. */
export async function ensureSecretKey(data_dir: string): Promise<Buffer> {
  await mkdir(data_dir, { recursive: true, mode: 0o700 })
  return ensureKeyFile(secretKeyFile(data_dir))
}

/**
 * It appears whole or not at all, and is on disk before anything is sealed under it: a crash must leave neither half a key
 * behind nor a database whose key nobody has.
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

/** The keys that this process knows, the first one first: from its settings, or from the data folder. */
export async function secretKeysOf(settings: KeySettings): Promise<readonly Buffer[]> {
  const { secret_key, secret_keys_previous, data_dir } = settings
  if (secret_key) return [secret_key, ...secret_keys_previous]
  await ensureSecretKey(data_dir)
  return readKeyFiles(data_dir)
}

/** The same, but none is made: for whoever only looks. */
export function presentKeysOf({
  secret_key,
  secret_keys_previous,
  data_dir,
}: KeySettings): readonly Buffer[] {
  if (secret_key) return [secret_key, ...secret_keys_previous]
  return existsSync(secretKeyFile(data_dir)) ? readKeyFiles(data_dir) : []
}

/** What a rotation has added since is found without a restart. */
export function openSealer(settings: KeySettings, keys: readonly Buffer[]): Sealer {
  const { secret_key, data_dir } = settings
  return createSealer(keys, secret_key ? undefined : () => readKeyFiles(data_dir))
}

/** The seats of a database. Their passwords follow from the same keys, also from one that a rotation has added since. */
export async function seatsOf(url: string, settings: KeySettings): Promise<Seats> {
  const { secret_key, data_dir } = settings
  return openSeats(url, await secretKeysOf(settings), secret_key ? undefined : () => readKeyFiles(data_dir))
}

/** The next one is read first: should it take the other's place in between, it is read twice, and missed never. */
function readKeyFiles(data_dir: string): Buffer[] {
  const taking_over: Buffer[] = []
  try {
    taking_over.push(readKeyFile(nextKeyFile(data_dir)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return [readKeyFile(secretKeyFile(data_dir)), ...taking_over]
}

/** Begins, or goes on with, the rotation of the data folder's key. */
export const ensureNextKey = (data_dir: string): Promise<Buffer> => ensureKeyFile(nextKeyFile(data_dir))

/** The next key takes the place of the one before it, which is gone then: nothing may be sealed under that any more. */
export async function promoteNextKey(data_dir: string, key: Buffer): Promise<void> {
  // One that nothing is sealed under yet must not take the place of the one that everything is.
  if (!readKeyFile(nextKeyFile(data_dir)).equals(key))
    throw new Error(`${nextKeyFile(data_dir)} was changed meanwhile. Nothing was lost; rotate again.`)
  await rename(nextKeyFile(data_dir), secretKeyFile(data_dir))
  await syncFolder(data_dir)
}
