import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { tronAddressOfKey } from '../../src/rails/chain/tron/address.ts'
import { stepsOf } from '../../src/records/steps/store.ts'
import { openApi } from '../support/api.ts'
import { runCli, type Started, startCli } from '../support/cli.ts'
import { asAdmin, createDatabase } from '../support/database.ts'
import { scrape } from '../support/metrics.ts'
import { openDesk } from '../support/operators.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from '../support/service.ts'
import { eventually, until } from '../support/wait.ts'
import { dumpTables, spellingsOf, spellingsOfText } from './secrets.ts'
import { startTronStub, type TronStub } from './tron-stub.ts'

/** A service without a key pays USDT on a stub of Tron through `trilho signer`, a process of its own. */
const TRANSFERS = '/v1/onchain/transfers'
const PATIENT = { timeout: 300_000, interval: 250 }
const FUNDED = 1_000_000_000n
const LEASE_MS = 6000
const AMOUNT = 25_000_000n

const key = createHash('sha256').update(randomBytes(8)).digest('hex')
const wallet = tronAddressOfKey(Buffer.from(key, 'hex'))
const signers: Started[] = []

let folder: string
let stub: TronStub
let direct: ReturnType<typeof openDirectAccess>
let env: Record<string, string>
let partner: Awaited<ReturnType<typeof direct.partner>>
let customer_id: string
let server: Awaited<ReturnType<typeof spawnServer>>

async function startSigner(more: Record<string, string> = {}): Promise<Started> {
  const signer = await startCli(['signer'], {
    ...{ SIGNER_LISTEN: `unix:${join(folder, 'signer.sock')}`, SIGNER_LOG_DIR: join(folder, 'log') },
    ...{ SIGNER_SEAL_KEY_FILE: join(folder, 'seal-key'), TRON_WALLET_KEY: key, ...more },
  })
  signers.push(signer)
  await until(
    () => signer.out().includes('The signer is ready at ') || signer.process.exitCode !== null,
    60_000,
  )
  if (signer.process.exitCode !== null) throw new Error(`the signer ended: ${signer.out()}${signer.err()}`)
  return signer
}

async function stopSigners(): Promise<void> {
  for (const { process: child, ended } of signers.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await ended
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trilho-remote-tron-'))
  stub = await startTronStub({ nodes: 2, solid_depth: 1 })
  stub.fund(wallet, { tokens: FUNDED, sun: 500_000_000n })
  stub.mine(3)
  stub.mineEvery(1000)
  direct = openDirectAccess(await createDatabase())
  env = testEnv(direct.database.url, {
    ...{ TRON_RPC: stub.nodes.map(({ url }) => url).join(', '), TRON_GENESIS: stub.genesis },
    ...{ SIGNER_URL: `unix:${join(folder, 'signer.sock')}`, TRON_WALLET: wallet, TRON_EXPIRY_S: '10' },
    ...{ LEASE_MS: String(LEASE_MS), RAIL_TIMEOUT_MS: '2000', LOG_LEVEL: 'debug' },
  })
  const world = direct.worlds.production
  const { propose, approve } = openDesk(() => direct.office)
  const byTwo = async (action: Parameters<typeof propose>[1]) => {
    const { id } = await propose(world, action, 'maria@operator.example')
    await approve(world, id, 'joao@operator.example')
  }
  partner = await direct.partner('', { environment: 'production' })
  const { partner_id } = partner
  const move = { rail: 'tron', asset: 'USDT', direction: 'to_rail', amount: FUNDED.toString() } as const
  await byTwo({ name: 'move_custody', details: { ...move, reason: 'bought', reference: 'first' } })
  customer_id = (await addCustomer(world, { partner_id, name: 'Ana Souza', document: someCpf() })).id
  const credit = { partner_id, customer_id, asset: 'USDT', amount: '400000000' } as const
  await byTwo({ name: 'credit', details: { ...credit, reason: 'funding', reference: 'second' } })
  server = await spawnServer(env)
  const written = await runCli(['signer', 'seal-key', '--to', join(folder, 'seal-key')], env)
  expect([written.code, written.err]).toEqual([0, ''])
}, 300_000)
afterEach(stopSigners)
afterAll(async () => {
  await server?.kill('SIGKILL')
  await direct?.stop()
  await stub?.stop()
  await rm(folder, { recursive: true, force: true })
})

type Ordered = { readonly id: string; readonly destination_address: string }

/** Until the blocks and the wallet are read the rail refuses, and the idempotency key stays free. */
async function order(): Promise<Ordered> {
  const destination_address = tronAddressOfKey(randomBytes(32))
  const asked = {
    ...{ customer_id, asset: 'USDT', network: 'tron', amount: AMOUNT.toString(), destination_address },
    idempotency_key: randomBytes(8).toString('hex'),
  }
  const api = openApi(server.url, partner.key)
  return eventually(async () => {
    const answer = await api.post(TRANSFERS, asked)
    expect(answer).toMatchObject({ status: 201 })
    return { id: answer.json.id as string, destination_address }
  }, PATIENT)
}

async function transferOf({ id }: Ordered) {
  const { rows } = await direct.worlds.production.db.query(
    `SELECT t.status, t.nonce, (SELECT count(*)::integer FROM transactions x WHERE x.transfer_id = t.id) AS made FROM transfers t WHERE t.id = $1`,
    [id],
  )
  return rows[0]
}

