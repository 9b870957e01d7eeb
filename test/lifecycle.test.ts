import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { MigrationBlocked, migrate } from '../src/db/migrate.ts'
import { openRunnerConnection } from '../src/ledger/connection.ts'
import { openApi } from './support/api.ts'
import { nobodyOn, type Ran, runCli, type Started, startCli, tempDataDir } from './support/cli.ts'
import { asAdmin, createDatabase, prepareDatabase, seatAt } from './support/database.ts'
import { freePort } from './support/free-port.ts'
import { startNode } from './support/node.ts'
import { openPooler } from './support/pooler.ts'
import { openDirectAccess, someCpf, testEnv } from './support/service.ts'
import { openSilencingProxy } from './support/silencing-proxy.ts'
import { openSlowProxy } from './support/slow-proxy.ts'
import { until } from './support/wait.ts'

type Server = Started & { readonly url: string; end(signal: NodeJS.Signals): Promise<Ran> }

/** `trilho serve`, ready to answer. */
async function serve(env: Record<string, string>): Promise<Server> {
  const started = await startCli(['serve'], { PORT: '0', LOG_LEVEL: 'silent', ...env })
  const ready = () => /Trilho is ready at (\S+)/.exec(started.out())?.[1]
  const over = started.ended.then(({ err }) => {
    throw new Error(`the server ended: ${err}`)
  })
  over.catch(() => {})
  await Promise.race([until(() => ready() !== undefined, 30_000), over])
  return {
    ...started,
    url: ready()!,
    end(signal) {
      started.process.kill(signal)
      return started.ended
    },
  }
}

/** What clients did to one customer: each attempt has an amount that no other has. */
type Journal = {
  readonly acknowledged: Map<string, string>
  readonly unknown: Set<string>
  statuses: Set<number>
}

/** Deposits from many hands at once until told to stop. */
function load(options: { url: () => string; key: string; customer_id: string }) {
  const journal: Journal = { acknowledged: new Map(), unknown: new Set(), statuses: new Set() }
  let amount = 0
  let stopped = false
  const direct = Array.from({ length: 16 }, async () => {
    while (!stopped) {
      const own = String(++amount)
      const body = { customer_id: options.customer_id, asset: 'BRL', amount: own }
      const reply = await openApi(options.url(), options.key)
        .post('/v1/sandbox/deposits', body)
        .catch(() => undefined)
      if (reply) journal.statuses.add(reply.status)
      if (reply?.status === 201) journal.acknowledged.set(own, reply.json.id)
      else journal.unknown.add(own)
      await sleep(reply?.status === 201 ? 1 : 20)
    }
  })
  return {
    journal,
    async stop() {
      stopped = true
      await Promise.all(direct)
    },
  }
}

/** What was acknowledged is there once; what got no answer is there once or not at all; the books are in order. */
async function checkJournal(data_dir: string, customer_id: string, journal: Journal): Promise<void> {
  const rows = await asAdmin(databaseUrl(data_dir), [
    `SELECT id, amount::text FROM sandbox.deposits WHERE customer_id = '${customer_id}' AND asset = 'BRL'`,
  ])
  const found = new Map<string, unknown[]>()
  for (const { id, amount } of rows) found.set(String(amount), [...(found.get(String(amount)) ?? []), id])
  for (const [amount, id] of journal.acknowledged) expect(found.get(amount), amount).toEqual([id])
  for (const amount of journal.unknown) expect(found.get(amount)?.length ?? 0).toBeLessThanOrEqual(1)
  const attempted = new Set([...journal.acknowledged.keys(), ...journal.unknown])
  expect([...found.keys()].filter((amount) => !attempted.has(amount))).toEqual([])
  const proof = await runCli(['audit', '--json'], { DATA_DIR: data_dir })
  expect(proof).toMatchObject({ code: 0, json: { ok: true } })
}

