import { crashPoint } from '../../core/crash-point.ts'
import { networks } from '../../core/networks.ts'
import type { Attempt, Seen } from '../../rails/chain/rail.ts'
import { recordContradiction } from '../../records/desk/contradictions.ts'
import { askAgain, endFollowUp, type FollowUp, isLastFollowUp } from '../../records/desk/resolutions.ts'
import { closeOpenException, exceptionsAbout } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import type { PauseRail } from '../custody/guard.ts'
import { chainOrderOf } from './order.ts'
import { endOf, moveToBlock, storeLateCancel } from './settle.ts'
import type { Transfer } from './store.ts'
import { reservationOf, type StoredAttempt } from './transactions.ts'

/** A transfer has ended by a transaction in a block. The block is watched until the network has finalized it (decision 0056). */
type Watched = {
  readonly transfer: Transfer
  readonly made: readonly Attempt[]
  readonly mined: MinedAttempt
  readonly followed: FollowUp
}

type MinedAttempt = StoredAttempt & { readonly block_height: bigint; readonly block_hash: string }

export const isMined = (attempt: StoredAttempt): attempt is MinedAttempt => attempt.block_hash !== null

/** Delay to the next query while the transaction is in no final block. */
const VANISHED_MS = 15_000
/** The same when only a person can judge what the chain shows. */
const UNCLEAR_MS = 3_600_000

const GONE = 'the block in which it ended is no longer in the chain'
const problems = {
  open: 'its block was not finalized within a day',
  absent: GONE,
  waiting: GONE,
  expired: GONE,
  taken: `${GONE}, and its nonce was spent by a transaction that the service did not sign`,
  mined: `${GONE}, and what was mined since is not what was booked`,
} as const

export async function watchBlock(world: World, pause: PauseRail, watched: Watched): Promise<void> {
  const { transfer, mined, followed } = watched
  const finality = await world.chains[transfer.network].finality?.(mined)
  if (finality === 'gone') return bringBack(world, pause, watched)
  if (finality === 'final') await closeReturned(world, watched)
  if (finality !== 'open') return endFollowUp(world.db, transfer.id)
  if (isLastFollowUp(followed)) {
    const { network: rail } = transfer
    await recordContradiction(world, {
      rail,
      object: transfer,
      said: { kind: 'open' },
      problem: problems.open,
    })
  }
}

/**
 * The block in which the transfer ended has left the chain: a person must look, and the rail is paused. The transaction that was booked is
 * broadcast until it is in a final block again: the payment of a confirmed transfer, or a cancel of a failed one. It spends the nonce of
 * the transfer, so it can only make true what is booked.
 */
async function bringBack(world: World, pause: PauseRail, watched: Watched): Promise<void> {
  const { transfer, made, mined } = watched
  const { id, network, status } = transfer
  const rail = world.chains[network]
  await askAgain(world.db, id, VANISHED_MS)
  const seen = await rail.look(chainOrderOf(transfer), reservationOf(transfer), made)
  const end = endOf(seen, made)
  if (end?.mined && isSameEnd(watched, end.mined.attempt, end.kind))
    return world.commit(moveToBlock(transfer, end.mined, mined))
  await reportVanished(world, pause, watched, seen)
  if (seen.kind === 'taken' || seen.kind === 'mined') return askAgain(world.db, id, UNCLEAR_MS)
  if (status === 'failed' && spendsNonce(transfer)) return keepUnpaid(world, watched, seen.kind)
  // A reverted payment is not broadcast again: it might pay this time, and the customer has the money back.
  const is_out = seen.kind === 'absent' || seen.kind === 'waiting'
  if (is_out && mined.purpose === (status === 'confirmed' ? 'pay' : 'cancel'))
    await rail.broadcast(chainOrderOf(transfer), mined)
}

/**
 * Whether the transfer has ended again as booked: by the same transaction, or, if it failed, by any cancel or by the reverted payment that
 * partners were told of. About a canceled transfer they were told that no payment was mined, so a person judges a payment in its place.
 */
