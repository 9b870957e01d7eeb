import { countOpen } from './db/due.ts'
import type { Pool } from './db/pool.ts'
import { countOpenExceptions } from './exceptions/store.ts'
import type { Question, Sample } from './gauges.ts'
import { networkNames } from './onchain/address.ts'
import { oldestUnfolded } from './treasury/store.ts'
import { queueState } from './webhooks/queue.ts'
import type { World } from './world.ts'

/**
 * What the metrics ask about money that hangs, and about what would make it hang. Every question reads a bounded number
 * of rows by an index, for it is asked every few seconds.
 */
export function questionsOf(world: World): Question[] {
  const { environment } = world
  return [
    { name: 'payments', environment, ask: () => openPayments(world) },
    { name: 'exceptions', environment, ask: () => openExceptions(world) },
    { name: 'prices', environment, ask: () => priceAges(world) },
    { name: 'treasury', environment, ask: () => unfoldedAge(world) },
    { name: 'webhooks', environment, ask: () => webhookQueue(world) },
  ]
}

const OPEN_STATES = ['pending', 'processing']

/** Every rail and state is told, also when nothing is open there: a figure that is absent is one that nobody knows. */
async function openPayments({ db, environment }: World): Promise<Sample[]> {
  const [payouts, transfers] = await Promise.all([
    countOpen(db, 'payouts', `'pix'`),
    countOpen(db, 'transfers', 'network'),
  ])
  const found = new Map([...payouts, ...transfers].map((one) => [`${one.rail} ${one.status}`, one]))
  return ['pix', ...networkNames].flatMap((rail) =>
    OPEN_STATES.flatMap((state): Sample[] => {
      const { count, oldest_seconds } = found.get(`${rail} ${state}`) ?? { count: 0, oldest_seconds: 0 }
      const labels = { environment, rail, state }
      return [
        ['trilho_payments_open', labels, count],
        ['trilho_payments_oldest_seconds', labels, oldest_seconds],
      ]
    }),
  )
}

async function openExceptions({ db, environment }: World): Promise<Sample[]> {
  const groups = await countOpenExceptions(db)
  return groups.flatMap(({ rail, kind, count, oldest_seconds }): Sample[] => [
    ['trilho_exceptions_open', { environment, rail, kind }, count],
    ['trilho_exceptions_oldest_seconds', { environment, rail, kind }, oldest_seconds],
  ])
}

async function priceAges({ prices, clock, environment }: World): Promise<Sample[]> {
  const fed = await prices.latest()
  return Object.entries(fed).map(
    ([pair, { at }]): Sample => [
      'trilho_price_age_seconds',
      { environment, pair },
      (clock.now() - at.getTime()) / 1000,
    ],
  )
}

async function unfoldedAge({ db, environment }: World): Promise<Sample[]> {
  return [['trilho_trades_oldest_unfolded_seconds', { environment }, await oldestUnfolded(db)]]
}

async function webhookQueue({ db, environment }: World): Promise<Sample[]> {
  const { fresh, oldest_fresh_seconds, pending, oldest_due_seconds } = await queueState(db)
  return [
    ['trilho_events_fresh', { environment }, fresh],
    ['trilho_events_oldest_fresh_seconds', { environment }, oldest_fresh_seconds],
    ['trilho_webhook_pending', { environment }, pending],
    ['trilho_webhook_oldest_due_seconds', { environment }, oldest_due_seconds],
  ]
}

/** Of this node alone: whether it may get traffic, and whether its callers wait for connections. */
export function questionsOfNode(parts: {
  ready: () => Promise<boolean>
  pools: Readonly<Record<string, Pool>>
}): Question[] {
  return [
    {
      name: 'ready',
      environment: 'node',
      ask: async () => [['trilho_ready', {}, (await parts.ready()) ? 1 : 0]],
    },
    {
      name: 'pools',
      environment: 'node',
      ask: async () =>
        Object.entries(parts.pools).flatMap(([pool, { totalCount, idleCount, waitingCount }]): Sample[] => [
          ['trilho_pool_connections', { pool, state: 'busy' }, totalCount - idleCount],
          ['trilho_pool_connections', { pool, state: 'idle' }, idleCount],
          ['trilho_pool_waiting', { pool }, waitingCount],
        ]),
    },
  ]
}
