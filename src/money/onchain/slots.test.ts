import { afterEach, expect, test } from 'vitest'
import { minedAs, signedAs, signTransfer } from '../../../test/support/chain.ts'
import { type Bench, type BenchOptions, openBench, silent } from '../../../test/support/rail-bench.ts'
import { freeSlotsFor } from '../../../test/support/take.ts'
import { until } from '../../../test/support/wait.ts'
import { takeDue } from '../../db/due.ts'
import type { ChainOrder, ChainRail } from '../../rails/chain/rail.ts'
import { stepTransfer } from './settle.ts'
import { type Transfer, transferColumns } from './store.ts'
import { openTransferWorker } from './worker.ts'

let bench: Bench
let stopping: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stopping.reverse()) await stop()
  stopping = []
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const DEAD = 'tron'
const ALIVE = 'polygon'
const PATIENCE_MS = 45_000
/** Long enough that no call to the dead network reaches its deadline, and no lease ends, while a test runs. */
const forever = { rail_timeout_ms: 200_000, lease_ms: 600_000 }

/** A chain whose dead network does not answer until the test is over. */
function chainWithDeadNetwork({ isDead = ({ network }: ChainOrder) => network === DEAD } = {}) {
  const asked: string[] = []
  let answered = 0
  let is_over = false
  const ends: (() => void)[] = []
  const over = (order: ChainOrder) => {
    asked.push(order.id)
    if (is_over) return undefined
    return new Promise<void>((resolve) => {
      ends.push(() => {
        answered += 1
        resolve()
      })
    })
  }
  const chain: Partial<ChainRail<'sandbox'>> = {
    attempt: async (order) => signedAs(order),
    async screen(order) {
      if (!isDead(order)) return { kind: 'payable' }
      await over(order)
      return { kind: 'later', at: new Date(Date.now() + 600_000), why: 'fee_above_cap' }
    },
    broadcast: async () => ({ kind: 'accepted' }),
    async look(order, _, made) {
      if (!isDead(order)) return minedAs(made)
      await over(order)
      return { kind: 'waiting' }
    },
  }
  const end = () => {
    is_over = true
    for (const one of ends.splice(0)) one()
  }
  return { chain, asked, answered: () => answered, end }
}

async function open(dead: ReturnType<typeof chainWithDeadNetwork>, more: BenchOptions = {}) {
  bench = await openBench({ chain: dead.chain, ...forever, ...more })
  return bench.customer({ USDT: 10n ** 15n })
}

/** A node's worker. Hanging calls are ended before it stops. */
function start(dead: ReturnType<typeof chainWithDeadNetwork>, world = bench.world) {
  const worker = openTransferWorker(world, silent)
  stopping.push(async () => {
    const stopped = worker.stop()
    dead.end()
    await stopped
  })
  return worker
}

const many = (count: number, one: () => Promise<Transfer>) => Promise.all(Array.from({ length: count }, one))

/** Makes the transfer look broadcast, so that workers ask its network for the status. */
async function broadcast(transfer: Transfer): Promise<Transfer> {
  const { world } = bench
  await signTransfer(world, transfer)
  return (await world.commit(stepTransfer(world, transfer, { kind: 'broadcast' }, { by: 'rail' }))).transfer
}

const isConfirmed = async ({ id }: Transfer) => (await bench.transferNow(id)).status === 'confirmed'

test('100 transfers on a dead network delay none of the same partner on another network', async () => {
  const dead = chainWithDeadNetwork()
  const customer = await open(dead)
  await many(100, () => bench.transfer(customer, { network: DEAD }))
  start(dead)
  await until(() => dead.asked.length >= 32, PATIENCE_MS)
  const beside = await bench.transfer(customer, { network: ALIVE })
  await until(() => isConfirmed(beside), PATIENCE_MS)
  expect(dead.answered()).toBe(0)
  expect(dead.asked.length).toBeLessThan(100)
  // One turn of the worker signs and broadcasts, another one confirms.
  expect((await bench.transferNow(beside.id)).attempts).toBeLessThanOrEqual(3)
})

test('300 broadcast transfers on a dead network delay none on another network', async () => {
  const dead = chainWithDeadNetwork()
  const customer = await open(dead)
  await many(300, async () => broadcast(await bench.transfer(customer, { network: DEAD })))
  start(dead)
  await until(() => dead.asked.length >= 32, PATIENCE_MS)
  const [fresh, followed] = [
    await bench.transfer(customer, { network: ALIVE }),
    await broadcast(await bench.transfer(customer, { network: ALIVE })),
  ]
  await until(async () => (await isConfirmed(fresh)) && (await isConfirmed(followed)), PATIENCE_MS)
  expect(dead.answered()).toBe(0)
  expect(dead.asked.length).toBeLessThan(300)
})

