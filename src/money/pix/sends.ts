import type { Db } from '../../db/pool.ts'
import { type Command, type Decision, insertInto, keep, rowSource, writeTo } from '../../ledger/command.ts'
import { type Hold, holdRows } from '../../records/desk/holds.ts'
import type { World } from '../../world.ts'
import { pausedRows } from '../custody/controls-store.ts'
import { RAIL } from './settle.ts'
import {
  absentPayouts,
  isFinalPayout,
  type Payout,
  payoutById,
  payoutRows,
  type StoredRefusal,
} from './store.ts'

/**
 * A repeated send is stored before it is made, in its own transaction, by the worker that holds the lease. So an operator who
 * wants to return the money can see, under the same lock, until when a worker may be sending.
 */
type LastSend = { readonly id: string; readonly sent_at: Date; readonly until: Date }

export const sendRows = rowSource<LastSend>(
  'sends',
  `SELECT resource_id AS id, max(sent_at) AS sent_at, max(until) AS until FROM sends
   WHERE resource_id = ANY($1::text[]) GROUP BY resource_id`,
)

const insertSends = insertInto('sends', {
  resource_id: 'text',
  attempt: 'integer',
  sent_at: 'timestamptz',
  until: 'timestamptz',
})

/** A first send within this time of the acceptance needs no row in `sends`. A later one is stored before it is made. */
export const FIRST_SEND_MS = 500

/** Before the money goes back, the provider must say twice, at least this far apart, that it does not know the payout. */
const ABSENT_AGAIN_MS = 60_000
/** And no worker may have tried to send within this time. */
const QUIET_MS = 300_000

export type RefusedIntent = { readonly kind: 'refused'; readonly refusal: StoredRefusal } & SinceRefusal

/** A refusal counts if two status queries find nothing. Both must begin after all sends are visible, `again_ms` apart. */
type SinceRefusal = {
  /** Milliseconds since all sends became visible. */
  readonly visible_for_ms: number
  /** Milliseconds since the first of the two queries was answered; absent: none was answered yet. */
  readonly absent_for_ms?: number
  readonly again_ms: number
}

type Intent =
  /** Stored: send now. `left_ms` of the lease, which ends at `until`, were left when the command began. */
  | { readonly kind: 'send'; readonly left_ms: number; readonly until: Date }
  /** The last send may not be visible at the rail yet. */
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'held'; readonly hold: Hold }
  /** The rail has nothing of the payout, and is paused: the payout waits. */
  | { readonly kind: 'paused' }
  /** The rail refused the last send. */
  | RefusedIntent
  /** The payout was handed to another account than the one that this node asks. */
  | { readonly kind: 'elsewhere' }
  /** The time for sending is over, and the provider has said often enough that it never received the payout. */
  | { readonly kind: 'never_sent' }
  /** The rail accepted the payout and now says `absent`: a person must decide. */
  | { readonly kind: 'desk'; readonly payout: Payout }
  /** The payout is final, another worker has the lease, or too little of the lease is left. */
  | { readonly kind: 'lost' }

