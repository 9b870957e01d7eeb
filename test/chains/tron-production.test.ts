import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { tronAddressOfKey } from '../../src/rails/chain/tron/address.ts'
import { trc20TransferData } from '../../src/rails/chain/tron/token.ts'
import { encodeRaw, refBlockOf, signRaw } from '../../src/rails/chain/tron/transaction.ts'
import { openApi } from '../support/api.ts'
import { runCli } from '../support/cli.ts'
import { asAdmin, createDatabase } from '../support/database.ts'
import { scrape } from '../support/metrics.ts'
import { openDesk } from '../support/operators.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from '../support/service.ts'
import { eventually } from '../support/wait.ts'
import { dumpTables, spellingsOf, spellingsOfText } from './secrets.ts'
import { startTronStub } from './tron-stub.ts'

/** A server whose production world pays USDT on a stub of Tron, as operators set it up and a partner uses it. */
const TRANSFERS = '/v1/onchain/transfers'
/** A payment counts as lost two minutes after its expiry; on a busy machine the next one may expire too. */
const PATIENT = { timeout: 600_000, interval: 250 }
const FUNDED = 1_000_000_000n
const BALANCE = 400_000_000n
const BLOCK_MS = 1000
/** The shortest that the settings allow. */
const EXPIRY_S = 10
const LEASE_MS = 6000

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const someAddress = () => tronAddressOfKey(randomBytes(32))

async function openStage(nodes = 2) {
  const stub = await startTronStub({ nodes, solid_depth: 1 })
  closing.push(stub.stop)
  const key = createHash('sha256').update(randomBytes(8)).digest('hex')
  const wallet = tronAddressOfKey(Buffer.from(key, 'hex'))
  stub.fund(wallet, { tokens: FUNDED, sun: 500_000_000n })
  stub.mine(3)
  stub.mineEvery(BLOCK_MS)
  const direct = openDirectAccess(await createDatabase())
  closing.push(direct.stop)
  const env = testEnv(direct.database.url, {
    ...{ TRON_RPC: stub.nodes.map(({ url }) => url).join(', '), TRON_GENESIS: stub.genesis },
    ...{ TRON_WALLET_KEY: key, TRON_WALLET: wallet, TRON_EXPIRY_S: String(EXPIRY_S) },
    ...{ LEASE_MS: String(LEASE_MS), RAIL_TIMEOUT_MS: '2000', LOG_LEVEL: 'debug' },
  })
  const world = direct.worlds.production
  const { propose, approve } = openDesk(() => direct.office)
  const partner = await direct.partner('', { environment: 'production' })
  const stage = {
    ...{ stub, key, wallet, direct, env, world, partner },
    async start(more: Record<string, string> = {}) {
      const server = await spawnServer({ ...env, ...more })
      closing.push(() => server.kill('SIGKILL'))
      return server
    },
    /** One operator proposes, another one approves. */
    async byTwo(action: Parameters<typeof propose>[1]) {
      const { id } = await propose(world, action, 'maria@operator.example')
      await approve(world, id, 'joao@operator.example')
    },
    async command(...args: readonly string[]) {
      const done = await runCli([...args, '--json'], env)
      expect(done, args.join(' ')).toMatchObject({ code: 0 })
      return { json: JSON.parse(done.out), text: done.out + done.err }
    },
    async transfers() {
      const { rows } = await world.db.query(
        `SELECT t.id, t.status, t.tx_hash, t.failure_code, (SELECT count(*)::integer FROM transactions x WHERE x.transfer_id = t.id) AS made
          FROM transfers t ORDER BY t.id`,
      )
      return rows
    },
    /** Makes transfers due whose next question is later than any lease could last. */
    hurry: () =>
      asAdmin(direct.database.url, [
        `UPDATE live.transfers SET next_attempt_at = now() WHERE status IN ('pending', 'processing')
          AND next_attempt_at > now() + interval '${LEASE_MS + 500} ms'`,
      ]),
  }
  const move = { rail: 'tron', asset: 'USDT', direction: 'to_rail', amount: FUNDED.toString() } as const
  await stage.byTwo({ name: 'move_custody', details: { ...move, reason: 'bought', reference: 'first' } })
  return stage
}

type Stage = Awaited<ReturnType<typeof openStage>>

async function openCustomer({ world, partner, byTwo }: Stage): Promise<string> {
  const { partner_id } = partner
  const { id } = await addCustomer(world, { partner_id, name: 'Ana Souza', document: someCpf() })
  const details = { partner_id, customer_id: id, asset: 'USDT', amount: BALANCE.toString() } as const
  await byTwo({
    name: 'credit',
    details: { ...details, reason: 'funding', reference: randomBytes(6).toString('hex') },
  })
  return id
}

