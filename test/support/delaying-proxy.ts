import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to the database on which every packet takes so long, as to a server that is far away. */
export async function openDelayingProxy(
  database_url: string,
  delay_ms: number,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const target = new URL(database_url)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const ends = [client, upstream] as const
    const end = () => {
      for (const socket of ends) socket.destroy()
    }
    for (const [from, to] of [ends, [upstream, client] as const]) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('error', end)
      from.on('close', () => {
        sockets.delete(from)
        setTimeout(end, delay_ms)
      })
      // Timers of one duration fire in the order in which they were set, so bytes keep their order.
      from.on('data', (chunk) => setTimeout(() => to.writable && to.write(chunk), delay_ms))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(database_url)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
