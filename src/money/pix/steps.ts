import type { Logger } from 'pino'
import { crashPoint } from '../../core/crash-point.ts'
import { retryAfter } from '../../db/due.ts'
import { InvalidAnswer } from '../../rails/answers.ts'
import type { PixOutcome, PixStatus } from '../../rails/pix/rail.ts'
import { recordContradiction } from '../../records/desk/contradictions.ts'
import { reportInvalidAnswer } from '../../records/desk/invalid-answers.ts'
import { endFollowUp, type FollowUp } from '../../records/desk/resolutions.ts'
import { noSteps, type StepRecorder } from '../../records/steps/recorder.ts'
import type { World } from '../../world.ts'
import { isPaused, pauseRail } from '../custody/controls.ts'
import { noteAccepted, reportAbsent } from './accepted.ts'
import { endedAtOnce, summarizeAnswer } from './exchanges.ts'
import { maySend, maySendSoon } from './first-comparison.ts'
import { failNeverSent } from './never-sent.ts'
import { pixOrderOf } from './order.ts'
import { askAgainAfter } from './pace.ts'
import { askAfterRefusal, noteAbsent, noteRefusal } from './refused-again.ts'
import { FIRST_SEND_MS, intendSend, type RefusedIntent } from './sends.ts'
import { type FinalOutcome, RAIL, type Settled, settlePayout } from './settle.ts'
import { isDoubleEndToEndId, isFinalPayout, type Payout, payoutById } from './store.ts'
import { openTurns, type Turns } from './turns.ts'

/** What a worker does with a payout that it has taken. An unknown outcome is never failed (contract §8). */
type PayoutSteps = {
  /** First send, by the node that accepted the payout. The lease ends at `ends`, on this process's monotonic clock. */
  send(payout: Payout, ends: number): Promise<Settled | undefined>
  /** First send of a payout that `isLeft` to a worker. */
  sendLeft(payout: Payout): Promise<void>
  queryThenSend(payout: Payout): Promise<void>
  compare(followed: FollowUp): Promise<void>
}

/** Delay to the next status query of a payout that an open proposal holds: it is not sent meanwhile. */
const HELD_MS = 5000
/** The same while the rail is paused. */
const PAUSED_MS = 15_000
/** The same while the provider's list is being compared for the first time. */
const COMPARING_MS = 1000
/** Bounds of the delay after the rail's answer `later`. */
const LATER_LEAST_MS = 500
const LATER_MOST_MS = 3_600_000

/** Least delay to the next status query of a payout with a stored refusal. */
const ASK_VISIBLE_MS = 500

/** Delay to the next status query of a payout that found no turn at the provider. */
const NO_TURN_MS = 500
/** A node that stands still in its turn keeps the turn for so long, or for two leases if these are longer. */
const TURN_IDLE_LEAST_MS = 30_000
/** A first send keeps its lease and waits so long for its turn; after that the payout is asked about, like any other. */
const FIRST_TURN_MS = 60_000

type Refused = Extract<FinalOutcome, { kind: 'refused' }>

export function payoutSteps(
  world: World,
  log: Logger,
  onFinal: (settled: Settled) => void,
  steps: StepRecorder = noSteps,
): PayoutSteps {
  const { at_once } = world.pix.sending
  const idle_most_ms = Math.max(TURN_IDLE_LEAST_MS, 2 * world.lease_ms)
  const turns = at_once === undefined ? undefined : openTurns(world.db, { at_once, idle_most_ms })
  const at: StepContext = { world, log, onFinal, steps, turns }
  return {
    send: (payout, ends) => sendFirst(at, payout, ends),
    sendLeft: (payout) => sendLeft(at, payout),
    queryThenSend: (payout) => queryThenSend(at, payout),
    compare: (followed) => compare(at, followed),
  }
}

/** What every step needs. */
type StepContext = {
  readonly world: World
  readonly log: Logger
  /** Called for every payout that is final. */
  readonly onFinal: (settled: Settled) => void
  /** Records the exchanges with the rail, for the console. */
  readonly steps: StepRecorder
  /** Undefined: the rail takes any number of payments at once. */
  readonly turns: Turns | undefined
}

