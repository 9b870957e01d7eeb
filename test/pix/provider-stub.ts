import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { selfSigned } from '../support/certificate.ts'

/**
 * A payment provider that a test has in its hands: an HTTPS server that asks for a client certificate, unless the
 * provider does not. What it answers is up to the
 * stub of one provider; how answers get lost, late or doubled is the same for all of them.
 */
export type StubCall = {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export type StubReply = {
  readonly http: number
  readonly body?: unknown
  /** In place of a JSON body. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What happens to one call. `answer`: the call itself is not looked at. */
export type StubFault =
  | { readonly kind: 'answer'; readonly reply: StubReply }
  /** The call is carried out, and the connection is cut in place of an answer. */
  | { readonly kind: 'lose' }
  /** The connection is cut before the call is carried out. */
  | { readonly kind: 'drop' }
  /** The call is carried out at once, and answered so much later. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The call is carried out, and its answer is sent twice. */
  | { readonly kind: 'double' }
  /** The call is carried out, and something else is answered, as by a gateway in between. */
  | { readonly kind: 'replace'; readonly reply: StubReply }

export type ProviderStub<Name extends string> = {
  readonly url: string
  /** The authority of the server's certificate. */
  readonly ca: string
  /** The client certificate that the server accepts: certificate and key in one PEM text. */
  readonly certificate: string
  /** Counts calls that were carried out. */
  count(name: Name): number
  /** Calls that are being answered at this moment, and the most there ever were at once. */
  atOnce(name: Name): number
  /** Spoils the next call of this name. Several faults of a name take turns. */
  spoil(name: Name, fault: StubFault): void
  /** Chooses a fault for every call that no `spoil` is waiting for; undefined: the call is carried out. */
  disturb(choose: (name: Name, call: StubCall) => StubFault | undefined): void
  /** The same once an answer is known, for every call that nothing else has spoiled: an `answer` or `drop` comes too late then. */
  disturbAnswers(choose: (name: Name, call: StubCall, reply: StubReply) => StubFault | undefined): void
  /** From now on the client certificate is refused, or accepted again. Open connections are cut. */
  refuseCertificate(is_refused: boolean): void
  /** Connections that were refused because of the client's certificate. */
  refused(): number
  stop(): Promise<void>
}

/** Every way in which an answer goes wrong, for runs that draw from them. `late_ms`: longer than the caller waits. */
export const commonFaults = (late_ms: number): readonly StubFault[] => [
  { kind: 'lose' },
  { kind: 'drop' },
  { kind: 'delay', ms: late_ms },
  { kind: 'double' },
  { kind: 'answer', reply: { http: 429, body: {}, headers: { 'retry-after': '1' } } },
  { kind: 'answer', reply: { http: 500, body: { nome: 'erro_aplicacao' } } },
  {
    kind: 'answer',
    reply: { http: 502, text: '<html>Bad Gateway</html>', headers: { 'content-type': 'text/html' } },
  },
  { kind: 'answer', reply: { http: 200, text: '{"cut' } },
]

export async function startProviderStub<Name extends string>(provider: {
  /** Undefined: the provider has no such call. */
  nameOf(call: StubCall): Name | undefined
  carryOut(name: Name, call: StubCall): StubReply | Promise<StubReply>
  /** The provider asks for no client certificate. */
  takes_anybody?: true
}): Promise<ProviderStub<Name>> {
  const server_identity = selfSigned('127.0.0.1')
  const client_identity = selfSigned('client')
  const faults = openFaults<Name>()
  const counts = new Map<Name, number>()
  const under_way = new Map<Name, number>()
  const most = new Map<Name, number>()
  const sockets = new Set<Duplex>()
  const refusal = { is_on: false, count: 0 }

  const add = (map: Map<Name, number>, name: Name, by: number) => {
    const sum = (map.get(name) ?? 0) + by
    map.set(name, sum)
    return sum
  }

  const server = createServer(
    {
      ...server_identity,
      ca: [client_identity.cert],
      requestCert: !provider.takes_anybody,
      rejectUnauthorized: true,
    },
    async (request, response) => {
      const { socket } = request
      // A resumed session shows no certificate again.
      if (refusal.is_on) {
        refusal.count++
        return void socket.destroy()
      }
      // The caller may be killed while it calls.
      const call = await readCall(request).catch(() => undefined)
      if (!call) return void socket.destroy()
      const name = provider.nameOf(call)
      let fault = name && faults.next(name, call)
      const send = (reply: StubReply) => writeReply(response, reply, { twice: fault?.kind === 'double' })
      if (!name) return send({ http: 404, body: {} })
      if (fault?.kind === 'drop') return void socket.destroy()
      if (fault?.kind === 'answer') return send(fault.reply)
      most.set(name, Math.max(most.get(name) ?? 0, add(under_way, name, 1)))
      try {
        add(counts, name, 1)
        const reply = await provider.carryOut(name, call)
        fault ??= faults.ofAnswer(name, call, reply)
        if (fault?.kind === 'delay') await sleep(fault.ms, undefined, { ref: false })
        if (fault?.kind === 'lose') socket.destroy()
        else send(fault?.kind === 'replace' ? fault.reply : reply)
      } finally {
        add(under_way, name, -1)
      }
    },
  )
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => {
    if (refusal.is_on) refusal.count++
  })
  server.on('secureConnection', (socket: TLSSocket) => socket.on('error', () => {}))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: server_identity.cert,
    certificate: `${client_identity.cert}${client_identity.key}`,
    count: (name) => counts.get(name) ?? 0,
    atOnce: (name) => most.get(name) ?? 0,
    spoil: faults.spoil,
    disturb: faults.disturb,
    disturbAnswers: faults.disturbAnswers,
    refuseCertificate(is_refused) {
      refusal.is_on = is_refused
      const trusted = is_refused ? selfSigned('somebody else') : client_identity
      server.setSecureContext({ ...server_identity, ca: [trusted.cert] })
      for (const socket of sockets) socket.destroy()
    },
    refused: () => refusal.count,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readCall(request: IncomingMessage): Promise<StubCall> {
  let text = ''
  for await (const part of request) text += part
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'https://stub')
  return { method: request.method ?? '', path, query, headers: request.headers, text }
}

function writeReply(response: ServerResponse, reply: StubReply, { twice }: { twice: boolean }): void {
  const { socket } = response
  const body = reply.text ?? JSON.stringify(reply.body ?? {})
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...reply.headers,
  }
  response.writeHead(reply.http, headers).end(body)
  if (!twice) return
  const head = Object.entries(headers).map(([field, value]) => `${field}: ${value}\r\n`)
  response.once('finish', () => socket?.write(`HTTP/1.1 ${reply.http} Again\r\n${head.join('')}\r\n${body}`))
}

function openFaults<Name extends string>() {
  const waiting = new Map<Name, StubFault[]>()
  let choose: (name: Name, call: StubCall) => StubFault | undefined = () => undefined
  let chooseAfter: (name: Name, call: StubCall, reply: StubReply) => StubFault | undefined = () => undefined
  return {
    ofAnswer: (name: Name, call: StubCall, reply: StubReply) => chooseAfter(name, call, reply),
    disturbAnswers(by: typeof chooseAfter) {
      chooseAfter = by
    },
    next: (name: Name, call: StubCall) => waiting.get(name)?.shift() ?? choose(name, call),
    spoil: (name: Name, fault: StubFault) => void waiting.set(name, [...(waiting.get(name) ?? []), fault]),
    disturb(by: typeof choose) {
      choose = by
    },
  }
}
