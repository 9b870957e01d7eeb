import type { Logger } from 'pino'
import { crashPoint } from '../../core/crash-point.ts'
import type { Network } from '../../core/networks.ts'
import { retryAfter } from '../../db/due.ts'
import { InvalidAnswer } from '../../rails/answers.ts'
import {
  type Attempt,
  type Broadcast,
  type ChainRail,
  type ChosenCoin,
  chainsOf,
  type Later,
  type LaterReason,
  type Purpose,
  type Screened,
  type Seen,
  type WalletState,
} from '../../rails/chain/rail.ts'
import { SignatureRefused } from '../../rails/signer/signer.ts'
import { recordContradiction } from '../../records/desk/contradictions.ts'
import { isHeld } from '../../records/desk/holds.ts'
import { reportInvalidAnswer } from '../../records/desk/invalid-answers.ts'
import { endFollowUp, type FollowUp } from '../../records/desk/resolutions.ts'
import { recordExceptionDaily } from '../../records/exceptions/store.ts'
import { type AnswerSummary, noSteps, type StepRecorder } from '../../records/steps/recorder.ts'
import { masked } from '../../records/steps/store.ts'
import type { World } from '../../world.ts'
import { isPaused, pauseRail } from '../custody/controls.ts'
import { openGuard, type PauseRail } from '../custody/guard.ts'
import { addWallet, isAhead, nextNonceOf, walletIdOf } from '../custody/wallets.ts'
import { reservedOf } from './coins/store.ts'
import { chainOrderOf } from './order.ts'
import { pollAgainAfter } from './pace.ts'
import { endOf, intendBroadcast, stepTransfer, type TransferStep } from './settle.ts'
import { isDoubleTxHash, isFinalTransfer, type Transfer, transferById } from './store.ts'
import { attemptsOf, reservationOf, reserveNonce } from './transactions.ts'
import { isMined, watchBlock } from './watch.ts'

/**
 * What a worker does with a transfer that it has taken (contract §9): it reserves one nonce, stores every transaction before it
 * broadcasts it, and lets all of them spend that nonce.
 */
type TransferSteps = {
  carry(transfer: Transfer): Promise<void>
  compare(followed: FollowUp): Promise<void>
}

const RETRY_MS = 5000
/** A transfer that waits for longer, for a reason that a person can end, is an exception. */
const WAITING_MOST_MS = 600_000
/** Delay of a transfer that is not out yet, while its rail is paused. */
const PAUSED_MS = 15_000
/** Delay of a transfer whose row does not fit its seal: a person must look at it first. */
const UNSEALED_RETRY_MS = 60_000
/** Least delay, also if the rail asks to be called at a time in the past. */
const SOONEST_MS = 50

export function transferSteps(
  to: World,
  log: Logger,
  steps: StepRecorder = noSteps,
  pause: PauseRail = pauseRail,
): TransferSteps {
  const guard = openGuard(to, log, pause)
  const world: CarryingWorld = {
    ...to,
    chains: chainsOf((network) => noting(guard.guarded(to.chains[network]), steps)),
    noteWaiting: (id, why) => steps.begin(id, 'asked')(waitingFor(why)),
  }
  return {
    async carry(transfer) {
      try {
        await carry(world, transfer)
      } catch (error) {
        log.warn(
          { err: error, transfer_id: transfer.id },
          'onchain: no valid answer; the transfer stays open and is asked about again',
        )
        if (error instanceof InvalidAnswer) await reportInvalidAnswer(world, log, transfer, error)
        if (error instanceof SignatureRefused) await recordRefusal(world, transfer, error.message)
        await later(world, transfer, RETRY_MS)
      }
    },
    compare: (followed) => compare(world, log, pause, followed),
  }
}

/** A world whose rails record their steps. `noteWaiting` records why nothing was signed yet. */
type CarryingWorld = World & { noteWaiting(transfer_id: string, why: LaterReason): void }

/** Reasons that never become an exception, because the wait is intended. */
const planned: readonly LaterReason[] = ['scheduled', 'not_worth_it']

const unanswered: readonly LaterReason[] = [
  'endpoints_unavailable',
  'endpoints_disagree',
  'signer_unavailable',
]

