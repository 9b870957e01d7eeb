import {
  customerAccount,
  externalAccount,
  inTransitAccount,
  serviceFeesAccount,
} from '../../ledger/accounts.ts'
import {
  type Claim,
  type Command,
  type Decision,
  type Held,
  type IdempotencyRecord,
  type Locks,
  type StoredResponse,
  type Write,
  writeTo,
} from '../../ledger/command.ts'
import type { PixOutcome } from '../../rails/pix/rail.ts'
import { contradictionWrite } from '../../records/desk/contradictions.ts'
import { eventWrite } from '../../records/events/events.ts'
import type { World } from '../../world.ts'
import { renderPayout } from './contract.ts'
import { failureOf } from './failures.ts'
import { isFinalPayout, type Payout, payoutRows, settlePayouts } from './store.ts'

/**
 * The end of a payout. In one transaction its state becomes final and the money leaves transit: to the outside if it was paid,
 * back to the customer if it was refused. Settling a final payout again changes nothing.
 */
export type FinalOutcome = Extract<PixOutcome, { kind: 'settled' | 'refused' }>

/**
 * The source of an outcome. A worker names its attempt: a refusal counts only if no other worker took the payout after it,
 * because a later attempt may have been paid. In the sandbox the caller may play the rail.
 */
type OutcomeSource = { readonly by: 'rail'; readonly attempt: number } | { readonly by: 'caller' }

export const RAIL = 'pix'
export const PAYOUT_OPERATION = 'pix.payout'

export type Settled = {
  readonly payout: Payout
  readonly response: StoredResponse | null
  readonly changed: boolean
}

/** The claim under which the payout was made. The fingerprint is not needed once the payout exists. */
export const claimOfPayout = ({
  api_key_id,
  idempotency_key,
}: Pick<Payout, 'api_key_id' | 'idempotency_key'>): Claim => ({
  scope: api_key_id,
  operation: PAYOUT_OPERATION,
  key: idempotency_key,
  fingerprint: '',
})

/** The payout's idempotency record; undefined if the key expired and another payout uses it now. */
export function recordOfPayout(held: Held, payout: Payout): IdempotencyRecord | undefined {
  const record = held.record(claimOfPayout(payout))
  return record?.resource_id === payout.id ? record : undefined
}

/** The response of a final payout refers to the event that stores the body, by its sequence number. */
export const responseWith = (
  payout: Payout,
  // Leaves out what came back later: repeats of the create call get the payout as it ended.
  body: string = JSON.stringify(renderPayout({ ...payout, amount_returned: 0n })),
): StoredResponse => ({ status: 201, body, ...(isFinalPayout(payout) ? { sequence: payout.sequence } : {}) })

/**
 * Locks for the end of a payout. The claim itself needs none: every command that stores a response under it before the end
 * locks the payout too.
 */
export const locksOfEnd = (payout: Payout): Locks => ({
  answer: claimOfPayout(payout),
  rows: [{ source: payoutRows, id: payout.id }],
  accounts: [{ customer_id: payout.customer_id, asset: 'BRL' }],
})

export function heldPayout(held: Held, { id }: Payout): Payout {
  const row = held.row(payoutRows, id)
  if (!row) throw new Error(`payout ${id} is gone`)
  return row
}

export function settlePayout(
  world: World,
  payout: Payout,
  outcome: FinalOutcome,
  source: OutcomeSource,
): Command<Settled> {
  return {
    partner_id: payout.partner_id,
    locks: locksOfEnd(payout),
    decide(held): Decision<Settled> {
      const before = heldPayout(held, payout)
      const unchanged = {
        payout: before,
        response: recordOfPayout(held, before)?.response ?? null,
        changed: false,
      }
      if (isFinalPayout(before)) {
        const contradicts = source.by === 'rail' && !agrees(before, outcome)
        return {
          writes: contradicts ? [contradiction(world, before, outcome, held.now)] : [],
          result: unchanged,
        }
      }
      const late = source.by === 'rail' && source.attempt !== before.attempts
      if (late && outcome.kind === 'refused') return { result: unchanged }
      return endPayout(world, held, before, outcome)
    },
  }
}

export function endPayout(
  world: World,
  held: Held,
  before: Payout,
  outcome: FinalOutcome,
  more: readonly Write[] = [],
): Decision<Settled> {
  const after: Payout = {
    ...before,
    ...(outcome.kind === 'settled'
      ? { status: 'completed', end_to_end_id: outcome.end_to_end_id }
      : { status: 'failed', failure_code: failureOf(outcome), rail_code: outcome.rail_code }),
    sequence: before.sequence + 1,
    completed_at: held.now,
  }
  const stored = recordOfPayout(held, before)?.response
  // If the create call is still waiting, its response is this end. Otherwise `fixResponse` decides at the next request.
  const waiting = held.now.getTime() < before.created_at.getTime() + world.pix_wait_ms
  const object = renderPayout(after)
  const text = JSON.stringify(object)
  const response = stored ?? (waiting ? responseWith(after, text) : null)
  const event = {
    partner_id: after.partner_id,
    type: `pix.payout.${after.status as 'completed' | 'failed'}`,
    object,
    text,
    sequence: after.sequence,
  } as const
  return {
    movements: [movementOf(after)],
    writes: [writeTo(settlePayouts, after), eventWrite(world, event, held.now), ...more],
    result: { payout: after, response, changed: true },
  }
}

/** Another end-to-end id means another payment. */
const agrees = (payout: Payout, outcome: FinalOutcome): boolean =>
  outcome.kind === 'settled'
    ? payout.status === 'completed' && payout.end_to_end_id === outcome.end_to_end_id
    : payout.status === 'failed'

const contradiction = (world: World, object: Payout, outcome: FinalOutcome, now: Date): Write =>
  contradictionWrite(world, { rail: RAIL, object, paid: outcome.kind === 'settled', said: outcome }, now)

function movementOf({ id, partner_id, customer_id, amount, fee, status }: Payout) {
  const gross = amount + fee
  const transit = { account: inTransitAccount(RAIL, customer_id), asset: 'BRL', amount: -gross } as const
  if (status === 'completed') {
    return {
      cause_id: id,
      name: 'completed' as const,
      partner_id,
      lines: [
        transit,
        { account: externalAccount(RAIL), asset: 'BRL', amount } as const,
        { account: serviceFeesAccount, asset: 'BRL', amount: fee } as const,
      ],
    }
  }
  return {
    cause_id: id,
    name: 'returned' as const,
    partner_id,
    lines: [transit, { account: customerAccount(customer_id), asset: 'BRL', amount: gross } as const],
  }
}
