import { connect, type Socket } from 'node:net'

/** Sequential GET requests on one bare keep-alive socket: the waiting time of one reader. */
export type Reader = {
  get(path: string): Promise<{ readonly status: number; readonly body: string; readonly ms: number }>
  close(): void
}

export async function openReader(url: string, key: string): Promise<Reader> {
  const { hostname, port } = new URL(url)
  const socket = await new Promise<Socket>((resolve, reject) => {
    const made: Socket = connect(Number(port), hostname, () => resolve(made))
    made.setNoDelay(true).once('error', reject)
  })
  return {
    get: (path) =>
      new Promise((resolve) => {
        let answer: Buffer = Buffer.alloc(0)
        const started = performance.now()
        const read = (chunk: Buffer) => {
          answer = answer.length === 0 ? chunk : Buffer.concat([answer, chunk])
          const end = answer.indexOf('\r\n\r\n')
          if (end < 0) return
          const head = answer.toString('latin1', 0, end)
          const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
          if (answer.length < end + 4 + length) return
          socket.off('data', read)
          const body = answer.toString('utf8', end + 4)
          resolve({ status: Number(head.slice(9, 12)), body, ms: performance.now() - started })
        }
        socket.on('data', read)
        socket.write(
          `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\n\r\n`,
        )
      }),
    close: () => socket.destroy(),
  }
}