const isSameEnd = ({ transfer, mined }: Watched, { tx_hash, purpose }: Attempt, end: string): boolean => {
  const is_known = tx_hash === mined.tx_hash
  const is_told = tx_hash === transfer.tx_hash && transfer.failure_code !== 'canceled'
  const pays_nothing = end === 'failed' && (purpose === 'cancel' || is_told)
  return end === transfer.status && (is_known || pays_nothing)
}

/**
 * On chains with nonces. Elsewhere a payment without effect expires, or a cancel has a charge in the ledger that another one would
 * not have.
 */
const spendsNonce = ({ network }: Transfer): boolean => networks[network].kind === 'evm'

/**
 * The money of a failed transfer went back, and its payments might be mined now: a cancel takes their nonce, which all later transactions
 * of the wallet wait for too. Every cancel is stored before it is broadcast, and one that is stuck is replaced.
 */
async function keepUnpaid(
  world: World,
  { transfer, made }: Watched,
  seen: 'absent' | 'waiting' | 'expired',
): Promise<void> {
  const rail = world.chains[transfer.network]
  const order = chainOrderOf(transfer)
  const newest = made.at(-1)!
  const is_canceled = newest.purpose === 'cancel'
  // The payment may be the one that waits: a node may have crashed after it stored the cancel and before it broadcast it.
  const is_out = is_canceled && (await rail.broadcast(order, newest)).kind === 'accepted'
  if (is_out && seen === 'absent') return
  const is_stuck = world.clock.now() - newest.created_at.getTime() >= rail.replace_after_ms
  if (is_canceled && !is_stuck) return
  const answer = await rail.attempt(order, reservationOf(transfer), made, 'cancel')
  if (answer.kind === 'later') return
  const cancel = { attempt: made.length + 1, ...answer.transaction }
  const is_stored = await world.commit(storeLateCancel(transfer, cancel))
  crashPoint('before_cancel')
  if (is_stored) await rail.broadcast(order, { ...cancel, created_at: new Date(world.clock.now()) })
}

/** Pauses and reports once for each block and problem: operators who resumed the rail meanwhile know of it. */
async function reportVanished(
  world: World,
  pause: PauseRail,
  { transfer, mined }: Watched,
  seen: Seen,
): Promise<void> {
  const { id, network } = transfer
  const { block_height, block_hash } = mined
  const problem = problems[seen.kind]
  const told = (await exceptionsAbout(world.db, id)).filter(({ kind }) => kind === 'contradiction')
  if (told.some(({ details }) => details.problem === problem && blockOf(details.rail_says) === block_hash))
    return
  const reason = `Block ${block_height} of ${network}, in which transfer ${id} ended, is no longer in the chain.`
  await pause(world, { rail: network, by: 'service', reason })
  await closeOpenException(world.db, {
    kind: 'contradiction',
    object_id: id,
    reason: `A newer exception tells more: ${problem}.`,
  })
  const said = { kind: 'gone', block_height, block_hash }
  await recordContradiction(world, { rail: network, object: transfer, said, problem })
}

/** The chain went back to the block that had vanished. The pause stays: operators resume the rail. */
async function closeReturned(world: World, { transfer, mined }: Watched): Promise<void> {
  const { block_height, block_hash } = mined
  const open = (await exceptionsAbout(world.db, transfer.id)).find(
    ({ kind, closed_at }) => kind === 'contradiction' && closed_at === null,
  )
  if (!open || blockOf(open.details.rail_says) !== block_hash) return
  const reason = `Its block ${block_height} (${block_hash}) is in the chain again, and final.`
  await closeOpenException(world.db, { kind: 'contradiction', object_id: transfer.id, reason })
}

const blockOf = (said: unknown): unknown =>
  typeof said === 'object' && said !== null && 'block_hash' in said ? said.block_hash : undefined
