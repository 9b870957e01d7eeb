import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { networks } from '../../src/core/networks.ts'
import { stepsOf } from '../../src/records/steps/store.ts'
import { selfSigned } from '../support/certificate.ts'
import { runCli, type Started, startCli } from '../support/cli.ts'
import { scrape } from '../support/metrics.ts'
import { eventually, until } from '../support/wait.ts'
import { chainTest as test } from './chain-test.ts'
import { randomAddress } from './evm-stage.ts'
import { awaitHoldings } from './held.ts'
import { openProductionStage, type ProductionNode, type ProductionStage } from './production-stage.ts'
import { dumpTables, spellingsOf } from './secrets.ts'

/**
 * A service without a key, and `trilho signer`, each a process of its own. The service pays on an anvil chain. The signer is away, killed
 * between its log and its answer, cut off from its client, and started with what an intruder would have.
 */
let stage: ProductionStage
let folder: string
let data_dir: string
let socket: string
let log_dir: string
let seal_key: string
let node: ProductionNode
const signers: Started[] = []

const readyText = 'The signer is ready at '

async function startSigner(more: Record<string, string> = {}): Promise<Started & { url: string }> {
  const signer = await startCli(['signer'], {
    ...{ SIGNER_LISTEN: `unix:${socket}`, SIGNER_LOG_DIR: log_dir, SIGNER_SEAL_KEY: seal_key },
    ...{ EVM_WALLET_KEY: stage.key, POLYGON_USDT: stage.placeOf('polygon').token.contract, ...more },
  })
  signers.push(signer)
  await until(() => signer.out().includes(readyText) || signer.process.exitCode !== null, 60_000)
  if (!signer.out().includes(readyText)) throw new Error(`the signer ended: ${signer.out()}${signer.err()}`)
  return { ...signer, url: /The signer is ready at (\S+)/.exec(signer.out())![1]! }
}

