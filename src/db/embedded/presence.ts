import { once } from 'node:events'
import { chmod, mkdtemp, open, rm, symlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { hasCode } from './files.ts'

/** The longest socket address that all supported kernels accept. */
const ADDRESS_BYTES = 103

/**
 * A socket in the file system shows that its process lives. The kernel finds the socket by the file and closes it with the
 * process. So the check works across containers, where a pid names another process, and for a process that is busy or
 * stopped.
 */
async function listenAt(path: string): Promise<Server> {
  const server = createServer((asker) => asker.on('error', () => {}).destroy())
  await atShortAddress(path, async (address) => {
    server.listen(address)
    await once(server, 'listening')
  })
  server.on('error', () => {}) // a connection that cannot be accepted shows all the same that this process listens
  await chmod(path, 0o600)
  return server.unref()
}

/** Undefined where the file system supports no sockets, or none that accept connections. */
export async function listenIfAble(path: string, listen = listenAt): Promise<Server | undefined> {
  try {
    const server = await listen(path)
    if (await isAnswered(path)) return server
    await close(server, path)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL')) throw error
  }
  return undefined
}

/** Whether a process listens on the socket. Assumes that one does, unless the kernel refuses the connection. */
export async function isAnswered(path: string): Promise<boolean> {
  try {
    await atShortAddress(path, async (address) => {
      const asker = connect(address)
      try {
        await once(asker, 'connect')
      } finally {
        asker.on('error', () => {}).destroy()
      }
    })
    return true
  } catch (error) {
    return !hasCode(error, 'ECONNREFUSED', 'ENOENT', 'ENOTSOCK')
  }
}

/** Closes the socket and removes its file. */
export async function close(server: Server, path: string): Promise<void> {
  await rm(path, { force: true })
  server.close()
}

/** Some systems truncate a longer address without an error, so a long path is reached by a short one. */
async function atShortAddress(path: string, use: (address: string) => Promise<void>): Promise<void> {
  if (Buffer.byteLength(path) <= ADDRESS_BYTES) return use(path)
  if (process.platform === 'linux') {
    const folder = await open(dirname(path))
    try {
      return await use(join(`/proc/self/fd/${folder.fd}`, basename(path)))
    } finally {
      await folder.close()
    }
  }
  const folder = await mkdtemp(join(tmpdir(), 'trilho-'))
  try {
    await symlink(dirname(path), join(folder, 'to'))
    return await use(join(folder, 'to', basename(path)))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