async function settle(
  { world, onFinal }: StepContext,
  payout: Payout,
  outcome: FinalOutcome,
): Promise<Settled> {
  crashPoint('before_settle')
  const settled = await world
    .commit(settlePayout(world, payout, outcome, { by: 'rail', attempt: payout.attempts }))
    .catch((error: unknown) => refuseDouble(world, payout, outcome, error))
  if (isFinalPayout(settled.payout)) onFinal(settled)
  return settled
}

/** The rail reports a payment under an end-to-end id that another payout has: book nothing, and record an exception. */
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

/** Settles a final outcome. For any other the payout stays open, and the next status query is scheduled. */
async function settleOrPollLater(
  at: StepContext,
  payout: Payout,
  outcome: PixOutcome,
): Promise<Settled | undefined> {
  const { world } = at
  switch (outcome.kind) {
    case 'settled':
      return settle(at, payout, outcome)
    case 'refused':
      // Pauses the rail before the refusal is booked: the provider would refuse the next payout for the same reason.
      if (outcome.is_ours) await pauseAfterFault(world, payout, outcome)
      return settle(at, payout, outcome)
    case 'later': {
      const wait_ms = outcome.at.getTime() - world.clock.now()
      return void (await later(world, payout, Math.min(Math.max(wait_ms, LATER_LEAST_MS), LATER_MOST_MS)))
    }
    case 'accepted':
      if (payout.accepted_at === null) await world.commit(noteAccepted(payout))
      return void (await askLater(world, payout, outcome.ask_at))
    case 'unknown':
      return void (await askLater(world, payout, outcome.ask_at))
  }
}

/** Whether a send before this one may have reached the rail. */
const isRepeated = ({ attempts }: Payout): boolean => attempts > 1

/** The refusal of a send that may be repeated says nothing of the sends before it: the rail is asked first. */
async function doubtRefusal({ world }: StepContext, payout: Payout, refused: Refused): Promise<undefined> {
  if (refused.is_ours) await pauseAfterFault(world, payout, refused)
  await world.commit(noteRefusal(payout, refused))
  await later(world, payout, askAfterRefusal(world))
}

/** The rail refused a payout because of the account or the settings of this service. */
async function pauseAfterFault(world: World, { id }: Payout, { rail_code }: Refused): Promise<void> {
  const reason = `The provider refused payout ${id} with ${rail_code}: the account or the settings of this service are at fault.`
  await pauseRail(world, { rail: RAIL, by: 'service', reason })
}

function askLater(world: World, payout: Payout, ask_at?: Date): Promise<void> {
  const now = world.clock.now()
  return later(
    world,
    payout,
    askAgainAfter(now - payout.created_at.getTime(), ask_at && ask_at.getTime() - now),
  )
}

/** Every send is committed before it is made: by the acceptance, if it follows at once, otherwise by a command of its own. */
async function sendFirst(at: StepContext, payout: Payout, ends: number): Promise<Settled | undefined> {
  const { world } = at
  if (!(await maySendFirst(world))) return undefined
  return inFirstTurn(at, payout, ends, (is_kept) => {
    const since = performance.now()
    const waited = Math.max(since - (ends - world.lease_ms), world.clock.now() - payout.created_at.getTime())
    const is_early = waited <= FIRST_SEND_MS || since + world.rail_timeout_ms > ends
    const refusal = isRepeated(payout) ? 'doubted' : 'final'
    return is_early && !is_kept
      ? send(at, payout, ends, { refusal })
      : storeFirstSend(at, payout, since, { refusal })
  })
}

/** A worker takes the payout up when the lease ends, and sends it once the rail is resumed, or the provider's list was compared. */
const maySendFirst = async (world: World): Promise<boolean> =>
  (await maySendSoon(world)) && !(await isPaused(world, RAIL))

/**
 * Whether the payout was accepted for a worker to send, this is the first worker that has it, and the time for sending is not over:
 * nothing of it was sent, so there is nothing to ask about. The worker's lease is the first attempt.
 */
export function isLeft({ pix, clock }: World, { attempts, created_at }: Payout): boolean {
  const { send_for_ms = Infinity } = pix.sending
  return attempts === 1 && clock.now() - created_at.getTime() < send_for_ms
}