const hurry = () =>
  asAdmin(direct.database.url, [
    `UPDATE live.transfers SET next_attempt_at = now() WHERE status IN ('pending', 'processing')
      AND next_attempt_at > now() + interval '${LEASE_MS + 500} ms'`,
  ])

const reaches = (ordered: Ordered, wanted: object) =>
  eventually(async () => {
    await hurry()
    expect(await transferOf(ordered)).toMatchObject(wanted)
  }, PATIENT)

const waitedFor = async ({ id }: Ordered) =>
  (await stepsOf(direct.worlds.production.db, id)).map(({ said }) => said)

const linesOf = ({ id }: Ordered) =>
  readFileSync(join(folder, 'log', 'signatures.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"${id}"`))
    .map((line) => JSON.parse(line))

async function paidOnce(ordered: Ordered): Promise<void> {
  await reaches(ordered, { status: 'confirmed' })
  expect(stub.balanceOf(ordered.destination_address)).toBe(AMOUNT)
  expect(stub.mined().filter(({ to }) => to === ordered.destination_address)).toHaveLength(1)
}

describe('a service whose signer has the key of Tron', () => {
  test('takes orders while the signer is away, and pays each once when it is back', async () => {
    const ordered = await order()
    await eventually(async () => {
      await hurry()
      expect(await waitedFor(ordered)).toContain('later signer_unavailable')
    }, PATIENT)
    expect(await transferOf(ordered)).toMatchObject({ status: 'pending', nonce: null, made: 0 })
    expect(await scrape(server.url)).toContain('trilho_signer_up{environment="production"} 0')

    await startSigner()
    await paidOnce(ordered)
    expect(linesOf(ordered)).toMatchObject([
      { kind: 'transfer', network: 'tron', purpose: 'pay', destination: ordered.destination_address },
    ])
    expect(await runCli(['signer', 'check'], env)).toMatchObject({ code: 0 })
    expect(await runCli(['rails', 'check'], env)).toMatchObject({ code: 0 })
  }, 400_000)

  test('pays once, with the bytes that were logged, when the signer is killed between its log and its answer', async () => {
    const dying = await startSigner({ CRASH_AT: 'after_signer_log' })
    const ordered = await order()
    await eventually(async () => {
      await hurry()
      expect(dying.process.signalCode).toBe('SIGKILL')
    }, PATIENT)
    expect(linesOf(ordered)).toHaveLength(1)
    expect(await transferOf(ordered)).toMatchObject({ status: 'pending', made: 0 })
    await startSigner()
    await paidOnce(ordered)
    // The same bytes if they could still be mined, or others that were asked for with the name of the first.
    const hashes = linesOf(ordered).map(({ tx_hash }) => tx_hash)
    expect(new Set(hashes).size).toBe(hashes.length)
  }, 600_000)

  test('that restored its database is refused a second payment by name, and fails nothing', async () => {
    await startSigner()
    const ordered = await order()
    await paidOnce(ordered)
    // Everything that the database knows of the payment is lost, as in a backup of the minute before.
    await asAdmin(direct.database.url, [
      'SET search_path = live; SET session_replication_role = replica',
      `DELETE FROM transactions WHERE transfer_id = '${ordered.id}'`,
      `DELETE FROM drafts WHERE transfer_id = '${ordered.id}'`,
      `UPDATE transfers SET status = 'pending', completed_at = NULL, tx_hash = NULL, signed_transaction = NULL, next_attempt_at = now()
        WHERE id = '${ordered.id}'`,
      `INSERT INTO open_transfers (partner_id, followed, created_at, id, status, next_attempt_at, network)
        SELECT partner_id, false, created_at, id, status, next_attempt_at, network FROM transfers WHERE id = '${ordered.id}'
        ON CONFLICT DO NOTHING`,
    ])
    const [logged] = linesOf(ordered)
    await eventually(async () => {
      await hurry()
      const { rows } = await direct.worlds.production.db.query(
        `SELECT details ->> 'problem' AS problem FROM exceptions WHERE object_id = $1`,
        [ordered.id],
      )
      expect(rows).toContainEqual({
        problem: expect.stringContaining(`its payment ${logged.tx_hash} was signed before`),
      })
    }, PATIENT)
    expect(await transferOf(ordered)).toMatchObject({ status: 'pending', made: 0 })
    expect(linesOf(ordered)).toHaveLength(1)
    expect(stub.balanceOf(ordered.destination_address)).toBe(AMOUNT)
    expect(await scrape(server.url)).toMatch(
      /trilho_signer_refusals_total\{rule="earlier_payments".*\} [1-9]/,
    )
  }, 600_000)

  test('has no key on its disk, in its database, its environment or its output', async () => {
    const signer = await startSigner()
    const places = [
      await dumpTables(direct.database.url),
      server.output(),
      readFileSync(`/proc/${server.process.pid}/environ`, 'latin1'),
      Object.values(env).join('\n'),
    ]
    const secrets = [...spellingsOf(Buffer.from(key, 'hex')), ...spellingsOfText(key)]
    for (const place of places) for (const secret of secrets) expect(place.includes(secret)).toBe(false)
    expect(readFileSync(`/proc/${signer.process.pid}/environ`, 'latin1')).toContain(key)
    expect(await readFile(join(folder, 'log', 'signatures.jsonl'), 'latin1')).not.toContain(key)
  })
})