const connectionOf = (data_dir: string): { url: string; pid: number } =>
  JSON.parse(readFileSync(join(data_dir, 'connection.json'), 'utf8'))
const databaseUrl = (data_dir: string) => connectionOf(data_dir).url

describe('with the embedded database', () => {
  let place: Awaited<ReturnType<typeof tempDataDir>>
  let server: Server
  let key: string
  beforeAll(async () => {
    place = await tempDataDir()
  })
  afterAll(async () => {
    server?.process.kill('SIGKILL')
    await nobodyOn(place.data_dir, 15_000)
    await place.remove()
  })
  const env = (more: Record<string, string> = {}) => ({ DATA_DIR: place.data_dir, ...more })
  const newCustomer = async (): Promise<string> =>
    (await openApi(server.url, key).post('/v1/customers', { name: 'Ana', document: someCpf() })).json.id

  test('contract §15: the first start prints what one needs to try it, and the curl works as printed', async () => {
    const port = await freePort()
    const statuses = new Set<number>()
    const starting = serve(env({ PORT: `${port}` }))
    let ready = false
    void starting.finally(() => {
      ready = true
    })
    while (!ready) {
      const reply = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
      if (reply) statuses.add(reply.status)
      await reply?.text()
      await sleep(2)
    }
    server = await starting
    // It listens before it is ready, and says so.
    expect([...statuses][0]).toBe(503)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)

    const text = server.out()
    expect(text).toMatch(/partner +ptn_\w+\n/)
    expect(text).toMatch(/console owner +owner@demo\.example +(\w{5}-){3}\w{5}\n/)
    expect(text).toMatch(/customer +cus_\w+ +Ana Souza, 10000\.00 BRL, 2000\.000000 USDT, 0\.05000000 BTC\n/)
    const pasted = text.match(/(?<=^ +)export [A-Z_]+=\S+$/gm)!
    expect(pasted.map((line) => line.split(/[ =]/)[1])).toEqual(['TRILHO_URL', 'TRILHO_KEY', 'CUSTOMER'])
    expect(pasted[0]).toBe(`export TRILHO_URL=${server.url}`)
    key = /^ +export TRILHO_KEY=(svc_test_sk_\w+)$/m.exec(text)![1]!
    const curl = `${pasted.join('\n')}\n${/^ +curl .*$/m.exec(text)![0]}`
    const answer = await new Promise<string>((resolve, reject) =>
      execFile('sh', ['-c', curl], (error, stdout) => (error ? reject(error) : resolve(stdout))),
    )
    expect(JSON.parse(answer).data).toMatchObject([
      { asset: 'BRL', available: '1000000' },
      { asset: 'USDT', available: '2000000000' },
      { asset: 'BTC', available: '5000000' },
    ])
    await asAdmin(databaseUrl(place.data_dir), [
      'UPDATE shared.partners SET per_minute = 10000000, per_day = 10000000',
    ])
  })

  test('a second server on the same folder says who has it, and leaves the first alone', async () => {
    const second = await runCli(['serve'], env({ PORT: '0' }))
    expect(second.err).toMatch(
      new RegExp(`The data folder \\S+ is in use by another server \\(pid ${server.process.pid}\\)`),
    )
    expect(second.err).not.toMatch(/\n +at /)
    expect(second.code).toBe(4)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  })

  /** A deposit waits six seconds for a lock, and a request of which half has arrived waits ten seconds for its other half. */
  const SCENE_MS = 5000

  test('SIGTERM: what is under way is answered, nobody else is waited for, nothing stays behind', async () => {
    let seen = await stopWhileAsked()
    // On a busy machine the lock is held for too long now and then.
    for (; seen.took_ms > SCENE_MS && !isAnswered(seen); seen = await stopWhileAsked()) {
      expect(seen.statuses.filter((status) => status !== 201 && status !== 503)).toEqual([])
      server = await serve(env())
    }
    expect(seen.statuses).toEqual(Array(30).fill(201))
    expect(seen.answer).toMatch(UNAVAILABLE)
  })

  const UNAVAILABLE = /^HTTP\/1\.1 503 [\s\S]*"code":"service_unavailable"/
  type Seen = { readonly statuses: number[]; readonly answer: string; readonly took_ms: number }
  const isAnswered = ({ statuses, answer }: Seen) =>
    statuses.every((status) => status === 201) && UNAVAILABLE.test(answer)

  /** Tells the server to stop while deposits wait for a lock, which is let go when it is stopping. */
  async function stopWhileAsked(): Promise<Seen> {
    const customer_id = await newCustomer()
    // The connections are there already, so that the requests are with the server soon.
    const api = openApi(server.url, key)
    const at_once = <R>(work: () => Promise<R>) => Promise.all(Array.from({ length: 30 }, work))
    await at_once(() => api.get('/v1/usage'))
    // Somebody who connects and says nothing, and somebody who has begun to ask.
    const { hostname, port } = new URL(server.url)
    const silent = connect(Number(port), hostname)
    const asking = connect(Number(port), hostname)
    let answer = ''
    asking.on('data', (chunk) => {
      answer += chunk
    })
    for (const socket of [silent, asking]) socket.on('error', () => {})
    await Promise.all([once(silent, 'connect'), once(asking, 'connect')])
    // Deposits that cannot go on before this lock is gone.
    const holder = new pg.Client({ connectionString: databaseUrl(place.data_dir) })
    await holder.connect()
    await holder.query(
      'SELECT pg_advisory_lock(hashtextextended(id, 0)) FROM sandbox.api_keys ORDER BY created_at LIMIT 1',
    )
    const began = performance.now()
    asking.write('GET /readyz HTTP/1.1\r\nHost: trilho\r\n')
    const deposits = at_once(() =>
      api.post('/v1/sandbox/deposits', { customer_id, asset: 'BTC', amount: '1' }),
    )
    const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
    await until(async () => (await holder.query(waiting)).rowCount! > 0, 10_000)
    await sleep(700)
    const told = performance.now()
    const ending = server.end('SIGTERM')
    const isStopping = () =>
      fetch(`${server.url}/readyz`).then(
        ({ status }) => status === 503,
        () => true,
      )
    await until(isStopping, 20_000)
    asking.write('\r\n')
    await sleep(200)
    await holder.end()
    const replies = await deposits
    const took_ms = performance.now() - began
    expect(await ending).toMatchObject({ code: 0, signal: null, err: '' })
    // Whoever is waited for is waited for 25 seconds.
    expect(performance.now() - told).toBeLessThan(20_000)
    await nobodyOn(place.data_dir)
    for (const name of ['lock', 'connection.json']) expect(existsSync(join(place.data_dir, name))).toBe(false)
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
    return { statuses: replies.map(({ status }) => status), answer, took_ms }
  }

  test('the second start prints no secret and complains of nothing, and SIGINT ends it as well', async () => {
    server = await serve(env({ LOG_LEVEL: 'warn' }))
    const lines = server.out().split('\n').filter(Boolean)
    const logged = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line).msg)
    // What a busy machine or an old runtime is told is no fault of the start.
    expect(logged.filter((message) => !/out of support|clock differs/.test(message))).toEqual([])
    const printed = lines.filter((line) => !line.startsWith('{'))
    expect(printed).toEqual([
      expect.stringMatching(/^Trilho is ready at \S+ +\(console: \S+\/console, reference: \S+\/docs\)$/),
    ])
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => openApi(server.url, key).get('/v1/usage')),
    )
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const told = performance.now()
    expect(await server.end('SIGINT')).toMatchObject({ code: 0, signal: null, err: '' })
    expect(performance.now() - told).toBeLessThan(20_000)
    await nobodyOn(place.data_dir)
  })

  test('a stop asked for during the start is obeyed', async () => {
    const started = await startCli(['serve'], env({ PORT: '0', LOG_LEVEL: 'silent' }))
    await until(() => existsSync(join(place.data_dir, 'lock')), 10_000)
    started.process.kill('SIGTERM')
    expect(await started.ended).toMatchObject({ code: 0, signal: null, err: '' })
    await nobodyOn(place.data_dir)
  })

  test('killed under load, the server has everything it acknowledged when it starts again', async () => {
    server = await serve(env())
    const customer_id = await newCustomer()
    const clients = load({ url: () => server.url, key, customer_id })
    await until(() => clients.journal.acknowledged.size > 300, 20_000)
    await server.end('SIGKILL')
    await clients.stop()
    server = await serve(env())
    expect(clients.journal.unknown.size).toBeGreaterThan(0)
    await checkJournal(place.data_dir, customer_id, clients.journal)
  })

  test('when its database is killed under load, answers are slow for a moment, 503 at the worst, and it recovers by itself', async () => {
    const customer_id = await newCustomer()
    const clients = load({ url: () => server.url, key, customer_id })
    await until(() => clients.journal.acknowledged.size > 300, 20_000)
    const { pid } = connectionOf(place.data_dir)
    process.kill(pid, 'SIGKILL')
    await until(() => connectionOf(place.data_dir).pid !== pid, 15_000)
    const before = clients.journal.acknowledged.size
    await until(async () => (await fetch(`${server.url}/readyz`)).status === 200, 15_000)
    await until(() => clients.journal.acknowledged.size > before + 300, 15_000)
    await clients.stop()
    expect([...clients.journal.statuses].filter((status) => status !== 201 && status !== 503)).toEqual([])
    await checkJournal(place.data_dir, customer_id, clients.journal)
    expect(await server.end('SIGTERM')).toMatchObject({ code: 0, err: '' })
    await nobodyOn(place.data_dir)
  })
})

