import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A way to a server that can vanish without a word, as a machine does that loses its power or its network: nothing is
 * forwarded any more, and nothing is closed.
 */
export type SilencingProxy = {
  readonly port: number
  /** The same database, by this way. */
  urlOf(database_url: string): string
  /** Connections from before fall silent. New ones are taken and left without an answer, unless told otherwise. */
  silence(options?: { but_new?: boolean }): void
  /** New connections are forwarded again, to another server if one is named. Those from before stay silent. */
  restore(port?: number): void
  stop(): Promise<void>
}

export async function openSilencingProxy(target: number): Promise<SilencingProxy> {
  const sockets = new Set<Socket>()
  let generation = 0
  let silent = false
  let port = target
  const server = createServer((client) => {
    const born = generation
    const upstream = silent ? undefined : connect(port, '127.0.0.1')
    const alive = () => upstream !== undefined && born === generation
    for (const socket of upstream ? [client, upstream] : [client]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
    }
    client.on('data', (chunk) => alive() && upstream!.write(chunk))
    client.on('close', () => {
      sockets.delete(client)
      // A server that is cut off does not hear of it either.
      if (alive()) upstream!.destroy()
    })
    upstream?.on('data', (chunk) => alive() && client.write(chunk))
    upstream?.on('close', () => {
      sockets.delete(upstream)
      if (alive()) client.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const own = (server.address() as AddressInfo).port
  return {
    port: own,
    urlOf(database_url) {
      const url = new URL(database_url)
      Object.assign(url, { hostname: '127.0.0.1', port: String(own) })
      return url.href
    },
    silence({ but_new = false } = {}) {
      generation++
      silent = !but_new
    },
    restore(other = port) {
      port = other
      silent = false
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
