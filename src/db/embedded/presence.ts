import { once } from 'node:events'
import { chmod, mkdtemp, open, rm, symlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { hasCode } from './files.ts'

/** What the kernel takes as the address of a socket, on every system that we run on. */
const ADDRESS_BYTES = 103

/**
 * A socket in the file system tells that its holder lives. The kernel finds it by the file and closes it with the process, so
 * it is right across containers, where a pid means somebody else, and for a holder that is busy or stopped.
 */
export async function listenAt(path: string): Promise<Server> {
  const server = createServer((asker) => asker.on('error', () => {}).destroy())
  await atShortAddress(path, async (address) => {
    server.listen(address)
    await once(server, 'listening')
  })
  server.on('error', () => {}) // an asker whom it cannot take has its answer all the same
  await chmod(path, 0o600)
  return server.unref()
}

/** Undefined where no socket can be, or none that answers. */
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

/** Whether somebody listens there. Unless the kernel says that nobody does, somebody may. */
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

/** Its file goes with it. */
export async function close(server: Server, path: string): Promise<void> {
  await rm(path, { force: true })
  server.close()
}

/** A longer address would be cut off without a word. */
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