describe('what keeps a server from starting is said in a sentence', () => {
  const isRefused = ({ code, out, err }: Ran, message: RegExp) => {
    expect(err).toMatch(message)
    expect(err).not.toMatch(/\n +at /)
    expect(out).not.toContain('Trilho is ready')
    expect([1, 4]).toContain(code)
  }

  test('a port or an address that it cannot have', async () => {
    const database = await createDatabase()
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const PORT = String((taken.address() as AddressInfo).port)
    const [port, host] = await Promise.all([
      runCli(['serve'], testEnv(database.url, { PORT })),
      runCli(['serve'], testEnv(database.url, { HOST: '192.0.2.1' })),
    ])
    isRefused(port, /The port is taken by another program\. Set PORT to a free one/)
    isRefused(host, /HOST is not an address of this machine/)
    taken.close()
    await database.drop()
  })

  test('a database without a secret key, or one that will not be there however long one waits', async () => {
    const wrong = new URL(inject('postgres_url'))
    wrong.password = 'wrong'
    const [keyless, unreachable, refused] = await Promise.all([
      runCli(['serve'], { DATABASE_URL: 'postgresql://a:b@127.0.0.1:1/c' }),
      runCli(['serve'], testEnv('postgresql://a:b@127.0.0.1:1/c', { START_WAIT_MS: '500' })),
      runCli(['serve'], testEnv(wrong.href)),
    ])
    isRefused(keyless, /SECRET_KEY is needed with DATABASE_URL, and must be the same on every node/)
    isRefused(unreachable, /The database cannot be reached: .*ECONNREFUSED/)
    expect(refused.err).toMatch(/password authentication failed/)
    expect(refused.code).toBe(1)
  })

  test('settings that a pooler drops or refuses', async () => {
    const database = await createDatabase()
    const [dropping, refusing] = await Promise.all([
      openPooler(database.url, 'drop'),
      openPooler(database.url, 'refuse'),
    ])
    onTestFinished(async () => {
      await Promise.all([dropping.stop(), refusing.stop()])
      await database.drop()
    })
    const [dropped, said_no] = await Promise.all([
      runCli(['partners', 'list'], testEnv(dropping.url)),
      runCli(['serve'], testEnv(refusing.url)),
    ])
    for (const ran of [dropped, said_no])
      isRefused(ran, /A pooler such as pgbouncer seems to be in the way.*PostgreSQL itself/)
  })

  test('a server that would forget what was acknowledged after a fail-over', async () => {
    const database = await createDatabase()
    onTestFinished(database.drop)
    for (const setting of ['local', 'off', 'remote_write']) {
      await asAdmin(database.url, [
        `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET synchronous_commit = ${setting}`,
      ])
      const connection = openRunnerConnection(seatAt(database.url, 'sandbox', 'durable'), 'main')
      await expect(connection.get()).rejects.toThrow(`synchronous_commit is ${setting}`)
      await connection.close()
    }
  })
})

