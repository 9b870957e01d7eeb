import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { freePort } from '../../../test/support/free-port.ts'

/** A wire between the SDK and a server that breaks as a test wants it. */
export const faults = [
  /** Gone before the server has it. */
  'cut before',
  /** The server has done its work, and nothing comes back. */
  'cut after',
  /** Half of the response comes back. */
  'cut within',
  /** The server has done its work, and its response comes too late. */
  'late',
  /** Turned away by something in front of the server. */
  '503 before',
  /** Turned away by the server itself, whose limit is used up. */
  '429 before',
  /** The server has done its work, and something in front of it says that it failed. */
  '503 after',
] as const
export type Fault = (typeof faults)[number]

export type Wire = {
  readonly url: string
  /** Every request that came, in its order. */
  readonly seen: { readonly method: string; readonly path: string; readonly body: string }[]
  /** What befalls the next requests that contain this text; those after them go through. */
  breakFor(text: string, ...plan: readonly Fault[]): void
  /** From now on requests go there; `undefined`: no connection is taken. */
  leadTo(url: string | undefined): Promise<void>
  /** Cuts what is under way. */
  cut(): void
  stop(): Promise<void>
}

export async function openWire(target: string): Promise<Wire> {
  const plans = new Map<string, Fault[]>()
  const seen: Wire['seen'] = []
  const sockets = new Set<Socket>()
  let upstream = target
  const server = createServer(async (incoming, outgoing) => {
    const body = await textOf(incoming).catch(() => undefined)
    if (body === undefined) return
    const { method = 'GET', url = '/' } = incoming
    seen.push({ method, path: url, body })
    const [, plan] = [...plans].find(([text]) => body.includes(text) || url.includes(text)) ?? []
    await breakOff(plan?.shift(), outgoing, () => forward(upstream, incoming, outgoing, body))
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const close = () => {
    const closed = new Promise((resolve) => server.close(resolve))
    cut()
    return closed
  }
  // A port that nobody else is given while nobody listens there.
  const port = await freePort()
  await listen(port)
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    breakFor: (text, ...plan) => void plans.set(text, [...plan]),
    async leadTo(url) {
      if (url === undefined) return void (await close())
      upstream = url
      if (!server.listening) await listen(port)
    },
    cut,
    async stop() {
      if (server.listening) await close()
    },
  }
}

const LIMIT_USED_UP = JSON.stringify({
  error: {
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    message: 'Too many requests.',
    request_id: 'req_1',
  },
})

type Reply = { readonly status: number; readonly headers: IncomingMessage['headers']; readonly body: string }

async function breakOff(
  fault: Fault | undefined,
  outgoing: ServerResponse,
  send: () => Promise<Reply>,
): Promise<void> {
  const turnAway = (status: number, body = 'busy') =>
    outgoing.writeHead(status, { 'retry-after': '0' }).end(body)
  if (fault === 'cut before') return void outgoing.destroy()
  if (fault === '503 before') return void turnAway(503)
  if (fault === '429 before') return void turnAway(429, LIMIT_USED_UP)
  const reply = await send().catch(() => undefined)
  if (!reply || fault === 'cut after') return void outgoing.destroy()
  if (fault === '503 after') return void turnAway(503)
  if (fault === 'late') return // the caller gives up
  const { status, headers, body } = reply
  outgoing.writeHead(status, headers)
  if (fault === 'cut within')
    return void outgoing.write(body.slice(0, body.length / 2), () => outgoing.destroy())
  outgoing.end(body)
}

function forward(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: string,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { method, headers } = incoming
    const onward = request(target + incoming.url, { method, headers, agent: false }, (response) =>
      textOf(response).then(
        (text) => resolve({ status: response.statusCode!, headers: response.headers, body: text }),
        reject,
      ),
    )
    onward.on('error', reject).end(body)
    // Whoever leaves this side leaves the other.
    outgoing.once('close', () => onward.destroy())
  })
}

async function textOf(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of message.setEncoding('utf8')) text += chunk
  return text
}
