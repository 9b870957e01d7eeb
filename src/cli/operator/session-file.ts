import { createHash } from 'node:crypto'
import { constants, realpathSync } from 'node:fs'
import { lstat, mkdir, open, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { hostName, parseAddress } from '../../db/address.ts'
import { hasCode, writePrivately } from '../../db/embedded/files.ts'
import { isToken } from '../../parties/team/sessions.ts'
import { configFolder } from '../config-folder.ts'

/**
 * Where `trilho login` stores a session: one file per database and user of the machine, readable by that user only. Anybody who
 * can read the file can act as that operator.
 */
export type SessionPlace = { readonly folder: string; readonly file: string; readonly database: string }

type Environment = Readonly<Record<string, string | undefined>>
type Settings = { readonly database_url: string | undefined; readonly data_dir: string }

export function sessionPlace(settings: Settings, env: Environment): SessionPlace {
  const folder = join(configFolder(env), 'trilho')
  const database = databaseOf(settings)
  const name = createHash('sha256').update(database).digest('hex').slice(0, 16)
  return { folder, file: join(folder, `session-${name}`), database }
}

/** Identifies the database by its address, without the password, or by its data folder. */
function databaseOf({ database_url, data_dir }: Settings): string {
  if (database_url === undefined) return pathOf(data_dir)
  const { hosts, database } = parseAddress(database_url)
  return `${hosts.map(hostName).join(',')}/${database}`
}

function pathOf(data_dir: string): string {
  try {
    return realpathSync(data_dir)
  } catch {
    return resolve(data_dir)
  }
}

export async function keepSession({ folder, file, database }: SessionPlace, token: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await assertOurs(folder)
    await writePrivately(file, `${JSON.stringify({ database, token })}\n`)
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOSPC')) throw error
    throw new Error(
      `The session cannot be kept in ${folder} (${(error as NodeJS.ErrnoException).code}). Set XDG_CONFIG_HOME to a folder of yours, or give --operator EMAIL with OPERATOR_PASSWORD on each command.`,
    )
  }
}

/** The session token for this database, if any. A file that another user could have read or written is refused. */
export async function readSession({ folder, file, database }: SessionPlace): Promise<string | undefined> {
  const text = await readOurs(folder, file)
  if (text === undefined) return undefined
  const kept = parse(text)
  if (!kept) throw new Error(`${file} does not hold a session. Remove it, then run: trilho login`)
  if (kept.database !== database)
    throw new Error(
      `The session in ${file} is for another database, ${kept.database}. Remove it, then run: trilho login`,
    )
  return kept.token
}

export const forgetSession = ({ file }: SessionPlace): Promise<void> => rm(file, { force: true })

async function readOurs(folder: string, file: string): Promise<string | undefined> {
  try {
    await assertOurs(folder)
    const opened = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { mode, uid } = await opened.stat()
      if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw untrusted(file, 'is not a plain file')
      if (uid !== process.getuid?.()) throw untrusted(file, 'belongs to another user')
      if ((mode & 0o077) !== 0) throw untrusted(file, 'can be read or changed by others')
      return await opened.readFile('utf8')
    } finally {
      await opened.close()
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    if (hasCode(error, 'ELOOP')) throw untrusted(file, 'is a symbolic link')
    throw error
  }
}

async function assertOurs(folder: string): Promise<void> {
  const { mode, uid } = await lstat(folder)
  if ((mode & constants.S_IFMT) !== constants.S_IFDIR) throw untrusted(folder, 'is not a plain folder')
  if (uid !== process.getuid?.()) throw untrusted(folder, 'belongs to another user')
  if ((mode & 0o022) !== 0) throw untrusted(folder, 'can be changed by others')
}

const untrusted = (path: string, why: string) =>
  new Error(`${path} ${why}, so the session in it is not used. Remove it, then run: trilho login`)

function parse(text: string): { database: string; token: string } | undefined {
  try {
    const { database, token } = JSON.parse(text)
    return typeof database === 'string' && isToken(token) ? { database, token } : undefined
  } catch {
    return undefined
  }
}