describe('a database that is not there yet', () => {
  const waits = async (url: string, message: RegExp) => {
    const started = await startCli(['serve'], testEnv(url, { LOG_LEVEL: 'warn' }))
    await until(() => message.test(started.out()), 15_000)
    return started
  }

  test('is waited for, by name, and a stop is obeyed at any time', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as AddressInfo
    const [gone, mute] = await Promise.all([
      waits('postgresql://a:b@127.0.0.1:1/c', /waiting for a primary: .*ECONNREFUSED 127\.0\.0\.1:1/),
      waits(
        `postgresql://a:b@127.0.0.1:${port},127.0.0.1:1/c`,
        new RegExp(`127\\.0\\.0\\.1:${port}: does not answer`),
      ),
    ])
    for (const started of [gone, mute]) {
      const told = performance.now()
      started.process.kill('SIGTERM')
      expect(await started.ended).toMatchObject({ code: 0, signal: null })
      expect(performance.now() - told).toBeLessThan(20_000)
    }
  })

  test('a stop asked for while the first connection opens leaves nothing behind', async () => {
    const database = await createDatabase()
    onTestFinished(database.drop)
    const door = await openSlowProxy(database.url, 800)
    onTestFinished(door.stop)
    const started = await startCli(['serve'], testEnv(door.url))
    onTestFinished(() => void started.process.kill('SIGKILL'))
    await until(() => door.connections() > 0, 15_000)
    const told = performance.now()
    started.process.kill('SIGTERM')
    expect(await started.ended).toMatchObject({ code: 0, signal: null, err: '' })
    expect(performance.now() - told).toBeLessThan(20_000)
  })

  test('and used when it comes', async () => {
    const database = await createDatabase()
    onTestFinished(database.drop)
    const hole = await openSilencingProxy(Number(new URL(database.url).port))
    onTestFinished(hole.stop)
    hole.silence()
    const started = await waits(hole.urlOf(database.url), /waiting for a primary/)
    hole.restore()
    await until(() => /Trilho is ready/.test(started.out()), 20_000)
    started.process.kill('SIGTERM')
    expect(await started.ended).toMatchObject({ code: 0 })
  })

  test('a standby that nobody has promoted is not ready, and not written to', async () => {
    const database = await createDatabase()
    const node = await startNode(database.url)
    onTestFinished(async () => {
      await node.stop()
      await database.drop()
    })
    const name = new URL(database.url).pathname.slice(1)
    const ready = async () => (await fetch(`${node.url}/readyz`)).status
    expect(await ready()).toBe(200)
    // What a standby says of itself, said by a server that can be told so: new connections may write nothing.
    await asAdmin(inject('postgres_url'), [
      `ALTER DATABASE ${name} SET default_transaction_read_only = on`,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    ])
    await until(async () => (await ready()) === 503, 10_000)
    const direct = openDirectAccess({ url: database.url, drop: async () => {} })
    onTestFinished(direct.stop)
    await asAdmin(inject('postgres_url'), [`ALTER DATABASE ${name} RESET default_transaction_read_only`])
    await until(async () => (await ready()) === 200, 10_000)
    const { api } = await direct.partner(node.url)
    expect((await api.get('/v1/customers')).status).toBe(200)
  })
})

