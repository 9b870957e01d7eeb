import { connect, type LookupFunction, type Socket } from 'node:net'
import { createTransport } from 'nodemailer'
import { isLoopback } from '../http/ip.ts'
import { isMailbox, type Sender } from './address.ts'

export type SmtpServer = {
  readonly host: string
  readonly port: number
  /** TLS from the first byte (smtps); otherwise STARTTLS. */
  readonly secure: boolean
  readonly user: string | undefined
  readonly password: string | undefined
}

export type OutgoingMail = {
  readonly to: string
  /** Without brackets. The same for every attempt, so that a receiver recognises a mail that came twice. */
  readonly message_id: string
  readonly date: Date
  readonly subject: string
  readonly text: string
  readonly html: string
}

export type Mailer = {
  /** Resolves when the server has accepted the mail; otherwise throws a `MailFailure`. */
  send(mail: OutgoingMail, signal?: AbortSignal): Promise<void>
}

export class MailFailure extends Error {
  /** The server refuses this mail or its recipient, and would refuse it again. */
  readonly permanent: boolean
  /** The failure concerns this mail or its recipient: the server may take others. */
  readonly about_mail: boolean
  constructor(message: string, scope: { readonly permanent?: boolean; readonly about_mail?: boolean } = {}) {
    super(message)
    this.permanent = scope.permanent ?? false
    this.about_mail = scope.about_mail ?? this.permanent
  }
}

type MailerOptions = {
  readonly server: SmtpServer
  readonly from: Sender
  /** `off`: clear text is allowed, and certificates are not verified. `verify`: clear text only to a server on this machine. */
  readonly tls: 'verify' | 'off'
  /** Certificates to trust instead of those of Node. */
  readonly ca?: string
  /** Replaces the name resolution of the machine. */
  readonly lookup?: LookupFunction | undefined
  /** Time limit for one mail, from connecting to the last response. */
  readonly deadline_ms?: number
}

export const SMTP_DEADLINE_MS = 30_000

/** Names of this machine: traffic to it cannot be read on a network. */
const isThisMachine = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (/^[0-9.]+$/.test(host) && isLoopback(host))

/** Opens a connection per mail. No database connection is held meanwhile. */
export function openMailer(options: MailerOptions): Mailer {
  const { server, from, tls, ca, lookup, deadline_ms = SMTP_DEADLINE_MS } = options
  const { host, port, secure, user, password } = server
  const plain = !secure && (tls === 'off' || isThisMachine(host))
  return {
    async send(mail, signal) {
      if (!isMailbox(mail.to))
        throw new MailFailure('the e-mail address is not a valid mailbox', { permanent: true })
      const late = AbortSignal.timeout(deadline_ms)
      const ended = signal ? AbortSignal.any([signal, late]) : late
      const transport = createTransport({
        host,
        port,
        secure,
        requireTLS: !secure && !plain,
        ignoreTLS: plain,
        tls: { rejectUnauthorized: tls !== 'off', minVersion: 'TLSv1.2', ...(ca ? { ca } : {}) },
        ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
        connectionTimeout: deadline_ms,
        greetingTimeout: deadline_ms,
        socketTimeout: deadline_ms,
        disableFileAccess: true,
        disableUrlAccess: true,
        // The service opens the socket itself, to be able to cut off a server that sends a byte now and then.
        getSocket: (_, callback) => openSocket({ host, port, lookup }, ended, callback),
      })
      try {
        await transport.sendMail({
          from: { name: from.name, address: from.address },
          to: { name: '', address: mail.to },
          envelope: { from: from.address, to: [mail.to] },
          messageId: `<${mail.message_id}>`,
          date: mail.date,
          subject: mail.subject,
          text: mail.text,
          html: mail.html,
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        })
      } catch (error) {
        throw failureOf(error as SmtpError, late.aborted, server)
      } finally {
        transport.close()
      }
    },
  }
}

type SocketCallback = (error: Error | null, socket?: { connection: Socket }) => void

function openSocket(
  { host, port, lookup }: Pick<SmtpServer, 'host' | 'port'> & Pick<MailerOptions, 'lookup'>,
  ended: AbortSignal,
  callback: SocketCallback,
): void {
  const socket = connect({ host, port, ...(lookup ? { lookup } : {}) })
  const cut = () => socket.destroy(new Error('aborted: SMTP deadline exceeded, or the service is stopping'))
  if (ended.aborted) cut()
  ended.addEventListener('abort', cut)
  socket.once('close', () => ended.removeEventListener('abort', cut))
  const failed = (error: Error) => callback(error)
  socket.once('error', failed)
  socket.once('connect', () => {
    socket.removeListener('error', failed)
    callback(null, { connection: socket })
  })
}

type SmtpError = Error & {
  readonly code?: string
  readonly responseCode?: number
  readonly response?: string
  readonly command?: string
}

/** Commands whose refusal concerns this mail or its recipient, not the connection, the credentials or the sender. */
const ABOUT_THE_MAIL = ['RCPT TO', 'DATA']
/** The server closes the connection, whatever the command was. */
const CLOSING = 421

function failureOf(error: SmtpError, late: boolean, server: SmtpServer): MailFailure {
  const { code = 'ESMTP', responseCode, response, command } = error
  if (late) return new MailFailure('ETIMEDOUT: the server did not finish in time')
  const where = command ? ` at ${command}` : ''
  const said = cleaned(response ?? error.message, server)
  const about_mail =
    responseCode !== undefined &&
    responseCode !== CLOSING &&
    ABOUT_THE_MAIL.some((one) => command?.startsWith(one))
  const permanent = about_mail && responseCode >= 500
  return new MailFailure(`${code}${where}: ${said}`, { permanent, about_mail })
}

const SAID_MAX = 200

/** What the server said, for logs and operators: one line, without addresses and credentials. */
function cleaned(text: string, { user, password }: SmtpServer): string {
  const secrets = [user, password].flatMap((secret) =>
    secret ? [secret, Buffer.from(secret).toString('base64')] : [],
  )
  const hidden = secrets.reduce((said, secret) => said.replaceAll(secret, '…'), text)
  return hidden
    .split(/([\s<>])/)
    .map((word) => (word.includes('@') ? '…' : word))
    .join('')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, SAID_MAX)
}
