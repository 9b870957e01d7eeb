import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest'
import { type Api, openApi } from '../../../test/support/api.ts'
import { runCli } from '../../../test/support/cli.ts'
import { asAdmin, createDatabase } from '../../../test/support/database.ts'
import { type EmbeddedService, startEmbeddedService } from '../../../test/support/embedded-service.ts'
import { noteFact } from '../../../test/support/proof.ts'
import { openReceiver, type Receiver } from '../../../test/support/receiver.ts'
import { someCpf } from '../../../test/support/service.ts'
import { size } from '../../../test/support/size.ts'
import { until } from '../../../test/support/wait.ts'
import { assertNotSuperseded, unmarkSuperseded } from '../../db/embedded/superseded.ts'
import { openClient } from '../../db/pool.ts'
import { openSeats } from '../../db/seat.ts'
import { readConfig } from '../config.ts'
import { startService } from '../serve.ts'
import { copyDatabase } from './copy.ts'

vi.setConfig({ testTimeout: size(600_000, 300_000), hookTimeout: 300_000 })

/** A service moves from the embedded database to another server. API clients and webhook receivers see no difference. */
let folder: string
let source: EmbeddedService
let receiver: Receiver
let partner: { key: string; api: Api }
let customer_id: string
const pix_key = someCpf()
const PAYOUTS = size(300, 12)
const replies = new Map<number, string>()
/** What a partner has stored before the move. */
let noted: { cursor: string; next_page: string; statement: string }

const order = (n: number) => ({
  customer_id,
  amount: '100',
  counterparty: { type: 'pix_key', pix_key },
  idempotency_key: `before-${n}`,
})
const quietly = () => {}
const delivered = () => receiver.received.map(({ json }) => json.id as string)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trilho-copy-'))
  // PostgreSQL may run as another user.
  await chmod(folder, 0o755)
  receiver = await openReceiver()
  source = await startEmbeddedService(join(folder, 'data'), { WEBHOOK_ALLOW_PRIVATE: 'true' })
  partner = await source.partner()
  const { api } = partner
  customer_id = (await api.post('/v1/customers', { name: 'Ana', document: pix_key })).json.id
  await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['*'] })
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '10000000' })
  for (let n = 0; n < PAYOUTS; n++) replies.set(n, (await api.post('/v1/pix/payouts', order(n))).text)
  await until(async () => {
    const rows = await asAdmin(source.database.url, [
      `SELECT count(*)::int AS pending FROM sandbox.webhook_deliveries WHERE status = 'pending'`,
    ])
    return rows[0]!.pending === 0 && delivered().length > PAYOUTS
  }, 60_000)
  const page = (await api.get('/v1/events?limit=5')).json
  const next_page = (await api.get(`/v1/events?limit=5&cursor=${page.next_cursor}`)).text
  const statement = (await api.get(`/v1/customers/${customer_id}/statement`)).text
  noted = { cursor: page.next_cursor, next_page, statement }
})
afterAll(async () => {
  await receiver.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})

/** A database whose owner may create roles and is not a superuser, as with hosted PostgreSQL. */
async function managedDatabase(options = ''): Promise<string> {
  const name = `m_${randomBytes(6).toString('hex')}`
  const admin = inject('postgres_url')
  await asAdmin(admin, [
    `CREATE ROLE ${name} LOGIN CREATEROLE PASSWORD 'secret'`,
    `CREATE DATABASE ${name} OWNER ${name} ${options}`,
  ])
  onTestFinished(async () => {
    const roles = ['_live', '_sandbox', '_shared', ''].map((end) => `DROP ROLE IF EXISTS ${name}${end}`)
    await asAdmin(admin, [`DROP DATABASE ${name} WITH (FORCE)`, ...roles])
  })
  const url = new URL(admin)
  Object.assign(url, { username: name, password: 'secret', pathname: `/${name}` })
  return url.href
}

async function emptyDatabase(): Promise<string> {
  const database = await createDatabase({ migrated: false })
  onTestFinished(database.drop)
  return database.url
}

test('a copy is refused while the service runs', async () => {
  await expect(copyDatabase(source.config, await emptyDatabase(), quietly)).rejects.toThrow(
    /The service runs on/,
  )
  await source.stop()
})

