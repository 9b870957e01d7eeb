import { open } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'

/**
 * The identity of a cluster: PostgreSQL gives each new cluster a random number, and a restored backup has the number of its
 * origin. Two services on clusters with the same number would send the same payouts; where both run on one machine and in
 * one network namespace, the second one is refused (decision 0036).
 */
export class SameOriginRuns extends Error {
  override name = 'SameOriginRuns'
}

/** The first field of PostgreSQL's control file. Undefined when the file cannot be read. */
export async function identityOf(cluster: string): Promise<string | undefined> {
  const file = await open(join(cluster, 'global/pg_control')).catch(() => undefined)
  if (!file) return undefined
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(8), 0, 8, 0)
    return bytesRead === 8 ? buffer.toString('hex') : undefined
  } finally {
    await file.close()
  }
}

/** Holds the identity until it is released or the process ends. An abstract socket: the kernel removes it with the process. */
export async function holdIdentity(identity: string, data_dir: string): Promise<() => Promise<void>> {
  // Other systems have no abstract sockets.
  if (process.platform !== 'linux') return async () => {}
  const name = `\0trilho-${identity}`
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.end(data_dir)
  })
  const failed = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once('error', resolve)
    server.listen(name, () => resolve(undefined))
  })
  if (failed?.code === 'EADDRINUSE') {
    const other = await holderOf(name)
    throw new SameOriginRuns(
      `A service runs on this machine on ${other}, and the database in ${data_dir} has the same origin: one was restored from a backup of the other. ` +
        'Two services would send the same payouts. Stop the other one first, and never start it again.',
    )
  }
  server.unref()
  return () => new Promise((resolve) => server.close(() => resolve()))
}

function holderOf(name: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(name)
    let text = ''
    const end = () => {
      socket.destroy()
      resolve(text === '' ? 'another data folder' : text)
    }
    socket.setTimeout(2000, end)
    socket.on('error', end)
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('end', end)
  })
}
