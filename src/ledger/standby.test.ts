import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareDatabase } from '../../test/support/database.ts'
import { desk } from '../../test/support/operators.ts'
import { until } from '../../test/support/wait.ts'
import { openTestWorld, type TestWorld } from '../../test/support/world.ts'
import { Refusal } from '../core/errors.ts'
import { startEmbedded } from '../db/embedded/start.ts'
import { setMoneyLimits } from '../money/money-limits/money-limits.ts'
import { quotesRoutes } from '../money/quotes/routes.ts'
import { execute } from '../money/quotes/trades.ts'
import type { Command } from './command.ts'
import { findRecord } from './once.ts'

const { propose, withdraw } = desk

/**
 * A separate server whose commits wait for a standby that has nothing yet. Data without that standby is lost with the
 * server's disk, so it may be acknowledged to no caller: neither the first one, nor one that repeats after a crash.
 */
let server: Awaited<ReturnType<typeof startEmbedded>>
let data_dir: string
let admin: pg.Client
let stage: TestWorld

beforeAll(async () => {
  data_dir = await mkdtemp(join(tmpdir(), 'trilho-standby-'))
  server = await startEmbedded({ data_dir, log: () => {}, onGiveUp: () => {} })
  await prepareDatabase(server.url)
  stage = await openTestWorld({ url: server.url, wait_ms: 4000 })
  admin = await connectAdmin()
})
afterAll(async () => {
  await standby('')
  await stage.stop()
  await admin.end()
  await server.stop()
  await rm(data_dir, { recursive: true, force: true })
})

async function connectAdmin(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function reconnect(): Promise<void> {
  await until(async () => {
    try {
      admin = await connectAdmin()
      return true
    } catch {
      return false
    }
  }, 30_000)
}

/** Sets the standby that commits wait for; empty: none. */
async function standby(name: string): Promise<void> {
  await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
  await admin.query('SELECT pg_reload_conf()')
  await until(async () => {
    const { rows } = await admin.query('SHOW synchronous_standby_names')
    return rows[0].synchronous_standby_names === name
  }, 10_000)
}

/** A command that does nothing. */
const standing: Command<undefined> = { partner_id: '', locks: {}, decide: () => ({ result: undefined }) }

const outcomeOf = (work: Promise<unknown>) =>
  work.then(() => 'ok').catch((error: unknown) => (error instanceof Refusal ? error.code : String(error)))

async function waiter(application_name = 'test world main'): Promise<number> {
  let pid: number | undefined
  await until(async () => {
    const { rows } = await admin.query(
      `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = $1`,
      [application_name],
    )
    pid = rows[0]?.pid
    return pid !== undefined
  }, 10_000)
  return pid!
}

async function depositsOf(customer_id: string): Promise<number> {
  const { rows } = await admin.query(
    'SELECT count(*)::integer AS n FROM sandbox.deposits WHERE customer_id = $1',
    [customer_id],
  )
  return rows[0].n
}

test('a commit that a crash brought back without its standby is not acknowledged', async () => {
  const { id } = await stage.customer()
  await standby('nobody')
  const outcome = outcomeOf(stage.world.commit(stage.depositTo(id, 'BRL', 500n)))
  process.kill(await waiter(), 'SIGKILL')
  await reconnect()
  expect(await outcome).toBe('service_unavailable')
  // The commit exists, and was not acknowledged.
  expect(await depositsOf(id)).toBe(1)
  await standby('')
  await until(async () => (await outcomeOf(stage.world.commit(standing))) === 'ok', 30_000)
})

test('a commit whose wait for the standby was cancelled is not acknowledged', async () => {
  const { id } = await stage.customer()
  await standby('nobody')
  const outcome = outcomeOf(stage.world.commit(stage.depositTo(id, 'BRL', 500n)))
  await admin.query('SELECT pg_cancel_backend($1)', [await waiter()])
  expect(await outcome).toBe('service_unavailable')
  expect(await depositsOf(id)).toBe(1)
  await standby('')
  await until(async () => (await outcomeOf(stage.world.commit(standing))) === 'ok', 30_000)
})

test('a record recovered from a crash is not replayed until the standby has it', async () => {
  const customer = await stage.customer({ BRL: 1000n })
  const order = () => stage.payout(customer, 100n, 'repeated')
  await standby('nobody')
  const first = outcomeOf(stage.world.commit(order()))
  process.kill(await waiter(), 'SIGKILL')
  await reconnect()
  expect(await first).toBe('service_unavailable')

  const claim = order().locks.claim!
  expect(await outcomeOf(stage.world.commit(order()))).toBe('service_unavailable')
  expect(await outcomeOf(findRecord(stage.world, stage.actor.partner_id, claim))).toBe('service_unavailable')
  await standby('')
  await until(async () => (await outcomeOf(stage.world.commit(standing))) === 'ok', 30_000)
  expect(await stage.world.commit(order())).toMatchObject({ kind: 'existing' })
  expect(await findRecord(stage.world, stage.actor.partner_id, claim)).toMatchObject({ final: false })
})

test('a write outside the door is not acknowledged either when the commit did not wait for the standby', async () => {
  const { id: customer_id } = await stage.customer({ BRL: 1n })
  const { partner_id } = stage.actor
  const details = {
    partner_id,
    customer_id,
    asset: 'BRL',
    amount: '100',
    reason: 'x',
    reference: 'r',
  } as const
  const proposal = await propose(stage.world, { name: 'credit', details }, 'a@example.com')
  await standby('nobody')
  const cancelled = async (work: Promise<unknown>) => {
    const outcome = outcomeOf(work)
    await admin.query('SELECT pg_cancel_backend($1)', [await waiter('test world')])
    return outcome
  }
  const outcomes = [
    await cancelled(withdraw(stage.world, proposal.id, 'a@example.com', 'a mistake')),
    await cancelled(setMoneyLimits(stage.world, customer_id, { payout_day: 0n })),
  ]
  await standby('')
  expect(outcomes.filter((outcome) => outcome === 'ok')).toEqual([])
})

test('a trade that the standby does not have is not replayed when its quote is executed again', async () => {
  const { id } = await stage.customer({ BRL: 1_000_000n })
  const quote = await stage.world.commit(await stage.quote(id))
  await standby('nobody')
  const first = outcomeOf(stage.world.commit(execute(stage.world, stage.actor, quote, () => true)))
  await admin.query('SELECT pg_cancel_backend($1)', [await waiter()])
  expect(await first).toBe('service_unavailable')
  const treasury = { limitCheck: async () => () => true, stop: async () => {} }
  const handlers = quotesRoutes(treasury)
  const { run } = handlers.find(({ endpoint }) => endpoint.route.endsWith('/execute'))!
  const { world, actor } = stage
  const call = {
    world,
    actor,
    request_id: 'req',
    bodyOf: () => '',
    params: { quote_id: quote.id },
    query: {},
  }
  const again = outcomeOf(run({ ...call, body: undefined } as unknown as Parameters<typeof run>[0]))
  expect(await again).toBe('service_unavailable')
  await standby('')
  await until(async () => (await outcomeOf(stage.world.commit(standing))) === 'ok', 30_000)
})
