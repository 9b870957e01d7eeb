import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { Gate } from './gate.ts'
import { rateLimitHeaders, refusalHeaders, securityHeaders } from './headers.ts'

/** Requests that never became requests: broken framing, headers too large, too slow, no place for the connection. */
export type Below = {
  readonly gate: Pick<Gate, 'windowOf' | 'visit' | 'addressOf'>
  readonly public_url: () => string
}

const LINGER_MS = 1000

/** Sockets whose last answer was, or is about to be, given. */
const ending = new WeakSet<Socket>()

/** Whether nothing that still comes on this connection will be answered. */
export const isEnding = (socket: Socket): boolean => ending.has(socket)

/**
 * Lets the answer that is being written be the last one, and leaves the client time to read it: closing at once would
 * reset the connection, and with it the answer, while the client is still sending.
 */
export function endGently(socket: Socket): void {
  ending.add(socket)
  socket.destroySoon = () => {
    socket.end()
    destroyLater(socket)
  }
}

const destroyLater = (socket: Socket) => void setTimeout(() => socket.destroy(), LINGER_MS).unref()

/** What Node would leave without an answer, or answer in its own way. */
export function answerEverything(server: Server, below: Below): void {
  // A client that has said all it had to say, and shut down its side, still waits for the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  // An expectation that we do not know is no reason to refuse what can be answered.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (_, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    answerBelowRouter(new Error('CONNECT'), socket, below)
  })
}

export function answerBelowRouter(error: Error & { code?: string }, socket: Socket, below: Below): void {
  if (error.code === 'ECONNRESET') return void socket.destroy()
  if (ending.has(socket)) return
  ending.add(socket)
  afterOwedAnswers(socket, () => {
    const away = below.gate.visit(addressOf(socket, below))
    say(away?.refusal ?? refusalOf(error), socket, below)
  })
}

/** The last words on a connection. */
export function say(refusal: Refusal, socket: Socket, below: Below): void {
  ending.add(socket)
  if (!socket.writable) return
  socket.end(textOf(refusal, socket, below))
  destroyLater(socket)
}

/** What was received whole before is answered first: its caller must not take this refusal for its own. */
function afterOwedAnswers(socket: Socket, then: () => void): void {
  const { _httpMessage: owed } = socket as Socket & { _httpMessage?: ServerResponse }
  if (!owed?.req.complete) return then()
  owed.once('close', () => afterOwedAnswers(socket, then))
}

function refusalOf({ code }: { code?: string }): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('headers_too_large')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal('request_timeout')
  return new Refusal('invalid_request', { message: 'This is not a well-formed HTTP request.' })
}

const addressOf = (socket: Socket, { gate }: Below) => gate.addressOf(socket.remoteAddress ?? '', undefined)

function textOf(refusal: Refusal, socket: Socket, below: Below): string {
  const request_id = newId('request', Date.now())
  const body = JSON.stringify(refusal.toBody({ public_url: below.public_url(), request_id }))
  const headers = {
    ...securityHeaders,
    ...rateLimitHeaders(below.gate.windowOf(addressOf(socket, below))),
    ...refusalHeaders(refusal),
    'x-request-id': request_id,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${body}`
}