const waitingFor = (why: LaterReason): AnswerSummary => ({
  heard: unanswered.includes(why) ? 'unknown' : 'waiting',
  said: `later ${why}`,
})

/** Wraps the rail so that every exchange is recorded for the console. Signing contacts nobody, so it is no step. */
const noting = (chain: ChainRail, steps: StepRecorder): ChainRail => ({
  ...chain,
  async screen(order) {
    const screened = await chain.screen(order)
    if (screened.kind === 'refused') steps.begin(order.id, 'asked')(summarizeAnswer(screened))
    return screened
  },
  broadcast: (order, attempt) => noted(steps.begin(order.id, 'sent'), chain.broadcast(order, attempt)),
  look: (order, reservation, made) =>
    noted(steps.begin(order.id, 'asked'), chain.look(order, reservation, made)),
})

async function noted<Answer extends Broadcast | Seen>(
  recordAnswer: (heard: AnswerSummary) => void,
  asked: Promise<Answer>,
): Promise<Answer> {
  try {
    const answer = await asked
    recordAnswer(summarizeAnswer(answer))
    return answer
  } catch (error) {
    recordAnswer(summarizeAnswer({ kind: 'unknown' }))
    throw error
  }
}

function summarizeAnswer(answer: Broadcast | Seen | Screened): AnswerSummary {
  switch (answer.kind) {
    case 'unknown':
      return { heard: 'unknown', said: null }
    case 'mined':
      return { heard: 'answered', said: minedWords[answer.effect] }
    case 'absent':
    case 'expired':
    case 'taken':
      return { heard: 'answered', said: answer.kind }
    case 'refused':
      return { heard: 'answered', said: `${answer.kind} ${masked(answer.rail_code)}` }
    default:
      return { heard: 'waiting', said: answer.kind }
  }
}

/** The recorded words for effects. The console knows them, and earlier versions recorded the same. */
const minedWords = { paid: 'confirmed', none: 'failed', other: 'mined otherwise' } as const

const later = (world: World, transfer: Transfer, ms: number) =>
  retryAfter(world.db, 'transfers', transfer, ms)

/** A transfer that was canceled is asked about as often as a new one. */
const pollLater = (world: World, transfer: Transfer) => {
  const since = transfer.cancel_requested_at ?? transfer.created_at
  return later(world, transfer, pollAgainAfter(transfer.network, world.clock.now() - since.getTime()))
}

async function step(world: World, transfer: Transfer, taken: TransferStep): Promise<Transfer> {
  const stepped = await world
    .commit(stepTransfer(world, transfer, taken, { by: 'rail' }))
    .catch((error: unknown) => refuseDouble(world, transfer, taken, error))
  return stepped.transfer
}

/** The signer returned the transaction hash of another transfer: broadcast nothing, and record an exception. */
async function refuseDouble(
  world: World,
  object: Transfer,
  said: TransferStep,
  error: unknown,
): Promise<never> {
  const problem = 'another transfer has this tx_hash'
  if (isDoubleTxHash(error)) await recordContradiction(world, { rail: object.network, object, said, problem })
  throw error
}

async function carry(world: CarryingWorld, transfer: Transfer): Promise<void> {
  if (transfer.status === 'processing') return follow(world, transfer)
  if (transfer.cancel_requested_at !== null) return cancelPending(world, transfer)
  if (await isHeld(world.db, transfer.id)) return waitForDecision(world, transfer)
  if (await isPaused(world, transfer.network)) return waitForResume(world, transfer)
  return transfer.nonce === null ? reserve(world, transfer) : send(world, transfer)
}

async function waitUntil(
  world: CarryingWorld,
  transfer: Transfer,
  { at, why }: Omit<Later, 'kind'>,
): Promise<void> {
  if (!planned.includes(why)) world.noteWaiting(transfer.id, why)
  await reportWaiting(world, transfer, why, transfer.created_at)
  await later(world, transfer, Math.max(SOONEST_MS, at.getTime() - world.clock.now()))
}

/** Opens an exception if the transfer has waited for ten minutes or more. */
async function reportWaiting(
  world: World,
  { id, partner_id, network, status }: Transfer,
  why: LaterReason,
  since: Date,
): Promise<void> {
  if (planned.includes(why) || world.clock.now() - since.getTime() < WAITING_MOST_MS) return
  await recordExceptionDaily(world.db, world.clock, {
    kind: 'stuck',
    rail: network,
    object_id: id,
    partner_id,
    details: { status, why, since: since.toISOString() },
  })
}

