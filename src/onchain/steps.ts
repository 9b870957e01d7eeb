import type { Logger } from 'pino'
import { crashPoint } from '../core/crash-point.ts'
import { retryAfter } from '../db/due.ts'
import { isHeld } from '../desk/holds.ts'
import { endFollowUp, type FollowUp } from '../desk/resolutions.ts'
import { recordException } from '../exceptions/store.ts'
import type { World } from '../world.ts'
import { orderOf, signedOf } from './order.ts'
import { lookAgainAfter } from './pace.ts'
import { intendBroadcast, type Step, stepTransfer } from './settle.ts'
import { isDoubleTxHash, isFinal, type Transfer, transferById } from './store.ts'

/** What a worker does with a transfer once it has taken it: signed once, always the same bytes (contract §9). */
export type TransferSteps = {
  carry(transfer: Transfer): Promise<void>
  compare(followed: FollowUp): Promise<void>
}

const RETRY_MS = 5000
/** A rail that names a moment of the past is not asked without a pause. */
const SOONEST_MS = 50

export function transferSteps(world: World, log: Logger): TransferSteps {
  const later = (transfer: Transfer, ms: number) => retryAfter(world.db, 'transfers', transfer, ms)
  const lookAgain = (transfer: Transfer) =>
    later(transfer, lookAgainAfter(transfer.network, world.clock.now() - transfer.created_at.getTime()))

  async function step(transfer: Transfer, taken: Step): Promise<Transfer> {
    const stepped = await world
      .commit(stepTransfer(world, transfer, taken, { by: 'rail' }))
      .catch((error: unknown) => refuseDouble(transfer, taken, error))
    return stepped.transfer
  }

  /** Signed, it says, as a transaction that another transfer has: nothing is broadcast, and somebody must look. */
  async function refuseDouble(transfer: Transfer, taken: Step, error: unknown): Promise<never> {
    if (isDoubleTxHash(error)) {
      const { id: object_id, partner_id, network: rail, status: booked } = transfer
      const details = { booked, rail_says: taken, problem: 'another transfer has this tx_hash' }
      await recordException(world.db, world.clock, {
        kind: 'contradiction',
        rail,
        object_id,
        partner_id,
        details,
      })
    }
    throw error
  }

  async function carry(transfer: Transfer): Promise<void> {
    try {
      if (transfer.status === 'processing') return await follow(transfer)
      if (await isHeld(world.db, transfer.id)) return await later(transfer, RETRY_MS)
      return await (transfer.tx_hash === null ? sign(transfer) : broadcast(transfer))
    } catch (error) {
      log.warn({ err: error, transfer_id: transfer.id }, 'onchain: no answer that can be understood')
      await later(transfer, RETRY_MS)
    }
  }

  async function sign(transfer: Transfer): Promise<void> {
    const prepared = await world.chain.prepare(orderOf(transfer))
    if (prepared.kind === 'later')
      return later(transfer, Math.max(SOONEST_MS, prepared.at.getTime() - world.clock.now()))
    if (prepared.kind === 'refused') return void (await step(transfer, prepared))
    crashPoint('after_sign')
    const signed = await step(transfer, prepared)
    // Held since we looked: the signature is forgotten, and nobody outside has seen it.
    if (signed.tx_hash === null && !isFinal(signed)) return later(transfer, RETRY_MS)
    // Meanwhile another node may have brought it further, or to its end.
    if (signed.status === 'pending') await broadcast({ ...signed, attempts: transfer.attempts })
  }

  async function broadcast(transfer: Transfer): Promise<void> {
    crashPoint('before_broadcast')
    if (!(await mayBroadcast(transfer))) return later(transfer, RETRY_MS)
    const { kind } = await world.chain.broadcast(orderOf(transfer), signedOf(transfer))
    crashPoint('after_broadcast')
    if (kind === 'unknown') return later(transfer, RETRY_MS)
    await step(transfer, { kind: 'broadcast' })
    await lookAgain(transfer)
  }

  /** Through the door, so that what goes out is what stays: behind a standby, what the standby has too. */
  const mayBroadcast = (transfer: Transfer) => world.commit(intendBroadcast(transfer))

  async function follow(transfer: Transfer): Promise<void> {
    const status = await world.chain.status(orderOf(transfer), signedOf(transfer))
    if (status.kind === 'confirmed' || status.kind === 'failed') return void (await step(transfer, status))
    // Dropped, or taken back with its block: the same bytes once more, never others.
    if (status.kind === 'absent' && (await mayBroadcast(transfer)))
      await world.chain.broadcast(orderOf(transfer), signedOf(transfer))
    await lookAgain(transfer)
  }

  /** Decided by an operator: whether the chain tells the same. */
  async function compare({ resource_id }: FollowUp): Promise<void> {
    const transfer = await transferById(world.db, resource_id)
    if (!transfer || transfer.tx_hash === null) return
    const status = await world.chain.status(orderOf(transfer), signedOf(transfer))
    if (status.kind === 'absent' && transfer.status === 'confirmed') await noteNeverMined(transfer)
    if (status.kind !== 'confirmed' && status.kind !== 'failed') return
    await step(transfer, status)
    await endFollowUp(world.db, resource_id)
  }

  /** Confirmed on somebody's word, and no node knows it. */
  const noteNeverMined = ({ id: object_id, partner_id, network: rail, status: booked }: Transfer) =>
    recordException(world.db, world.clock, {
      kind: 'contradiction',
      rail,
      object_id,
      partner_id,
      details: { booked, rail_says: { kind: 'absent' } },
    })

  return { carry, compare }
}
