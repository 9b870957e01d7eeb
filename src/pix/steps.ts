import type { Logger } from 'pino'
import { crashPoint } from '../core/crash-point.ts'
import { retryAfter } from '../db/due.ts'
import { recordContradiction } from '../desk/contradictions.ts'
import { reportInvalidAnswer } from '../desk/invalid-answers.ts'
import { endFollowUp, type FollowUp } from '../desk/resolutions.ts'
import { InvalidAnswer } from '../rails/answers.ts'
import type { PixOutcome, PixStatus } from '../rails/pix/rail.ts'
import { noSteps, type StepRecorder } from '../steps/recorder.ts'
import type { World } from '../world.ts'
import { noteAccepted, reportAbsent } from './accepted.ts'
import { endedAtOnce, heardOf } from './exchanges.ts'
import { orderOf } from './order.ts'
import { askAgainAfter } from './pace.ts'
import { FIRST_SEND_MS, intendSend } from './sends.ts'
import { type FinalOutcome, RAIL, type Settled, settlePayout } from './settle.ts'
import { isDoubleEndToEndId, isFinal, type Payout, payoutById } from './store.ts'

/** What a worker does with a payout once it has taken it: unknown is never failed (contract §8). */
export type PayoutSteps = {
  /** Whoever took it has it until `ends`, by its own steady clock. */
  send(payout: Payout, ends: number): Promise<Settled | undefined>
  lookAfter(payout: Payout): Promise<void>
  compare(followed: FollowUp): Promise<void>
}

/** Held by an open proposal: asked about, and nothing else. */
const HELD_MS = 5000

export function payoutSteps(
  world: World,
  log: Logger,
  tell: (settled: Settled) => void,
  steps: StepRecorder = noSteps,
): PayoutSteps {
  const at: Hands = { world, log, tell, steps }
  return {
    send: (payout, ends) => sendFirst(at, payout, ends),
    lookAfter: (payout) => lookAfter(at, payout),
    compare: (followed) => compare(at, followed),
  }
}

/** What every step needs. */
type Hands = {
  readonly world: World
  readonly log: Logger
  /** Told of every payout that has come to its end. */
  readonly tell: (settled: Settled) => void
  /** Notes what was said, for people. */
  readonly steps: StepRecorder
}

async function settle({ world, tell }: Hands, payout: Payout, outcome: FinalOutcome): Promise<Settled> {
  crashPoint('before_settle')
  const settled = await world
    .commit(settlePayout(world, payout, outcome, { by: 'rail', attempt: payout.attempts }))
    .catch((error: unknown) => refuseDouble(world, payout, outcome, error))
  if (isFinal(settled.payout)) tell(settled)
  return settled
}

/** Paid, it says, under an id that another payout has: nothing is booked, and somebody must look. */
async function refuseDouble(
  world: World,
  object: Payout,
  said: FinalOutcome,
  error: unknown,
): Promise<never> {
  const problem = 'another payout has this end_to_end_id'
  if (isDoubleEndToEndId(error)) await recordContradiction(world, { rail: RAIL, object, said, problem })
  throw error
}

const later = (world: World, payout: Payout, ms: number) => retryAfter(world.db, 'payouts', payout, ms)

/** What is not known stays as it is, and is asked again later. */
async function hear(at: Hands, payout: Payout, outcome: PixOutcome): Promise<Settled | undefined> {
  if (outcome.kind !== 'unknown' && outcome.kind !== 'accepted') return settle(at, payout, outcome)
  if (outcome.kind === 'accepted' && payout.accepted_at === null) await at.world.commit(noteAccepted(payout))
  await askLater(at.world, payout, outcome.ask_at)
  return undefined
}

function askLater(world: World, payout: Payout, ask_at?: Date): Promise<void> {
  const now = world.clock.now()
  return later(
    world,
    payout,
    askAgainAfter(now - payout.created_at.getTime(), ask_at && ask_at.getTime() - now),
  )
}

/** What is sent is committed before: the acceptance says so of a send that follows at once, a command of a later one. */
async function sendFirst(at: Hands, payout: Payout, ends: number): Promise<Settled | undefined> {
  const { world } = at
  const since = performance.now()
  const waited = Math.max(since - (ends - world.lease_ms), world.clock.now() - payout.created_at.getTime())
  if (waited <= FIRST_SEND_MS || since + world.rail_timeout_ms > ends) return send(at, payout, ends)
  const intent = await world.commit(intendSend(world, payout, { first: true }))
  return intent.kind === 'send' ? send(at, payout, Math.min(ends, since + intent.left_ms)) : undefined
}

/** Never beyond the lease: whoever comes after must be able to count on that nobody sends any more. */
async function send(at: Hands, payout: Payout, ends: number): Promise<Settled | undefined> {
  const { world, steps } = at
  crashPoint('before_send')
  if (performance.now() + world.rail_timeout_ms > ends) return undefined
  // A machine that was suspended finds its steady clock where it left it; the other one has gone on.
  if (world.clock.now() + world.rail_timeout_ms > payout.next_attempt_at.getTime()) return undefined
  const heard = steps.begin(payout.id, 'sent')
  const outcome = await world.pix.send(orderOf(payout)).catch(unknown(at, payout))
  crashPoint('after_send')
  let settled: Settled | undefined
  try {
    settled = await hear(at, payout, outcome)
  } finally {
    // Of nearly all payouts there is nothing to note: their rows tell it.
    if (!settled?.changed || !endedAtOnce(settled.payout)) heard(heardOf(outcome))
  }
  return settled
}

async function ask(at: Hands, payout: Payout): Promise<PixStatus> {
  const { world, steps } = at
  const heard = steps.begin(payout.id, 'asked')
  const status: PixStatus = await world.pix.status(orderOf(payout)).catch(unknown(at, payout))
  heard(heardOf(status))
  return status
}

/** Ask first. Sending first could pay a second time. */
async function lookAfter(at: Hands, payout: Payout): Promise<void> {
  const { world } = at
  const status = await ask(at, payout)
  if (status.kind !== 'absent') return void (await hear(at, payout, status))
  const since = performance.now()
  const intent = await world.commit(intendSend(world, payout))
  switch (intent.kind) {
    case 'send':
      return void (await send(at, payout, since + intent.left_ms))
    case 'wait':
      return later(world, payout, intent.ms)
    case 'held':
      return later(world, payout, HELD_MS)
    case 'desk':
      await reportAbsent(world, intent.payout)
      return askLater(world, payout)
  }
}

/** Decided by an operator: whether the rail tells the same. */
async function compare(at: Hands, { resource_id }: FollowUp): Promise<void> {
  const { world } = at
  const payout = await payoutById(world.db, resource_id)
  if (!payout) return
  const status = await ask(at, payout)
  // Completed on somebody's word, and the rail is sure that it never got it.
  if (status.kind === 'absent' && payout.status === 'completed')
    await recordContradiction(world, { rail: RAIL, object: payout, said: { kind: 'absent' } })
  if (status.kind === 'unknown' || status.kind === 'accepted' || status.kind === 'absent') return
  await settle(at, payout, status)
  await endFollowUp(world.db, resource_id)
}

const unknown =
  ({ world, log }: Hands, payout: Payout) =>
  async (error: unknown): Promise<{ kind: 'unknown'; ask_at?: Date }> => {
    log.warn(
      { err: error, payout_id: payout.id },
      'pix: no valid answer; the payout stays open and is asked about again',
    )
    if (error instanceof InvalidAnswer) await reportInvalidAnswer(world, log, payout, error)
    return { kind: 'unknown' }
  }
