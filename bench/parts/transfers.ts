import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { addr } from 'micro-eth-signer'
import { pino } from 'pino'
import { openOffice } from '../../src/control/operator/office.ts'
import { systemClock } from '../../src/core/clock.ts'
import { makeCpf } from '../../src/core/document.ts'
import { networks } from '../../src/core/networks.ts'
import { createSealer } from '../../src/core/seal.ts'
import { openPool } from '../../src/db/pool.ts'
import { openSeats } from '../../src/db/seat.ts'
import { readConfig } from '../../src/node/config.ts'
import { openWorlds } from '../../src/node/worlds.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { openShared } from '../../src/parties/partners/partners.ts'
import { openLogKey } from '../../src/records/acts/log.ts'
import { type Anvil, startAnvil } from '../../test/chains/anvil.ts'
import { deployToken } from '../../test/chains/token.ts'
import { openDesk } from '../../test/support/operators.ts'
import type { Bench } from '../bench.ts'
import { type Measure, summarize } from '../load.ts'
import { helpers } from '../processes.ts'
import { openSlices } from '../slices.ts'
import { liftLimits, openStage, type Stage } from '../stage.ts'

/** Four times what a wallet may have open at once. */
const COUNT = 64
const BLOCK_MS = 100
const DEPTH = networks.polygon.confirmations
const MOST_MS = 120_000
const AMOUNT = '1000000'
const FUNDS = 10n ** 12n
const SECRET_KEY = '00'.repeat(32)

/** The same orders on a chain and on the simulated rail: from acceptance to the first broadcast, and to confirmed. */
export async function measureTransfers(bench: Bench) {
  const key = randomBytes(32).toString('hex')
  const wallet = addr.fromPrivateKey(new Uint8Array(Buffer.from(key, 'hex')))
  const node = await startAnvil({ chain_id: Number(networks.polygon.chain_id) })
  helpers.add(node.pid)
  let stage: Stage | undefined
  const mining = new AbortController()
  try {
    const token = await deployToken(node)
    await token.mint(wallet, FUNDS)
    await node.setBalance(wallet, 10n ** 21n)
    stage = await openStage({
      customers: 1,
      balance: '0',
      env: {
        ...{ SECRET_KEY, EVM_WALLET_KEY: key, POLYGON_USDT: token.contract, SIGNER_PER_HOUR: '100000' },
        // Two host names of the same anvil node, so that the rail has two endpoints and waits until both agree on what is final.
        POLYGON_RPC: `${node.url}, ${node.url.replace('127.0.0.1', 'localhost')}`,
        ...{ SANDBOX_BROADCAST_MS: '0', SANDBOX_CONFIRM_MS: '0' },
      },
    })
    const sides = { anvil: await chainSide(stage), simulated: await simulatedSide(stage) }
    const slices = openSlices(stage)
    const broadcasts: (typeof slices.all)[number][] = []
    void mine(node, mining.signal)
    for (let round = 0; round < bench.settings.rounds; round++)
      for (const [name, side] of Object.entries(sides)) {
        const runs: Run[] = []
        const slice = await slices.measure(`${name}, to confirmed`, async () => {
          runs.push(await runTransfers(stage!, side))
          return runs.at(-1)!.confirmed
        })
        // Of several tries the quietest was kept.
        const { broadcast } = runs.find(
          ({ confirmed: { p50, p99 } }) => p50 === slice.p50 && p99 === slice.p99,
        )!
        broadcasts.push({ ...slice, ...broadcast, name: `${name}, to broadcast` })
      }
    const audit_ok = ['production', 'sandbox'].every(
      (environment) => stage!.trilho('audit', '--environment', environment).ok,
    )
    return {
      slices: [...slices.all, ...broadcasts],
      count: COUNT,
      blocks_per_second: 1000 / BLOCK_MS,
      depth: DEPTH,
      audit_ok,
    }
  } finally {
    mining.abort()
    await stage?.stop()
    helpers.delete(node.pid)
    await node.stop()
  }
}

async function mine(node: Anvil, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await node.mine().catch(() => {})
    await sleep(BLOCK_MS)
  }
}

type Side = { readonly key: string; readonly customer_id: string; readonly schema: 'live' | 'sandbox' }