async function sendLeft(at: StepContext, payout: Payout): Promise<void> {
  const { world } = at
  if (!(await maySendFirst(world))) return
  // A restored database may have forgotten a send, so a refusal is not believed at once.
  await inFirstTurn(at, payout, performance.now() + world.lease_ms, () =>
    storeFirstSend(at, payout, performance.now(), { refusal: 'doubted' }),
  )
}

async function storeFirstSend(
  at: StepContext,
  payout: Payout,
  since: number,
  options: SendOptions,
): Promise<Settled | undefined> {
  const intent = await at.world.commit(intendSend(at.world, payout, { first: true }))
  if (intent.kind !== 'send') return undefined
  return send(at, { ...payout, next_attempt_at: intent.until }, since + intent.left_ms, options)
}

/** Until when a payout may wait for its turn: the call that follows must end within the lease. */
function turnEnds(world: World, payout: Payout, ends: number): number {
  const lease_ms = payout.next_attempt_at.getTime() - world.clock.now()
  return Math.min(ends, performance.now() + lease_ms) - world.rail_timeout_ms
}

/**
 * On a rail that bounds concurrent payments, waits for a turn, for as long as the payout could still be sent within the lease. Without a
 * turn nothing is done, and the payout is asked about again soon.
 */
async function inTurn<T>(
  { world, turns }: StepContext,
  payout: Payout,
  ends: number,
  work: () => Promise<T>,
): Promise<T | undefined> {
  if (!turns) return work()
  const taken = await turns.take(payout.partner_id, turnEnds(world, payout, ends), work)
  return taken ? taken.done : void (await later(world, payout, NO_TURN_MS))
}

/**
 * The same for a first send. Nothing was sent, so the lease is kept while the payout waits: no other worker has to ask about it, and to
 * wait until a send would be visible. `is_kept`: the lease is longer than that of the acceptance.
 */
async function inFirstTurn<T>(
  { world, turns }: StepContext,
  payout: Payout,
  ends: number,
  work: (is_kept: boolean) => Promise<T>,
): Promise<T | undefined> {
  if (!turns) return work(false)
  const { partner_id } = payout
  const give_up_at = performance.now() + FIRST_TURN_MS
  let taken = await turns.take(partner_id, turnEnds(world, payout, ends), () => work(false))
  while (!taken && performance.now() < give_up_at) {
    const since = performance.now()
    await later(world, payout, world.lease_ms)
    const until = since + world.lease_ms - world.rail_timeout_ms
    taken = await turns.take(partner_id, until, () => work(true))
  }
  return taken ? taken.done : void (await later(world, payout, NO_TURN_MS))
}

type SendOptions = {
  /** `final`: no other send of the payout can have reached the rail, so its refusal is settled. */
  readonly refusal: 'final' | 'doubted'
}

/** Sends only if the call ends within the lease: the next holder of the lease relies on it. */
async function send(
  at: StepContext,
  payout: Payout,
  ends: number,
  { refusal }: SendOptions,
): Promise<Settled | undefined> {
  const { world, steps } = at
  crashPoint('before_send')
  if (performance.now() + world.rail_timeout_ms > ends) return undefined
  // The monotonic clock stands still while a machine is suspended, so the wall clock is checked too.
  if (world.clock.now() + world.rail_timeout_ms > payout.next_attempt_at.getTime()) return undefined
  const recordAnswer = steps.begin(payout.id, 'sent')
  const outcome = await world.pix.send(pixOrderOf(payout)).catch(unknown(at, payout))
  crashPoint('after_send')
  let settled: Settled | undefined
  try {
    settled = await (refusal === 'doubted' && outcome.kind === 'refused'
      ? doubtRefusal(at, payout, outcome)
      : settleOrPollLater(at, payout, outcome))
  } finally {
    // Most payouts end with their first send: their row says it all, so no step is stored.
    if (!settled?.changed || !endedAtOnce(settled.payout)) recordAnswer(summarizeAnswer(outcome))
  }
  return settled
}

async function ask(at: StepContext, payout: Payout): Promise<PixStatus> {
  const { world, steps } = at
  const recordAnswer = steps.begin(payout.id, 'asked')
  const status: PixStatus = await world.pix.status(pixOrderOf(payout)).catch(unknown(at, payout))
  recordAnswer(summarizeAnswer(status))
  return status
}

