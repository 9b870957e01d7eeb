import { realpath, stat } from 'node:fs/promises'
import { hasCode } from './files.ts'
import { type Connection, clusterFolder, connectionFile, folderHolder, readConnection } from './folder.ts'
import { hasArgument, NOBODY, sharesNetwork } from './process.ts'

/** The connection string of a server that is running on this folder right now, or undefined. */
export async function runningEmbedded(data_dir: string): Promise<string | undefined> {
  return (await runningConnection(data_dir))?.url
}

/**
 * Where the API of a server that is running on this folder right now listens, or undefined. API keys go there, so it must be
 * this user who says it: in a folder that many can write to, anybody can leave such a file.
 */
export async function runningApi(data_dir: string, uid = process.getuid?.()): Promise<string | undefined> {
  const api_url = (await runningConnection(data_dir))?.api_url
  if (api_url === undefined) return undefined
  const [folder, file] = await Promise.all([stat(data_dir), stat(connectionFile(data_dir))])
  // Where root starts a server, PostgreSQL may have been given the folder, but the server wrote the file.
  const folder_is_ours = folder.uid === uid || (uid === 0 && folder.uid === NOBODY)
  if (folder_is_ours && file.uid === uid) return api_url
  const owner = folder_is_ours ? file.uid : folder.uid
  throw new Error(
    `The server in ${data_dir} was started by another user (uid ${owner}), so it is not asked where it listens. Say where: --url URL`,
  )
}

async function runningConnection(data_dir: string): Promise<Connection | undefined> {
  try {
    const folder = await realpath(data_dir)
    const connection = await readConnection(folder)
    if (!connection?.pid || (await folderHolder(folder)) !== connection.server_pid) return undefined
    // A container can share processes with another and still have a network of its own.
    if (!sharesNetwork(connection.server_pid)) return undefined
    return hasArgument(connection.pid, await clusterFolder(folder)) ? connection : undefined
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}
