import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'

/** A request that a receiver got. */
export type Received = {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly json: any
  readonly at: number
}

export type Receiver = {
  readonly url: string
  readonly received: readonly Received[]
  /** How many connections were ever made to it. */
  connections(): number
  stop(): Promise<void>
}

/** A server of a partner's, which answers 200 unless told what else to do. */
export async function openReceiver(
  answer: (request: Received, response: ServerResponse) => void = (_, response) => void response.end('ok'),
  options: { host?: string } = {},
): Promise<Receiver> {
  const received: Received[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer(async (request, response) => {
    const body = await textOf(request).catch(() => undefined)
    if (body === undefined) return
    const one = { path: request.url!, headers: request.headers, body, json: JSON.parse(body), at: Date.now() }
    received.push(one)
    answer(one, response)
  })
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  const host = options.host ?? '127.0.0.1'
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    received,
    connections: () => connections,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

/** What a partner does, with the package that a partner would use. Throws when the signature is wrong. */
function verify(secret: string, { body, headers }: Pick<Received, 'body' | 'headers'>): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>)
}

export function verifies(secret: string, request: Pick<Received, 'body' | 'headers'>): boolean {
  try {
    verify(secret, request)
    return true
  } catch {
    return false
  }
}