/** A production key, and a customer whom two operators gave money. */
async function chainSide(stage: Stage): Promise<Side> {
  const made = stage.trilho('keys', 'create', '--environment', 'production', '--name', 'bench')
  liftLimits(stage.trilho, made.id)
  const keys = [Buffer.from(SECRET_KEY, 'hex')]
  const seats = openSeats(stage.database_url, keys)
  const db = openPool({ ...seats('shared', 'bench'), max: 2 })
  const sealer = createSealer(keys)
  const { worlds, stop } = openWorlds({
    seats,
    clock: systemClock(),
    log: pino({ level: 'silent' }),
    config: readConfig({}),
    logKey: openLogKey({ shared: db, sealer }),
    pool: 2,
  })
  const office = openOffice({ shared: openShared(db), worlds, sealer })
  try {
    const { partner_id } = made
    const document = makeCpf('123456789')
    const { id: customer_id } = await addCustomer(worlds.production, { partner_id, name: 'Bench', document })
    const credit = { partner_id, customer_id, asset: 'USDT', amount: FUNDS.toString() } as const
    const details = { ...credit, reason: 'bench', reference: 'bench' }
    // The audit verifies the lines of both operators.
    const { propose, approve } = openDesk(() => office)
    const action = { name: 'credit', details } as const
    const { id } = await propose(worlds.production, action, 'maria@operator.example')
    await approve(worlds.production, id, 'joao@operator.example')
    return { key: made.key, customer_id, schema: 'live' }
  } finally {
    await stop()
    await db.end()
  }
}

async function simulatedSide(stage: Stage): Promise<Side> {
  const [customer_id] = stage.customers
  const deposit = { customer_id, asset: 'USDT', amount: FUNDS.toString() }
  await stage.call('POST', '/v1/sandbox/deposits', deposit)
  return { key: stage.key, customer_id: customer_id!, schema: 'sandbox' }
}

/** A node refuses transfers until it has read what its wallet holds. */
async function accepted<T>(order: () => Promise<T>): Promise<T> {
  const until = performance.now() + MOST_MS
  for (;;)
    try {
      return await order()
    } catch (error) {
      if (!/rail_unavailable/.test(String(error)) || performance.now() > until) throw error
      await sleep(200)
    }
}

type Run = { readonly confirmed: Measure; readonly broadcast: Measure }

/** Times are those of the database's rows: acceptance, the event `processing`, the end. */
async function runTransfers(stage: Stage, { key, customer_id, schema }: Side): Promise<Run> {
  const made = await Promise.all(
    Array.from({ length: COUNT }, () => {
      const destination_address = `0x${randomBytes(20).toString('hex')}`
      const order = { customer_id, asset: 'USDT', network: 'polygon', amount: AMOUNT, destination_address }
      const body = { ...order, idempotency_key: randomBytes(8).toString('hex') }
      return accepted(() => stage.call('POST', '/v1/onchain/transfers', body, key))
    }),
  )
  const ids = made.map(({ id }) => id)
  const read = () =>
    stage.sql(
      `SELECT extract(epoch FROM t.created_at) * 1000 AS at, extract(epoch FROM t.completed_at - t.created_at) * 1000 AS confirmed,
        extract(epoch FROM e.created_at - t.created_at) * 1000 AS broadcast
      FROM ${schema}.transfers t JOIN ${schema}.events e ON e.object_id = t.id AND e.type = 'onchain.transfer.processing'
      WHERE t.id = ANY($1) AND t.status = 'confirmed'`,
      [ids],
    )
  const until = performance.now() + MOST_MS
  let rows = await read()
  while (rows.length < COUNT && performance.now() < until) {
    await sleep(200)
    rows = await read()
  }
  const starts = rows.map(({ at }) => Number(at))
  const ends = rows.map(({ at, confirmed }) => Number(at) + Number(confirmed))
  const seconds = (Math.max(...ends) - Math.min(...starts)) / 1000
  const missing = COUNT - rows.length
  const measured = (field: 'confirmed' | 'broadcast'): Measure => ({
    ...summarize(
      rows.map((row) => Number(row[field])),
      seconds,
      missing,
    ),
    per_second: Math.round((rows.length / seconds) * 10) / 10,
  })
  return { confirmed: measured('confirmed'), broadcast: measured('broadcast') }
}
