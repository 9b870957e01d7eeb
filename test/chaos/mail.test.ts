import { expect, onTestFinished, test } from 'vitest'
import { makePerson } from '../support/console.ts'
import { asAdmin, createDatabase } from '../support/database.ts'
import { openMailServer } from '../support/mail-server.ts'
import { openDirectAccess, spawnServer, testEnv } from '../support/service.ts'
import { until } from '../support/wait.ts'

test('a node that dies between the server’s word and its own mark sends the same mail again, under the same Message-ID', async () => {
  const mail_server = await openMailServer()
  onTestFinished(mail_server.stop)
  const direct = openDirectAccess(await createDatabase())
  onTestFinished(direct.stop)
  const sql = (...statements: string[]) => asAdmin(direct.database.url, statements)
  const env = testEnv(direct.database.url, {
    PUBLIC_URL: 'https://pay.example.com',
    SMTP_URL: `smtp://127.0.0.1:${mail_server.port}`,
    MAIL_FROM: 'no-reply@trilho.example',
    MAIL_FIRST_MS: '0',
  })
  const { user } = await makePerson(direct, { role: 'admin' })
  const doomed = await spawnServer({ ...env, CRASH_AT: 'after_mail' })
  onTestFinished(() => doomed.kill('SIGKILL'))
  const ended = () => doomed.process.exitCode !== null || doomed.process.signalCode !== null
  // The first run begins at the end: exceptions of before are not told.
  await until(
    async () =>
      (await sql(`SELECT FROM shared.notification_positions WHERE source LIKE 'exceptions%'`)).length === 1,
    60_000,
  )
  await sql(
    `INSERT INTO live.exceptions (id, kind, rail, object_id, details, opened_at)
     VALUES ('exc_1', 'stuck', 'pix', 'po_1', '{}', clock_timestamp())`,
  )
  await until(ended, 60_000)
  expect(doomed.process.signalCode).toBe('SIGKILL')
  expect(mail_server.received).toHaveLength(1)
  const [waiting] = await sql(`SELECT status, attempts FROM shared.mails WHERE user_id = '${user.id}'`)
  expect(waiting).toEqual({ status: 'waiting', attempts: 1 })

  const nodes = [await spawnServer(env), await spawnServer(env)]
  for (const node of nodes) onTestFinished(() => node.kill('SIGKILL'))
  await sql(`UPDATE shared.mails SET next_attempt_at = clock_timestamp()`)
  await until(async () => (await sql(`SELECT FROM shared.mails WHERE status = 'sent'`)).length === 1, 60_000)
  const [first, second, ...others] = mail_server.received
  expect(others).toEqual([])
  expect(second!.headers.get('message-id')).toBe(first!.headers.get('message-id'))
  expect(second!.headers.get('date')).toBe(first!.headers.get('date'))
  expect(second!.text).toBe(first!.text)
  expect(await sql(`SELECT count FROM shared.notifications`)).toEqual([{ count: 1 }])
})
