import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runningEmbedded, startEmbedded } from './embedded/start.ts'

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

/** For the command line: joins the server's embedded database while that runs, otherwise starts it for a moment. */
export async function reachDatabase(place: Place): Promise<Database> {
  const running = place.database_url ? undefined : await runningEmbedded(place.data_dir)
  if (running) return elsewhere(running)
  return startDatabase(
    place,
    () => {},
    () => {},
  )
}

export const secretKeyFile = (data_dir: string): string => join(data_dir, 'secret.key')

/** Made once, beside the embedded database. It appears whole or not at all: a crash must not leave half a key behind. */
export async function ensureSecretKey(data_dir: string): Promise<Buffer> {
  await mkdir(data_dir, { recursive: true, mode: 0o700 })
  const file = secretKeyFile(data_dir)
  const draft = `${file}.${randomBytes(4).toString('hex')}`
  try {
    await readFile(file)
  } catch {
    await writeFile(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await rm(draft)
  }
  const key = (await readFile(file, 'utf8')).trim()
  if (!/^[0-9a-f]{64}$/.test(key))
    throw new Error(`${file} does not hold a key of 64 hex digits. Restore it from a backup.`)
  return Buffer.from(key, 'hex')
}
