import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PartnerActor } from '../../src/core/actor.ts'
import { mostRowsRead } from '../../src/db/newest.ts'
import { type Client, openClient } from '../../src/db/pool.ts'
import { endpoints } from '../../src/doors/api/endpoints.ts'
import { type HandlerParts, handlersOf } from '../../src/doors/api/handlers.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { asAdmin, createDatabase, seatAt } from '../support/database.ts'
import { noteFact } from '../support/proof.ts'
import { openDirectAccess } from '../support/service.ts'
import { size } from '../support/size.ts'
import { type Asked, explain, recording, rowsRead } from './explain.ts'
import { type Filled, fillLists, idOf } from './fill.ts'
import { apiValues } from './filters.ts'

/**
 * What PostgreSQL reads for a page, told by itself: the very statements of the API, explained as they are run, over a
 * large partner and a small one beside it. The filters come from the endpoints, so none can be forgotten.
 */
const ROWS = size(300_000, 10_000)
const LIMIT = 20
/** A page, a few rows of each stretch that is merged, and what belongs to each row. */
const EXACT = 6 * (LIMIT + 1)
/** Filters together, which no index answers: so many rows are looked at, and the last of them is found once more. */
const BOUNDED = 2 * mostRowsRead(LIMIT + 1) + EXACT

let direct: ReturnType<typeof openDirectAccess>
let client: Client
let filled: Filled
let url: string
beforeAll(async () => {
  const database = await createDatabase()
  url = database.url
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

const lists = endpoints.filter(({ query }) => query && 'cursor' in query.properties)
const values = apiValues(ROWS)

const paramsOf = (partner_id: string) =>
  partner_id === filled.large
    ? { customer_id: idOf('cus', 0), endpoint_id: idOf('whe', 0) }
    : { customer_id: idOf('cus', ROWS + 1), endpoint_id: idOf('whe', 1) }

type Query = Readonly<Record<string, string>>

/** A list that nobody waits for asks none of them. */
const handlers = handlersOf({} as HandlerParts)

/** Runs a list as a request would, and tells what it asked the database, and what it answered. */
async function runList(
  list: Endpoint,
  query: Query,
  partner_id: string,
): Promise<{ asked: Asked[]; page: any }> {
  const world = direct.worlds.sandbox
  const { db, asked } = recording(world.db)
  const { run } = handlers.find(({ endpoint }) => endpoint.name === list.name)!
  const actor = { partner_id, key_id: 'key', scopes: ['read'] } as unknown as PartnerActor
  const call = {
    world: { ...world, db },
    actor,
    params: paramsOf(partner_id),
    query: { limit: String(LIMIT), ...query },
    wait_ms: 0,
  }
  return { page: await run(call as never), asked }
}

async function cost(list: Endpoint, query: Query, partner_id: string) {
  const { asked, page } = await runList(list, query, partner_id)
  let read = 0
  for (const one of asked) read += rowsRead(await explain(client, one))
  return { read, page }
}

const filtersOf = ({ query }: Endpoint) =>
  Object.keys(query!.properties).filter((name) => !['limit', 'cursor', 'after', 'wait'].includes(name))
const valuesOf = (list: Endpoint, filter: string): readonly string[] => values[list.name]?.[filter] ?? []

test('every filter of every list is tried here', () => {
  const untried = lists.flatMap((list) =>
    filtersOf(list)
      .filter((filter) => valuesOf(list, filter).length === 0)
      .map((filter) => `${list.name} ${filter}`),
  )
  expect(untried).toEqual([])
})

test('every list takes a range of time', () => {
  for (const list of lists)
    expect(filtersOf(list), list.name).toEqual(expect.arrayContaining(['created_after', 'created_before']))
})

describe(`a page among ${ROWS} rows reads little more than it shows`, () => {
  let highest = 0

  test.each(lists.map((list) => [list.name, list] as const))('%s, by each filter alone', async (_, list) => {
    const queries = filtersOf(list).flatMap((filter) =>
      valuesOf(list, filter).map((value): Query => ({ [filter]: value })),
    )
    const dear: unknown[] = []
    for (const partner_id of [filled.large, filled.small]) {
      for (const query of [{}, ...queries]) {
        const { read, page } = await cost(list, query, partner_id)
        highest = Math.max(highest, read)
        if (read > EXACT) dear.push({ query, read, shown: page.data.length })
        if (!page.next_cursor) continue
        const next = await cost(list, { ...query, cursor: page.next_cursor }, partner_id)
        if (next.read > EXACT) dear.push({ query, page: 2, read: next.read })
      }
    }
    expect(dear).toEqual([])
  })

  test.each(lists.map((list) => [list.name, list] as const))('%s, by filters together', async (_, list) => {
    const names = filtersOf(list)
    const both = names.flatMap((one, i) => names.slice(i + 1).map((other) => [one, other] as const))
    const dear: unknown[] = []
    for (const [one, other] of both) {
      for (const a of valuesOf(list, one)) {
        for (const b of valuesOf(list, other)) {
          const query = { [one]: a, [other]: b }
          const { read } = await cost(list, query, filled.large)
          if (read > BOUNDED) dear.push({ query, read })
        }
      }
    }
    expect(dear).toEqual([])
  })

  test('the log of events, oldest first', async () => {
    const list = lists.find(({ name }) => name === 'events.list')!
    const dear: unknown[] = []
    for (const partner_id of [filled.large, filled.small]) {
      for (const after of [
        'start',
        partner_id === filled.large ? idOf('evt', ROWS / 2) : idOf('evt', ROWS + 25),
      ]) {
        for (const type of [
          {},
          { type: 'pix.payout.completed' },
          { type: 'trade.failed' },
          { type: 'api_key.revoked' },
        ]) {
          const { read, page } = await cost(list, { after, ...type }, partner_id)
          const most = type.type === 'pix.payout.completed' ? BOUNDED : EXACT
          if (read > most) dear.push({ after, ...type, read, shown: page.data.length })
        }
      }
    }
    expect(dear).toEqual([])
  })

  test('no page of one filter read more', () => {
    noteFact(
      `with ${ROWS} rows of a partner, no page of ${LIMIT} with one filter read more than ${highest} rows`,
    )
  })
})

test('where nearly all rows have one and the same value, the others are found, or missed, at once', async () => {
  const one = `from_asset = 'BRL', to_asset = 'USDT'`
  await asAdmin(url, [
    'SET search_path = sandbox; SET session_replication_role = replica',
    `UPDATE quotes SET ${one}`,
    `UPDATE trades SET ${one}`,
    `UPDATE transfers SET asset = 'USDT', network = 'polygon'`,
    ...['quotes', 'trades', 'transfers'].map((table) => `VACUUM ANALYZE ${table}`),
  ])
  const assets = ['BRL', 'USDT', 'BTC']
  const filters = {
    'quotes.list': ['from_asset', 'to_asset'],
    'trades.list': ['from_asset', 'to_asset'],
    'onchain.transfers.list': ['asset'],
  }
  for (const [name, names] of Object.entries(filters))
    for (const filter of names)
      for (const asset of name === 'onchain.transfers.list' ? ['USDT', 'BTC'] : assets) {
        const { read } = await cost(
          lists.find((list) => list.name === name)!,
          { [filter]: asset },
          filled.large,
        )
        expect(read, `${name} ${filter}=${asset}`).toBeLessThanOrEqual(EXACT)
      }
}, 600_000)