/** Stores the intention to send. `first`: nothing was sent before, so there is no visibility to wait for. */
export function intendSend(world: World, payout: Payout, { first = false } = {}): Command<Intent> {
  const { id, partner_id, attempts } = payout
  return {
    partner_id,
    locks: {
      rows: [{ source: payoutRows, id }],
      reads: [
        { source: sendRows, id },
        { source: holdRows, id },
        { source: pausedRows, id: RAIL },
      ],
    },
    decide(held): Decision<Intent> {
      const row = held.row(payoutRows, id)
      if (!row || isFinalPayout(row) || row.attempts !== attempts) return { result: { kind: 'lost' } }
      if (row.accepted_at !== null) return { result: { kind: 'desk', payout: row } }
      if (row.provider !== null && row.provider !== world.pix.provider)
        return { result: { kind: 'elsewhere' } }
      const now = held.now.getTime()
      const last = held.row(sendRows, id)
      const sent_at = last?.sent_at.getTime() ?? row.created_at.getTime() + FIRST_SEND_MS
      const visible_in = sent_at + world.pix.sending.visible_after_ms - now
      if (visible_in > 0 && !first) return { result: { kind: 'wait', ms: visible_in } }
      const hold = held.row(holdRows, id)
      if (hold) return { result: { kind: 'held', hold } }
      if (row.refusal !== null && !first)
        return {
          result: { kind: 'refused', refusal: row.refusal, ...sinceRefusal(world, row, -visible_in, now) },
        }
      const absence = absenceOf(world, row, last, held.now)
      // The time for sending is over, and nobody has asked the rail about the payout.
      if (absence.kind !== 'in_time' && first) return { result: { kind: 'lost' } }
      if (absence.kind === 'first')
        return {
          writes: [writeTo(absentPayouts, { id, absent_at: held.now })],
          result: { kind: 'wait', ms: ABSENT_AGAIN_MS },
        }
      if (absence.kind !== 'in_time') return { result: absence }
      if (held.row(pausedRows, RAIL)) return { result: { kind: 'paused' } }
      const left_ms = row.next_attempt_at.getTime() - now
      if (left_ms < world.rail_timeout_ms) return { result: { kind: 'lost' } }
      const send = { sent_at: held.now, until: row.next_attempt_at }
      return {
        writes: [writeTo(insertSends, { resource_id: id, attempt: attempts, ...send })],
        keeps: [keep(sendRows, { id, ...send })],
        result: { kind: 'send', left_ms, until: row.next_attempt_at },
      }
    },
  }
}

function sinceRefusal(world: World, row: Payout, visible_for_ms: number, now: number): SinceRefusal {
  const { send_for_ms, visible_after_ms } = world.pix.sending
  // Without a time for sending the rail is the simulation, whose payments are visible sooner.
  const again_ms = send_for_ms === undefined ? visible_after_ms : Math.max(ABSENT_AGAIN_MS, visible_after_ms)
  const absent_for_ms = row.absent_at === null ? Infinity : now - row.absent_at.getTime()
  return { visible_for_ms, again_ms, ...(absent_for_ms <= visible_for_ms ? { absent_for_ms } : {}) }
}

type Absence =
  /** The payout may still be sent. */
  | { readonly kind: 'in_time' }
  | { readonly kind: 'wait'; readonly ms: number }
  /** This is the first answer that counts: ask once more. */
  | { readonly kind: 'first' }
  | { readonly kind: 'never_sent' }

/** What follows when the provider says that it does not know the payout. The caller holds the payout's row. */
export function absenceOf(world: World, row: Payout, last: LastSend | undefined, at: Date): Absence {
  const { send_for_ms } = world.pix.sending
  const [now, created] = [at.getTime(), row.created_at.getTime()]
  if (send_for_ms === undefined || now < created + send_for_ms) return { kind: 'in_time' }
  const last_try = last?.until.getTime() ?? created + FIRST_SEND_MS + world.rail_timeout_ms
  const quiet_in = last_try + QUIET_MS - now
  if (quiet_in > 0) return { kind: 'wait', ms: quiet_in }
  if (row.absent_at === null) return { kind: 'first' }
  const again_in = row.absent_at.getTime() + ABSENT_AGAIN_MS - now
  return again_in > 0 ? { kind: 'wait', ms: again_in } : { kind: 'never_sent' }
}

/**
 * Until when a worker may be sending the payout, or a send may not be visible yet. The first send has the lease of the
 * acceptance, and at least the time of one call; later sends store theirs. After that the rail's `absent` can be trusted.
 */
export function mayBeSentUntil(world: World, row: Payout, last: LastSend | undefined): Date {
  const first = row.created_at.getTime() + FIRST_SEND_MS + world.rail_timeout_ms
  const lease = row.attempts <= 1 ? row.next_attempt_at.getTime() : 0
  return new Date(Math.max(first, lease, last?.until.getTime() ?? 0) + world.pix.sending.visible_after_ms)
}

/** The same outside of a ledger command: the caller must hold the payout's row in `tx`. Undefined: no worker may be sending. */
export async function sendingUntil(tx: Db, world: World, payout_id: string): Promise<Date | undefined> {
  const payout = await payoutById(tx, payout_id)
  if (!payout || isFinalPayout(payout)) return undefined
  const { rows } = await tx.query(sendRows.sql, [[payout_id]])
  const until = mayBeSentUntil(world, payout, rows[0])
  const { rows: clock } = await tx.query('SELECT clock_timestamp() AS now')
  return until > clock[0].now ? until : undefined
}
