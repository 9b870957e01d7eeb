import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { HDKey } from '@scure/bip32'
import { afterEach, expect, test } from 'vitest'
import type { CrashPoint } from '../../src/core/crash-point.ts'
import { networks } from '../../src/core/networks.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { encodeAddress } from '../../src/rails/chain/deposit-addresses.ts'
import { tronAddressOfKey } from '../../src/rails/chain/tron/address.ts'
import { openApi } from '../support/api.ts'
import { runCli } from '../support/cli.ts'
import { createDatabase } from '../support/database.ts'
import { openDesk } from '../support/operators.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from '../support/service.ts'
import { eventually } from '../support/wait.ts'
import { SOLID_DEPTH } from './tron-deposit-stage.ts'
import { startTronStub } from './tron-stub.ts'

/** A server whose production world takes deposits of USDT on a stub of Tron, killed at each point of finding one. */
const PATIENT = { timeout: 300_000, interval: 250 }
const USDT = 1_000_000n
const FUNDED = 100n * USDT
const DEEP = networks.tron.confirmations

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function openStage() {
  const stub = await startTronStub({ nodes: 2, solid_depth: SOLID_DEPTH })
  closing.push(stub.stop)
  const key = createHash('sha256').update(randomBytes(8)).digest('hex')
  const wallet = tronAddressOfKey(Buffer.from(key, 'hex'))
  const account = HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/195'/0'")
  const payer = tronAddressOfKey(randomBytes(32))
  stub.fund(wallet, { tokens: FUNDED, sun: 500_000_000n })
  stub.fund(payer, { tokens: 1000n * USDT })
  stub.mine(2 * SOLID_DEPTH)
  stub.mineEvery(1000)
  const direct = openDirectAccess(await createDatabase())
  closing.push(direct.stop)
  const env = testEnv(direct.database.url, {
    ...{ TRON_RPC: stub.nodes.map(({ url }) => url).join(', '), TRON_GENESIS: stub.genesis },
    ...{ TRON_WALLET_KEY: key, TRON_WALLET: wallet, TRON_DEPOSIT_XPUB: account.publicExtendedKey! },
    ...{ LEASE_MS: '12000', RAIL_TIMEOUT_MS: '4000' },
  })
  const world = direct.worlds.production
  const start = async (more: Record<string, string> = {}) => {
    const server = await spawnServer({ ...env, ...more })
    closing.push(() => server.kill('SIGKILL'))
    return server
  }
  const { propose, approve } = openDesk(() => direct.office)
  const partner = await direct.partner('', { environment: 'production' })
  const move = { rail: 'tron', asset: 'USDT', direction: 'to_rail', amount: FUNDED.toString() } as const
  const details = { ...move, reason: 'bought', reference: 'first' }
  const { id } = await propose(world, { name: 'move_custody', details }, 'maria@operator.example')
  await approve(world, id, 'joao@operator.example')
  return {
    ...{ stub, wallet, account, payer, direct, world, partner },
    start,
    /** Undefined: it has found its work, and its end, before it was ready. */
    startDoomed: (point: CrashPoint) =>
      start({ CRASH_AT: point }).catch((error: Error) => {
        if (!/ended with SIGKILL/.test(error.message)) throw error
        return undefined
      }),
    async command(...args: readonly string[]) {
      const done = await runCli([...args, '--json'], env)
      expect(done, args.join(' ')).toMatchObject({ code: 0 })
      return JSON.parse(done.out)
    },
    pay: (from: string, to: string, amount: bigint, result: 'SUCCESS' | 'REVERT' = 'SUCCESS') =>
      stub.call({ moves: [{ from, to, amount }], result }),
  }
}

type Stage = Awaited<ReturnType<typeof openStage>>

async function openCustomer({ world, partner }: Stage, url: string) {
  const { partner_id } = partner
  const { id } = await addCustomer(world, { partner_id, name: 'Ana Souza', document: someCpf() })
  const api = openApi(url, partner.key)
  const made = await api.post(`/v1/customers/${id}/deposit_addresses`, { network: 'tron' })
  expect(made.status).toBe(201)
  return { customer_id: id, address: made.json.address as string }
}

/** Two comparisons in a row, at different blocks, find no difference. */
async function reconciled({ command }: Stage): Promise<void> {
  const heights = new Set<string>()
  await eventually(async () => {
    const [found] = (await command('reconcile')).data
    expect(found).toMatchObject({ rail: 'tron', difference: '0' })
    heights.add(found.block_height)
    expect(heights.size).toBeGreaterThanOrEqual(2)
  }, PATIENT)
}

test('deposits on Tron are credited once, whenever the server is killed; swept by hand, the books still match', async () => {
  const stage = await openStage()
  const { stub, account, payer, wallet, world } = stage
  const first = await stage.start()
  const ana = await openCustomer(stage, first.url)
  expect(ana.address).toBe(encodeAddress.tron(account.deriveChild(0).deriveChild(0).publicKey!))
  await eventually(async () => {
    const { rows } = await world.db.query(`SELECT 1 FROM deposit_scans WHERE network = 'tron'`)
    expect(rows).toHaveLength(1)
  }, PATIENT)
  await first.kill('SIGKILL')

  const paid: string[] = []
  for (const point of ['after_sighting', 'after_follow', 'after_position'] as const) {
    paid.push(stage.pay(payer, ana.address, 10n * USDT))
    stage.pay(payer, ana.address, 7n * USDT, 'REVERT')
    stub.mine(1)
    const doomed = await stage.startDoomed(point)
    if (doomed?.process.signalCode === null) await once(doomed.process, 'exit')
  }
  const api = openApi((await stage.start()).url, stage.partner.key)
  await eventually(async () => {
    const { json } = await api.get('/v1/deposits?status=completed')
    expect(json.data.map(({ tx_hash }: { tx_hash: string }) => tx_hash).sort()).toEqual([...paid].sort())
  }, PATIENT)
  const small = stage.pay(payer, ana.address, USDT - 1n)
  await eventually(async () => {
    const { json } = await api.get('/v1/deposits?status=pending')
    expect(json.data).toMatchObject([{ tx_hash: small, below_minimum: true, network: 'tron' }])
  }, PATIENT)
  stub.mine(DEEP)
  await reconciled(stage)
  const { json } = await api.get(`/v1/customers/${ana.customer_id}/balances`)
  expect(json.data).toContainEqual(expect.objectContaining({ asset: 'USDT', available: '30000000' }))
  const told = await world.db.query(
    `SELECT count(*)::integer AS count FROM events WHERE type = 'deposit.completed'`,
  )
  expect(told.rows).toEqual([{ count: paid.length }])

  const unswept = await stage.command('deposits', 'unswept', 'tron')
  expect(unswept.data).toMatchObject([
    { ...ana, address_index: 0, credited: '30000000', held: (31n * USDT - 1n).toString() },
  ])
  // An operator sweeps by hand: the address pays the wallet.
  stage.pay(ana.address, wallet, 31n * USDT - 1n)
  stub.mine(1 + SOLID_DEPTH)
  expect((await stage.command('deposits', 'unswept', 'tron')).data).toEqual([])
  await reconciled(stage)
  // The service's own audit may have come by, and names the key that the test made without a line in the act log.
  const { rows } = await world.db.query(
    `SELECT kind, object_id FROM exceptions WHERE closed_at IS NULL AND kind <> 'audit'`,
  )
  expect(rows).toEqual([])
  expect((await stage.direct.audit()).production.findings).toEqual([])
}, 900_000)
