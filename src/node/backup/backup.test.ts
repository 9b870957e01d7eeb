import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Api, openApi } from '../../../test/support/api.ts'
import { runCli, startCli } from '../../../test/support/cli.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { type EmbeddedService, startEmbeddedService } from '../../../test/support/embedded-service.ts'
import { type Acknowledged, openPayers } from '../../../test/support/payers.ts'
import { noteFact } from '../../../test/support/proof.ts'
import { someCpf } from '../../../test/support/service.ts'
import { size } from '../../../test/support/size.ts'
import { until } from '../../../test/support/wait.ts'
import { readConfig } from '../config.ts'
import { createBackup } from './create.ts'
import { copyFile } from './files.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { restoreBackup } from './restore.ts'
import { verifyBackup } from './verify.ts'

vi.setConfig({ testTimeout: size(600_000, 300_000) })

/** Payouts go on while a backup is taken: payouts that were acknowledged before are in it, and the audit holds. */
let folder: string
let service: EmbeddedService
let key: string
let customer_id: string
const pix_key = someCpf()
const quietly = () => {}
const place = (name: string) => join(folder, name)

const PAYERS = size(16, 4)
const BEFORE = size(2000, 20)
const ROUNDS = size(3, 1)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trilho-backup-'))
  // PostgreSQL may run as another user.
  await chmod(folder, 0o755)
  service = await startEmbeddedService(place('data'))
  const made = await service.partner()
  key = made.key
  customer_id = (await made.api.post('/v1/customers', { name: 'Ana', document: pix_key })).json.id
  await made.api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '100000000' })
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})

const slots = () => asAdmin(service.database.url, ['SELECT slot_name FROM pg_replication_slots'])

/** Backs up while payouts are made. Returns those that were acknowledged before it began. */
async function backUpUnderLoad(to: string, prefix: string, before: number) {
  const payers = openPayers({
    nodes: [service.url],
    key,
    customer_id,
    pix_key,
    payers: PAYERS,
    pause_ms: size(5, 150),
    prefix,
  })
  try {
    await until(() => payers.acknowledged.length >= before, 60_000)
    const acknowledged = [...payers.acknowledged]
    const manifest = await createBackup(service.config, to, quietly)
    return { acknowledged, manifest, meanwhile: payers.acknowledged.length - acknowledged.length }
  } finally {
    await payers.stop()
  }
}