test('the same over several nodes: each node has its own slots for each network', async () => {
  const dead = chainWithDeadNetwork()
  const customer = await open(dead)
  await many(150, () => bench.transfer(customer, { network: DEAD }))
  start(dead)
  start(dead, bench.openNode())
  await until(() => dead.asked.length >= 64, PATIENCE_MS)
  const beside = await many(20, () => bench.transfer(customer, { network: ALIVE }))
  for (const one of beside) await until(() => isConfirmed(one), PATIENCE_MS)
  expect(dead.answered()).toBe(0)
  // No transfer is taken by both nodes.
  expect(new Set(dead.asked).size).toBe(dead.asked.length)
  expect(dead.asked.length).toBeLessThan(150)
})

test('on one network a partner whose transfers hang leaves slots to other partners', async () => {
  let slow = ''
  const dead = chainWithDeadNetwork({ isDead: ({ destination_address }) => destination_address === slow })
  const customer = await open(dead)
  const other = await bench.openActor()
  const of_other = await bench.customer({ USDT: 10n ** 12n }, other)
  ;({ destination_address: slow } = await bench.transfer(customer))
  await many(99, () => bench.transfer(customer))
  start(dead)
  await until(() => dead.asked.length >= 32, PATIENCE_MS)
  const address = 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'
  const beside = await bench.transfer(of_other, { by: other, destination_address: address })
  await until(() => isConfirmed(beside), PATIENCE_MS)
  expect(dead.answered()).toBe(0)
})

test('a call that reaches its deadline frees its slot for the transfers that wait', async () => {
  const dead = chainWithDeadNetwork()
  const customer = await open(dead, { rail_timeout_ms: 300, lease_ms: 60_000 })
  const waiting = await many(100, () => bench.transfer(customer, { network: DEAD }))
  start(dead)
  await until(() => waiting.every(({ id }) => dead.asked.includes(id)), PATIENCE_MS)
})

test('the transfer that has been due longest is taken first, whenever it was created', async () => {
  const dead = chainWithDeadNetwork()
  const customer = await open(dead)
  const transfers = [] as Transfer[]
  for (let i = 0; i < 4; i++) transfers.push(await bench.transfer(customer))
  for (const [i, { id }] of transfers.entries())
    await bench.admin(
      `UPDATE transfers SET next_attempt_at = now() - interval '${10 + i} seconds' WHERE id = '${id}'`,
    )
  const due = { table: 'transfers', columns: transferColumns, name: 'oldest due', followed: false } as const
  const taken: string[] = []
  for (const _ of transfers) {
    const [row] = await takeDue<Transfer>(bench.world.db, due, 60_000, freeSlotsFor('transfers', 1))
    taken.push(row!.id)
  }
  expect(taken).toEqual(transfers.map(({ id }) => id).reverse())
})

test('the partner with fewer transfers under way goes first, however long the others have been due', async () => {
  const dead = chainWithDeadNetwork()
  const customer = await open(dead)
  const other = await bench.openActor()
  await many(3, () => bench.transfer(customer))
  const late = await bench.transfer(await bench.customer({ USDT: 10n ** 12n }, other), { by: other })
  const due = { table: 'transfers', columns: transferColumns, name: 'fewest', followed: false } as const
  const running = [{ rail: 'tron', partner_id: bench.actor.partner_id, count: 1 }]
  const [row] = await takeDue<Transfer>(bench.world.db, due, 60_000, {
    ...freeSlotsFor('transfers', 1),
    running,
  })
  expect(row!.id).toBe(late.id)
})

test('a network that never answers does not delay a stop', async () => {
  const dead = chainWithDeadNetwork()
  const customer = await open(dead, { rail_timeout_ms: 500, lease_ms: 60_000 })
  await many(100, () => bench.transfer(customer, { network: DEAD }))
  const worker = openTransferWorker(bench.world, silent)
  await until(() => dead.asked.length >= 32, PATIENCE_MS)
  await worker.stop()
  const asked = dead.asked.length
  expect(dead.answered()).toBe(0)
  await new Promise((resolve) => setTimeout(resolve, 700))
  expect(dead.asked.length).toBe(asked)
})
