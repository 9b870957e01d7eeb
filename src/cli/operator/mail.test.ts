import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../../../test/support/cli.ts'
import { createDatabase } from '../../../test/support/database.ts'
import { openMailServer } from '../../../test/support/mail-server.ts'

test('mail test speaks to the server at once, and prints what the server says, without the password', async () => {
  const server = await openMailServer({
    onRcptTo: ({ address }, _, done) =>
      address.startsWith('nobody@')
        ? done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }))
        : done(),
  })
  onTestFinished(server.stop)
  const env = {
    SMTP_URL: `smtp://trilho:hunter2@127.0.0.1:${server.port}`,
    MAIL_FROM: 'no-reply@trilho.example',
    PUBLIC_URL: 'https://pay.example.com',
  }
  const sent = await runCli(['mail', 'test', 'maria@operator.example'], env)
  expect([sent.code, sent.out]).toEqual([0, expect.stringContaining('127.0.0.1 took the test mail')])
  expect(server.to('maria@operator.example')[0]!.headers.get('subject')).toBe('Trilho: test')
  const refused = await runCli(['mail', 'test', 'nobody@operator.example'], env)
  expect(refused.code).toBe(1)
  expect(refused.out).toMatch(/did not take the test mail.*550/)
  for (const { out, err } of [sent, refused]) expect(`${out}${err}`).not.toContain('hunter2')
  const unset = await runCli(['mail', 'test', 'maria@operator.example'], {})
  expect([unset.code, unset.err]).toEqual([
    expect.any(Number),
    expect.stringContaining('SMTP_URL and MAIL_FROM are not set'),
  ])
  expect(unset.code).not.toBe(0)
})

test('mail status says that no node sends mail', async () => {
  const database = await createDatabase()
  onTestFinished(database.drop)
  const ran = await runCli(['mail', 'status'], { DATABASE_URL: database.url, SECRET_KEY: '00'.repeat(32) })
  expect([ran.code, ran.out]).toEqual([0, expect.stringContaining('no node with SMTP_URL is at work')])
})