/**
 * While the rail is paused nothing is signed or broadcast for a pending transfer. One that was signed may be out all the same:
 * its node can have died after the broadcast. So the chain is asked.
 */
async function waitForResume(world: CarryingWorld, transfer: Transfer): Promise<void> {
  const made = transfer.nonce === null ? [] : await attemptsOf(world.db, transfer.id)
  const seen = made.length === 0 ? undefined : await look(world, transfer, made)
  if (seen?.kind === 'taken') await recordUnclear(world, transfer, seen)
  if (seen?.kind !== 'waiting' && seen?.kind !== 'mined')
    return waitUntil(world, transfer, { at: new Date(world.clock.now() + PAUSED_MS), why: 'rail_paused' })
  await step(world, transfer, { kind: 'broadcast' })
  await pollLater(world, transfer)
}

/** The later nonces of the wallet wait behind a transfer that has one and that a proposal holds: people must decide soon. */
async function waitForDecision(world: World, transfer: Transfer): Promise<void> {
  if (transfer.nonce !== null) await reportWaiting(world, transfer, 'held_by_proposal', transfer.created_at)
  await later(world, transfer, RETRY_MS)
}

/** Two nodes may reserve at once: `reserveNonce` gives the first one's nonce to both. */
async function reserve(world: CarryingWorld, transfer: Transfer): Promise<void> {
  if (!(await isAsOrdered(world, transfer))) {
    await recordRefusal(world, transfer, 'its row is not what was ordered: its seal does not fit it')
    return later(world, transfer, UNSEALED_RETRY_MS)
  }
  const rail = world.chains[transfer.network]
  const screened = await rail.screen(chainOrderOf(transfer))
  if (screened.kind === 'later') return waitUntil(world, transfer, screened)
  if (screened.kind === 'refused') {
    // A restored database has forgotten what it paid: a refusal of today must not give that money back.
    const why = await unknownPayments(world, transfer.network)
    if (why) return waitUntil(world, transfer, { at: new Date(world.clock.now() + RETRY_MS), why })
    return void (await step(world, transfer, screened))
  }
  const wallet = await rail.wallet()
  await addWallet(world.db, transfer.network, wallet)
  const chosen = await rail.chooseCoins?.(chainOrderOf(transfer))
  if (chosen?.kind === 'later') return waitUntil(world, transfer, chosen)
  const coins = chosen?.coins ?? []
  const reserved = await world.commit(reserveNonce(transfer, wallet, rail.reserved_most, { coins }))
  crashPoint('after_reserve')
  if (!reserved || isFinalTransfer(reserved)) return
  if (reserved.nonce === null) return waitForNonce(world, transfer, { wallet, coins })
  // Another node may have broadcast or ended the transfer meanwhile.
  if (reserved.status === 'pending') await send(world, { ...reserved, attempts: transfer.attempts })
}

/**
 * No nonce was reserved: a proposal holds the transfer, the rail is paused, one endpoint alone knows foreign transactions, or too many
 * nonces of the wallet are in use. Or another transfer has reserved one of the coins meanwhile: then others are chosen soon.
 */
async function waitForNonce(
  world: CarryingWorld,
  transfer: Transfer,
  { wallet, coins }: { readonly wallet: WalletState; readonly coins: readonly ChosenCoin[] },
): Promise<void> {
  const at = new Date(world.clock.now() + RETRY_MS)
  if (await isHeld(world.db, transfer.id)) return later(world, transfer, RETRY_MS)
  if (await isPaused(world, transfer.network)) return waitUntil(world, transfer, { at, why: 'rail_paused' })
  if (coins.length > 0 && (await reservedOf(world.db, coins)).size > 0)
    return later(world, transfer, SOONEST_MS)
  const why = wallet.claimed > wallet.pool ? 'endpoints_disagree' : 'nonces_in_use'
  await waitUntil(world, transfer, { at, why })
}

/**
 * The signer refuses a row whose seal does not fit (`rails/signer/seal.ts`). A nonce that was reserved for such a row would never be
 * spent, and all later transfers of the wallet would wait behind it.
 */