describe('a backup under load', () => {
  let acknowledged: readonly Acknowledged[]
  let manifest: Manifest
  let cursor: string
  /** A deposit address that the backup does not have. */
  let forgotten: string

  const newAddress = async (api: Api): Promise<string> => {
    const { id } = (await api.post('/v1/customers', { name: 'Ivo', document: someCpf() })).json
    return (await api.post(`/v1/customers/${id}/deposit_addresses`, { network: 'polygon' })).json.address
  }

  test('is taken while payouts go on, and leaves no slot behind', async () => {
    await newAddress(openApi(service.url, key))
    for (let round = 1; round <= ROUNDS; round++) {
      const taken = await backUpUnderLoad(place(`backup-${round}`), `r${round}`, BEFORE / ROUNDS)
      expect(taken.meanwhile).toBeGreaterThan(0)
      ;({ acknowledged, manifest } = taken)
      noteFact(
        `Backup ${round}: ${manifest.files.length} files, ${taken.acknowledged.length} payouts acknowledged before it and ${taken.meanwhile} while it was taken`,
      )
    }
    expect(await slots()).toEqual([])
    forgotten = await newAddress(openApi(service.url, key))
    expect(manifest).toEqual((await readManifest(place(`backup-${ROUNDS}`), service.config)).manifest)
    expect(manifest.counts.sandbox!.payouts).toBeGreaterThanOrEqual(acknowledged.length)
    // A reader of the log reads positions that were assigned after the backup.
    const api = openApi(service.url, key)
    let last: string
    for (let n = 0; n < 20 + PAYERS; n++)
      last = (await api.post('/v1/customers', { name: 'Eva', document: someCpf() })).json.id
    const newest = async () => (await api.get('/v1/events?limit=1')).json.data[0].data.object.id
    await until(async () => (await newest()) === last, 20_000)
    cursor = (await api.get('/v1/events?after=now')).json.next_cursor
  })

  test('is verified: every file is unchanged, and the audit holds', async () => {
    const problems: string[] = []
    for (let round = 1; round <= ROUNDS; round++) {
      const verified = await verifyBackup(service.config, place(`backup-${round}`), quietly)
      problems.push(...verified.problems)
      expect(verified.audit.map(({ environment, ok }) => ({ environment, ok }))).toEqual([
        { environment: 'production', ok: true },
        { environment: 'sandbox', ok: true },
      ])
      expect(verified.audit[1]!.entries).toBeGreaterThan(0n)
    }
    expect(problems).toEqual([])
    noteFact(`${ROUNDS} backups verified: each file compared, started, audited without a finding`)
  })

  test('has every payout that was acknowledged before it, to the byte, once it is restored', {
    timeout: 600_000,
  }, async () => {
    const to = place('restored')
    const SECRET_KEY = service.secret_key.toString('hex')
    const restored = await restoreBackup(
      readConfig({ DATA_DIR: to, SECRET_KEY }),
      { dir: place(`backup-${ROUNDS}`), to },
      quietly,
    )
    expect(restored.problems).toEqual([])
    expect(existsSync(place('restored/secret.key'))).toBe(true)
    // Two services with the same origin cannot run on one machine at the same time.
    if (process.platform === 'linux') {
      const refused = await runCli(['serve'], { DATA_DIR: to, PORT: '0' })
      expect(refused.err).toContain(`A service runs on this machine on ${service.config.data_dir}`)
      expect(refused.code).toBe(1)
    }
    await service.stop()
    const again = await startEmbeddedService(to)
    try {
      expect((await again.audit()).sandbox.findings).toEqual([])
      const api = openApi(again.url, key)
      for (const { order, body } of acknowledged)
        expect((await api.post('/v1/pix/payouts', order)).text).toBe(body)
      noteFact(`${acknowledged.length} acknowledged payouts replayed after a restore: the same bytes`)

      // The customer with the highest index gets an address on a further network first.
      const [known] = await asAdmin(again.database.url, ['SELECT customer_id FROM sandbox.deposit_addresses'])
      const further = { network: 'arbitrum' }
      expect((await api.post(`/v1/customers/${known!.customer_id}/deposit_addresses`, further)).status).toBe(
        201,
      )
      const taken = await newAddress(api)
      expect(taken, 'the address of another customer, handed out after the backup').not.toBe(forgotten)
      const indexes = await asAdmin(again.database.url, [
        'SELECT address_index FROM sandbox.deposit_addresses ORDER BY address_index',
      ])
      expect(indexes).toEqual([{ address_index: 0 }, { address_index: 0 }, expect.anything()])
      const { address_index: next } = indexes[2]!
      expect([Number(next) > 1000, Number(next) % 1000]).toEqual([true, 1])

      // The reader that was ahead of the backup gets the next events.
      const { id } = (await api.post('/v1/customers', { name: 'Bea', document: someCpf() })).json
      const heard = async () =>
        (await api.get(`/v1/events?limit=100&after=${cursor}`)).json.data.map(
          ({ data }: any) => data.object.id,
        )
      await until(async () => (await heard()).includes(id), 20_000)
    } finally {
      await again.stop()
      service = await startEmbeddedService(place('data'))
    }
  })
})