/** Asks for the status first: sending first could pay twice. */
async function queryThenSend(at: StepContext, payout: Payout): Promise<void> {
  const { world } = at
  const sinceAsked = openTimer(world)
  const status = await ask(at, payout)
  if (status.kind !== 'absent') return void (await settleOrPollLater(at, payout, status))
  if (!maySend(world)) return later(world, payout, COMPARING_MS)
  return inTurn(at, payout, performance.now() + world.lease_ms, () => sendAgain(at, payout, sinceAsked))
}

/** Milliseconds since now. The monotonic clock stands still while a machine is suspended, so the wall clock is asked too. */
function openTimer({ clock }: World): () => number {
  const [monotonic, wall] = [performance.now(), clock.now()]
  return () => Math.max(performance.now() - monotonic, clock.now() - wall)
}

/** Called when the rail does not know the payout. `sinceAsked`: milliseconds since that status query began. */
async function sendAgain(at: StepContext, payout: Payout, sinceAsked: () => number): Promise<void> {
  const { world } = at
  const since = performance.now()
  const intent = await world.commit(intendSend(world, payout))
  switch (intent.kind) {
    case 'send':
      return void (await send(at, payout, since + intent.left_ms, { refusal: 'doubted' }))
    case 'wait':
      return later(world, payout, intent.ms)
    case 'held':
      return later(world, payout, HELD_MS)
    case 'paused':
      return later(world, payout, PAUSED_MS)
    case 'refused':
      return believeRefusal(at, payout, intent, sinceAsked())
    case 'elsewhere':
      at.log.warn(
        { payout_id: payout.id, provider: payout.provider },
        'pix: the payout was handed to another account; it is not sent from this one, and a person must resolve it',
      )
      return askLater(world, payout)
    case 'never_sent': {
      const settled = await world.commit(failNeverSent(world, payout))
      return isFinalPayout(settled.payout) ? at.onFinal(settled) : undefined
    }
    case 'desk':
      await reportAbsent(world, intent.payout)
      return askLater(world, payout)
  }
}

/** Books a stored refusal once two status queries that count found nothing. `asked_ms`: milliseconds since the newest query began. */
async function believeRefusal(
  at: StepContext,
  payout: Payout,
  { refusal, visible_for_ms, absent_for_ms, again_ms }: RefusedIntent,
  asked_ms: number,
): Promise<void> {
  const { world } = at
  // The query does not count if it began before all sends were visible: it may have waited for its answer, or for a turn.
  if (visible_for_ms < asked_ms) return later(world, payout, ASK_VISIBLE_MS)
  if (absent_for_ms === undefined) {
    await world.commit(noteAbsent(payout))
    return later(world, payout, Math.max(ASK_VISIBLE_MS, again_ms))
  }
  if (absent_for_ms - asked_ms < again_ms)
    return later(world, payout, Math.max(ASK_VISIBLE_MS, again_ms - absent_for_ms))
  await settle(at, payout, { kind: 'refused', ...refusal })
}

/** Checks whether the rail confirms what an operator decided. */
async function compare(at: StepContext, { resource_id }: FollowUp): Promise<void> {
  const { world } = at
  const payout = await payoutById(world.db, resource_id)
  if (!payout) return
  const status = await ask(at, payout)
  // An operator completed the payout, and the rail is sure that it never received it.
  if (status.kind === 'absent' && payout.status === 'completed')
    await recordContradiction(world, { rail: RAIL, object: payout, said: { kind: 'absent' } })
  if (status.kind !== 'settled' && status.kind !== 'refused') return
  await settle(at, payout, status)
  await endFollowUp(world.db, resource_id)
}

const unknown =
  ({ world, log }: StepContext, payout: Payout) =>
  async (error: unknown): Promise<{ kind: 'unknown'; ask_at?: Date }> => {
    log.warn(
      { err: error, payout_id: payout.id },
      'pix: no valid answer; the payout stays open and is asked about again',
    )
    if (error instanceof InvalidAnswer) await reportInvalidAnswer(world, log, payout, error)
    return { kind: 'unknown' }
  }
