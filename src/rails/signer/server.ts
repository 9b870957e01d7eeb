import { chmod, rm, stat } from 'node:fs/promises'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Logger } from 'pino'
import { SignerLogFailed } from './log.ts'
import type { RecordedSigner } from './recorded.ts'
import { SignatureRefused, type SignRequest } from './signer.ts'
import { SweepSignatureRefused } from './sweeps.ts'
import {
  BODY_MOST_BYTES,
  type CallName,
  calls,
  type ErrorReply,
  problemWith,
  proofOf,
  type ReplyOf,
  type RequestOf,
} from './wire.ts'

/** Where the signer listens. Never TCP without TLS: a client must be able to open the socket, or show a certificate. */
export type SignerAddress =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tls'; readonly host: string; readonly port: number }

export type SignerTls = {
  readonly cert: string
  readonly key: string
  /** The authority that signed the certificates of clients. */
  readonly clients_ca: string
}

export type SignerServerOptions = {
  readonly address: SignerAddress
  readonly tls?: SignerTls
  readonly signer: RecordedSigner
  readonly seal_key: Buffer
  /** What `hello` says beside the proof. */
  readonly describe: () => Omit<ReplyOf<'hello'>, 'proof'>
  /** Called when the log cannot be written: the process must end. */
  readonly onFatal: (error: Error) => void
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

/** Readable and writable for the user of the signer and for its group, in which the service is. */
const SOCKET_MODE = 0o660
const CONNECTIONS_MOST = 64
/** Connections whose TLS handshake is under way. Beyond these the oldest one is closed: strangers must not keep out the nodes. */
const HANDSHAKES_MOST = 256
/** Requests that are worked on or wait for their turn. */
const WAITING_MOST = 32
const REQUEST_MS = 5000

export type SignerServer = {
  /** `unix:` and a path, or `https://` with host and port. */
  readonly url: string
  stop(): Promise<void>
}

export async function startSignerServer(options: SignerServerOptions): Promise<SignerServer> {
  const { address, tls, log } = options
  const answer = answerer(options)
  const limits = {
    ...{ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, connectionsCheckingInterval: 1000 },
    ...{ keepAliveTimeout: 60_000, maxHeaderSize: 8192 },
  }
  const server =
    address.kind === 'unix'
      ? createHttpServer(limits, answer)
      : createHttpsServer(
          {
            ...{ ...limits, cert: tls!.cert, key: tls!.key, ca: tls!.clients_ca },
            ...{ requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' },
            handshakeTimeout: REQUEST_MS,
          },
          answer,
        )
  const handshakes = address.kind === 'tls' ? limitTls(server) : undefined
  if (!handshakes) server.maxConnections = CONNECTIONS_MOST
  server.on('tlsClientError', (error: NodeJS.ErrnoException) =>
    log.warn(`signer: refused a connection: ${error.code ?? 'TLS error'}`),
  )
  const url = await listen(server, address)
  return {
    url,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      handshakes?.closeAll()
      setTimeout(() => server.closeAllConnections(), REQUEST_MS).unref()
      await closed
    },
  }
}

/** Counts connections with a finished handshake towards `CONNECTIONS_MOST`, and those without one apart. */
function limitTls(server: ReturnType<typeof createHttpServer>) {
  const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
  /** By remote address and port, the oldest one first. */
  const pending = new Map<string, Socket>()
  let secured = 0
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket)
    const forget = () => {
      if (pending.get(name) === socket) pending.delete(name)
    }
    pending.set(name, socket)
    socket.once('close', forget)
    setTimeout(forget, 2 * REQUEST_MS).unref()
    if (pending.size <= HANDSHAKES_MOST) return
    const [oldest] = pending.values()
    oldest?.destroy()
  })
  server.on('secureConnection', (socket: Socket) => {
    pending.delete(nameOf(socket))
    if (secured >= CONNECTIONS_MOST) {
      socket.destroy()
      return
    }
    secured += 1
    socket.once('close', () => {
      secured -= 1
    })
  })
  return {
    closeAll() {
      for (const socket of pending.values()) socket.destroy()
    },
  }
}