async function isAsOrdered(world: World, transfer: Transfer): Promise<boolean> {
  const { id: transfer_id, network, destination_address, amount_net: amount, seal } = transfer
  const expected = (await world.transferSeals())({ transfer_id, network, destination_address, amount })
  // Null where nothing is signed for real.
  return expected === null || expected === seal
}

async function send(world: CarryingWorld, transfer: Transfer): Promise<void> {
  const made = await attemptsOf(world.db, transfer.id)
  if (made.length === 0) return sign(world, transfer)
  await broadcast(world, transfer, made)
}

/** Two nodes may sign at once: `stepTransfer` (settle.ts) stores the first signature under a lock and ignores the other. */
async function sign(world: CarryingWorld, transfer: Transfer): Promise<void> {
  const signed = await signNext(world, transfer, [], 'pay')
  if ('why' in signed) return waitUntil(world, transfer, signed)
  // A proposal holds the transfer by now: the signature was discarded, and nobody outside has seen it.
  if (signed.tx_hash === null && !isFinalTransfer(signed)) return later(world, transfer, RETRY_MS)
  // Another node may have broadcast or ended the transfer meanwhile.
  if (signed.status !== 'pending') return
  await broadcast(world, { ...signed, attempts: transfer.attempts }, await attemptsOf(world.db, transfer.id))
}

/** Signs and stores the next transaction of a transfer, unless the rail wants to be asked again later. */
async function signNext(
  world: World,
  transfer: Transfer,
  made: readonly Attempt[],
  purpose: Purpose,
): Promise<Transfer | Later> {
  const rail = world.chains[transfer.network]
  const answer = await rail.attempt(chainOrderOf(transfer), reservationOf(transfer), made, purpose)
  if (answer.kind === 'later') return answer
  crashPoint('after_sign')
  return step(world, transfer, { kind: 'signed', attempt: made.length + 1, ...answer.transaction })
}

async function broadcast(world: World, transfer: Transfer, made: readonly Attempt[]): Promise<void> {
  crashPoint('before_broadcast')
  const newest = made.at(-1)!
  if (!(await mayBroadcast(world, transfer, newest))) return later(world, transfer, RETRY_MS)
  const { kind } = await world.chains[transfer.network].broadcast(chainOrderOf(transfer), newest)
  crashPoint('after_broadcast')
  if (kind === 'unknown') {
    // A node that answers with an error may have the transaction all the same.
    const seen = await look(world, transfer, made)
    if (seen.kind === 'taken') await recordUnclear(world, transfer, seen)
    // Bytes that were signed long ago may be out although no node shows them: follow the transfer, and replace them if need be.
    const may_be_out = seen.kind === 'expired' || (seen.kind === 'absent' && isStuck(world, transfer, newest))
    if (seen.kind !== 'waiting' && seen.kind !== 'mined' && !may_be_out)
      return later(world, transfer, RETRY_MS)
  }
  await step(world, transfer, { kind: 'broadcast' })
  await pollLater(world, transfer)
}

/** Through the ledger, so that the stored bytes are durable, on the standby too, before they are broadcast. */
const mayBroadcast = (world: World, transfer: Transfer, attempt: Attempt) =>
  world.commit(intendBroadcast(transfer, attempt))

const look = (world: World, transfer: Transfer, made: readonly Attempt[]) =>
  world.chains[transfer.network].look(chainOrderOf(transfer), reservationOf(transfer), made)

async function follow(world: World, transfer: Transfer): Promise<void> {
  const made = await attemptsOf(world.db, transfer.id)
  const seen = await look(world, transfer, made)
  if (seen.kind === 'expired') return payAnew(world, transfer, made, seen)
  const end = endOf(seen, made)
  if (end) return void (await step(world, transfer, end))
  if (seen.kind === 'mined' || seen.kind === 'taken') await recordUnclear(world, transfer, seen)
  // A stranger spent the nonce, so the cancel is never mined. Its row shows operators, who give the money back, that no payment was signed.
  const is_canceled_unsigned = transfer.cancel_requested_at !== null && made.length === 0
  if (seen.kind === 'taken' && is_canceled_unsigned) await cancel(world, transfer, made)
  if (seen.kind === 'absent' || seen.kind === 'waiting') await bringForward(world, transfer, made, seen.kind)
  await pollLater(world, transfer)
}

