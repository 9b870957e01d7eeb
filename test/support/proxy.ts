import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A wire to the database that can be cut at the worst moments: as COMMIT is sent, and as its answer comes back. */
export type Proxy = {
  readonly url: string
  /** Cuts the next `times` writes that carry a batch's id, before they reach the database or after it did its work. */
  cut(when: 'before' | 'after', times: number): void
  cuts(): number
  down(): Promise<void>
  up(): Promise<void>
}

const MARK = Buffer.from('commit\0')

export async function openProxy(database_url: string): Promise<Proxy> {
  const target = new URL(database_url)
  const sockets = new Set<Socket>()
  let pending: ('before' | 'after')[] = []
  let done = 0
  const server: Server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    let silent = false
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', end)
      socket.on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on('data', (chunk) => {
      const cut = pending.length > 0 && chunk.includes(MARK) ? pending.shift() : undefined
      if (cut) done++
      if (cut === 'before') return end()
      if (cut === 'after') silent = true
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (!silent) return void client.write(chunk)
      // ReadyForQuery in the idle state is the last thing of a transaction: its work is done.
      if (chunk.includes(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]))) end()
    })
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const url = new URL(database_url)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    cut(when, times) {
      pending = [...pending, ...Array<'before' | 'after'>(times).fill(when)]
    },
    cuts: () => done,
    async down() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
    up: () => listen(Number(url.port)),
  }
}
