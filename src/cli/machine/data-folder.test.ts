import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApi } from '../../../test/support/api.ts'
import { nobodyOn, runCli, tempDataDir } from '../../../test/support/cli.ts'
import { isMistake } from '../../../test/support/cli-stage.ts'
import { createDatabase } from '../../../test/support/database.ts'
import { startNode } from '../../../test/support/node.ts'
import { spawnServer } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { exit } from '../exit.ts'

/** A server process on its own embedded database; the command line works beside it. */
let place: Awaited<ReturnType<typeof tempDataDir>>
let server: Awaited<ReturnType<typeof spawnServer>>
let database_url: string
let key: string

beforeAll(async () => {
  place = await tempDataDir()
  server = await spawnServer({ DATA_DIR: place.data_dir, PORT: '0', LOG_LEVEL: 'silent' })
  key = /^ +export TRILHO_KEY=(\S+)$/m.exec(server.output())![1]!
  database_url = JSON.parse(readFileSync(`${place.data_dir}/connection.json`, 'utf8')).url
})
afterAll(async () => {
  await server.kill('SIGTERM')
  await place.remove()
})

const at = (args: readonly string[], env: Record<string, string> = {}) =>
  runCli(args, { DATA_DIR: place.data_dir, ...env })
const json = async (...args: string[]) => {
  const ran = await at([...args, '--json'])
  expect(ran.err).toBe('')
  expect(ran.code, ran.out).toBe(0)
  return ran.json
}

describe('config check', () => {
  test('prints the settings in force and the address of the running database, so that a second node can join', async () => {
    const checked = await json('config', 'check')
    expect(checked).toMatchObject({
      ok: true,
      settings: {
        DATA_DIR: { value: place.data_dir, source: 'set' },
        PORT: { value: '8080', source: 'default' },
        SECRET_KEY: { value: '', source: 'default' },
      },
    })
    // The database owner's password is only in a file that the owner can read.
    const { password } = new URL(database_url)
    expect(password.length).toBeGreaterThan(10)
    expect(JSON.stringify(checked)).not.toContain(password)
    expect(checked.database_url).toBe(database_url.replace(password, '********'))
    expect(checked.connection_file).toBe(`${place.data_dir}/connection.json`)
    expect(checked.secret_key_file).toBe(`${place.data_dir}/secret.key`)
    expect(statSync(checked.secret_key_file).mode & 0o777).toBe(0o600)
    const { url } = JSON.parse(readFileSync(checked.connection_file, 'utf8'))
    const node = await startNode(url, {
      SECRET_KEY: '',
      SECRET_KEY_FILE: checked.secret_key_file,
    })
    expect((await openApi(node.url, key).get('/v1/usage')).status).toBe(200)
    await node.stop()
  })

  test('masks secrets, and reports every mistake at once', async () => {
    const secrets = {
      DATABASE_URL: 'postgresql://app:hunter2@db.example.com/app',
      SECRET_KEY: 'ab'.repeat(32),
      METRICS_TOKEN: 'letmein',
    }
    const [masked, text, wrong] = await Promise.all([
      runCli(['config', 'check', '--json'], secrets),
      runCli(['config', 'check'], secrets),
      runCli(['config', 'check', '--json'], {
        PORT: 'eighty',
        LOG_LEVEL: 'loud',
        TRUST_PROXY: '10.0.0.1/8',
        DEMO: 'yes',
        PUBLIC_URL: 'example.com',
        DATABASE_URL: 'mysql://x',
        SECRET_KEY: 'abc',
        METRICS_TOKEN_FILE: '/nowhere/token',
      }),
    ])
    for (const name of Object.keys(secrets))
      expect(masked.json.settings[name]).toEqual({ value: '********', source: 'set' })
    expect(masked.json).not.toHaveProperty('database_url')
    for (const { out } of [masked, text]) expect(out).not.toMatch(/hunter2|abab|letmein/)
    isMistake(wrong, /8 mistakes/)
    for (const name of [
      'PORT',
      'LOG_LEVEL',
      'TRUST_PROXY',
      'DEMO',
      'PUBLIC_URL',
      'DATABASE_URL',
      'SECRET_KEY',
      'METRICS_TOKEN',
    ])
      expect(wrong.err).toMatch(new RegExp(`  - ${name} `))
    expect(wrong.err).not.toContain('mysql://x')
  })
})

