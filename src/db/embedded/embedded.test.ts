import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, describe, expect, type TestContext, test, vi } from 'vitest'
import { binariesPackage, copyBinaries, prepareBinaries } from './binaries.ts'
import { DataDirBusy } from './folder.ts'
import { type Lock, lockHolder, takeLock } from './lock.ts'
import { NOBODY, startOf } from './process.ts'
import { runningApi, runningEmbedded } from './running.ts'
import { oldServerGone } from './server.ts'
import { type EmbeddedDatabase, startEmbedded } from './start.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

type Variant = 'unshare' | 'nobody' | undefined
const uid = process.getuid?.()
const is_root = uid === 0
const has_namespaces =
  is_root && spawnSync('unshare', ['--user', `--map-user=${NOBODY}`, 'true']).status === 0
/** A namespace in which pids name other processes, as in a container. */
const in_other_container = [
  ...['unshare', '--pid', '--ipc', '--fork', '--mount-proc', '--kill-child'],
  ...(is_root ? [] : ['--user', '--map-current-user']),
]
const has_containers = spawnSync('unshare', [...in_other_container.slice(1), 'true']).status === 0
const root_variants: Variant[] = has_namespaces ? ['unshare', 'nobody'] : ['nobody']
const variants: Variant[] = is_root ? root_variants : [undefined]

async function tempFolder(t: TestContext, mode = 0o755): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-embedded-'))
  await chmod(folder, mode)
  t.onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

async function newDataDir(t: TestContext): Promise<string> {
  return join(await tempFolder(t), 'data')
}

const templates = new Map<Variant, Promise<string>>()
afterAll(async () => {
  for (const folder of templates.values()) await rm(await folder, { recursive: true, force: true })
})

/** A data folder with an empty database in it: a copy, as making one takes a second. */
async function usedDataDir(t: TestContext, run_as?: Variant): Promise<string> {
  const template = templates.get(run_as) ?? makeTemplate(run_as)
  templates.set(run_as, template)
  const data_dir = await newDataDir(t)
  execFileSync('cp', ['-a', join(await template, 'data'), data_dir])
  return data_dir
}

async function makeTemplate(run_as: Variant): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-embedded-'))
  await chmod(folder, 0o755)
  await (await startEmbedded({ data_dir: join(folder, 'data'), run_as })).stop()
  return folder
}

