import { realpath, stat } from 'node:fs/promises'
import { hasCode } from './files.ts'
import {
  clusterFolder,
  connectionFile,
  type EmbeddedConnection,
  folderHolder,
  readConnection,
} from './folder.ts'
import { hasArgument, NOBODY, sharesNetwork } from './process.ts'

/** The connection string of a server that is running on this folder right now, or undefined. */
export async function runningEmbedded(data_dir: string): Promise<string | undefined> {
  return (await runningConnection(data_dir))?.url
}

/**
 * The API address of a server that is running on this folder right now, or undefined. Commands send API keys there, so the
 * file must belong to this user: in a folder that others can write to, anybody can leave such a file.
 */
export async function runningApi(data_dir: string, uid = process.getuid?.()): Promise<string | undefined> {
  const api_url = (await runningConnection(data_dir))?.api_url
  if (api_url === undefined) return undefined
  const [folder, file] = await Promise.all([stat(data_dir), stat(connectionFile(data_dir))])
  // When root starts a server, the folder may belong to PostgreSQL's user, but the file belongs to root.
  const folder_is_ours = folder.uid === uid || (uid === 0 && folder.uid === NOBODY)
  if (folder_is_ours && file.uid === uid) return api_url
  const owner = folder_is_ours ? file.uid : folder.uid
  throw new Error(
    `The server in ${data_dir} was started by another user (uid ${owner}), so its API address is not trusted. Pass the address: --url URL`,
  )
}

async function runningConnection(data_dir: string): Promise<EmbeddedConnection | undefined> {
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