describe('a damaged backup is detected', () => {
  const backup = () => place(`backup-${ROUNDS}`)

  test('a changed byte, a missing file, an additional file', async () => {
    const { files } = (await readManifest(backup(), service.config)).manifest
    const table = files.find(({ path, bytes }) => path.startsWith('database/base/') && bytes > 8192)!.path
    const bytes = await readFile(join(backup(), table))
    await writeFile(join(backup(), table), bytes.with(9000 % bytes.length, bytes[9000 % bytes.length]! ^ 1))
    await rename(join(backup(), 'database/global/pg_control'), place('aside'))
    await writeFile(join(backup(), 'database/standby.signal'), '')
    const { code, json } = await runCli(['backup', 'verify', backup(), '--json'], { DATA_DIR: place('data') })
    expect(code).toBe(1)
    expect(json).toMatchObject({
      ok: false,
      problems: [
        `${table} was changed`,
        'database/global/pg_control is missing',
        'database/standby.signal does not belong to the backup',
      ],
    })
    await writeFile(join(backup(), table), bytes)
    await rename(place('aside'), join(backup(), 'database/global/pg_control'))
    await rm(join(backup(), 'database/standby.signal'))
  })

  test('a changed manifest, a missing key', async () => {
    const other = readConfig({ SECRET_KEY: '11'.repeat(32) })
    await expect(verifyBackup(other, backup(), quietly)).rejects.toThrow(/needs the secret key [0-9a-f]{16}/)
    const none = readConfig({ DATA_DIR: place('nowhere') })
    await expect(verifyBackup(none, backup(), quietly)).rejects.toThrow(/given is none/)
    const to = place('refused')
    await expect(restoreBackup(none, { dir: backup(), to }, quietly)).rejects.toThrow(/given is none/)
    expect(existsSync(to) || existsSync(place('nowhere'))).toBe(false)
    const text = await readFile(join(backup(), 'backup.json'), 'utf8')
    await writeFile(join(backup(), 'backup.json'), text.replace('"entries": ', '"entries": 1'))
    await expect(verifyBackup(service.config, backup(), quietly)).rejects.toThrow(
      /was changed after it was written/,
    )
    await writeFile(join(backup(), 'backup.json'), text)
  })

  test('an aborted verification leaves nothing behind, at whatever stage', async () => {
    const temporary = place('temporary')
    await mkdir(temporary)
    vi.stubEnv('TMPDIR', temporary)
    onTestFinished(() => void vi.unstubAllEnvs())
    const env = { DATA_DIR: place('data') }
    const verify = (signal: AbortSignal) => runCli(['backup', 'verify', backup()], env, { signal })
    expect(await verify(AbortSignal.abort('SIGTERM'))).toMatchObject({ code: 143, out: '', err: '' })
    expect(readdirSync(temporary)).toEqual([])
    // Abort while the restored database is running.
    const later = new AbortController()
    const verifying = verify(later.signal)
    await until(
      () => readdirSync(temporary).some((name) => existsSync(join(temporary, name, 'data/connection.json'))),
      30_000,
    )
    later.abort('SIGINT')
    expect(await verifying).toMatchObject({ code: 130, out: '', err: '' })
    expect(readdirSync(temporary)).toEqual([])
  })

  test('a backup that was killed half-way is refused, and left no slot', async () => {
    const to = place('killed')
    const command = await startCli(['backup', 'create', to], { DATA_DIR: place('data') })
    await until(async () => (await slots()).length === 1, 30_000)
    command.process.kill('SIGKILL')
    await command.ended
    await until(async () => (await slots()).length === 0, 20_000)
    await expect(verifyBackup(service.config, to, quietly)).rejects.toThrow(/holds no whole backup/)
    await expect(restoreBackup(service.config, { dir: to, to: place('x') }, quietly)).rejects.toThrow(
      /holds no whole backup/,
    )
    await expect(createBackup(service.config, to, quietly)).rejects.toThrow(/is not empty/)
  })
})

