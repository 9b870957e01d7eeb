import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail as the server got it. */
export type ReceivedMail = {
  readonly from: string
  readonly to: readonly string[]
  /** Whether the connection was encrypted, and who had signed in. */
  readonly secure: boolean
  readonly user: string | undefined
  /** The bytes as text. */
  readonly raw: string
  readonly headers: ReadonlyMap<string, string>
  /** The parts, decoded. */
  readonly text: string
  readonly html: string
}

export type MailServer = {
  readonly port: number
  readonly received: readonly ReceivedMail[]
  /** Mails to this address. */
  to(address: string): ReceivedMail[]
  /** How many connections were ever made to it. */
  connections(): number
  stop(): Promise<void>
}

/** A real SMTP server on this machine that keeps what it gets. */
export async function openMailServer(
  options: SMTPServerOptions & { readonly port?: number } = {},
): Promise<MailServer> {
  const received: ReceivedMail[] = []
  let connections = 0
  const { port: wanted = 0, ...more } = options
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 50,
    // Hidden alone it would still work, with a certificate of the package.
    ...(more.key === undefined ? { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] } : {}),
    onAuth: (auth, _, done) => done(null, { user: `${auth.username}:${auth.password}` }),
    onConnect(_, done) {
      connections++
      done()
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          secure: session.secure,
          user: session.user,
          ...parseMail(Buffer.concat(chunks).toString('latin1')),
        })
        done()
      })
    },
    ...more,
  })
  server.on('error', () => {})
  server.listen(wanted, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    to: (address) => received.filter(({ to }) => to.includes(address)),
    connections: () => connections,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function parseMail(raw: string): Pick<ReceivedMail, 'raw' | 'headers' | 'text' | 'html'> {
  const { headers, body } = partOf(raw)
  const boundary = /boundary="?([^";]+)"?/.exec(headers.get('content-type') ?? '')?.[1]
  const parts = boundary ? body.split(`--${boundary}`).slice(1, -1).map(partOf) : [{ headers, body }]
  const decodedOf = (type: string) => {
    const found = parts.find((part) => part.headers.get('content-type')?.startsWith(type))
    return found ? decode(found).replaceAll('\r\n', '\n').trim() : ''
  }
  return { raw, headers, text: decodedOf('text/plain'), html: decodedOf('text/html') }
}

type Part = { readonly headers: ReadonlyMap<string, string>; readonly body: string }

function partOf(text: string): Part {
  const [head = '', ...rest] = text.replace(/^\r\n/, '').split('\r\n\r\n')
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), wordsOf(line.slice(colon + 1).trim())] as const
  })
  return { headers: new Map(headers), body: rest.join('\r\n\r\n') }
}

/** RFC 2047. */
const wordsOf = (text: string) =>
  text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, how: string, word: string) =>
      how.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString()
        : unquoted(word.replaceAll('_', ' ')),
    )

const unquoted = (text: string) =>
  Buffer.from(
    text
      .replaceAll(/=\r\n/g, '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString()

function decode({ headers, body }: Part): string {
  const how = headers.get('content-transfer-encoding')?.toLowerCase()
  if (how === 'base64') return Buffer.from(body, 'base64').toString()
  return how === 'quoted-printable' ? unquoted(body) : body
}