async function listen(server: ReturnType<typeof createHttpServer>, address: SignerAddress): Promise<string> {
  const listening = (start: () => void) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.once('listening', () => {
        server.off('error', reject)
        resolve()
      })
      start()
    })
  if (address.kind === 'tls') {
    await listening(() => server.listen(address.port, address.host))
    const { port } = server.address() as AddressInfo
    return `https://${address.host.includes(':') ? `[${address.host}]` : address.host}:${port}`
  }
  const { path } = address
  await removeStaleSocket(path)
  // Nobody else may connect between the listening and the change of the mode.
  const before = process.umask(0o177)
  try {
    await listening(() => server.listen(path))
  } finally {
    process.umask(before)
  }
  await chmod(path, SOCKET_MODE)
  return `unix:${path}`
}

/** A signer that was killed leaves its socket behind. */
async function removeStaleSocket(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (!found) return
  if (!found.isSocket()) throw new Error(`${path} exists and is no socket: the signer cannot listen there.`)
  if (await isAnswered(path)) throw new Error(`Another process listens on ${path}.`)
  await rm(path)
}

/** Assumes that a process listens, unless the kernel refuses the connection. */
const isAnswered = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const asker = connect(path)
    asker.once('connect', () => {
      asker.destroy()
      resolve(true)
    })
    asker.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
    )
  })

type Answered = { readonly status: number; readonly body: unknown }

const failure = (status: number, error: ErrorReply['error']): Answered => ({ status, body: { error } })

function answerer(options: SignerServerOptions) {
  const { log, onFatal } = options
  const byPath = new Map<string, CallName>(
    Object.entries(calls).map(([name, { path }]) => [path, name as CallName]),
  )
  let waiting = 0

  async function answerTo(request: IncomingMessage): Promise<Answered> {
    const name = request.method === 'POST' ? byPath.get(request.url ?? '') : undefined
    if (!name) return failure(404, { kind: 'invalid', problem: 'there is no such call' })
    const text = await readBody(request)
    if (text === undefined) return failure(413, { kind: 'invalid', problem: 'the body is too long' })
    const body = parse(text)
    const problem = problemWith(calls[name].request, body)
    if (problem !== undefined) return failure(400, { kind: 'invalid', problem })
    try {
      return { status: 200, body: await perform(options, name, body) }
    } catch (error) {
      if (error instanceof SignatureRefused || error instanceof SweepSignatureRefused) {
        log.warn({ rule: error.rule }, `signer: ${error.message}`)
        return failure(422, { kind: 'refused', rule: error.rule, problem: error.problem })
      }
      log.error({ err: error }, 'signer: a request failed; nothing was signed')
      if (error instanceof SignerLogFailed) onFatal(error)
      return failure(500, { kind: 'failed', problem: 'the output of the signer says why' })
    }
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (waiting >= WAITING_MOST) {
      send(response, failure(503, { kind: 'busy', problem: 'too many requests wait' }))
      return
    }
    waiting += 1
    try {
      send(response, await answerTo(request))
    } catch {
      response.destroy()
    } finally {
      waiting -= 1
    }
  }
}

function send(response: ServerResponse, { status, body }: Answered): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    // What a refused request still sends is not read.
    ...(status === 200 || status === 422 ? {} : { connection: 'close' }),
  })
  response.end(text)
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > BODY_MOST_BYTES) return undefined
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The body has the form of the call. */
async function perform(
  { signer, seal_key, describe }: SignerServerOptions,
  name: CallName,
  body: unknown,
): Promise<ReplyOf<CallName>> {
  switch (name) {
    case 'hello': {
      const { challenge } = body as RequestOf<'hello'>
      return { ...describe(), proof: proofOf(seal_key, challenge) }
    }
    case 'keepRoom': {
      const { amount, cost, ...payment } = body as RequestOf<'keepRoom'>
      const room = await signer.keepRoom({ ...payment, amount: BigInt(amount), cost: BigInt(cost) })
      return { exceeded: room ?? null }
    }
    case 'sign':
      return signer.sign(readSignRequest(body as RequestOf<'sign'>))
    case 'signSweep':
      return signer.signSweep(body as RequestOf<'signSweep'>)
  }
}

function readSignRequest({ intent, reservation, ...request }: RequestOf<'sign'>): SignRequest {
  const { wallet } = reservation
  return {
    ...request,
    intent: { ...intent, amount: BigInt(intent.amount) },
    reservation:
      'nonce' in reservation
        ? { wallet, nonce: BigInt(reservation.nonce) }
        : { wallet, coins: reservation.coins.map((coin) => ({ ...coin, amount: BigInt(coin.amount) })) },
  }
}
