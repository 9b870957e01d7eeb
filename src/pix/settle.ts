import { refuse } from '../core/errors.ts'
import { eventWrite } from '../events/events.ts'
import { customerAccount, externalAccount, inTransitAccount, serviceFeesAccount } from '../ledger/accounts.ts'
import type { Answer, Claim, Command, Decision } from '../ledger/command.ts'
import { readClaimed } from '../ledger/once.ts'
import type { PixOutcome } from '../rails/pix/rail.ts'
import type { World } from '../world.ts'
import { renderPayout } from './contract.ts'
import { failureOf } from './failures.ts'
import { type Payout, payoutRows, settlePayouts } from './store.ts'

/**
 * The end of a payout. In one transaction its state becomes final and the money leaves transit: outside when it was
 * paid, back to the customer when it was refused. Telling it twice changes nothing.
 */
export type FinalOutcome = Exclude<PixOutcome, { kind: 'unknown' }>

export const RAIL = 'pix'
export const OPERATION = 'pix.payout'

export type Settled = { readonly payout: Payout; readonly answer: Answer | null; readonly changed: boolean }

/** Tells when a payout is settled by this process, until it is told to stop. */
export type Watch = { readonly settled: Promise<Settled>; stop(): void }

/** The claim under which a payout was made; its fingerprint plays no part once the payout exists. */
export const claimOfPayout = ({
  api_key_id,
  idempotency_key,
}: Pick<Payout, 'api_key_id' | 'idempotency_key'>): Claim => ({
  scope: api_key_id,
  operation: OPERATION,
  key: idempotency_key,
  fingerprint: '',
})

export const answerWith = (payout: Payout): Answer => ({
  status: 201,
  body: JSON.stringify(renderPayout(payout)),
})

export function settlePayout(world: World, payout: Payout, outcome: FinalOutcome): Command<Settled> {
  const { id, partner_id, customer_id } = payout
  const claim = claimOfPayout(payout)
  return {
    partner_id,
    locks: { claim, rows: [{ source: payoutRows, id }], accounts: [{ customer_id, asset: 'BRL' }] },
    decide(held): Decision<Settled> {
      const before = held.row(payoutRows, id)
      if (!before) throw new Error(`payout ${id} is gone`)
      const claimed = held.claimed(claim)
      if (before.status === 'completed' || before.status === 'failed') {
        return { result: { payout: before, answer: claimed?.answer ?? null, changed: false } }
      }
      const after: Payout = {
        ...before,
        ...(outcome.kind === 'settled'
          ? { status: 'completed', end_to_end_id: outcome.end_to_end_id }
          : { status: 'failed', failure_code: failureOf(outcome.rail_code), rail_code: outcome.rail_code }),
        sequence: before.sequence + 1,
        completed_at: held.now,
      }
      // The first caller is told the end if it came while the call was waiting; otherwise whoever asks next decides.
      const waiting = held.now.getTime() < before.created_at.getTime() + world.pix_wait_ms
      const answer = claimed?.answer ?? (waiting ? answerWith(after) : null)
      return {
        movements: [movementOf(after)],
        writes: [
          { target: settlePayouts, row: after },
          eventWrite(
            world,
            {
              partner_id,
              type: `pix.payout.${after.status as 'completed' | 'failed'}`,
              object: renderPayout(after),
              sequence: after.sequence,
            },
            held.now,
          ),
        ],
        ...(claimed ? { claims: { ...claimed, final: true, answer } } : {}),
        result: { payout: after, answer, changed: true },
      }
    },
  }
}

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

/**
 * Fixes what every equal request is told, once the wait is over: the state of that moment. Undefined: it is not over yet.
 */
export function fixAnswer(world: World, payout: Payout): Command<Answer | undefined> {
  const claim = claimOfPayout(payout)
  return {
    partner_id: payout.partner_id,
    locks: { claim, rows: [{ source: payoutRows, id: payout.id }] },
    decide(held) {
      const claimed = held.claimed(claim)
      const row = held.row(payoutRows, payout.id)
      if (!claimed || !row) return refuse('service_unavailable')
      if (claimed.answer) return { result: claimed.answer }
      if (held.now.getTime() < row.created_at.getTime() + world.pix_wait_ms) return { result: undefined }
      const answer = answerWith(row)
      return { claims: { ...claimed, answer }, result: answer }
    },
  }
}

const LOOK_MS = 100

/**
 * Waits for the end of a payout, as long as its create call may wait, and answers with what every equal request gets.
 * An end that another node brings about is found by looking.
 */
export async function awaitAnswer(world: World, payout: Payout, watch: Watch): Promise<Answer> {
  const until = payout.created_at.getTime() + world.pix_wait_ms
  try {
    for (;;) {
      const left = until - world.clock.now()
      const ended = await Promise.race([watch.settled, sleep(Math.max(1, Math.min(left, LOOK_MS)))])
      if (ended?.answer) return ended.answer
      if (left <= 0) {
        const answer = await world.commit(fixAnswer(world, payout))
        if (answer) return answer
      } else {
        const claimed = await readClaimed(world.db, claimOfPayout(payout))
        if (claimed?.answer) return claimed.answer
      }
    }
  } finally {
    watch.stop()
  }
}

const sleep = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms, undefined))
