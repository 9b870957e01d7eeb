import { mkdir, readlink, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { hasCode, readIfThere, writePrivately } from './files.ts'
import { type Lock, type LockHolder, lockHolder, takeLock } from './lock.ts'

export class DataDirBusy extends Error {
  override name = 'DataDirBusy'
}

export class NoDatabase extends Error {
  override name = 'NoDatabase'
}

/** Makes the folder if there is none, and locks it for this process. */
export async function claimFolder(
  path: string,
  log: (line: string) => void,
): Promise<{ data_dir: string; lock: Lock }> {
  const folder = resolve(path)
  const { data_dir, taken } = await openFolder(folder, log).catch((error) => {
    throw unusableFolder(folder, error)
  })
  if ('release' in taken) return { data_dir, lock: taken }
  throw new DataDirBusy(`The data folder ${data_dir} is in use by ${inWords(taken.held_by)}`)
}

function inWords(holder: LockHolder): string {
  if (holder === 'elsewhere')
    return (
      'a process that cannot be seen from here, such as a server in another container. Run commands inside that ' +
      'container ("docker exec CONTAINER trilho …"). To start a server here, stop that one first, or choose another ' +
      'data folder.'
    )
  const who = holder === process.pid ? 'this very process' : 'another server'
  return `${who} (pid ${holder}). Stop that server first, or start this one on another data folder.`
}

async function openFolder(folder: string, log: (line: string) => void) {
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(folder, { mode: 0o700 }).catch((error) => {
    if (!hasCode(error, 'EEXIST')) throw error
  })
  if (!(await stat(folder)).isDirectory()) throw new Error('the path is not a folder')
  const data_dir = await realpath(folder)
  const onBlind = () =>
    log(
      `database: the file system of ${data_dir} supports no sockets, so a server in another container or on another ` +
        'machine is not detected. Let only one container use this folder, and run commands inside that container.',
    )
  return { data_dir, taken: await takeLock(lockFile(data_dir), { onBlind }) }
}

function unusableFolder(folder: string, error: Error): Error {
  const advice = hasCode(error, 'EACCES', 'EPERM', 'EROFS')
    ? `It must be writable for the user that runs this server (uid ${process.getuid?.()}).`
    : hasCode(error, 'ENOSPC')
      ? 'The disk is full.'
      : 'Choose another folder.'
  return new Error(`The data folder ${folder} cannot be used: ${error.message}. ${advice}`, { cause: error })
}

export function folderHolder(data_dir: string): Promise<LockHolder | undefined> {
  return lockHolder(lockFile(data_dir))
}

/** The folder that PostgreSQL itself works in. */
export async function clusterFolder(data_dir: string): Promise<string> {
  const path = join(data_dir, 'postgres')
  try {
    return resolve(data_dir, await readlink(path))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EINVAL')) return path
    throw error
  }
}

/** Like `clusterFolder`; throws when the folder holds no database yet. */
export async function existingCluster(data_dir: string): Promise<string> {
  try {
    const cluster = await clusterFolder(await realpath(data_dir))
    await stat(join(cluster, 'PG_VERSION'))
    return cluster
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw unusableFolder(data_dir, error as Error)
    throw new NoDatabase(
      `There is no database in ${data_dir}: set DATA_DIR to the data folder of the service, or start the service there once.`,
    )
  }
}

/** How other processes of this user find the server. `pid` is PostgreSQL, `server_pid` the process that holds the folder. */
export type EmbeddedConnection = {
  url: string
  pid: number | undefined
  server_pid: number
  /** Where the API listens, once it does. */
  api_url?: string | undefined
}

export async function readConnection(data_dir: string): Promise<EmbeddedConnection | undefined> {
  const text = await readIfThere(connectionFile(data_dir))
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

export async function writeConnection(data_dir: string, connection: EmbeddedConnection): Promise<void> {
  await writePrivately(connectionFile(data_dir), `${JSON.stringify(connection, null, 2)}\n`)
}

export async function removeConnection(data_dir: string): Promise<void> {
  await rm(connectionFile(data_dir), { force: true })
}

const lockFile = (data_dir: string) => join(data_dir, 'lock')
/** How other processes of this user find the server that runs on the folder, with the owner's password. */
export const connectionFile = (data_dir: string): string => join(data_dir, 'connection.json')