test('an interrupted copy leaves the target empty, at whatever stage, and can be run again', async () => {
  let to = await emptyDatabase()
  const stops = size(24, 2)
  let cuts = 0
  for (let n = 0; n < stops; n++) {
    let seen = 0
    const at = 1 + Math.floor((n * 220) / stops)
    const cut = copyDatabase(source.config, to, () => {
      if (++seen !== at) return
      if (n % 2 === 0) throw new Error('stopped here')
      void asAdmin(to, [
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'trilho database copy' AND datname = current_database()`,
      ])
    })
    const done = await cut.then(
      () => true,
      () => false,
    )
    const [row] = await asAdmin(to, [
      'SELECT (SELECT count(*) FROM sandbox.entries) + (SELECT count(*) FROM shared.partners) AS n',
    ])
    // A connection that is cut after the commit undoes nothing.
    expect(Number(row!.n) > 0, `stop ${n}, at ${at}`).toBe(done)
    if (done) to = await emptyDatabase()
    else cuts++
  }
  expect(cuts).toBeGreaterThan(0)
  await unmarkSuperseded(source.config.data_dir)
  await expect(copyDatabase(source.config, to, () => expect.fail('stopped here'))).rejects.toThrow()
  await assertNotSuperseded(source.config.data_dir)
  const { rows, audit } = await copyDatabase(source.config, to, quietly)
  expect(rows).toBeGreaterThan(BigInt(PAYOUTS * 5))
  expect(audit.flatMap(({ findings }) => findings)).toEqual([])
  noteFact(`${cuts} copies cut off at different moments left the target empty; the next one was whole`)
  await expect(copyDatabase(source.config, to, quietly)).rejects.toThrow(/The target has rows already, in /)
})

test('after a copy cursors, idempotency keys and counts are valid, and nothing is delivered twice', {
  timeout: 600_000,
}, async () => {
  const to = await managedDatabase()
  const file = join(folder, 'database_url')
  // The query of the URL may contain a password too.
  await writeFile(file, `${to.replace(':secret@', '@')}?password=secret\n`)
  const { code, json, err } = await runCli(['database', 'copy', '--to-file', file, '--json'], {
    DATA_DIR: join(folder, 'data'),
  })
  expect(err).toBe('')
  expect(code).toBe(0)
  expect(json).toMatchObject({ ok: true, environments: { sandbox: { ok: true } } })
  expect(json.settings.DATABASE_URL).toMatch(/\?password=\*{8}$/)
  // A service on the old folder would send the same payouts as the copy.
  const refused = await runCli(['serve'], { DATA_DIR: join(folder, 'data'), PORT: '0' })
  expect(refused.err).toMatch(
    /its database was copied to postgresql:\/\/\S+\*{8} at .*trilho database unmark --yes/,
  )
  expect(refused.err).not.toContain('secret@')
  expect(refused.code).toBe(1)

  const before = delivered()
  const config = readConfig({
    DATABASE_URL: to,
    SECRET_KEY: source.secret_key.toString('hex'),
    PORT: '0',
    LOG_LEVEL: 'silent',
    DRAIN_MS: '0',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  })
  const service = await startService({
    config,
    print: quietly,
    onFatal: (error) => expect.fail(error.message),
  })
  try {
    const api = openApi(service.url, partner.key)
    expect((await api.get(`/v1/events?limit=5&cursor=${noted.cursor}`)).text).toBe(noted.next_page)
    expect((await api.get(`/v1/customers/${customer_id}/statement`)).text).toBe(noted.statement)
    for (const [n, text] of replies) expect((await api.post('/v1/pix/payouts', order(n))).text).toBe(text)
    noteFact(`${replies.size} payouts replayed on the copy: the same bytes; the same cursor, the same page`)

    // Sequences continue: the next event comes after all earlier ones and is delivered; no earlier one is delivered again.
    const last = (await api.get('/v1/events?after=now')).json.next_cursor
    const { id } = (await api.post('/v1/customers', { name: 'Bea', document: someCpf() })).json
    const fresh = async () => (await api.get(`/v1/events?after=${last}`)).json.data
    await until(async () => (await fresh()).length === 1, 20_000)
    const [event] = await fresh()
    expect(event.data.object.id).toBe(id)
    await until(() => delivered().includes(event.id), 20_000)
    expect(delivered()).toEqual([...before, event.id])
    expect(new Set(before).size).toBe(before.length)
    noteFact(`${before.length} webhooks had been delivered before: none came again`)
  } finally {
    await service.stop()
  }
})

test('a target with a running service, or with rows, is refused and left unchanged', async () => {
  const database = await createDatabase()
  onTestFinished(database.drop)
  const busy = await openClient(openSeats(database.url, [Buffer.alloc(32)])('live', 'trilho'))
  await expect(copyDatabase(source.config, database.url, quietly)).rejects.toThrow(
    /A service runs on the target: somebody is connected as t_\w+_live/,
  )
  await busy.end()
  await asAdmin(database.url, [`INSERT INTO shared.partners (id, name) VALUES ('ptn_x', 'X')`])
  await until(async () => {
    const error = await copyDatabase(source.config, database.url, quietly).catch((refusal) => refusal)
    return /The target has rows already, in shared\.partners\./.test(error.message)
  }, 20_000)
  const own = readConfig({ DATABASE_URL: database.url, SECRET_KEY: '00'.repeat(32) })
  await expect(copyDatabase(own, database.url, quietly)).rejects.toThrow(/DATABASE_URL is set/)
})

test('a target with another encoding than UTF8 is refused before anything is created in it', async () => {
  for (const encoding of ['LATIN1', 'SQL_ASCII']) {
    const to = await managedDatabase(
      `ENCODING '${encoding}' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`,
    )
    await expect(copyDatabase(source.config, to, quietly)).rejects.toThrow(
      new RegExp(`keeps text as ${encoding}, and must keep it as UTF8.* Nothing was changed`),
    )
    expect(await asAdmin(to, [`SELECT FROM pg_namespace WHERE nspname = 'shared'`])).toEqual([])
  }
})
