import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, openClient, type Pool } from '../../src/db/pool.ts'
import { endpoints } from '../../src/doors/api/endpoints.ts'
import { type HandlerParts, handlersOf } from '../../src/doors/api/handlers.ts'
import { consoleEndpoints } from '../../src/doors/console-api/endpoints.ts'
import { consoleHandlersOf } from '../../src/doors/console-api/handlers.ts'
import type { ConsoleParts } from '../../src/doors/console-api/parts.ts'
import type { World } from '../../src/world.ts'
import { asAdmin, createDatabase, seatAt } from '../support/database.ts'
import { noteFact } from '../support/proof.ts'
import { openDirectAccess } from '../support/service.ts'
import { size } from '../support/size.ts'
import { blocksTouched, explain, recording } from './explain.ts'
import { type Filled, fillLists, idOf } from './fill.ts'
import { apiValues, consoleValues, type Values } from './filters.ts'

/**
 * A page costs the same after a short history as after a long one, by every filter and every two of them, for a large
 * partner and for a small one beside it. What it costs is the blocks that PostgreSQL looks into, as it tells itself.
 */
/** Long enough for every walk to be as long as it may become. */
const SHORT = 24_000
const LONG = size(1_000_000, 60_000)
/** An index over a hundred times the rows is a level or two deeper, and halving a statement takes seven looks more. */
const DEEPER = { times: 2, more: 12 }

type History = {
  readonly filled: Filled
  readonly direct: ReturnType<typeof openDirectAccess>
  readonly client: Client
}

async function openHistory(rows: number): Promise<History> {
  const database = await createDatabase()
  const direct = openDirectAccess(database)
  const [large, small] = await Promise.all([direct.partner('http://unused'), direct.partner('http://unused')])
  const filled = { rows, large: large.partner_id, small: small.partner_id }
  await asAdmin(database.url, fillLists(filled))
  return { filled, direct, client: await openClient(seatAt(database.url, 'sandbox', 'plans')) }
}

let short: History
let long: History
beforeAll(async () => {
  short = await openHistory(SHORT)
  long = await openHistory(LONG)
}, 1_800_000)
afterAll(async () => {
  for (const { client, direct } of [short, long]) {
    await client.end()
    await direct.stop()
  }
})

type Query = Readonly<Record<string, string>>
type Size = 'large' | 'small'

/** Every list of both APIs, by its name: what it may be asked, and how. */
const LIMIT = { name: 'limit', value: '20' }
const APART = ['limit', 'cursor', 'after', 'wait']
/** Operators read a partner's lists as the partner does, after a line about the look. */
const isView = ({ name }: { readonly name: string }) =>
  name.startsWith('console.operator.view.') || name === 'console.operator.customers.list'
const asked = [...endpoints, ...consoleEndpoints].filter(
  (each) =>
    each.query &&
    !isView(each) &&
    ('cursor' in each.query.properties || each.name === 'console.operator.exceptions.list'),
)
const valuesAfter = (rows: number): Readonly<Record<string, Values>> => ({
  ...apiValues(rows),
  ...consoleValues(rows),
})

/** A log of acts without a line. */
const empty = {
  query: async (text: string) => ({ rows: text.includes('acts_head') ? [{ seq: 0n, hash: '' }] : [] }),
} as unknown as Pool

const limiter = { used: async () => [] }
const partsOf = (office: object) =>
  ({ office, runtimes: { sandbox: { limiter } } }) as unknown as ConsoleParts

async function blocksOf({ filled, direct, client }: History, name: string, query: Query, whose: Size) {
  const world = direct.worlds.sandbox
  const { db, asked: statements } = recording(world.reads)
  const office = {
    worlds: direct.worlds,
    shares: {
      world: ({ environment }: World) => ({ reads: environment === 'sandbox' ? db : empty }),
      shared: () => ({ db: empty }),
    },
    log: { pools: { production: empty, sandbox: db, shared: empty } },
  }
  const handlers = [...handlersOf({} as HandlerParts), ...consoleHandlersOf(partsOf(office))]
  const { run, endpoint } = handlers.find((each) => each.endpoint.name === name)!
  const partner_id = filled[whose]
  const large = whose === 'large'
  const call = {
    world: { ...world, db, reads: db },
    actor: { kind: 'person', partner_id, key_id: 'key', scopes: ['read'] },
    params: {
      environment: 'sandbox',
      partner_id,
      customer_id: idOf('cus', large ? 0 : filled.rows + 1),
      endpoint_id: idOf('whe', large ? 0 : 1),
    },
    query: { ...('limit' in endpoint.query!.properties ? { [LIMIT.name]: LIMIT.value } : {}), ...query },
    wait_ms: 0,
  }
  const page = (await run(call as never)) as { next_cursor?: string | null; data?: unknown[] }
  let blocks = 0
  for (const one of statements) blocks += blocksTouched(await explain(client, one))
  return { blocks, page }
}

/** The same question to both histories: by nothing, by each filter alone, and in the full size by each two of them. */
function questionsOf(name: string): { short: Query; long: Query }[] {
  const [few, many] = [SHORT, LONG].map((rows) => valuesAfter(rows)[name]!)
  const alone = Object.keys(few!).flatMap((filter) =>
    few![filter]!.map((value, i) => ({ short: { [filter]: value }, long: { [filter]: many![filter]![i]! } })),
  )
  const both = alone.slice(0, size(alone.length, 0)).flatMap((one, i) =>
    alone
      .slice(i + 1)
      .filter((other) => Object.keys(other.short)[0] !== Object.keys(one.short)[0])
      .map((other) => ({ short: { ...one.short, ...other.short }, long: { ...one.long, ...other.long } })),
  )
  return [{ short: {}, long: {} }, ...alone, ...both]
}

test('every filter of every list is tried here', () => {
  const untried = asked.flatMap(({ name, query }) =>
    Object.keys(query!.properties)
      .filter((filter) => !APART.includes(filter) && !valuesAfter(SHORT)[name]?.[filter])
      .map((filter) => `${name} ${filter}`),
  )
  expect(untried).toEqual([])
})

describe(`after ${LONG} rows as after ${SHORT}`, () => {
  let questions = 0
  let dearest = { blocks: 0, name: '' }

  test.each(asked.map(({ name }) => name))(
    '%s',
    async (name) => {
      const dear: unknown[] = []
      for (const whose of ['large', 'small'] as const) {
        for (const question of questionsOf(name)) {
          const before = await blocksOf(short, name, question.short, whose)
          const after = await blocksOf(long, name, question.long, whose)
          questions++
          if (after.blocks > dearest.blocks) dearest = { blocks: after.blocks, name }
          if (after.blocks > before.blocks * DEEPER.times + DEEPER.more)
            dear.push({
              whose,
              query: question.long,
              before: before.blocks,
              after: after.blocks,
              shown: after.page.data?.length,
            })
        }
      }
      expect(dear).toEqual([])
    },
    600_000,
  )

  test('what was asked', () => {
    noteFact(
      `${questions} queries of ${asked.length} lists touched as many blocks with ${LONG} rows of a partner as with ${SHORT}, apart from the depth of the indexes`,
    )
    noteFact(`the most expensive page touched ${dearest.blocks} blocks (${dearest.name})`)
  })
})