async function stopSigners(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  for (const { process: child, ended } of signers.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await ended
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trilho-remote-signer-'))
  data_dir = join(folder, 'service')
  socket = join(folder, 'signer.sock')
  log_dir = join(folder, 'signer')
  stage = await openProductionStage({
    ...{ networks: ['polygon'], endpoints: 2 },
    env: { EVM_WALLET_KEY: '', SIGNER_URL: `unix:${socket}`, DATA_DIR: data_dir },
  })
  node = await stage.start()
  await awaitHoldings(stage.placeOf('polygon').node, stage.database.url)
  const written = await runCli(['signer', 'seal-key', '--to', join(folder, 'seal-key')], stage.env)
  expect([written.code, written.err]).toEqual([0, ''])
  seal_key = (await readFile(join(folder, 'seal-key'), 'utf8')).trim()
})
afterEach(() => stopSigners())
afterAll(async () => {
  await stage?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** While the figures of the wallet are older than a minute the rail refuses, and the idempotency key stays free. */
async function order(url = node.url) {
  const api = stage.client(url)
  const destination_address = randomAddress()
  const asked = {
    ...{ customer_id: await stage.customer(20_000_000n), asset: 'USDT', network: 'polygon' },
    ...{ amount: '5000000', destination_address, idempotency_key: randomBytes(8).toString('hex') },
  }
  const made = await eventually(async () => {
    const answer = await api.post('/v1/onchain/transfers', asked)
    expect(answer.status).toBe(201)
    return answer
  })
  const id = made.json.id as string
  return {
    ...{ id, destination_address },
    status: async () => (await api.get(`/v1/onchain/transfers/${id}`)).json.status as string,
  }
}
type Ordered = Awaited<ReturnType<typeof order>>

/** The reasons that the service recorded for waiting. */
const waitedFor = async ({ id }: Ordered) =>
  (await stepsOf(stage.worlds.production.db, id)).map(({ said }) => said)

async function confirmed(ordered: Ordered): Promise<void> {
  const { node: chain, token } = stage.placeOf('polygon')
  await eventually(
    async () => {
      await stage.hurry()
      await chain.mine(networks.polygon.confirmations)
      expect(await ordered.status()).toBe('confirmed')
    },
    { timeout: 240_000, interval: 500 },
  )
  expect(await token.balanceOf(ordered.destination_address)).toBe(5_000_000n)
}

const linesOf = ({ id }: Ordered) =>
  readFileSync(join(log_dir, 'signatures.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"${id}"`))
    .map((line) => JSON.parse(line))

const signerOf = async (url = node.url) =>
  ((await (await fetch(`${url}/readyz`)).json()) as { details?: { signer?: string } }).details?.signer

describe('a service whose signer is a process of its own', () => {
  test('takes orders while the signer is away, says why they wait, and pays when it is back', async () => {
    const ordered = await order()
    await eventually(async () => expect(await waitedFor(ordered)).toContain('later signer_unavailable'))
    expect(await ordered.status()).toBe('pending')
    await eventually(async () => expect(await signerOf()).toBe('unavailable'))
    expect(await scrape(node.url)).toContain('trilho_signer_up{environment="production"} 0')
    const checked = await runCli(['rails', 'check', '--json'], stage.env)
    expect(checked).toMatchObject({ code: 1, json: { ok: false, signer: { log_head: null } } })

    await startSigner()
    await confirmed(ordered)
    expect(linesOf(ordered)).toMatchObject([{ purpose: 'pay', destination: ordered.destination_address }])
    await eventually(async () => expect(await signerOf()).toBe('ready'))
    expect(await scrape(node.url)).toContain('trilho_signer_up{environment="production"} 1')
    expect(await runCli(['signer', 'check'], stage.env)).toMatchObject({ code: 0 })
    expect(await runCli(['rails', 'check'], stage.env)).toMatchObject({ code: 0 })
  }, 400_000)

  test('pays once when the signer is killed between its log and its answer', async () => {
    const dying = await startSigner({ CRASH_AT: 'after_signer_log' })
    const ordered = await order()
    await stage.hurry()
    expect((await dying.ended).signal).toBe('SIGKILL')
    const [logged] = linesOf(ordered)
    expect(logged).toMatchObject({ kind: 'transfer', purpose: 'pay' })
    expect(await ordered.status()).toBe('pending')
    // The killed process leaves its socket and its lock behind.
    await startSigner()
    await confirmed(ordered)
    const lines = linesOf(ordered)
    expect(new Set(lines.map(({ nonce }) => nonce)).size).toBe(1)
    expect(
      lines.every(({ destination, amount }) => destination === logged.destination && amount === '5000000'),
    ).toBe(true)
  }, 400_000)

  test('pays once when the answer with the signature is lost', async () => {
    const far = join(folder, 'far.sock')
    await startSigner({ SIGNER_LISTEN: `unix:${far}` })
    const cut = await startCutter(socket, far)
    try {
      const ordered = await order()
      await eventually(() => expect(cut.lost()).toBe(1), { timeout: 240_000 })
      await confirmed(ordered)
      expect(new Set(linesOf(ordered).map(({ nonce }) => nonce)).size).toBe(1)
    } finally {
      await cut.stop()
    }
  }, 400_000)

  test('asks no signer with another seal key, and says so', async () => {
    await startSigner({ SIGNER_SEAL_KEY: randomBytes(32).toString('hex') })
    const checked = await runCli(['signer', 'check'], stage.env)
    expect(checked).toMatchObject({ code: 1 })
    expect(checked.out).toContain('another seal key')
    const ordered = await order()
    await eventually(async () => expect(await waitedFor(ordered)).toContain('later signer_unavailable'))
    expect(linesOf(ordered)).toEqual([])
    await stopSigners()
    await startSigner()
    await confirmed(ordered)
  }, 400_000)

  test('has no key on its disk, in its database, its environment or its output', async () => {
    await startSigner()
    const places = [
      await dumpTables(stage.database.url),
      node.output(),
      readFileSync(`/proc/${node.process.pid}/environ`, 'latin1'),
      Object.entries(stage.env).join('\n'),
      ...filesIn(data_dir),
    ]
    // With DATABASE_URL everything that the service keeps is in the tables: its folder is empty, or not even made.
    const secret = Buffer.from(stage.key, 'hex')
    const spellings = [...spellingsOf(secret), secret.toString('latin1')]
    for (const place of places) for (const spelling of spellings) expect(place.includes(spelling)).toBe(false)
    // The same search finds the key where it is.
    const signer = signers.at(-1)!
    expect(readFileSync(`/proc/${signer.process.pid}/environ`, 'latin1')).toContain(stage.key)
    expect(readFileSync(join(log_dir, 'signatures.jsonl'), 'latin1')).not.toContain(stage.key)
  })

  test('a second service with the whole disk and database of the first moves no coin without the signer', async () => {
    const ordered = await order()
    const copy = await stage.start()
    await eventually(async () => expect(await signerOf(copy.url)).toBe('unavailable'))
    await eventually(async () => {
      await stage.hurry()
      expect(await waitedFor(ordered)).toContain('later signer_unavailable')
    })
    const { rows } = await stage.worlds.production.db.query(
      'SELECT FROM transactions WHERE transfer_id = $1',
      [ordered.id],
    )
    expect(rows).toEqual([])
    await copy.kill('SIGKILL')
    await startSigner()
    await confirmed(ordered)
    expect((await stage.audit()).production.findings).toEqual([])
  }, 400_000)
})

describe('over TCP', () => {
  const server = selfSigned('127.0.0.1')
  const client = selfSigned('trilho')
  const pem = ({ cert, key }: { cert: string; key: string }) => `${cert}\n${key}`

  test('a service pays with its certificate, and is refused with another', async () => {
    const { url } = await startSigner({
      ...{ SIGNER_LISTEN: '127.0.0.1:0', SIGNER_CERTIFICATE: pem(server), SIGNER_CLIENTS_CA: client.cert },
    })
    const env = { SIGNER_URL: url, SIGNER_CA: server.cert, SIGNER_CLIENT_CERTIFICATE: pem(client) }
    await node.kill('SIGKILL')
    const stranger = await stage.start({ ...env, SIGNER_CLIENT_CERTIFICATE: pem(selfSigned('trilho')) })
    const ordered = await order(stranger.url)
    await eventually(async () => expect(await waitedFor(ordered)).toContain('later signer_unavailable'))
    expect(linesOf(ordered)).toEqual([])
    await stranger.kill('SIGKILL')
    node = await stage.start(env)
    await confirmed({ ...ordered, status: statusBy(node.url, ordered.id) })
  }, 400_000)
})

const statusBy = (url: string, id: string) => async () =>
  (await stage.client(url).get(`/v1/onchain/transfers/${id}`)).json.status as string

describe('a log that was tampered with', () => {
  test('stops the start, with the number of the line, and is found by trilho signer verify-log', async () => {
    const file = join(log_dir, 'signatures.jsonl')
    const env = { SIGNER_LOG_DIR: log_dir }
    const whole = await runCli(['signer', 'verify-log', '--json'], env)
    expect(whole).toMatchObject({ code: 0, json: { ok: true } })
    const text = await readFile(file, 'utf8')
    const shorter = text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)
    await writeFile(file, shorter)
    const moved = join(folder, 'moved')
    await mkdir(moved)
    await writeFile(join(moved, 'signatures.jsonl'), shorter)
    // Without the head beside it the shorter log is whole, unless a head was noted elsewhere.
    const elsewhere = ['signer', 'verify-log', '--dir', moved]
    expect(await runCli(elsewhere, {})).toMatchObject({ code: 0 })
    expect(await runCli([...elsewhere, '--head', whole.json.head], {})).toMatchObject({ code: 1 })
    expect(await runCli(['signer', 'verify-log', '--dir', join(folder, 'nowhere')], {})).toMatchObject({
      code: 1,
    })
    expect(await runCli(['signer', 'verify-log'], env)).toMatchObject({ code: 1 })
    expect(await runCli(['signer', 'verify-log', '--head', whole.json.head], env)).toMatchObject({
      code: 1,
    })
    await expect(startSigner()).rejects.toThrow(/broken after line/)
    await writeFile(file, text.replace('"amount":"5000000"', '"amount":"5000001"'))
    await expect(startSigner()).rejects.toThrow(/broken at line \d+: it does not have the hash/)
    expect(await runCli(['signer', 'verify-log'], env)).toMatchObject({ code: 1 })
    await writeFile(file, text)
    await startSigner()
  })
})

function filesIn(place: string): string[] {
  try {
    return readdirSync(place, { withFileTypes: true, recursive: true }).flatMap((entry) =>
      entry.isFile() ? [readFileSync(join(entry.parentPath, entry.name), 'latin1')] : [],
    )
  } catch {
    return []
  }
}

/** Hands everything on, but the answer to the first request for a signature, which it loses with the connection. */
async function startCutter(path: string, to: string) {
  let lost = 0
  const sockets = new Set<Socket>()
  await rm(path, { force: true })
  const server = createServer((near) => {
    const far = connect(to)
    let loses = false
    for (const one of [near, far]) {
      sockets.add(one)
      one.on('error', () => {}).on('close', () => sockets.delete(one))
    }
    near.on('data', (chunk) => {
      if (chunk.includes('POST /v1/sign ') && lost === 0) loses = true
      far.write(chunk)
    })
    far.on('data', (chunk) => {
      if (!loses) return void near.write(chunk)
      lost += 1
      near.destroy()
      far.destroy()
    })
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    lost: () => lost,
    async stop() {
      for (const one of sockets) one.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
