import { afterAll, beforeAll, expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import { settlePayout } from '../../src/money/pix/settle.ts'
import { execute } from '../../src/money/quotes/trades.ts'
import { sliceChecks } from '../../src/node/worlds.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { noteFact } from '../support/proof.ts'
import { type Cut, openProxy, type Wire } from '../support/proxy.ts'
import { size } from '../support/size.ts'
import { openTestWorld, type TestWorld } from '../support/world.ts'

/**
 * The answer to COMMIT is lost, and then the answer to the question what became of it, and again: before it arrives or
 * after it did its work, in every combination. What is acknowledged is there, once.
 */
const AFTERWARDS_MAX = size(3, 2)
const TIMEOUT_MS = 900_000

let database: TestDatabase
let proxy: Wire
let stage: TestWorld

beforeAll(async () => {
  database = await createDatabase()
  proxy = await openProxy(database.url)
  stage = await openTestWorld({ url: database.url, door_url: proxy.url })
})
afterAll(async () => {
  await stage.stop()
  await proxy.down()
  await database.drop()
})

const firsts: Cut[] = [
  { at: 'commit', when: 'before' },
  { at: 'commit', when: 'after' },
]
const nexts: Cut[] = [
  { at: 'question', when: 'before' },
  { at: 'question', when: 'after' },
  { at: 'look', when: 'before' },
  { at: 'look', when: 'after' },
]

function rows(length: number): Cut[][] {
  return length === 0 ? [[]] : rows(length - 1).flatMap((row) => nexts.map((next) => [...row, next]))
}

const combinations = firsts.flatMap((first) =>
  Array.from({ length: AFTERWARDS_MAX + 1 }, (_, length) =>
    rows(length).map((row) => [first, ...row]),
  ).flat(),
)

const ANY_ID = /^(dep|po|tr|td)_/

/** Makes ready what it needs, and returns the one command whose COMMIT is cut, with the id of what it makes. */
const operations: Record<string, () => Promise<() => Promise<string>>> = {
  async deposit() {
    const { id } = await stage.customer()
    return async () => (await stage.world.commit(stage.depositTo(id, 'BRL', 500n))).id
  },
  async payout() {
    const customer = await stage.customer({ BRL: 1000n })
    return async () => {
      const done = await stage.world.commit(stage.payout(customer, 500n))
      return done.kind === 'made' ? done.made.id : done.kind
    }
  },
  async transfer() {
    const { id } = await stage.customer({ USDT: 5_000_000n })
    return async () => {
      const done = await stage.world.commit(stage.transfer(id, 500n))
      return done.kind === 'made' ? done.made.id : done.kind
    }
  },
  async execution() {
    const { id } = await stage.customer({ BRL: 200_000n })
    const quote = await stage.world.commit(await stage.quote(id))
    return async () => {
      const done = await stage.world.commit(execute(stage.world, stage.actor, quote, () => true))
      return done.kind === 'made' ? done.trade.id : done.kind
    }
  },
  async settlement() {
    const customer = await stage.customer({ BRL: 1000n })
    const done = await stage.world.commit(stage.payout(customer, 500n))
    if (done.kind !== 'made') throw new Error(done.kind)
    const end_to_end_id = `E00000000202611151200${done.made.id.slice(-11)}`
    return async () => {
      const settled = await stage.world.commit(
        settlePayout(stage.world, done.made, { kind: 'settled', end_to_end_id }, { by: 'rail', attempt: 1 }),
      )
      return settled.payout.id
    }
  },
}

const last: Record<string, string> = {
  deposit: 'credited',
  payout: 'accepted',
  transfer: 'accepted',
  execution: 'traded',
  settlement: 'completed',
}

for (const [name, prepare] of Object.entries(operations)) {
  test(
    `${name}: COMMIT and every question after it cut, in every combination: acknowledged means there, once`,
    async () => {
      // In the small size each operation takes its share of the combinations.
      const share = Object.keys(operations).indexOf(name)
      const mine = combinations.filter((_, i) => size(1, 0) || i % 5 === share)
      for (const cuts of mine) {
        const act = await prepare()
        proxy.cutInRow(cuts)
        const id = await act()
        expect(proxy.left(), JSON.stringify(cuts)).toBe(0)
        expect(id).toMatch(ANY_ID)
        const { rows } = await stage.db.query(
          'SELECT count(DISTINCT movement) AS booked FROM entries WHERE cause_id = $1 AND movement = $2',
          [id, last[name]],
        )
        expect(rows[0].booked, `${id} after ${JSON.stringify(cuts)}`).toBe(1n)
      }
      expect((await audit(stage.db, sliceChecks)).findings).toEqual([])
      noteFact(
        `${name}: ${mine.length} sequences of 1 to ${AFTERWARDS_MAX + 1} cut connections, at COMMIT, at the query that checks the COMMIT and at its reply, before and after each took effect: all acknowledged, each stored once, audit clean`,
      )
    },
    TIMEOUT_MS,
  )
}
