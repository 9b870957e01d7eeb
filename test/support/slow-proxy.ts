import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A way to a server that is slow to let a connection in. One that is open is as fast as ever. */
type SlowProxy = {
  /** The same database, by this way. */
  readonly url: string
  readonly port: number
  /** Connections that have come to it until now. */
  connections(): number
  /** How long those take that come from now on. */
  slow(ms: number): void
  stop(): Promise<void>
}

export async function openSlowProxy(database_url: string, ms: number): Promise<SlowProxy> {
  const target = new URL(database_url)
  const sockets = new Set<Socket>()
  let [delay, connections] = [ms, 0]
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer(async (client) => {
    connections++
    keep(client)
    client.pause()
    await sleep(delay)
    if (client.destroyed) return
    const upstream = connect(Number(target.port), target.hostname)
    keep(upstream)
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = new URL(database_url)
  Object.assign(url, { hostname: '127.0.0.1', port: String(port) })
  return {
    url: url.href,
    port,
    connections: () => connections,
    slow(other) {
      delay = other
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
