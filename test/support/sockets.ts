import { connect } from 'node:net'
import type { Reply } from './api.ts'

/** Text is sent as Latin-1, one character one byte; a number is a pause in milliseconds. */
export type Part = string | Uint8Array | number

export type Conversation = {
  /** Whatever the server answered, in order; a 100 Continue is none. */
  readonly replies: readonly Reply[]
  /** Whether the server ended the connection. */
  readonly ended: boolean
  readonly seconds: number
}

/**
 * Bytes over a TCP connection, for what no HTTP client would send. Listens until it has as many replies as wanted, until
 * the server ends the connection, or until the time is up, and then closes.
 */
export function converse(
  url: string,
  parts: readonly Part[],
  options: { replies?: number; head?: boolean; half_close?: boolean; timeout_ms?: number } = {},
): Promise<Conversation> {
  const { replies: wanted = 1, head = false, half_close = false, timeout_ms = 60_000 } = options
  const { hostname, port } = new URL(url)
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    let received = Buffer.alloc(0)
    let left = false
    const leave = (ended: boolean) => {
      if (left) return
      left = true
      clearTimeout(timer)
      socket.destroy()
      try {
        const replies = readReplies(received, head)
        resolve({ replies, ended, seconds: (performance.now() - started) / 1000 })
      } catch (error) {
        reject(error)
      }
    }
    const timer = setTimeout(() => leave(false), timeout_ms)
    const enough = () => {
      try {
        return readReplies(received, head).length >= wanted
      } catch {
        return true
      }
    }
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      if (enough()) leave(false)
    })
    socket.on('end', () => leave(true))
    // A server that is done may reset what is still being sent; what it answered before counts.
    socket.on('error', () => leave(true))
    socket.on('close', () => leave(true))
    void send()

    async function send(): Promise<void> {
      for (const part of parts) {
        if (left) return
        if (typeof part === 'number') await new Promise((done) => setTimeout(done, part))
        else socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
      }
      if (half_close) socket.end()
    }
  })
}

/** One request, one answer. */
export async function ask(
  url: string,
  parts: Part | readonly Part[],
  options: Parameters<typeof converse>[2] = {},
): Promise<Reply> {
  const { replies, ended, seconds } = await converse(url, Array.isArray(parts) ? parts : [parts], options)
  const [reply] = replies
  if (!reply) throw new Error(`no answer after ${seconds.toFixed(1)} s${ended ? ', connection ended' : ''}`)
  return reply
}

/** The text of a request. A header whose value is an array is sent several times. */
export function requestText(
  line: string,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  body = '',
): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}\r\n`),
  )
  return `${line}\r\n${lines.join('')}\r\n${body}`
}

function readReplies(bytes: Buffer, head: boolean): Reply[] {
  const replies: Reply[] = []
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n\r\n', at)
    if (end < 0) return replies
    const [line = '', ...fields] = bytes.toString('latin1', at, end).split('\r\n')
    const status = Number(/^HTTP\/1\.[01] ([1-5][0-9]{2})(?: |$)/.exec(line)?.[1])
    if (!status) throw new Error(`not a status line: ${JSON.stringify(line.slice(0, 100))}`)
    const headers = new Headers()
    for (const field of fields) {
      const colon = field.indexOf(':')
      headers.append(field.slice(0, colon), field.slice(colon + 1).trim())
    }
    const bodiless = head || status < 200 || status === 204
    const length = bodiless ? 0 : Number(headers.get('content-length') ?? 0)
    const start = end + 4
    if (bytes.length < start + length) return replies
    const text = bytes.toString('utf8', start, start + length)
    at = start + length
    if (status >= 200) replies.push({ status, headers, text, json: parse(text) })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
