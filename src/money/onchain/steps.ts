import type { Logger } from 'pino'
import { crashPoint } from '../../core/crash-point.ts'
import { retryAfter } from '../../db/due.ts'
import { InvalidAnswer } from '../../rails/answers.ts'
import type { Broadcast, ChainRail, ChainStatus, Prepared } from '../../rails/chain/rail.ts'
import { recordContradiction } from '../../records/desk/contradictions.ts'
import { isHeld } from '../../records/desk/holds.ts'
import { reportInvalidAnswer } from '../../records/desk/invalid-answers.ts'
import { endFollowUp, type FollowUp } from '../../records/desk/resolutions.ts'
import { type AnswerSummary, noSteps, type StepRecorder } from '../../records/steps/recorder.ts'
import { masked } from '../../records/steps/store.ts'
import type { World } from '../../world.ts'
import { chainOrderOf, signedOf } from './order.ts'
import { pollAgainAfter } from './pace.ts'
import { intendBroadcast, stepTransfer, type TransferStep } from './settle.ts'
import { isDoubleTxHash, isFinalTransfer, type Transfer, transferById } from './store.ts'

/** What a worker does with a transfer that it has taken: it signs once and always broadcasts the same bytes (contract §9). */
type TransferSteps = {
  carry(transfer: Transfer): Promise<void>
  compare(followed: FollowUp): Promise<void>
}

const RETRY_MS = 5000
/** Least delay, also if the rail asks to be called at a time in the past. */
const SOONEST_MS = 50

export function transferSteps(to: World, log: Logger, steps: StepRecorder = noSteps): TransferSteps {
  const world: World = { ...to, chain: noting(to.chain, steps) }
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
        await later(world, transfer, RETRY_MS)
      }
    },
    compare: (followed) => compare(world, log, followed),
  }
}

/** Wraps the rail so that every exchange is recorded for the console. Signing contacts nobody, so it is no step. */
const noting = (chain: ChainRail, steps: StepRecorder): ChainRail => ({
  environment: chain.environment,
  feeInputs: (network) => chain.feeInputs(network),
  async prepare(order, signal) {
    const prepared = await chain.prepare(order, signal)
    if (prepared.kind === 'refused') steps.begin(order.id, 'asked')(summarizeAnswer(prepared))
    return prepared
  },
  broadcast: (order, signed, signal) =>
    noted(steps.begin(order.id, 'sent'), chain.broadcast(order, signed, signal)),
  status: (order, signed, signal) =>
    noted(steps.begin(order.id, 'asked'), chain.status(order, signed, signal)),
})

async function noted<Answer extends Broadcast | ChainStatus>(
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

function summarizeAnswer(answer: Broadcast | ChainStatus | Prepared): AnswerSummary {
  switch (answer.kind) {
    case 'unknown':
      return { heard: 'unknown', said: null }
    case 'confirmed':
    case 'absent':
      return { heard: 'answered', said: answer.kind }
    case 'failed':
    case 'refused':
      return { heard: 'answered', said: `${answer.kind} ${masked(answer.rail_code)}` }
    default:
      return { heard: 'waiting', said: answer.kind }
  }
}

const later = (world: World, transfer: Transfer, ms: number) =>
  retryAfter(world.db, 'transfers', transfer, ms)

const pollLater = (world: World, transfer: Transfer) =>
  later(world, transfer, pollAgainAfter(transfer.network, world.clock.now() - transfer.created_at.getTime()))

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

async function carry(world: World, transfer: Transfer): Promise<void> {
  if (transfer.status === 'processing') return follow(world, transfer)
  if (await isHeld(world.db, transfer.id)) return later(world, transfer, RETRY_MS)
  return transfer.tx_hash === null ? sign(world, transfer) : broadcast(world, transfer)
}

/** Two nodes may sign at once: `stepTransfer` (settle.ts) stores the first signature under a lock and ignores the other. */
async function sign(world: World, transfer: Transfer): Promise<void> {
  const prepared = await world.chain.prepare(chainOrderOf(transfer))
  if (prepared.kind === 'later')
    return later(world, transfer, Math.max(SOONEST_MS, prepared.at.getTime() - world.clock.now()))
  if (prepared.kind === 'refused') return void (await step(world, transfer, prepared))
  crashPoint('after_sign')
  const signed = await step(world, transfer, prepared)
  // A proposal holds the transfer by now: the signature was discarded, and nobody outside has seen it.
  if (signed.tx_hash === null && !isFinalTransfer(signed)) return later(world, transfer, RETRY_MS)
  // Another node may have broadcast or ended the transfer meanwhile.
  if (signed.status === 'pending') await broadcast(world, { ...signed, attempts: transfer.attempts })
}

async function broadcast(world: World, transfer: Transfer): Promise<void> {
  crashPoint('before_broadcast')
  if (!(await mayBroadcast(world, transfer))) return later(world, transfer, RETRY_MS)
  const { kind } = await world.chain.broadcast(chainOrderOf(transfer), signedOf(transfer))
  crashPoint('after_broadcast')
  if (kind === 'unknown') return later(world, transfer, RETRY_MS)
  await step(world, transfer, { kind: 'broadcast' })
  await pollLater(world, transfer)
}

/** Through the ledger, so that the stored bytes are durable, on the standby too, before they are broadcast. */
const mayBroadcast = (world: World, transfer: Transfer) => world.commit(intendBroadcast(transfer))

async function follow(world: World, transfer: Transfer): Promise<void> {
  const status = await world.chain.status(chainOrderOf(transfer), signedOf(transfer))
  if (status.kind === 'confirmed' || status.kind === 'failed')
    return void (await step(world, transfer, status))
  // Dropped from the mempool, or removed by a reorg: broadcast the same bytes again, never others.
  if (status.kind === 'absent' && (await mayBroadcast(world, transfer)))
    await world.chain.broadcast(chainOrderOf(transfer), signedOf(transfer))
  await pollLater(world, transfer)
}

/** Checks whether the chain confirms what an operator decided. */
async function compare(world: World, log: Logger, { resource_id }: FollowUp): Promise<void> {
  const transfer = await transferById(world.db, resource_id)
  if (!transfer || transfer.tx_hash === null) return
  const status = await world.chain
    .status(chainOrderOf(transfer), signedOf(transfer))
    .catch(async (error: unknown) => {
      if (error instanceof InvalidAnswer) await reportInvalidAnswer(world, log, transfer, error)
      throw error
    })
  // An operator confirmed the transfer, and the chain does not know it.
  if (status.kind === 'absent' && transfer.status === 'confirmed')
    await recordContradiction(world, {
      rail: transfer.network,
      object: transfer,
      said: { kind: 'absent' },
    })
  if (status.kind !== 'confirmed' && status.kind !== 'failed') return
  await step(world, transfer, status)
  await endFollowUp(world.db, resource_id)
}