/**
 * No payment was mined, and none can be any more. Nothing of the transfer is out, so the next payment is like a first one: a pause or
 * a proposal stops it, and a transfer that was canceled fails. The rail asks the chain once more before it signs.
 */
async function payAnew(
  world: World,
  transfer: Transfer,
  made: readonly Attempt[],
  { is_drafted }: Extract<Seen, { kind: 'expired' }>,
): Promise<void> {
  if (transfer.cancel_requested_at !== null) {
    if (is_drafted) return pollLater(world, transfer)
    const unknown = await unknownPayments(world, transfer.network)
    if (unknown) {
      await reportWaiting(world, transfer, unknown, transfer.cancel_requested_at)
      return later(world, transfer, PAUSED_MS)
    }
    const unpaid = transfer.tx_hash === null ? { unpaid: true as const } : {}
    const failed = { kind: 'failed', rail_code: 'canceled', expired: made.length, ...unpaid } as const
    await step(world, transfer, failed)
    return later(world, transfer, RETRY_MS)
  }
  const since = made.at(-1)?.created_at ?? transfer.created_at
  if (await isPaused(world, transfer.network)) {
    await reportWaiting(world, transfer, 'rail_paused', since)
    return later(world, transfer, PAUSED_MS)
  }
  const signed = await signNext(world, transfer, made, 'pay')
  if ('why' in signed) await reportWaiting(world, transfer, signed.why, since)
  else if (!isFinalTransfer(signed)) {
    crashPoint('before_replace')
    await broadcastAgain(world, transfer, await attemptsOf(world.db, transfer.id))
  }
  await pollLater(world, transfer)
}

/**
 * Why the database may not know all payments of its wallet, as after the restore of a backup: one of them may have paid the transfer.
 * Undefined if it knows all of them.
 */
export async function unknownPayments(world: World, network: Network): Promise<LaterReason | undefined> {
  const rail = world.chains[network]
  if (!rail.has_wallet) return undefined
  const state = await rail.wallet().catch(() => undefined)
  if (!state) return 'endpoints_unavailable'
  const next_nonce = await nextNonceOf(world.db, walletIdOf(network, state.wallet))
  if (state.pool > next_nonce) return 'rail_paused'
  return isAhead(state, next_nonce) ? 'endpoints_disagree' : undefined
}

async function bringForward(
  world: World,
  transfer: Transfer,
  made: readonly Attempt[],
  seen: 'absent' | 'waiting',
): Promise<void> {
  const is_canceled = made.at(-1)?.purpose === 'cancel'
  if (transfer.cancel_requested_at !== null && !is_canceled) return cancel(world, transfer, made)
  // Dropped from the mempool, or removed by a reorg: the same bytes first, others only if no node takes them any more.
  if (seen === 'absent' && (await broadcastAgain(world, transfer, made)) !== 'unknown') return
  await replaceIfStuck(world, transfer, made)
}

/**
 * Operators canceled a transfer that no node is known to have. Its payment, if one was signed, may be in a pool all the same:
 * such a transfer becomes `processing`, and the chain decides. Without a payment it stays pending until the cancel is mined.
 */
async function cancelPending(world: World, transfer: Transfer): Promise<void> {
  const taken = transfer.tx_hash === null ? transfer : await step(world, transfer, { kind: 'broadcast' })
  if (!isFinalTransfer(taken)) await follow(world, { ...taken, attempts: transfer.attempts })
}

/** The cancel offers higher fees than all payments with the same nonce. If a payment is mined nevertheless, it counts. */
async function cancel(world: World, transfer: Transfer, made: readonly Attempt[]): Promise<void> {
  const signed = await signNext(world, transfer, made, 'cancel')
  if ('why' in signed) {
    await reportWaiting(world, transfer, signed.why, transfer.cancel_requested_at!)
    // Another transfer spends the payment's change, so no cancel can be signed: without the payment neither transfer would ever end.
    if (signed.why === 'change_is_spent') await broadcastAgain(world, transfer, made)
    return
  }
  if (isFinalTransfer(signed)) return
  crashPoint('before_cancel')
  await broadcastAgain(world, transfer, await attemptsOf(world.db, transfer.id))
}

