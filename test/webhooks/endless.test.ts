import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { attempt } from '../../src/webhooks/attempt.ts'
import { type Egress, openEgress } from '../../src/webhooks/outside.ts'

/** Whatever a receiver pours out, little of it is taken in, and it is over long before its time. */
const TIMEOUT_MS = 60_000
const ENOUGH_BYTES = 16 * 1024 * 1024

let egress: Egress
beforeAll(() => {
  egress = openEgress({ resolve: async () => [], allows: () => true, connect_ms: 5000 })
})
afterAll(() => egress.stop())

const line = 'x'.repeat(1000)
const pourings: Readonly<Record<string, { head: string; again: string }>> = {
  'header fields': { head: 'HTTP/1.1 200 OK\r\n', again: `a: ${line}\r\n` },
  'one header field': { head: 'HTTP/1.1 200 OK\r\na: ', again: line },
  'a reason': { head: 'HTTP/1.1 200 ', again: line },
  'interim answers': { head: '', again: `HTTP/1.1 103 Early Hints\r\nlink: <${line}>\r\n\r\n` },
  'a body without an end': { head: 'HTTP/1.1 500 No\r\n\r\n', again: line },
  'chunk extensions': { head: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;a=', again: line },
  'a chunk size': { head: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', again: '0'.repeat(1000) },
  trailers: { head: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n', again: `a: ${line}\r\n` },
}

test.each(Object.keys(pourings))('an endless answer is cut off: %s', async (what) => {
  const { head, again } = pourings[what]!
  const block = again.repeat(50)
  let poured = 0
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(head)
      // Goes on by itself for as long as the other side takes it.
      const pour = () => {
        do poured += block.length
        while (socket.write(block) && poured < ENOUGH_BYTES * 4)
      }
      socket.on('drain', pour)
      pour()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const answer = await attempt(egress.agent, {
      url: `http://127.0.0.1:${port}/`,
      headers: { 'content-type': 'application/json' },
      body: '{}',
      timeout_ms: TIMEOUT_MS,
    })
    expect(answer.error ?? '').not.toContain('no answer within')
    expect(poured).toBeLessThan(ENOUGH_BYTES)
    expect(JSON.stringify(answer).length).toBeLessThan(8192)
  } finally {
    server.close()
  }
})
