import { afterEach, expect, test } from 'vitest'
import { minedAs, signedAs } from '../../../test/support/chain.ts'
import { type Bench, openBench, silent } from '../../../test/support/rail-bench.ts'
import { until } from '../../../test/support/wait.ts'
import type { Attempt, Block, ChainRail, Finality, Seen } from '../../rails/chain/rail.ts'
import { exceptionsAbout } from '../../records/exceptions/store.ts'
import { transferSteps } from './steps.ts'
import { openTransferWorker } from './worker.ts'

/** A transfer that has ended is watched until the network has finalized its block. */
let bench: Bench
afterEach(async () => {
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const LAST = 6

async function openStage({ watched = true } = {}) {
  const says = {
    look: (made: readonly Attempt[]): Seen => minedAs(made),
    finality: (_: Block): Finality => 'open',
  }
  const chain: Partial<ChainRail<'sandbox'>> = {
    screen: async () => ({ kind: 'payable' }),
    attempt: async (order) => signedAs(order),
    broadcast: async () => ({ kind: 'accepted' }),
    look: async (_, __, made) => says.look(made),
    ...(watched ? { finality: async (block) => says.finality(block) } : {}),
  }
  bench = await openBench({ chain })
  const { world } = bench
  const { id } = await bench.transfer(await bench.customer({ USDT: 50_000_000n }))
  const paused: string[] = []
  const { carry, compare } = transferSteps(world, silent, undefined, async (_, { rail, reason }) =>
    paused.push(`${rail}: ${reason}`),
  )
  await carry(await bench.transferNow(id))
  await carry(await bench.transferNow(id))
  expect((await bench.transferNow(id)).status).toBe('confirmed')
  return {
    says,
    paused,
    id,
    compare: (asked = 1) => compare({ resource_id: id, asked }),
    async isAsked() {
      const { rows } = await world.db.query('SELECT ask_at IS NOT NULL AS asked FROM follow_ups')
      return rows.map(({ asked }) => asked)
    },
    exceptions: async () => (await exceptionsAbout(world.db, id)).map(({ kind }) => kind),
  }
}

test('a confirmed transfer is asked about until its block is finalized, and then no more', async () => {
  const stage = await openStage()
  await stage.compare()
  expect(await stage.isAsked()).toEqual([true])
  stage.says.finality = () => 'final'
  await stage.compare(2)
  expect([await stage.isAsked(), await stage.exceptions(), stage.paused]).toEqual([[false], [], []])
})

test('a transfer on a chain whose blocks never vanish is not asked about', async () => {
  const stage = await openStage({ watched: false })
  expect(await stage.isAsked()).toEqual([])
})

test.each<[string, Seen]>([
  ['is nowhere', { kind: 'absent' }],
  ['waits again', { kind: 'waiting' }],
  ['has lost its nonce to another transaction', { kind: 'taken' }],
])(
  'a confirmed transfer whose block vanished, and that %s: an exception, and the rail is paused',
  async (_, seen) => {
    const stage = await openStage()
    stage.says.finality = () => 'gone'
    stage.says.look = () => seen
    await stage.compare()
    await stage.compare(2)
    expect(await stage.exceptions()).toEqual(['contradiction'])
    expect(stage.paused[0]).toMatch(/^tron: Block 1 of tron, in which transfer tr_\w+ ended, is no longer/)
    expect((await bench.transferNow(stage.id)).status).toBe('confirmed')
  },
)

test('a vanished block that comes back and is final closes its exception, and nothing is asked any more', async () => {
  const stage = await openStage()
  stage.says.finality = () => 'gone'
  stage.says.look = () => ({ kind: 'waiting' })
  await stage.compare()
  stage.says.finality = () => 'open'
  await stage.compare()
  const told = async () =>
    (await exceptionsAbout(bench.world.db, stage.id)).map(({ closed_reason }) => closed_reason)
  expect(await told(), 'the block may vanish again').toEqual([null])
  stage.says.finality = () => 'final'
  await stage.compare()
  expect(await told()).toEqual([expect.stringMatching(/^Its block 1 \(\w+\) is in the chain again/)])
  expect(await stage.isAsked()).toEqual([false])
})

test('a transaction that moved into another block is watched there', async () => {
  const stage = await openStage()
  const moved = { block_height: 2n, block_hash: 'b'.repeat(64) }
  let there: Finality = 'open'
  stage.says.finality = ({ block_height }) => (block_height === 2n ? there : 'gone')
  stage.says.look = (made) => ({ ...minedAs(made), ...moved }) as Seen
  await stage.compare()
  expect(await stage.isAsked()).toEqual([true])
  there = 'final'
  await stage.compare(2)
  expect([await stage.isAsked(), await stage.exceptions(), stage.paused]).toEqual([[false], [], []])
})

test('a block that is not finalized within a day is an exception', async () => {
  const stage = await openStage()
  await stage.compare(LAST)
  expect([await stage.exceptions(), stage.paused]).toEqual([['contradiction'], []])
})

test('the worker asks about it by itself', async () => {
  const stage = await openStage()
  stage.says.finality = () => 'final'
  await bench.admin('UPDATE follow_ups SET ask_at = now()')
  const worker = openTransferWorker(bench.world, silent)
  try {
    await until(async () => (await stage.isAsked())[0] === false, 30_000)
  } finally {
    await worker.stop()
  }
})
