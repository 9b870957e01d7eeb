import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { Gate } from './gate.ts'
import { rateLimitHeaders, refusalHeaders, securityHeaders } from './headers.ts'

/** Errors below the router: broken framing, headers too large, too slow a client, too many connections. */
type Below = {
  readonly gate: Pick<Gate, 'windowOf' | 'visit' | 'addressOf'>
  readonly public_url: () => string
}

const LINGER_MS = 1000

/** Sockets whose last response was sent, or is being sent. */
const ending = new WeakSet<Socket>()

/** Whether further requests on this connection will not be answered. */
export const isEnding = (socket: Socket): boolean => ending.has(socket)

/**
 * Makes the response that is being written the last one, and gives the client time to read it: closing at once, while the
 * client is still sending, would reset the connection and lose the response.
 */
export function endGently(socket: Socket): void {
  ending.add(socket)
  socket.destroySoon = () => {
    socket.end()
    destroyLater(socket)
  }
}

const destroyLater = (socket: Socket) => void setTimeout(() => socket.destroy(), LINGER_MS).unref()

/** Handles requests that Node would not answer, or would answer without our headers and error object. */
export function answerEverything(server: Server, below: Below): void {
  // A client that has closed its sending side still waits for the response.
  Object.assign(server, { httpAllowHalfOpen: true })
  // A request with an unknown Expect header is served anyway.
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
    sendRefusal(away?.refusal ?? refusalOf(error), socket, below)
  })
}

/** Sends a refusal as the last response on a connection. */
export function sendRefusal(refusal: Refusal, socket: Socket, below: Below): void {
  ending.add(socket)
  if (!socket.writable) return
  socket.end(textOf(refusal, socket, below))
  destroyLater(socket)
}

/** Complete requests before it are answered first: a client must not take this refusal for the response to another request. */
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
