import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COUNT_MAX, mostRowsRead, TOTAL_ROWS_MAX } from '../../src/db/newest.ts'
import { type Client, openClient } from '../../src/db/pool.ts'
import { chargesRoutes } from '../../src/doors/console-api/charges/routes.ts'
import { conversionsRoutes } from '../../src/doors/console-api/conversions/routes.ts'
import { developersRoutes } from '../../src/doors/console-api/developers/routes.ts'
import type { ConsoleHandler } from '../../src/doors/console-api/endpoint.ts'
import { moneyRoutes } from '../../src/doors/console-api/money/routes.ts'
import type { ConsoleParts } from '../../src/doors/console-api/parts.ts'
import { asAdmin, createDatabase, seatAt } from '../support/database.ts'
import { openDirectAccess } from '../support/service.ts'
import { size } from '../support/size.ts'
import { explain, recording, rowsRead } from './explain.ts'
import { type Filled, fillLists, idOf } from './fill.ts'
import { consoleValues } from './filters.ts'

/** What PostgreSQL reads for a page of the console's lists of money, told by itself, over a large partner. */
const ROWS = size(300_000, 10_000)
const LIMIT = 50
/** A page, a few rows of each stretch that is merged, and what belongs to each row. */
const EXACT = 8 * (LIMIT + 1)
/** Filters that no index answers: a page goes on for so many walks, each of which ends after so many rows. */
const WALKS = 20
const BOUNDED = WALKS * 2 * mostRowsRead(LIMIT + 1) + EXACT

let direct: ReturnType<typeof openDirectAccess>
let client: Client
let filled: Filled
beforeAll(async () => {
  const database = await createDatabase()
  direct = openDirectAccess(database)
  const [large, small] = await Promise.all([direct.partner('http://unused'), direct.partner('http://unused')])
  filled = { rows: ROWS, large: large.partner_id, small: small.partner_id }
  await asAdmin(database.url, fillLists(filled))
  client = await openClient(seatAt(database.url, 'sandbox', 'plans'))
}, 600_000)
afterAll(async () => {
  await client.end()
  await direct.stop()
})

const time = (n: number) => new Date(Date.parse('2026-01-01T00:00:00.000Z') + n * 1000).toISOString()
const ranges = { created_after: [time(ROWS / 2)], created_before: [time(50), time(ROWS / 2)] }
const orders = {
  ...ranges,
  order: ['oldest'],
  customer_id: [idOf('cus', 0), idOf('cus', 1)],
  idempotency_key: ['often', 'none'],
}

type Values = Readonly<Record<string, readonly string[]>>

/** By name: filters that an index answers, and those that are asked of what a walk finds. */
const lists: readonly (readonly [name: string, exact: Values, bounded: Values])[] = [
  [
    'console.payouts.list',
    {
      ...orders,
      status: ['failed', 'processing', 'pending', 'open', 'no_answer'],
      end_to_end_id: ['E9', 'none'],
    },
    {
      status: ['completed'],
      amount_min: ['1', '999999999999'],
      amount_max: ['1'],
      api_key_id: ['key_none'],
      failure_code: ['none'],
    },
  ],
  [
    'console.transfers.list',
    {
      ...orders,
      status: ['failed', 'processing', 'pending', 'open', 'no_answer'],
      asset: ['USDT', 'BTC'],
      network: ['polygon', 'bitcoin'],
      tx_hash: ['hash-9', 'none'],
    },
    {
      status: ['confirmed'],
      amount_min: ['1', '999999999999'],
      amount_max: ['1'],
      api_key_id: ['key_none'],
      failure_code: ['none'],
    },
  ],
  [
    'console.customers.list',
    {
      ...ranges,
      order: ['oldest'],
      status: ['active', 'blocked'],
      document: ['529.982.247-25'],
      external_id: ['u7', 'none'],
    },
    { name: ['nobody is called so'] },
  ],
  [
    'console.charges.list',
    { ...orders, status: ['failed', 'pending', 'expired', 'open', 'paid'] },
    { amount_min: ['1', '999999999999'], amount_max: ['1'] },
  ],
]

const parts = {} as ConsoleParts
const handlers = [
  ...moneyRoutes(parts),
  ...chargesRoutes(parts),
  ...conversionsRoutes(parts),
  ...developersRoutes(parts),
]
const handlerOf = (name: string): ConsoleHandler => handlers.find(({ endpoint }) => endpoint.name === name)!

/** What the page itself read, and what the count of the open ones did. */
async function cost(name: string, query: Readonly<Record<string, string>>) {
  const world = direct.worlds.sandbox
  const { db, asked } = recording(world.reads)
  const actor = { kind: 'person', partner_id: filled.large }
  const call = {
    world: { ...world, db, reads: db },
    actor,
    params: { environment: 'sandbox', endpoint_id: idOf('whe', 0) },
    query,
  }
  const page = (await handlerOf(name).run(call as never)) as { next_cursor: string | null }
  const read = { page: 0, open: 0 }
  for (const one of asked)
    read[/ AS silent /.test(one.text) ? 'open' : 'page'] += rowsRead(await explain(client, one))
  return { read, page }
}

const queriesOf = (values: Values) =>
  Object.entries(values).flatMap(([name, all]) => all.map((value) => ({ [name]: value })))

describe(`a page of the console among ${ROWS} rows`, () => {
  test('every filter of every list is tried here', () => {
    for (const [name, exact, bounded] of lists) {
      const { query } = handlerOf(name).endpoint
      const tried = new Set([...Object.keys(exact), ...Object.keys(bounded), 'limit', 'cursor'])
      expect(
        Object.keys(query!.properties).filter((filter) => !tried.has(filter)),
        name,
      ).toEqual([])
    }
  })

  test.each(lists)('%s reads little more than it shows', async (name, exact) => {
    const dear: unknown[] = []
    for (const query of [{}, ...queriesOf(exact)]) {
      const { read, page } = await cost(name, query)
      if (read.page > EXACT || read.open > 2 * COUNT_MAX) dear.push({ query, read })
      if (!page.next_cursor) continue
      const next = await cost(name, { ...query, cursor: page.next_cursor })
      if (next.read.page > EXACT) dear.push({ query, page: 2, read: next.read })
    }
    expect(dear).toEqual([])
  })

  const totals = handlers.map(({ endpoint }) => endpoint.name).filter((name) => name.endsWith('.totals'))

  test.each(totals)('%s adds up a bounded number of rows, whatever is asked for', async (name) => {
    const { order: _, ...filters } = consoleValues(ROWS)[name.replace(/totals$/, 'list')]!
    const dear: unknown[] = []
    for (const query of [{}, ...queriesOf(filters)]) {
      const { read } = await cost(name, query)
      // A walk along the queue reads an entry and its row; ranges that are merged are read each.
      if (read.page > 4 * TOTAL_ROWS_MAX) dear.push({ query, read })
    }
    expect(dear).toEqual([])
  })

  test.each(lists)('%s ends its walks, whatever is asked for', async (name, _, bounded) => {
    const dear: unknown[] = []
    for (const query of queriesOf(bounded)) {
      const { read } = await cost(name, query)
      if (read.page > BOUNDED) dear.push({ query, read })
    }
    expect(dear).toEqual([])
  })
})
