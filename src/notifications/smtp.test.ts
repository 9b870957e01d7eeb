import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { selfSigned } from '../../test/support/certificate.ts'
import { openMailServer } from '../../test/support/mail-server.ts'
import { isMailbox, parseSender } from './address.ts'
import { type MailFailure, type OutgoingMail, openMailer, type SmtpServer } from './smtp.ts'

const from = parseSender('Trilho <no-reply@trilho.example>')!
const mail: OutgoingMail = {
  to: 'ana@acme.example',
  message_id: 'ml_1@trilho.example',
  date: new Date('2026-11-17T20:00:00.000Z'),
  subject: 'Trilho: 1 notificação',
  text: 'Olá\n',
  html: '<p>Olá</p>',
}

async function openServer(options: Parameters<typeof openMailServer>[0] = {}) {
  const server = await openMailServer(options)
  onTestFinished(server.stop)
  return server
}

const at = (port: number, more: Partial<SmtpServer> = {}): SmtpServer => ({
  host: '127.0.0.1',
  port,
  secure: false,
  user: undefined,
  password: undefined,
  ...more,
})

/** A name that is not of this machine leads to it. */
const lookup: NonNullable<Parameters<typeof openMailer>[0]['lookup']> = (_, options, done) =>
  options.all
    ? done(null, [{ address: '127.0.0.1', family: 4 }] as never)
    : done(null, '127.0.0.1' as never, 4)

const HOST = 'smtp.example.com'
const failureOf = (sent: Promise<void>): Promise<MailFailure> =>
  sent.then(
    () => expect.fail(),
    (error) => error,
  )

test('a mail has a date, a stable Message-ID and the mark of a machine, in plain text and HTML', async () => {
  const server = await openServer()
  await openMailer({ server: at(server.port), from, tls: 'verify' }).send(mail)
  const [got] = server.received
  expect(got).toMatchObject({ from: 'no-reply@trilho.example', to: ['ana@acme.example'], text: 'Olá' })
  expect(got!.html).toContain('<p>Olá</p>')
  expect(Object.fromEntries(got!.headers)).toMatchObject({
    from: 'Trilho <no-reply@trilho.example>',
    to: 'ana@acme.example',
    subject: 'Trilho: 1 notificação',
    date: 'Tue, 17 Nov 2026 20:00:00 +0000',
    'message-id': '<ml_1@trilho.example>',
    'auto-submitted': 'auto-generated',
  })
})

test('another machine gets mail after STARTTLS only, with a certificate for its name', async () => {
  const { key, cert } = selfSigned(HOST)
  const server = await openServer({ key, cert })
  const common = { from, tls: 'verify', lookup } as const
  const there = at(server.port, { host: HOST, user: 'trilho', password: 'hunter2' })
  await openMailer({ ...common, server: there, ca: cert }).send(mail)
  expect(server.received).toMatchObject([{ secure: true, user: 'trilho:hunter2' }])

  const stranger = await failureOf(openMailer({ ...common, server: there }).send(mail))
  expect(stranger.message).toMatch(/^ETLS|^ESOCKET/)
  expect(stranger.message).not.toContain('hunter2')
  const other_name = { ...there, host: 'mail.example.net' }
  expect(
    (await failureOf(openMailer({ ...common, server: other_name, ca: cert }).send(mail))).permanent,
  ).toBe(false)

  const plain = await openServer()
  const without = await failureOf(
    openMailer({ ...common, server: { ...there, port: plain.port }, ca: cert }).send(mail),
  )
  expect(without.message).toMatch(/STARTTLS|TLS/)
  expect([server.received.length, plain.received.length]).toEqual([1, 0])
  await openMailer({ ...common, tls: 'off', server: { ...there, port: plain.port, user: undefined } }).send(
    mail,
  )
  expect(plain.received).toMatchObject([{ secure: false }])
})

test('smtps is encrypted from the first byte, and verified on this machine too', async () => {
  const { key, cert } = selfSigned('localhost')
  const server = await openServer({ key, cert, secure: true })
  const there = at(server.port, { host: 'localhost', secure: true })
  const common = { server: there, from, tls: 'verify', lookup } as const
  await openMailer({ ...common, ca: cert }).send(mail)
  expect(server.received).toMatchObject([{ secure: true }])
  await failureOf(openMailer(common).send(mail))
  expect(server.received).toHaveLength(1)
})

test('a refused recipient is final, refused credentials are not, and neither is told with addresses or passwords', async () => {
  const server = await openServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (auth, _, done) =>
      auth.password === 'right'
        ? done(null, { user: 'trilho' })
        : done(new Error(`no such user ${auth.username} with ${auth.password}`)),
    onRcptTo: ({ address }, _, done) =>
      done(Object.assign(new Error(`no mailbox for ${address}`), { responseCode: 550 })),
  })
  const sent = (password: string) =>
    failureOf(
      openMailer({ server: at(server.port, { user: 'trilho', password }), from, tls: 'verify' }).send(mail),
    )
  const [recipient, credentials] = [await sent('right'), await sent('hunter2')]
  expect(recipient).toMatchObject({ permanent: true })
  expect(recipient.message).toMatch(/550/)
  expect(credentials).toMatchObject({ permanent: false })
  expect(credentials.message).toMatch(/^EAUTH/)
  for (const { message } of [recipient, credentials]) expect(message).not.toMatch(/hunter2|ana@|trilho/)
})

test('a server that says nothing, or a byte now and then, is left at the deadline', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    const drip = setInterval(() => socket.write('2'), 20)
    socket.on('close', () => clearInterval(drip))
  })
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as AddressInfo
  const failure = await failureOf(
    openMailer({ server: at(port), from, tls: 'verify', deadline_ms: 300 }).send(mail),
  )
  expect(failure).toMatchObject({ permanent: false })
  expect(failure.message).toMatch(/ETIMEDOUT/)
  // `once` of node:events would fail on a reset, which is a close too.
  for (const socket of sockets)
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
})

test('no address, subject or sender can add a header, a recipient or a command', async () => {
  const server = await openServer()
  const mailer = openMailer({ server: at(server.port), from, tls: 'verify' })
  for (const to of [
    'ana@acme.example\r\nBcc: eve@evil.example',
    'ana@acme.example, eve@evil.example',
    'ana@acme.example>\r\nRCPT TO:<eve@evil.example',
    '"ana, eve@evil.example"@acme.example',
    'ana <eve@evil.example>@acme.example',
    'eve%evil.example@acme.example@evil.example',
    'ana@acme',
    'ána@acme.example',
    '@acme.example',
    `${'a'.repeat(65)}@acme.example`,
  ]) {
    expect(isMailbox(to), to).toBe(false)
    expect(await failureOf(mailer.send({ ...mail, to }))).toMatchObject({ permanent: true })
  }
  expect(server.connections()).toBe(0)
  await mailer.send({ ...mail, subject: 'Hello\r\nBcc: eve@evil.example\r\n\r\nBuy' })
  expect(server.received[0]!.to).toEqual(['ana@acme.example'])
  expect([...server.received[0]!.headers.keys()]).not.toContain('bcc')
  for (const sender of [
    'a\r\nBcc: eve@evil.example <no-reply@trilho.example>',
    'no-reply@trilho.example, eve@evil.example',
    'Trilho <no-reply@trilho.example> <eve@evil.example>',
    '"Trilho" <no-reply@trilho.example>',
    'Trilho',
    '',
  ])
    expect(parseSender(sender), sender).toBe(undefined)
})
