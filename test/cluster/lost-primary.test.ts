import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { perform } from '../../src/control/operator/actions.ts'
import { findRecord } from '../../src/ledger/once.ts'
import { openTransferWorker } from '../../src/money/onchain/worker.ts'
import type { ChainRail } from '../../src/rails/chain/rail.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { prepareDatabase } from '../support/database.ts'
import { until } from '../support/wait.ts'
import { openTestWorld } from '../support/world.ts'

/**
 * The standby falls behind, and somebody cancels the waiting for it: what was written can be seen on the primary, and
 * nowhere else. Then the primary is lost. Nothing that was read there may be acted on, or told to anybody.
 */
async function openStage(parts: { chain?: Partial<ChainRail<'sandbox'>> } = {}) {
  const cluster = await startCluster()
  onTestFinished(cluster.stop)
  await prepareDatabase(cluster.url)
  const stage = await openTestWorld({ url: cluster.url, parts })
  onTestFinished(stage.stop)
  return { cluster, stage }
}

/** From now on the standby gets nothing. Returns how the primary is lost, and the standby takes over. */
async function behind(cluster: Cluster): Promise<() => Promise<void>> {
  const sender = Number((await cluster.sql('SELECT pid FROM pg_stat_replication'))[0]?.pid)
  process.kill(sender, 'SIGSTOP')
  return async () => {
    process.kill(sender, 'SIGKILL')
    cluster.kill()
    await cluster.promote()
  }
}

const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error) => error.code ?? String(error),
  )

async function cancelWaiting(cluster: Cluster): Promise<void> {
  await until(async () => {
    const rows = await cluster.sql(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
    )
    return rows.length > 0
  }, 10_000)
}

test('what only the lost primary had is repeated to nobody', { timeout: 300_000 }, async () => {
  const { cluster, stage } = await openStage()
  const customer = await stage.customer({ USDT: 100_000_000n })
  const order = () => stage.transfer(customer.id, 5_000_000n, 'lost with the primary')
  const lose = await behind(cluster)
  const first = outcomeOf(stage.world.commit(order()))
  await cancelWaiting(cluster)
  expect(await first).toBe('service_unavailable')
  expect(await cluster.sql('SELECT id FROM sandbox.transfers')).toHaveLength(1)

  const again = findRecord(stage.world, stage.actor.partner_id, order().locks.claim!).catch(() => undefined)
  await sleep(500)
  await lose()
  expect(await again).toBeUndefined()
  expect(await cluster.sql('SELECT id FROM sandbox.transfers')).toHaveLength(0)
})

test('a deposit that only the lost primary had is not reversed on the next one', {
  timeout: 300_000,
}, async () => {
  const { cluster, stage } = await openStage()
  const customer = await stage.customer({ BRL: 1000n })
  const lose = await behind(cluster)
  const first = outcomeOf(stage.world.commit(stage.depositTo(customer.id, 'BRL', 500n)))
  await cancelWaiting(cluster)
  expect(await first).toBe('service_unavailable')
  const [deposit] = await cluster.sql('SELECT id FROM sandbox.deposits WHERE amount = 500')
  const details = { deposit_id: String(deposit!.id), reason: 'a mistake', reference: 'reversal' }
  const reversing = outcomeOf(perform(stage.world, { name: 'reverse_credit', details }))
  await sleep(500)
  await lose()
  expect(await reversing).not.toBe('ok')
  const [balance] = await cluster.sql(`SELECT balance FROM sandbox.balances WHERE asset = 'BRL'`)
  expect(String(balance!.balance)).toBe('1000')
})

test('a signature that only the lost primary had was never broadcast', { timeout: 300_000 }, async () => {
  const broadcast = new Set<string>()
  const chain: Partial<ChainRail<'sandbox'>> = {
    screen: async () => ({ kind: 'payable' }),
    // Each signature is another transaction: other fees, another expiry.
    attempt: async () => ({
      kind: 'signed',
      transaction: {
        purpose: 'pay',
        tx_hash: `0x${randomBytes(32).toString('hex')}`,
        signed: 'bytes',
        terms: {},
      },
    }),
    async broadcast(_, { tx_hash }) {
      broadcast.add(tx_hash)
      return { kind: 'accepted' }
    },
    look: async () => ({ kind: 'waiting' }),
  }
  const { cluster, stage } = await openStage({ chain })
  const customer = await stage.customer({ USDT: 100_000_000n })
  await stage.world.commit(stage.transfer(customer.id, 5_000_000n))
  const lose = await behind(cluster)
  const worker = openTransferWorker(stage.world, stage.log)
  onTestFinished(worker.stop)
  // Somebody keeps cancelling whatever hangs.
  for (let i = 0; i < 160; i++) {
    await cluster.sql(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
    await sleep(50)
  }
  await lose()
  await until(() => broadcast.size > 0, 60_000)
  await sleep(2000)
  const [transfer] = await cluster.sql('SELECT tx_hash FROM sandbox.transfers')
  expect([...broadcast]).toEqual([transfer!.tx_hash])
})