describe('the key that secrets are sealed under', () => {
  const endpoint = { url: 'https://example.com/hook', events: ['*'] }
  const keyFile = () => readFileSync(`${place.data_dir}/secret.key`, 'utf8')

  test('is rotated in the data folder while the server runs, even if the rotation is killed at any step', async () => {
    const api = openApi(server.url, key)
    expect((await api.post('/v1/webhook_endpoints', endpoint)).status).toBe(201)
    const before = await json('secrets', 'check')
    const old = keyFile()
    expect(before).toMatchObject({ ok: true, known: [before.in_force] })
    for (const point of [
      'after_key_written',
      'after_key_named',
      'after_sealed_again',
      'before_key_promoted',
    ]) {
      const cut = await at(['secrets', 'rotate'], { CRASH_AT: point })
      expect(cut.signal, point).toBe('SIGKILL')
      // The key on disk is never removed before its successor is in force.
      expect(keyFile()).toBe(old)
      expect(await json('secrets', 'check'), point).toMatchObject({ ok: true })
      // The server is not told about the rotation; it reads the new key when it needs it.
      expect((await api.post('/v1/webhook_endpoints', endpoint)).status, point).toBe(201)
    }
    const told = await at(['secrets', 'rotate'])
    expect(told.out).toMatch(
      /Nothing is left under another key than [0-9a-f]{16}\.\nThe new key is in .*secret\.key.*\nLine \d+ of the log of shared/,
    )
    expect(keyFile()).not.toBe(old)
    expect(statSync(`${place.data_dir}/secret.key`).mode & 0o777).toBe(0o600)
    expect(existsSync(`${place.data_dir}/secret.key.next`)).toBe(false)
    const after = await json('secrets', 'check')
    expect(after).toMatchObject({ ok: true, known: [after.in_force] })
    expect(after.in_force).not.toBe(before.in_force)
    expect(after.sealed).toEqual([
      { environment: 'sandbox', object: 'webhook secret', key_id: after.in_force, opens: true, count: 5 },
      { environment: 'shared', object: 'key of the log', key_id: after.in_force, opens: true, count: 1 },
    ])
    expect((await api.post('/v1/webhook_endpoints', endpoint)).status).toBe(201)
    expect(await json('audit')).toMatchObject({ ok: true, database: place.data_dir })
    const { out, err } = await at(['audit'])
    expect(err).toBe(`database: ${place.data_dir}\n`)
    expect(out).not.toContain(place.data_dir)
  })

  test('is never lost when several rotations run at once and one of them is killed', async () => {
    const rotate = (CRASH_AT = '') => at(['secrets', 'rotate'], { CRASH_AT })
    const slow = rotate('before_key_promoted:pause')
    await until(() => existsSync(`${place.data_dir}/secret.key.next`), 20_000)
    const swift = rotate()
    const killed = swift.then(() => rotate('after_key_written'))
    const ends = await Promise.all([slow, swift, killed])
    expect(ends.map(({ code, signal }) => signal ?? code)).toEqual([0, 0, 'SIGKILL'])
    expect(await json('secrets', 'check')).toMatchObject({ ok: true })
    expect((await rotate()).code).toBe(0)
    expect(await json('secrets', 'check')).toMatchObject({ ok: true })
  })

  test('is identified by its id: secrets that another key cannot open are counted, and a start with that key is refused', async () => {
    const SECRET_KEY = 'cd'.repeat(32)
    const checked = await runCli(['secrets', 'check'], { DATABASE_URL: database_url, SECRET_KEY })
    expect(checked.code).toBe(1)
    expect(checked.out).toMatch(/webhook secret +6 .* NO/)
    isMistake(
      await runCli(['secrets', 'rotate'], { DATABASE_URL: database_url, SECRET_KEY }),
      /SECRET_KEY is not the key[\s\S]*6 webhook secrets in sandbox under the key [0-9a-f]{16}: whe_/,
    )
    isMistake(
      await runCli(['serve'], { DATABASE_URL: database_url, SECRET_KEY, PORT: '0', LOG_LEVEL: 'silent' }),
      /SECRET_KEY is not the key[\s\S]*6 webhook secrets in sandbox/,
    )
    const rotate = ['secrets', 'rotate', '--json']
    const moved = await runCli(rotate, {
      DATABASE_URL: database_url,
      SECRET_KEY,
      SECRET_KEY_PREVIOUS: keyFile().trim(),
    })
    expect(moved.json).toMatchObject({ ok: true, sealed_again: 7, sealed: 7 })
    // Rotates back, so that the server's own key is in force again.
    const back = await runCli(rotate, {
      DATABASE_URL: database_url,
      SECRET_KEY: keyFile().trim(),
      SECRET_KEY_PREVIOUS: `${'ef'.repeat(32)}, ${SECRET_KEY}`,
    })
    expect(back.json).toMatchObject({ ok: true, sealed_again: 7 })
  })
})