describe('migrations', () => {
  /** A database for a login of its own, which has the given rights and may own it. */
  async function loginDatabase(rights: string, { owns }: { owns: boolean }) {
    const admin_url = inject('postgres_url')
    const name = `o_${randomBytes(6).toString('hex')}`
    await asAdmin(admin_url, [
      `CREATE ROLE ${name} LOGIN PASSWORD 'p' ${rights}`,
      `CREATE DATABASE ${name} ${owns ? `OWNER ${name}` : ''}`,
    ])
    const url = new URL(admin_url)
    Object.assign(url, { username: name, password: 'p', pathname: `/${name}` })
    return {
      name,
      url: url.href,
      admin_url,
      async drop() {
        const roles = ['live', 'sandbox', 'shared'].map((schema) => `DROP ROLE IF EXISTS ${name}_${schema}`)
        await asAdmin(admin_url, [`DROP DATABASE ${name} WITH (FORCE)`, ...roles, `DROP ROLE ${name}`])
      },
    }
  }

  async function worksOn(url: string, drop: () => Promise<void>): Promise<void> {
    const direct = openDirectAccess({ url, drop })
    onTestFinished(direct.stop)
    const node = await startNode(url)
    onTestFinished(node.stop)
    const { api } = await direct.partner(node.url)
    expect((await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).status).toBe(201)
  }

  const rolesFor = (name: string, login = `LOGIN NOINHERIT PASSWORD '…'`) =>
    ['shared', 'live', 'sandbox'].flatMap((schema) => [
      `CREATE ROLE "${name}_${schema}" ${login}`,
      `GRANT "${name}_${schema}" TO "${name}"`,
    ])
  const statementsIn = (text: string) =>
    [...text.matchAll(/^ {2}(.*);$/gm)].map(([, statement]) => statement!)
  /** Without what nobody can know. */
  const plain = (statements: readonly string[]) =>
    statements.map((sql) => sql.replace(/'SCRAM-SHA-256\$4096:[^']+'/, `'…'`))

  test('a user that may not create roles gets the SQL for the administrator, and goes on after it was run', async () => {
    const { name, url, admin_url, drop } = await loginDatabase('NOCREATEROLE', { owns: true })
    const blocked = await runCli(['migrate'], { DATABASE_URL: url, SECRET_KEY: '00'.repeat(32) })
    expect(blocked.code).toBe(1)
    expect(blocked.out).toBe('')
    const sql = statementsIn(blocked.err)
    expect(plain(sql)).toEqual(rolesFor(name))
    const [before] = await asAdmin(url, [
      `SELECT count(*)::int AS made FROM pg_namespace WHERE nspname IN ('live', 'sandbox', 'shared')`,
    ])
    expect(before!.made).toBe(0)
    await asAdmin(admin_url, sql)
    await worksOn(url, drop)
  })

  test('so does one that may not even create a schema', async () => {
    const { name, url, admin_url, drop } = await loginDatabase('NOCREATEROLE', { owns: false })
    const blocked = async () => {
      const error = await prepareDatabase(url).catch((error) => error)
      expect(error).toBeInstanceOf(MigrationBlocked)
      return statementsIn(error.message)
    }
    const create = `GRANT CREATE ON DATABASE "${name}" TO "${name}"`
    expect(plain(await blocked())).toEqual([create, ...rolesFor(name)])
    // Roles that cannot log in yet: only that is asked for.
    await asAdmin(admin_url, [create, ...rolesFor(name, 'NOLOGIN')])
    const sql = await blocked()
    expect(plain(sql)).toEqual(
      ['shared', 'live', 'sandbox'].map(
        (schema) => `ALTER ROLE "${name}_${schema}" LOGIN NOINHERIT PASSWORD '…'`,
      ),
    )
    await asAdmin(admin_url, sql)
    await worksOn(url, drop)
  })

  test('a user that may create roles needs nobody', async () => {
    const { url, drop } = await loginDatabase('CREATEROLE', { owns: true })
    await worksOn(url, drop)
  })

  test('started by several processes at once, they run once', async () => {
    const database = await createDatabase({ migrated: false })
    const env = { DATABASE_URL: database.url, SECRET_KEY: '00'.repeat(32) }
    const runs = await Promise.all([1, 2, 3].map(() => runCli(['migrate', '--json'], env)))
    expect(runs.map(({ code, err }) => [code, err])).toEqual(Array(3).fill([0, '']))
    const applied: string[][] = runs.map(({ json }) => json.applied)
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1)
    const rows = await asAdmin(database.url, [
      ['shared', 'live', 'sandbox']
        .map((schema) => `SELECT '${schema}/' || name AS name FROM ${schema}.migrations`)
        .join(' UNION ALL '),
    ])
    expect(rows.map(({ name }) => name).sort()).toEqual(applied.flat().sort())
    await database.drop()
  })

  test('whoever reads every table, as a dump does, keeps nobody from starting', async () => {
    const database = await createDatabase()
    const dump = new pg.Client({ connectionString: database.url })
    await dump.connect()
    await dump.query('BEGIN')
    const { rows } = await dump.query(
      `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS tables FROM pg_tables
       WHERE schemaname IN ('shared', 'live', 'sandbox')`,
    )
    await dump.query(`LOCK TABLE ${rows[0].tables} IN ACCESS SHARE MODE`)
    expect(await migrate(database.url)).toEqual([])
    await dump.end()
    await database.drop()
  })

  test('one that was edited after it ran, or is unknown, is refused', async () => {
    const database = await createDatabase()
    await asAdmin(database.url, [
      `UPDATE live.migrations SET checksum = 'x' WHERE name = '0001-baseline.sql'`,
    ])
    const edited = await migrate(database.url).catch((error) => error)
    expect(edited).toBeInstanceOf(MigrationBlocked)
    expect(edited.message).toMatch(/Migration 0001-baseline\.sql was changed after it ran in schema live/)
    await asAdmin(database.url, [
      `UPDATE live.migrations SET checksum = (SELECT checksum FROM sandbox.migrations WHERE name = '0001-baseline.sql')
       WHERE name = '0001-baseline.sql'`,
      `INSERT INTO sandbox.migrations (name, checksum) VALUES ('9999-later.sql', 'x')`,
    ])
    const unknown = await runCli(['serve'], testEnv(database.url))
    expect(unknown.err).toMatch(/Schema sandbox has 9999-later\.sql, which this version does not know/)
    expect(unknown.code).toBe(1)
    await asAdmin(database.url, [`DELETE FROM sandbox.migrations WHERE name = '9999-later.sql'`])
    expect(await migrate(database.url)).toEqual([])
    await database.drop()
  })

  test('what a newer version has only added does not keep this one from starting, and keeps its rights', async () => {
    const database = await createDatabase()
    onTestFinished(database.drop)
    const role = `${new URL(database.url).pathname.slice(1)}_sandbox`
    await asAdmin(database.url, [
      'CREATE TABLE sandbox.added_later (id text PRIMARY KEY)',
      `GRANT SELECT, INSERT ON sandbox.added_later TO ${role}`,
      `INSERT INTO sandbox.migrations (name, checksum, additive) VALUES ('9998-added-later.sql', 'x', true)`,
    ])
    await worksOn(database.url, async () => {})
    const [right] = await asAdmin(database.url, [
      `SELECT has_table_privilege('${role}', 'sandbox.added_later', 'INSERT') AS insert`,
    ])
    expect(right!.insert).toBe(true)
  })
})