async function start(
  t: TestContext,
  options: Parameters<typeof startEmbedded>[0],
): Promise<EmbeddedDatabase> {
  const database = await startEmbedded(options)
  t.onTestFinished(() => database.stop())
  return database
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

async function connectionOf(data_dir: string) {
  return JSON.parse(await readFile(join(data_dir, 'connection.json'), 'utf8'))
}

/** Another process that starts a server on the folder and then runs `body`; `say` sends a line to the test. */
function ownerProcess(
  t: TestContext,
  data_dir: string,
  run_as: Variant,
  body: string,
  wrapper: string[] = [],
): ChildProcess & { lines: string[] } {
  const script = `
    import pg from 'pg'
    import { startEmbedded } from ${JSON.stringify(new URL('./start.ts', import.meta.url).href)}
    const say = (line) => process.stdout.write(line + '\\n')
    const options = ${JSON.stringify({ data_dir, run_as })}
    ${body}`
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script]
  const [file = '', ...args] = [...wrapper, ...node]
  const child = spawn(file, args, {
    cwd: join(import.meta.dirname, '../../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  t.onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: child.stdout! }).on('line', (line) => lines.push(line))
  return Object.assign(child, { lines })
}

/** Every process with the folder in its command line: the server, and the watcher that ends it. */
function processesOn(folder: string): string[] {
  if (!existsSync('/proc/self/cmdline')) {
    const all = execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' }).split('\n')
    return all.filter((line) => line.includes(folder))
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => {
    try {
      return pid !== String(process.pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)
    } catch {
      return false
    }
  })
}

function allGone(folder: string): Promise<void> {
  return vi.waitFor(() => expect(processesOn(folder)).toEqual([]), { timeout: 60_000, interval: 100 })
}

const insertForever = `
  const database = await startEmbedded(options)
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('create table item (id int primary key)')
  for (let id = 1; ; id += 1) {
    await client.query('insert into item values ($1)', [id])
    say(String(id))
  }`

describe.concurrent.each(variants)('run as %s', (run_as) => {
  test('keeps its data over a stop and a start', async (t) => {
    const data_dir = await newDataDir(t)
    const first = await start(t, { data_dir, run_as })
    expect(await runningEmbedded(data_dir)).toBe(first.url)
    await query(first.url, "create table note as select 'olá' as text")
    await Promise.all([first.stop(), first.stop()])
    expect(await runningEmbedded(data_dir)).toBeUndefined()
    expect(existsSync(join(data_dir, 'connection.json'))).toBe(false)
    expect(existsSync(join(data_dir, 'lock'))).toBe(false)
    await allGone(data_dir)

    const second = await start(t, { data_dir, run_as })
    expect(await query(second.url, 'select text from note')).toEqual([{ text: 'olá' }])
  })

  test('refuses a second server and leaves the first alone', async (t) => {
    const data_dir = await usedDataDir(t, run_as)
    const { url } = await start(t, { data_dir, run_as })
    const began = Date.now()
    const refusal = await startEmbedded({ data_dir, run_as }).catch((error) => error)
    expect(Date.now() - began).toBeLessThan(30_000)
    expect(refusal).toBeInstanceOf(DataDirBusy)
    expect(refusal.message).toContain(data_dir)
    expect(refusal.message).toContain(`pid ${process.pid}`)

    const body = `startEmbedded(options).catch((error) => say(error.name + ' ' + error.message))`
    const other = ownerProcess(t, data_dir, run_as, body)
    await once(other, 'close')
    expect(other.lines.join()).toMatch(new RegExp(`^DataDirBusy .*pid ${process.pid}`))
    expect(await runningEmbedded(data_dir)).toBe(url)
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('loses no acknowledged row when its owner is killed, and starts again at once', async (t) => {
    const data_dir = await usedDataDir(t, run_as)
    const owner = ownerProcess(t, data_dir, run_as, insertForever)
    await vi.waitFor(() => expect(owner.lines.length).toBeGreaterThan(200), { timeout: 60_000 })
    const before = await connectionOf(data_dir)
    expect(before.server_pid).toBe(owner.pid)
    owner.kill('SIGKILL')
    await once(owner, 'close')
    expect(await runningEmbedded(data_dir)).toBeUndefined()

    const { url, stop } = await start(t, { data_dir, run_as })
    expect(startOf(before.pid)).toBeUndefined()
    const [row] = await query(url, 'select count(*)::int as rows, max(id) as last from item')
    expect(row?.rows).toBe(row?.last)
    expect(row?.rows).toBeGreaterThanOrEqual(owner.lines.length)
    await stop()
    await allGone(data_dir)
  })

  test('leaves no process behind when its owner is killed', async (t) => {
    const data_dir = await usedDataDir(t, run_as)
    const owner = ownerProcess(t, data_dir, run_as, insertForever)
    await vi.waitFor(() => expect(owner.lines.length).toBeGreaterThan(0), { timeout: 60_000 })
    const { pid } = await connectionOf(data_dir)
    expect(startOf(pid)).toBeDefined()
    owner.kill('SIGKILL')
    await allGone(data_dir)
    expect(await runningEmbedded(data_dir)).toBeUndefined()
  })

  test('starts the server again when that is killed', async (t) => {
    const data_dir = await usedDataDir(t, run_as)
    const log: string[] = []
    const { url } = await start(t, { data_dir, run_as, log: (line) => log.push(line) })
    await query(url, 'create table item as select generate_series(1, 1000) as id')
    const before = await connectionOf(data_dir)
    process.kill(before.pid, 'SIGKILL')
    const death = /ended unexpectedly \(signal SIGKILL\)[\s\S]*runs again/
    await vi.waitFor(() => expect(log.join('\n')).toMatch(death), { timeout: 60_000 })
    expect(await query(url, 'select count(*)::int as rows from item')).toEqual([{ rows: 1000 }])
    const after = await connectionOf(data_dir)
    expect(after).toEqual({ ...before, pid: expect.any(Number) })
    expect(after.pid).not.toBe(before.pid)
    expect(await runningEmbedded(data_dir)).toBe(url)
  })
})

describe.concurrent('the server', () => {
  test('is durable, has checksums and takes settings', async (t) => {
    const data_dir = await usedDataDir(t)
    const { url } = await start(t, { data_dir, settings: { work_mem: '7MB', jit: 'on' } })
    const names = ['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums', 'work_mem', 'jit']
    const rows = await query(url, `select current_setting(name) from unnest('{${names}}'::text[]) as name`)
    expect(rows.map((row) => row.current_setting)).toEqual(['on', 'on', 'on', 'on', '7MB', 'on'])
    const [database] = await query(
      url,
      'select current_user as role, datlocprovider as provider, datlocale as locale, encoding from pg_database ' +
        'where datname = current_database()',
    )
    expect(database).toEqual({ role: 'trilho', provider: 'b', locale: 'C.UTF-8', encoding: 6 })
  })

  test('keeps its secrets in files of its own user', async (t) => {
    const data_dir = await newDataDir(t)
    const { url } = await start(t, { data_dir })
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777
    expect(await modeOf(data_dir)).toBe(0o700)
    expect(await modeOf(join(data_dir, 'connection.json'))).toBe(0o600)
    expect(await modeOf(join(data_dir, 'postgres.password'))).toBe(0o600)
    expect(await modeOf(join(data_dir, 'postgres'))).toBe(0o700)
    expect(readdirSync(data_dir).filter((name) => /pwfile|new/.test(name))).toEqual([])
    const wrong = url.replace(/:[^:@]*@/, ':wrong@')
    await expect(query(wrong, 'select 1')).rejects.toThrow(/password authentication failed/)
  })

  test('does not log what a statement holds', async (t) => {
    const log: string[] = []
    const { url, stop } = await start(t, { data_dir: await usedDataDir(t), log: (line) => log.push(line) })
    await query(url, 'create table secret (id text primary key)')
    await query(url, "insert into secret values ('hush')")
    await expect(query(url, "insert into secret values ('hush')")).rejects.toThrow(/duplicate key/)
    await expect(query(url, "select 'hush'::int")).rejects.toThrow(/invalid input syntax/)
    await stop()
    expect(log.join('\n')).toContain('ready to accept connections')
    expect(log.join('\n')).not.toContain('hush')
  })

  test('lives on when the terminal sends Ctrl-C to its owner', async (t) => {
    const data_dir = await usedDataDir(t)
    const owner = ownerProcess(
      t,
      data_dir,
      undefined,
      `
      const database = await startEmbedded(options)
      process.once('SIGINT', async () => {
        const client = new pg.Client({ connectionString: database.url })
        await client.connect()
        const { rows } = await client.query("select 'still here' as text")
        await client.end()
        await database.stop()
        say(rows[0].text)
      })
      say('up')`,
    )
    await vi.waitFor(() => expect(owner.lines).toEqual(['up']), { timeout: 60_000 })
    process.kill(-owner.pid!, 'SIGINT')
    const [code] = await once(owner, 'close')
    expect(owner.lines).toEqual(['up', 'still here'])
    expect(code).toBe(0)
    await allGone(data_dir)
  })

  test('is given up when it keeps failing', async (t) => {
    const data_dir = await usedDataDir(t)
    const onGiveUp = vi.fn()
    const database = await start(t, { data_dir, onGiveUp })
    const { pid } = await connectionOf(data_dir)
    await rename(join(data_dir, 'postgres/global/pg_control'), join(data_dir, 'postgres/global/gone'))
    process.kill(pid, 'SIGKILL')
    await vi.waitFor(() => expect(onGiveUp).toHaveBeenCalledOnce(), { timeout: 60_000 })
    expect(onGiveUp.mock.calls[0]?.[0].message).toMatch(/ended 5 times[\s\S]*pg_control/)
    expect(await runningEmbedded(data_dir)).toBeUndefined()
    await database.stop()
    expect(existsSync(join(data_dir, 'lock'))).toBe(false)
  })

  test('stops while it is being started again', async (t) => {
    const data_dir = await usedDataDir(t)
    for (const pause of [0, 60, 100, 130, 170, 220, 300]) {
      const database = await start(t, { data_dir })
      process.kill((await connectionOf(data_dir)).pid, 'SIGKILL')
      await sleep(pause)
      await database.stop()
      await allGone(data_dir)
      expect(readdirSync(data_dir).filter((name) => !name.startsWith('postgres'))).toEqual([])
    }
  })

  test('starts when its forerunner was killed while it made the files', async (t) => {
    const data_dir = await newDataDir(t)
    const owner = ownerProcess(t, data_dir, undefined, 'await startEmbedded(options)')
    const parts = () => readdirSync(data_dir).filter((name) => name.startsWith('postgres.new'))
    const half_made = () => parts().some((name) => existsSync(join(data_dir, name, 'data/base')))
    await vi.waitFor(() => expect(half_made()).toBe(true), { timeout: 60_000, interval: 5 })
    owner.kill('SIGKILL')
    await once(owner, 'close')
    expect(parts()).toHaveLength(1)
    expect(existsSync(join(data_dir, 'postgres'))).toBe(false)
    const { url } = await start(t, { data_dir })
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(parts()).toEqual([])
    await allGone(`${data_dir}/postgres.new`)
  })

  test('starts although the pid of its forerunner is now another process', async (t) => {
    const data_dir = await usedDataDir(t)
    const first = await start(t, { data_dir })
    const postmaster_pid = await readFile(join(data_dir, 'postgres/postmaster.pid'), 'utf8')
    await first.stop()
    const stranger = spawn('sleep', ['60'])
    t.onTestFinished(() => void stranger.kill('SIGKILL'))
    await writeFile(
      join(data_dir, 'postgres/postmaster.pid'),
      postmaster_pid.replace(/^\d+/, `${stranger.pid}`),
    )
    const second = await start(t, { data_dir })
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('says what is wrong with the folder', async (t) => {
    const data_dir = await newDataDir(t)
    await mkdir(join(data_dir, 'postgres'), { recursive: true })
    await expect(startEmbedded({ data_dir })).rejects.toThrow(/holds no PostgreSQL database/)
    await writeFile(join(data_dir, 'postgres/PG_VERSION'), '17\n')
    await expect(startEmbedded({ data_dir })).rejects.toThrow(/made by PostgreSQL 17.* has PostgreSQL 18/)
    await writeFile(join(data_dir, 'postgres/PG_VERSION'), '18\n')
    await expect(startEmbedded({ data_dir })).rejects.toThrow(/postgres\.password is missing/)
    expect(existsSync(join(data_dir, 'lock'))).toBe(false)

    await writeFile(join(data_dir, 'file'), '')
    await expect(startEmbedded({ data_dir: join(data_dir, 'file') })).rejects.toThrow(/path is not a folder/)
    if (is_root) {
      await chown(join(data_dir, 'postgres'), 4321, 4321)
      await expect(startEmbedded({ data_dir })).rejects.toThrow(/belongs to uid 4321\. Start .* as that user/)
    } else {
      await chmod(data_dir, 0o500)
      await expect(startEmbedded({ data_dir })).rejects.toThrow(/must be writable for the user/)
      await expect(startEmbedded({ data_dir: join(data_dir, 'sub') })).rejects.toThrow(/must be writable/)
      await chmod(data_dir, 0o700)
    }
  })

  test('starts in a private folder: elsewhere with a link, when its user may not enter that', async (t) => {
    const data_dir = join(await tempFolder(t, 0o700), 'data')
    const run_as = is_root ? 'nobody' : undefined
    const log: string[] = []
    const first = await start(t, { data_dir, run_as, log: (line) => log.push(line) })
    const home = dirname(await realpath(join(data_dir, 'postgres')))
    if (is_root) {
      t.onTestFinished(async () => {
        await first.stop()
        await rm(home, { recursive: true, force: true, maxRetries: 10 })
      })
      expect(home).not.toContain(data_dir)
      expect(log[0]).toContain(home)
    } else {
      expect(home).toBe(await realpath(data_dir))
    }
    await query(first.url, 'create table item as select 1 as id')
    await first.stop()
    const second = await start(t, { data_dir })
    expect(await query(second.url, 'select id from item')).toEqual([{ id: 1 }])
    expect(await runningEmbedded(data_dir)).toBe(second.url)
  })

  test('takes files over when namespaces are shut off, and keeps them', async (t) => {
    const data_dir = await newDataDir(t)
    const owners = { unshare: 0, nobody: NOBODY }
    for (const run_as of [...variants, undefined]) {
      const { url, stop } = await start(t, { data_dir, run_as })
      await query(url, 'create table if not exists item (id int)')
      await query(url, 'insert into item values (1)')
      await stop()
      const owner = is_root ? owners[run_as ?? 'nobody'] : uid
      expect((await stat(join(data_dir, 'postgres'))).uid).toBe(owner)
    }
    const { url } = await start(t, { data_dir })
    const [row] = await query(url, 'select count(*)::int as rows from item')
    expect(row?.rows).toBe(variants.length + 1)
  })
})

describe.concurrent('the lock', () => {
  const dead = (token: string) => JSON.stringify({ pid: process.pid, started: 'long ago', token })
  const ownTake = (path: string) => takeLock(path).then((taken) => taken as Lock)

  test.for([
    ['no lock', undefined],
    ['the lock of a dead process', dead(randomUUID())],
    ['a lock with another token', dead('x')],
    ['an empty lock', ''],
  ])('goes to one of many that start at once on %s', async ([, text], t) => {
    const path = join(await tempFolder(t), 'lock')
    for (let round = 0; round < 20; round += 1) {
      if (text !== undefined) await writeFile(path, text)
      const taken = await Promise.all(Array.from({ length: 10 }, () => takeLock(path)))
      const won = taken.filter((lock) => 'release' in lock)
      expect(won).toHaveLength(1)
      expect(taken.filter((lock) => 'held_by' in lock && lock.held_by === process.pid)).toHaveLength(9)
      await won[0]?.release()
      expect(readdirSync(join(path, '..'))).toEqual([])
    }
  })

  test('is held while its socket answers, whatever its pid is here, and its socket ends with it', async (t) => {
    const folder = await tempFolder(t)
    const path = join(folder, 'lock')
    const first = await ownTake(path)
    const { token } = JSON.parse(await readFile(path, 'utf8'))
    const socket = `${path}.${token}.sock`
    expect((await stat(socket)).mode & 0o777).toBe(0o600)
    await writeFile(path, dead(token))
    expect(await takeLock(path)).toEqual({ held_by: 'elsewhere' })
    expect(await lockHolder(path)).toBe('elsewhere')
    expect(readdirSync(folder).sort()).toEqual(['lock', basename(socket)])

    // For the first holder, the lock now belongs to another process.
    await first.release()
    expect(readdirSync(folder)).toEqual(['lock'])
    expect(await lockHolder(path)).toBeUndefined()
    await (await ownTake(path)).release()
    expect(readdirSync(folder)).toEqual([])
  })

  test('of a killed process is taken over, with its socket, also when the path is long', async (t) => {
    const folder = join(await tempFolder(t), 'a'.repeat(200))
    await mkdir(folder)
    const path = join(folder, 'lock')
    const script = `
      import { takeLock } from ${JSON.stringify(new URL('./lock.ts', import.meta.url).href)}
      await takeLock(${JSON.stringify(path)})
      console.log('it has it')
      setInterval(() => {}, 1000)`
    const holder = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      cwd: join(import.meta.dirname, '../../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.onTestFinished(() => void holder.kill('SIGKILL'))
    await once(holder.stdout, 'data')
    const { token } = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, dead(token))
    expect(await takeLock(path)).toEqual({ held_by: 'elsewhere' })
    holder.kill('SIGKILL')
    await once(holder, 'close')
    expect(readdirSync(folder)).toHaveLength(2)
    const taken = await Promise.all(Array.from({ length: 10 }, () => takeLock(path)))
    const won = taken.filter((lock) => 'release' in lock)
    expect(won).toHaveLength(1)
    await won[0]?.release()
    expect(readdirSync(folder)).toEqual([])
  })

  test('is only a file where the file system supports no sockets, and says so', async (t) => {
    const folder = await tempFolder(t)
    const path = join(folder, 'lock')
    const onBlind = vi.fn()
    const listen = async () => {
      throw Object.assign(new Error('listen EOPNOTSUPP'), { code: 'EOPNOTSUPP' })
    }
    const taken = (await takeLock(path, { onBlind, listen })) as Lock
    expect(onBlind).toHaveBeenCalledOnce()
    expect(readdirSync(folder)).toEqual(['lock'])
    expect(await takeLock(path)).toEqual({ held_by: process.pid })
    await taken.release()
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('a data folder that two containers share', () => {
  const runsIn = (data_dir: string, program: (argv: string[]) => boolean) =>
    Number(
      processesOn(data_dir).find((pid) => program(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'))),
    )

  test.runIf(has_containers)("is its holder's and its server's for as long as these live", async (t) => {
    const data_dir = await usedDataDir(t)
    const cluster = join(data_dir, 'postgres')
    const body = `
      const database = await startEmbedded(options)
      await database.announce('http://127.0.0.1:1')
      setInterval(() => {}, 1000)
      say('up')`
    const container = [...in_other_container, 'sh', '-c', '"$@"; sleep 60', 'sh']
    const first = ownerProcess(t, data_dir, undefined, body, container)
    await vi.waitFor(() => expect(first.lines).toEqual(['up']), { timeout: 60_000 })
    const holder = runsIn(data_dir, ([file]) => file === process.execPath)
    const server = runsIn(data_dir, ([file, option]) => /bin.postgres$/.test(file!) && option === '-D')
    const files = ['lock', 'connection.json', 'postgres/postmaster.pid']
    const contents = () => files.map((name) => readFileSync(join(data_dir, name), 'utf8'))
    const before = contents()
    for (const signal of ['SIGCONT', 'SIGSTOP'] as const) {
      process.kill(holder, signal)
      const refusal = await startEmbedded({ data_dir }).catch((error) => error)
      expect(refusal).toBeInstanceOf(DataDirBusy)
      expect(refusal.message).toMatch(/in another container.*docker exec/)
      expect(await runningEmbedded(data_dir)).toBeUndefined()
      expect(await runningApi(data_dir)).toBeUndefined()
      expect(contents()).toEqual(before)
    }

    process.kill(server, 'SIGSTOP')
    process.kill(holder, 'SIGKILL')
    await vi.waitFor(async () => expect(await lockHolder(join(data_dir, 'lock'))).toBeUndefined(), {
      timeout: 60_000,
    })
    await expect(oldServerGone(data_dir, cluster, Date.now() - 1)).rejects.toThrow(/in another container/)
    expect(contents()).toEqual(before)
    process.kill(server, 'SIGCONT')
    const second = await start(t, { data_dir })
    expect(startOf(server)).toBeUndefined()
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
    await second.stop()
    expect(readdirSync(data_dir).filter((name) => !/^postgres(-bin|\.password)?$/.test(name))).toEqual([])
  })
})

test.runIf(is_root && has_containers)('is not joined from another network, and refused there', async (t) => {
  const data_dir = await usedDataDir(t)
  await start(t, { data_dir })
  const body = `
    const { runningEmbedded } = await import(${JSON.stringify(new URL('./running.ts', import.meta.url).href)})
    say(String(await runningEmbedded(options.data_dir)))
    startEmbedded(options).catch((error) => say(error.message))`
  const other = ownerProcess(t, data_dir, undefined, body, ['unshare', '--net'])
  await once(other, 'close')
  expect(other.lines).toEqual(['undefined', expect.stringContaining(`another server (pid ${process.pid})`)])
})

describe.concurrent('the binaries', () => {
  /** The package as it is unpacked without its install script, and without modes. */
  async function bareCopy(t: TestContext): Promise<string> {
    const folder = await tempFolder(t)
    await cp(binariesPackage(), folder, { recursive: true, verbatimSymlinks: true })
    for (const target of linksIn(folder)) await rm(join(folder, target), { force: true })
    for (const name of ['initdb', 'postgres']) await chmod(join(folder, 'native/bin', name), 0o644)
    return folder
  }

  function linksIn(folder: string): string[] {
    const path = join(folder, 'native/pg-symlinks.json')
    const list = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []
    return list.map((entry: { target: string }) => entry.target)
  }

  test('get their links and modes', async (t) => {
    const folder = await bareCopy(t)
    for (let round = 0; round < 2; round += 1) {
      expect(await prepareBinaries(folder, join(folder, 'copy'))).toBe(join(folder, 'native/bin'))
    }
    for (const target of linksIn(folder)) {
      expect((await lstat(join(folder, target))).isSymbolicLink()).toBe(true)
      expect(existsSync(join(folder, target))).toBe(true)
    }
    expect(spawnSync(join(folder, 'native/bin/postgres'), ['--version']).status).toBe(0)
    expect(spawnSync(join(folder, 'native/bin/initdb'), ['--version']).status).toBe(0)
    expect(existsSync(join(folder, 'copy'))).toBe(false)
  })

  test('are copied when their folder cannot be written', async (t) => {
    const folder = await bareCopy(t)
    const copy_dir = join(await tempFolder(t), 'postgres-bin')
    for (const name of ['native/lib', 'native/bin']) await chmod(join(folder, name), 0o555)
    // Root can write to such a folder, but copies the binaries when the user nobody may not enter it.
    const prepare = is_root ? copyBinaries : prepareBinaries
    for (let round = 0; round < 2; round += 1) {
      expect(await prepare(folder, copy_dir)).toBe(join(copy_dir, 'native/bin'))
    }
    expect(spawnSync(join(copy_dir, 'native/bin/initdb'), ['--version']).status).toBe(0)
    expect((await stat(join(copy_dir, 'native/lib'))).mode & 0o777).toBe(0o755)
    for (const name of ['native/lib', 'native/bin']) await chmod(join(folder, name), 0o755)
  })

  test('that are not installed are named in the error', () => {
    expect(() => binariesPackage('plan9-mips')).toThrow(/no bundled PostgreSQL for plan9-mips.*DATABASE_URL/)
  })
})