describe('where no server runs', () => {
  test('the embedded database is started for the command, and no process or lock stays behind', async () => {
    const own = await tempDataDir()
    const alone = (...args: string[]) => runCli([...args, '--json'], { DATA_DIR: own.data_dir })
    expect((await alone('migrate')).code).toBe(0)
    isMistake(
      await alone('keys', 'create'),
      /There is no partner yet\. Create one: trilho partners create --name NAME/,
    )
    const partner = await alone('partners', 'create', '--name', 'First')
    expect(partner).toMatchObject({ code: 0, json: { name: 'First' } })
    const key = await alone('keys', 'create')
    expect(key).toMatchObject({ code: 0, json: { partner_id: partner.json.id } })
    await nobodyOn(own.data_dir)
    expect(existsSync(`${own.data_dir}/lock`)).toBe(false)
    await own.remove()
  })

  test('a folder without a database stays empty, and no audit passes on it', async () => {
    const own = await tempDataDir()
    const wrong = `${own.data_dir}/../dta`
    for (const line of [
      'audit',
      'log verify',
      'payouts unknown',
      'keys list',
      'partners create --name Shop',
      `backup create ${own.data_dir}`,
    ])
      expect(await runCli(line.split(' '), { DATA_DIR: wrong }), line).toMatchObject({
        code: exit.refused,
        out: '',
        err: `There is no database in ${resolve(wrong)}: set DATA_DIR to the data folder of the service, or start the service there once.\n`,
      })
    expect(readdirSync(dirname(own.data_dir))).toEqual([])
    writeFileSync(resolve(wrong), '')
    isMistake(
      await runCli(['audit', '--json'], { DATA_DIR: wrong }),
      /"no_database".*There is no database in/,
    )
    await own.remove()
  })

  test('a database that is not set up, or cannot be reached, is reported', async () => {
    const database = await createDatabase({ migrated: false })
    const with_url = (url: string, ...args: string[]) =>
      runCli(args, { DATABASE_URL: url, SECRET_KEY: '00'.repeat(32) })
    const [empty, absent] = await Promise.all([
      with_url(database.url, 'partners', 'list'),
      with_url('postgresql://nobody:secret@127.0.0.1:1/nothing', 'partners', 'list'),
    ])
    isMistake(
      empty,
      /The database is not set up yet, or it was set up with another SECRET_KEY.* Run: trilho migrate/,
    )
    isMistake(absent, /The database cannot be reached: .*ECONNREFUSED/, exit.later)
    expect(absent.err).not.toContain('secret')
    const migrated = await with_url(database.url, 'migrate', '--json')
    expect(migrated.json.applied).toEqual(
      expect.arrayContaining(['shared/0001-baseline.sql', 'live/0001-baseline.sql']),
    )
    const [again, list] = await Promise.all([
      with_url(database.url, 'migrate'),
      with_url(database.url, 'partners', 'list'),
    ])
    expect(again).toMatchObject({ code: 0, out: 'Nothing to do.\n' })
    expect(list).toMatchObject({ code: 0, out: '(none)\n' })
    await database.drop()
  })
})

test('the server that runs on the data folder is found on any port', async () => {
  const { api_url } = JSON.parse(readFileSync(`${place.data_dir}/connection.json`, 'utf8'))
  expect(api_url).toBe(server.url)
  const found = await at(['usage', '--json'], { TRILHO_KEY: key })
  expect(found).toMatchObject({ code: 0, json: { minute: { limit: 100 } } })
})
