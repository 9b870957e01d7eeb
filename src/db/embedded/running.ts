import { realpath } from 'node:fs/promises'
import { hasCode } from './files.ts'
import { type Connection, clusterFolder, folderHolder, readConnection } from './folder.ts'
import { hasArgument, sharesNetwork } from './process.ts'

/** The connection string of a server that is running on this folder right now, or undefined. */
export async function runningEmbedded(data_dir: string): Promise<string | undefined> {
  return (await runningConnection(data_dir))?.url
}

/** Where the API of a server that is running on this folder right now listens, or undefined. */
export async function runningApi(data_dir: string): Promise<string | undefined> {
  return (await runningConnection(data_dir))?.api_url
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
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
