import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { makePerson, type Person } from '../../test/support/console.ts'
import { asAdmin, createDatabase, seatAt, TEST_KEY } from '../../test/support/database.ts'
import { freePort } from '../../test/support/free-port.ts'
import { openMailServer } from '../../test/support/mail-server.ts'
import { openDirectAccess } from '../../test/support/service.ts'
import { until } from '../../test/support/wait.ts'
import { createSealer } from '../core/seal.ts'
import { openPool } from '../db/pool.ts'
import { parseSender } from './address.ts'
import { mailState } from './mail-store.ts'
import { type MailOutcome, openMailSender } from './sender.ts'
import { openMailer } from './smtp.ts'

/** The sender alone, on a database in which no service collects anything. */
let direct: ReturnType<typeof openDirectAccess>
beforeAll(async () => {
  direct = openDirectAccess(await createDatabase())
})
afterAll(() => direct.stop())

const sql = (...statements: string[]) => asAdmin(direct.database.url, statements)
const from = parseSender('no-reply@trilho.example')!

async function somebody(): Promise<Person> {
  return makePerson(direct, { role: 'reader' })
}

let made = 0
/** A mail with one notification. */
async function mailFor({ user }: Person): Promise<string> {
  const id = `ml_test${++made}`
  await sql(
    `INSERT INTO shared.mails (id, user_id, kind) VALUES ('${id}', '${user.id}', 'digest')`,
    `INSERT INTO shared.notifications (id, user_id, kind, place, topic, samples, first_at, last_at, mail, mail_id)
     VALUES ('ntf_${made}', '${user.id}', 'sign_in', '', '', '[{"id": "ses_1", "note": "198.51.100.7"}]', now(), now(), 'taken', '${id}')`,
  )
  return id
}

const statusOf = async (id: string) => {
  const [row] = await sql(`SELECT status, attempts, error FROM shared.mails WHERE id = '${id}'`)
  return row as { status: string; attempts: number; error: string | null }
}

function openSender(
  port: number,
  more: Partial<Parameters<typeof openMailSender>[0]> & { deadline_ms?: number } = {},
) {
  /** Each is told when the mail is marked, and the last thing of its attempt. */
  const outcomes: MailOutcome[] = []
  const db = openPool({ ...seatAt(direct.database.url, 'shared'), max: 1 })
  const server = { host: '127.0.0.1', port, secure: false, user: undefined, password: undefined }
  const { deadline_ms = 60_000, ...options } = more
  const sender = openMailSender({
    db,
    mailer: openMailer({ server, from, tls: 'verify', deadline_ms }),
    sealer: createSealer([TEST_KEY]),
    public_url: 'https://pay.example.com',
    domain: 'trilho.example',
    log: pino({ level: 'silent' }),
    onOutcome: (outcome) => outcomes.push(outcome),
    poll_ms: 20,
    retry_ms: [20, 20, 20, 20, 20, 20],
    ...options,
  })
  const stop = async () => {
    await sender.stop()
    await db.end()
  }
  onTestFinished(stop)
  return { outcomes, db }
}

async function openServer(options: Parameters<typeof openMailServer>[0] = {}) {
  const server = await openMailServer(options)
  onTestFinished(server.stop)
  return server
}

