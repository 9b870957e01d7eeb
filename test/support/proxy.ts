import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from './free-port.ts'

/** A wire to the database that can be cut at the worst moments: as COMMIT is sent, and as its answer comes back. */
export type Wire = {
  readonly url: string
  /** Cuts the next `times` writes that carry a batch's id, before they reach the database or after it did its work. */
  cut(when: When, times: number): void
  /** Cuts one after the other, each at its own place: the next one counts once the one before it has happened. */
  cutInRow(cuts: readonly Cut[]): void
  /** Cuts the next COMMIT of a transaction beside the door. */
  cutBeside(when: When): void
  cuts(): number
  /** Of the cuts that were planned, those that have not happened. */
  left(): number
  down(): Promise<void>
  up(): Promise<void>
}

export type When = 'before' | 'after'
/** A batch's COMMIT; the question what became of it; the look at whose mark is there; whatever is sent next. */
export type Place = 'commit' | 'question' | 'look'
export type Cut = { readonly at: Place; readonly when: When }

const MARKS: Readonly<Record<Place | 'beside', Buffer>> = {
  beside: Buffer.from('COMMIT\0'),
  commit: Buffer.from('commit\0'),
  question: Buffer.from('INSERT INTO commits (id, asked_by)'),
  look: Buffer.from('SELECT asked_by FROM commits'),
}

export async function openProxy(database_url: string): Promise<Wire> {
  const target = new URL(database_url)
  const sockets = new Set<Socket>()
  let pending: { at: Place | 'beside'; when: When }[] = []
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
      const next = pending[0]
      const cut = next && chunk.includes(MARKS[next.at]) ? pending.shift()?.when : undefined
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
  // A port that nobody else is given while the wire is down.
  const own_port = await freePort()
  await listen(own_port)
  const url = new URL(database_url)
  url.hostname = '127.0.0.1'
  url.port = String(own_port)
  return {
    url: url.href,
    cut(when, times) {
      pending = [...pending, ...Array<Cut>(times).fill({ at: 'commit', when })]
    },
    cutInRow(cuts) {
      pending = [...pending, ...cuts]
    },
    cutBeside(when) {
      pending = [...pending, { at: 'beside', when }]
    },
    cuts: () => done,
    left: () => pending.length,
    async down() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
    up: () => listen(own_port),
  }
}