const orderOf = (
  customer_id: string,
  destination_address = someAddress(),
  idempotency_key = randomBytes(8).toString('hex'),
) => ({
  ...{
    customer_id,
    asset: 'USDT',
    network: 'tron',
    amount: '25000000',
    idempotency_key,
    destination_address,
  },
})

const apiOf = ({ partner }: Stage, url: string) => openApi(url, partner.key)

/** Until the blocks and the wallet are read the rail refuses, and the idempotency key stays free. */
const accepted = (api: ReturnType<typeof apiOf>, order: object) =>
  eventually(async () => {
    const answer = await api.post(TRANSFERS, order)
    expect(answer).toMatchObject({ status: 201, json: { status: 'pending', fee: '1000000' } })
    return answer.json.id as string
  }, PATIENT)

const reaches = (stage: Stage, id: string, wanted: object) =>
  eventually(async () => {
    await stage.hurry()
    expect((await stage.transfers()).find((one) => one.id === id)).toMatchObject(wanted)
  }, PATIENT)

async function balanceOf({ world }: Stage, customer_id: string): Promise<bigint> {
  const { rows } = await world.db.query(
    `SELECT sum(amount) AS held FROM entries WHERE account = 'customer' AND owner = $1 AND asset = 'USDT'`,
    [customer_id],
  )
  return BigInt(rows[0].held)
}

/** The books match the wallet, and the audit finds nothing. */
async function assertSound(stage: Stage): Promise<void> {
  await eventually(async () => {
    const { json } = await stage.command('reconcile')
    expect(json.data).toMatchObject([{ rail: 'tron', on_its_way: '0', difference: '0' }])
  }, PATIENT)
  expect((await stage.direct.audit()).production.findings).toEqual([])
}

test('a live key sends USDT on Tron; it is confirmed when its block is solidified, and no secret is shown', async () => {
  const stage = await openStage()
  const { stub, wallet } = stage
  const server = await stage.start()
  const checked = await stage.command('rails', 'check')
  expect(checked.json).toEqual({
    ok: true,
    networks: [{ network: 'tron', wallet, endpoints: '2 of 2', problem: null }],
  })
  const customer_id = await openCustomer(stage)
  const api = apiOf(stage, server.url)
  const order = orderOf(customer_id)
  // The token's own answer is lost for one of the endpoints.
  stub.nodes[0]!.loses_answers = true
  const id = await accepted(api, order)
  await reaches(stage, id, { status: 'confirmed', made: 1 })
  expect(stub.balanceOf(order.destination_address)).toBe(25_000_000n)
  expect(await balanceOf(stage, customer_id)).toBe(BALANCE - 26_000_000n)
  await assertSound(stage)
  const rails = await stage.command('rails', 'list')
  const listed = rails.json.data.find(({ rail }: { rail: string }) => rail === 'tron')
  expect(listed).toMatchObject({
    configured: true,
    message: null,
    custody: { gas_coin: 'TRX', held: { wallet } },
  })
  const metrics = await scrape(server.url)
  expect(metrics).toMatch(/trilho_gas_paid_day_wei\{environment="production",rail="tron"\} 6428500/)
  const searched = {
    'the log': server.output(),
    'all tables': await dumpTables(stage.direct.database.url),
    'command lines': checked.text + rails.text + metrics,
  }
  const secrets = [...spellingsOf(Buffer.from(stage.key, 'hex')), ...spellingsOfText(stage.key)]
  for (const [name, text] of Object.entries(searched))
    for (const secret of secrets) expect(text.includes(secret), `a secret is in ${name}`).toBe(false)
}, 900_000)

test('a payment that got lost is made again after it has expired; reverted and canceled ones give the money back once', async () => {
  const stage = await openStage()
  const { stub } = stage
  const server = await stage.start()
  const api = apiOf(stage, server.url)
  const customer_id = await openCustomer(stage)

  for (const node of stub.nodes) node.drops = true
  const lost = orderOf(customer_id)
  const id = await accepted(api, lost)
  await reaches(stage, id, { status: 'processing', made: 1 })
  await reaches(stage, id, { made: 2 })
  for (const node of stub.nodes) node.drops = false
  await reaches(stage, id, { status: 'confirmed' })
  expect(stub.balanceOf(lost.destination_address), 'paid once').toBe(25_000_000n)
  expect(stub.mined()).toHaveLength(1)

  const refused = orderOf(customer_id)
  stub.effects.set(refused.destination_address, 'reverts')
  await reaches(stage, await accepted(api, refused), { status: 'failed', failure_code: 'reverted' })

  for (const node of stub.nodes) node.drops = true
  const unwanted = orderOf(customer_id)
  const canceled = await accepted(api, unwanted)
  await reaches(stage, canceled, { status: 'processing' })
  await stage.byTwo({ name: 'cancel_transfer', details: { transfer_id: canceled, reason: 'wrong address' } })
  for (const node of stub.nodes) node.drops = false
  await reaches(stage, canceled, { status: 'failed', failure_code: 'canceled' })
  expect(stub.balanceOf(unwanted.destination_address)).toBe(0n)
  expect(await balanceOf(stage, customer_id)).toBe(BALANCE - 26_000_000n)
  await assertSound(stage)
}, 900_000)