describe('a mail', () => {
  test('waits for a server that is down, and goes out once when it is back', async () => {
    const port = await freePort()
    const person = await somebody()
    const id = await mailFor(person)
    const { outcomes } = openSender(port, { retry_ms: Array.from({ length: 5000 }, () => 20) })
    await until(() => outcomes.length >= 3, 60_000)
    expect(await statusOf(id)).toMatchObject({
      status: 'waiting',
      error: expect.stringMatching(/ECONNREFUSED/),
    })
    expect(await mailState(direct.shared.db)).toMatchObject({
      configured: true,
      waiting: 1,
      error: expect.any(String),
    })
    const server = await openServer({ port })
    await until(async () => (await statusOf(id)).status === 'sent', 60_000)
    expect(server.received).toHaveLength(1)
    expect(server.received[0]!.headers.get('message-id')).toBe(`<${id}@trilho.example>`)
    // The sender notes the time in a statement after the one that marks the mail.
    await until(async () => (await mailState(direct.shared.db)).sent_at !== null, 60_000)
  })

  test('is given up after its retries, and that is counted and kept for operators', async () => {
    const server = await openServer({
      onMailFrom: (_, __, done) => done(Object.assign(new Error('busy'), { responseCode: 451 })),
    })
    const id = await mailFor(await somebody())
    const { outcomes } = openSender(server.port, { retry_ms: [10, 10] })
    await until(() => outcomes.length === 3, 60_000)
    expect(outcomes).toEqual(['failed', 'failed', 'given_up'])
    expect(await statusOf(id)).toMatchObject({
      status: 'given_up',
      attempts: 3,
      error: expect.stringMatching(/451/),
    })
    expect(await mailState(direct.shared.db)).toMatchObject({ given_up: 1, waiting: 0 })
  })

  test('to an address that the server refuses is given up at once, and the others go out', async () => {
    const [refused, fine] = [await somebody(), await somebody()]
    const server = await openServer({
      onRcptTo: ({ address }, _, done) =>
        address === refused.user.email
          ? done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }))
          : done(),
    })
    const ids = [await mailFor(refused), await mailFor(fine)]
    const { outcomes } = openSender(server.port)
    await until(() => outcomes.length === 2, 60_000)
    expect(outcomes.toSorted()).toEqual(['given_up', 'sent'])
    expect(await statusOf(ids[0]!)).toMatchObject({ status: 'given_up', attempts: 1 })
    expect((await statusOf(ids[1]!)).status).toBe('sent')
  })

  test('to an address that the server puts off waits alone: the others go out in the same round', async () => {
    const [bad, ...fine] = [await somebody(), await somebody(), await somebody()]
    const server = await openServer({
      onRcptTo: ({ address }, _, done) =>
        address === bad!.user.email
          ? done(Object.assign(new Error('mailbox busy'), { responseCode: 450 }))
          : done(),
    })
    const ids: string[] = []
    for (const person of [bad!, ...fine]) ids.push(await mailFor(person))
    // One round only: the next one would begin in ten days.
    const { outcomes } = openSender(server.port, { poll_ms: 864_000_000, retry_ms: [864_000_000] })
    await until(() => outcomes.length === 3, 60_000)
    expect(outcomes).toEqual(['failed', 'sent', 'sent'])
    expect(await statusOf(ids[0]!)).toMatchObject({ status: 'waiting', attempts: 1 })
    await sql(`UPDATE shared.mails SET status = 'canceled', ended_at = now() WHERE id = '${ids[0]}'`)
  })

  test('waits for the next round when the server closes the connection, whatever the recipient is', async () => {
    let asked = 0
    const server = await openServer({
      onRcptTo(_, __, done) {
        asked++
        done(Object.assign(new Error('shutting down'), { responseCode: 421 }))
      },
    })
    const ids = [await mailFor(await somebody()), await mailFor(await somebody())]
    const { outcomes } = openSender(server.port, { poll_ms: 864_000_000, retry_ms: [864_000_000] })
    await until(() => outcomes.length === 1, 60_000)
    expect(await statusOf(ids[1]!)).toMatchObject({ status: 'waiting', attempts: 0 })
    expect(asked).toBe(1)
    await sql(`UPDATE shared.mails SET status = 'canceled', ended_at = now() WHERE status = 'waiting'`)
  })

  test('that hangs holds no connection to the database', async () => {
    const held: (() => void)[] = []
    const server = await openServer({ onMailFrom: (_, __, done) => void held.push(() => done()) })
    const id = await mailFor(await somebody())
    const { db } = openSender(server.port, { deadline_ms: 600_000 })
    await until(() => held.length === 1, 60_000)
    // The pool has a single connection, and it is free.
    expect((await db.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    expect(await statusOf(id)).toMatchObject({ status: 'waiting', attempts: 1 })
    for (const go of held) go()
    await until(async () => (await statusOf(id)).status === 'sent', 60_000)
  })

  test('is sent by one of two nodes', async () => {
    const server = await openServer()
    const people = await Promise.all(Array.from({ length: 12 }, somebody))
    openSender(server.port)
    openSender(server.port)
    const ids = await Promise.all(people.map(mailFor))
    await until(
      async () => (await Promise.all(ids.map(statusOf))).every(({ status }) => status === 'sent'),
      60_000,
    )
    expect(server.received.map(({ to }) => to[0]).toSorted()).toEqual(
      people.map(({ user }) => user.email).toSorted(),
    )
  })

  test('that another node has taken since is not marked by the first', async () => {
    const held: (() => void)[] = []
    const server = await openServer({ onMailFrom: (_, __, done) => void held.push(() => done()) })
    const id = await mailFor(await somebody())
    const { outcomes } = openSender(server.port, { deadline_ms: 600_000 })
    await until(() => held.length === 1, 60_000)
    // As if the lease had ended, and another node had taken the mail.
    await sql(`UPDATE shared.mails SET attempts = attempts + 1 WHERE id = '${id}'`)
    for (const go of held) go()
    await until(() => outcomes.length === 1, 60_000)
    expect(await statusOf(id)).toMatchObject({ status: 'waiting', attempts: 2 })
  })
})
