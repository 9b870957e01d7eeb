import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { HttpJob } from './http.ts'
import { runFor } from './load.ts'

/**
 * The HTTP load when wrk is not installed. It uses bare sockets, because a full HTTP client would take CPU time from the
 * measured server.
 */
const job: HttpJob = JSON.parse(process.argv[2]!)
const { hostname, port } = new URL(job.url)
const lines = job.lines === undefined ? [] : readFileSync(job.lines, 'utf8').split('\n')
const LINE = '{{line}}'
const UNIQUE = '{{unique}}'
let sent = 0

function requestOf(body: string): string {
  const text = body.includes(UNIQUE) ? body.replace(UNIQUE, randomUUID()) : body
  const path = job.path.replace(LINE, () => lines[sent] ?? 'none-left')
  return `POST ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${job.key}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`
}

const wanted = `HTTP/1.1 ${job.expect} `

/** Sends one request and waits for the whole response, by its Content-Length. */
function post(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = ''
    let length = Number.POSITIVE_INFINITY
    const read = (chunk: string) => {
      answer += chunk
      if (length === Number.POSITIVE_INFINITY) {
        const end = answer.indexOf('\r\n\r\n')
        if (end < 0) return
        const at = answer.indexOf('content-length: ')
        length = end + 4 + Number.parseInt(answer.slice(at + 16, at + 24), 10)
      }
      if (answer.length < length) return
      socket.off('data', read)
      resolve(answer.startsWith(wanted))
    }
    socket.on('data', read)
    socket.write(requestOf(job.bodies[sent % job.bodies.length]!))
    sent++
  })
}

const sockets = await Promise.all(
  Array.from(
    { length: job.connections },
    () =>
      new Promise<Socket>((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => resolve(socket))
        // Responses are ASCII, because the requests are: one character is one byte.
        socket.setEncoding('latin1').setNoDelay(true).once('error', reject)
      }),
  ),
)
const measure = await runFor(job.seconds, job.connections, (worker) => post(sockets[worker]!))
for (const socket of sockets) socket.destroy()
process.stdout.write(JSON.stringify(measure))
