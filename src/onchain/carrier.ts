import type { Logger } from 'pino'
import { crashPoint } from '../core/crash-point.ts'
import { retryAfter, takeDue } from '../db/due.ts'
import { openWorker, type Worker } from '../db/worker.ts'
import type { World } from '../world.ts'
import { orderOf, signedOf } from './order.ts'
import { type Step, stepTransfer } from './settle.ts'
import type { Transfer } from './store.ts'

/**
 * Carries accepted transfers to their end: sign once, store the bytes, broadcast them, and again until the network knows
 * them, then wait for confirmations. After a crash anywhere the stored bytes say where to go on.
 */
const POLL_MS = 250
const LOOK_MS = 500
const RETRY_MS = 5000

export function openCarrier(world: World, log: Logger): Worker {
  const later = (transfer: Transfer, ms: number) => retryAfter(world.db, 'transfers', transfer.id, ms)

  async function step(transfer: Transfer, taken: Step): Promise<Transfer> {
    return (await world.commit(stepTransfer(world, transfer, taken))).transfer
  }

  async function carry(transfer: Transfer): Promise<void> {
    try {
      if (transfer.tx_hash === null) return await sign(transfer)
      if (transfer.status === 'pending') return await broadcast(transfer)
      return await follow(transfer)
    } catch (error) {
      log.warn({ err: error, transfer_id: transfer.id }, 'onchain: no answer that can be understood')
      await later(transfer, RETRY_MS)
    }
  }

  async function sign(transfer: Transfer): Promise<void> {
    const prepared = await world.chain.prepare(orderOf(transfer))
    if (prepared.kind === 'later')
      return later(transfer, Math.max(0, prepared.at.getTime() - world.clock.now()))
    if (prepared.kind === 'refused') return void (await step(transfer, prepared))
    crashPoint('after_sign')
    const signed = await step(transfer, prepared)
    // Meanwhile another node may have brought it further, or to its end.
    if (signed.status === 'pending') await broadcast(signed)
  }

  async function broadcast(transfer: Transfer): Promise<void> {
    crashPoint('before_broadcast')
    const { kind } = await world.chain.broadcast(orderOf(transfer), signedOf(transfer))
    crashPoint('after_broadcast')
    if (kind === 'unknown') return later(transfer, RETRY_MS)
    await step(transfer, { kind: 'broadcast' })
    await later(transfer, LOOK_MS)
  }

  async function follow(transfer: Transfer): Promise<void> {
    const status = await world.chain.status(orderOf(transfer), signedOf(transfer))
    if (status.kind === 'confirmed' || status.kind === 'failed') return void (await step(transfer, status))
    // Dropped, or taken back with its block: the same bytes once more, never others.
    if (status.kind === 'absent') await world.chain.broadcast(orderOf(transfer), signedOf(transfer))
    await later(transfer, LOOK_MS)
  }

  return openWorker({
    name: 'transfers',
    log,
    poll_ms: POLL_MS,
    take: (limit) => takeDue<Transfer>(world.db, 'transfers', world.lease_ms, limit),
    work: carry,
  })
}