test('a transfer that was canceled with a number and before it was signed fails, and gives the money back', async () => {
  const stage = await openStage()
  const customer_id = await openCustomer(stage)
  const doomed = await stage.start({ CRASH_AT: 'after_reserve' })
  const died = doomed.process.signalCode === null ? once(doomed.process, 'exit') : undefined
  const id = await accepted(apiOf(stage, doomed.url), orderOf(customer_id))
  await died
  const reserved = await stage.world.db.query('SELECT nonce, tx_hash FROM transfers')
  expect(reserved.rows).toEqual([{ nonce: 0n, tx_hash: null }])
  await stage.byTwo({ name: 'cancel_transfer', details: { transfer_id: id, reason: 'wrong address' } })
  await stage.start()
  await reaches(stage, id, { status: 'failed', failure_code: 'canceled', made: 0 })
  expect(await balanceOf(stage, customer_id)).toBe(BALANCE)
  expect(stage.stub.mined()).toEqual([])
  await assertSound(stage)
}, 900_000)

describe('a server that is killed', () => {
  test('at each point of a payment pays once', async () => {
    const stage = await openStage()
    const { stub } = stage
    const customer_id = await openCustomer(stage)
    const orders: ReturnType<typeof orderOf>[] = []
    for (const point of ['after_reserve', 'after_sign', 'before_broadcast', 'after_broadcast']) {
      const order = orderOf(customer_id)
      orders.push(order)
      const doomed = await stage.start({ CRASH_AT: point }).catch((error: Error) => {
        if (!/ended with SIGKILL/.test(error.message)) throw error
      })
      // It has died of an earlier order before it was ready.
      if (!doomed) continue
      const { process: child } = doomed
      const died = child.signalCode === null ? once(child, 'exit') : undefined
      const api = apiOf(stage, doomed.url)
      // Until the server is dead, or has accepted the order. A worker takes it then.
      while (child.signalCode === null) {
        const answer = await api.post(TRANSFERS, order).catch(() => undefined)
        if (answer?.status === 201) break
        await sleep(250)
      }
      await died
    }
    // A server may have died of an earlier order before it accepted its own: whoever got no answer asks again.
    const last = apiOf(stage, (await stage.start()).url)
    for (const order of orders) await reaches(stage, await accepted(last, order), { status: 'confirmed' })
    for (const { destination_address } of orders)
      expect(stub.balanceOf(destination_address)).toBe(25_000_000n)
    await assertSound(stage)
  }, 900_000)
})

test('a payment from the wallet that the service did not sign pauses the rail', async () => {
  const stage = await openStage(1)
  const { stub, wallet, key, world } = stage
  const server = await stage.start()
  const api = apiOf(stage, server.url)
  const customer_id = await openCustomer(stage)
  await reaches(stage, await accepted(api, orderOf(customer_id)), { status: 'confirmed' })
  const now = BigInt(Date.now())
  const raw = encodeRaw({
    ...{ owner: wallet, contract: stub.contract, data: trc20TransferData(someAddress(), 5_000_000n) },
    ...{
      ref_block: refBlockOf(stub.solid().hash),
      expiration: now + 60_000n,
      timestamp: now,
      fee_limit: 30_000_000n,
    },
  })
  expect(stub.take(signRaw(raw, Buffer.from(key, 'hex')))).toMatchObject({ result: true })
  await eventually(async () => {
    const { rows } = await world.db.query(
      `SELECT paused_by, paused_reason FROM rail_controls WHERE rail = 'tron'`,
    )
    expect(rows).toMatchObject([
      {
        paused_by: 'service',
        paused_reason: expect.stringMatching(
          /^tron has 1 transaction of wallet T\w+ that this database does not know/,
        ),
      },
    ])
  }, PATIENT)
  expect(await api.post(TRANSFERS, orderOf(customer_id))).toMatchObject({ status: 503 })
}, 900_000)