test.runIf(existsSync('/proc/self/fd'))('a file that cannot be copied is not held open', async () => {
  await writeFile(place('one'), '1')
  await writeFile(place('two'), '2')
  await expect(copyFile(place('one'), place('two'), { lasting: false })).rejects.toThrow(/EEXIST/)
  const open = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      return [] // the one that lists them
    }
  })
  expect(open).not.toContain(place('one'))
})

test('a backup refuses a target in the data folder, another server and a missing database; a restore refuses a full folder', async () => {
  const inside = join(service.config.data_dir, 'backup')
  await expect(createBackup(service.config, inside, quietly)).rejects.toThrow(/lies in the data folder/)
  const own = readConfig({ DATABASE_URL: 'postgresql://a@b/c', SECRET_KEY: '00'.repeat(32) })
  await expect(createBackup(own, place('own'), quietly)).rejects.toThrow(/pg_basebackup/)
  const nothing = readConfig({ DATA_DIR: place('nothing') })
  await expect(createBackup(nothing, place('none'), quietly)).rejects.toThrow(/There is no database in/)
  await mkdir(place('full'))
  await writeFile(place('full/note'), 'mine')
  await expect(
    restoreBackup(service.config, { dir: place(`backup-${ROUNDS}`), to: place('full') }, quietly),
  ).rejects.toThrow(/is not empty/)
  expect(['own', 'none', 'nothing'].filter((name) => existsSync(place(name)))).toEqual([])
})

test('a stopped service can be backed up too', async () => {
  await service.stop()
  const { code, out } = await runCli(['backup', 'create', place('cold')], { DATA_DIR: place('data') })
  expect(code).toBe(0)
  expect(out).toContain('is not in it')
  expect(
    (await readManifest(place('cold'), service.config)).manifest.counts.sandbox!.customers,
  ).toBeGreaterThan(20)
  expect(existsSync(join(place('data'), 'connection.json'))).toBe(false)
  service = await startEmbeddedService(place('data'))
})

test('no service starts on the folder that a restore replaces, until it is unmarked', {
  timeout: 600_000,
}, async () => {
  const env = { DATA_DIR: place('data') }
  const look = await runCli(['backup', 'restore', place('cold'), '--to', place('look'), '--yes'], env)
  expect(look.code, look.err).toBe(0)
  await service.stop()
  const started = (data_dir: string) => runCli(['serve'], { DATA_DIR: data_dir, PORT: '0' })
  const onLook = await started(place('look'))
  expect(onLook.err).toMatch(
    /it was restored at \S+ to look at only, while a service ran on \S+data\. Two services/,
  )
  expect(onLook.code).toBe(1)
  expect((await runCli(['audit'], { DATA_DIR: place('look') })).code).toBe(0)

  // A folder with another origin is not marked.
  const other = await startEmbeddedService(place('other'))
  await other.stop()
  const SECRET_KEY = service.secret_key.toString('hex')
  const apart = ['backup', 'restore', place('cold'), '--to', place('apart')]
  expect((await runCli(apart, { DATA_DIR: place('other'), SECRET_KEY })).code).toBe(0)
  expect(existsSync(place('other/superseded.json'))).toBe(false)

  const restored = await runCli(['backup', 'restore', place('cold'), '--to', place('next')], env)
  expect(restored.out).toContain(`No service starts on ${place('data')} any more`)
  const onOld = await started(place('data'))
  expect(onOld.err).toMatch(
    /a backup of its database was restored into \S+next at .*trilho database unmark --yes/s,
  )
  expect(onOld.code).toBe(1)
  expect(existsSync(place('next/superseded.json'))).toBe(false)
  expect((await runCli(['database', 'unmark'], env)).code).not.toBe(0)
  const unmarked = await runCli(['database', 'unmark', '--yes'], env)
  expect([unmarked.code, unmarked.out]).toEqual([0, expect.stringContaining('was restored into')])
  expect((await runCli(['database', 'unmark', '--yes'], env)).out).toContain('is not marked')
  service = await startEmbeddedService(place('data'))
})