async function broadcastAgain(
  world: World,
  transfer: Transfer,
  made: readonly Attempt[],
): Promise<Broadcast['kind'] | 'forbidden'> {
  const newest = made.at(-1)!
  if (!(await mayBroadcast(world, transfer, newest))) return 'forbidden'
  const { kind } = await world.chains[transfer.network].broadcast(chainOrderOf(transfer), newest)
  crashPoint('after_broadcast')
  return kind
}

const isStuck = (world: World, { network }: Transfer, { created_at }: Attempt): boolean =>
  world.clock.now() - created_at.getTime() >= world.chains[network].replace_after_ms

/** A transaction that waits for too long is signed again with higher fees and the same nonce: at most one of them is mined. */
async function replaceIfStuck(world: World, transfer: Transfer, made: readonly Attempt[]): Promise<void> {
  const newest = made.at(-1)!
  if (!isStuck(world, transfer, newest)) return
  // A cancel is replaced by a cancel, and a payment by a payment.
  const signed = await signNext(world, transfer, made, newest.purpose)
  // The newest one may be in no pool, or in that of a single node: a node of the service may have crashed before it broadcast it, or other
  // nodes have dropped it.
  if ('why' in signed) {
    await reportWaiting(world, transfer, signed.why, newest.created_at)
    await broadcastAgain(world, transfer, made)
    return
  }
  if (isFinalTransfer(signed)) return
  crashPoint('before_replace')
  await broadcastAgain(world, transfer, await attemptsOf(world.db, transfer.id))
}

const problems = {
  mined: 'its transaction is mined, and is neither the ordered payment nor without effect',
  taken: 'its nonce was spent by a transaction that the service did not sign',
} as const

/**
 * Only a person can judge what happened to the money; the transfer stays open. If the nonce is taken, somebody else has the wallet's key,
 * or the database is older than the chain: nothing more is paid from the wallet until two operators resume the rail.
 */
async function recordUnclear(
  world: World,
  { id, partner_id, network, status }: Transfer,
  seen: Extract<Seen, { kind: 'mined' | 'taken' }>,
): Promise<void> {
  if (seen.kind === 'taken')
    await pauseRail(world, { rail: network, by: 'service', reason: `${id}: ${problems.taken}` })
  await recordExceptionDaily(world.db, world.clock, {
    kind: 'contradiction',
    rail: network,
    object_id: id,
    partner_id,
    details: {
      booked: status,
      rail_says: seen.kind === 'mined' ? { kind: seen.kind, tx_hash: seen.tx_hash } : { kind: seen.kind },
      problem: problems[seen.kind],
    },
  })
}

/** Nothing was signed, and nothing will be until a person has found out who changed the row. */
const recordRefusal = (world: World, { id, partner_id, network, status }: Transfer, problem: string) =>
  recordExceptionDaily(world.db, world.clock, {
    kind: 'contradiction',
    rail: network,
    object_id: id,
    partner_id,
    details: { booked: status, problem },
  })

/** Checks whether the chain confirms what an operator decided, and whether a block in which a transfer ended is still there. */
async function compare(world: World, log: Logger, pause: PauseRail, followed: FollowUp): Promise<void> {
  const { resource_id } = followed
  const transfer = await transferById(world.db, resource_id)
  if (!transfer) return
  const made = await attemptsOf(world.db, transfer.id)
  const mined = made.find(isMined)
  if (mined && world.chains[transfer.network].finality)
    return watchBlock(world, pause, { transfer, made, mined, followed })
  if (transfer.tx_hash === null) return
  const seen = await look(world, transfer, made).catch(async (error: unknown) => {
    if (error instanceof InvalidAnswer) await reportInvalidAnswer(world, log, transfer, error)
    throw error
  })
  // An operator confirmed the transfer, and the chain does not know it.
  if ((seen.kind === 'absent' || seen.kind === 'expired') && transfer.status === 'confirmed')
    await recordContradiction(world, {
      rail: transfer.network,
      object: transfer,
      said: { kind: seen.kind },
    })
  const end = endOf(seen, made)
  if (!end) {
    if (seen.kind === 'mined' || seen.kind === 'taken') await recordUnclear(world, transfer, seen)
    return
  }
  await step(world, transfer, end)
  await endFollowUp(world.db, resource_id)
}
