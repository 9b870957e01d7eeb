import { type Command, type Decision, type Held, writeTo } from '../../ledger/command.ts'
import { eventWrite } from '../../records/events/events.ts'
import type { World } from '../../world.ts'
import { type ChargeFailureCode, renderCharge } from './contract.ts'
import { type Charge, chargeRows, updateCharges } from './store.ts'

/** A change of a charge that no payment causes. Each is made once: a charge in another state stays as it is. */
type ChargeChange =
  | { readonly to: 'open'; readonly br_code: string }
  | { readonly to: 'failed'; readonly failure_code: ChargeFailureCode; readonly rail_code: string | null }
  /** `at_once`: the time to pay ends now. */
  | { readonly to: 'expired'; readonly at_once?: true }

/** The state that a charge must be in before each change. */
const before = { open: 'pending', failed: 'pending', expired: 'open' } as const

export function changeCharge(
  world: World,
  { id, partner_id }: Pick<Charge, 'id' | 'partner_id'>,
  change: ChargeChange,
): Command<Charge> {
  return {
    partner_id,
    locks: { rows: [{ source: chargeRows, id }] },
    decide(held): Decision<Charge> {
      const row = heldCharge(held, id)
      if (row.status !== before[change.to]) return { result: row }
      const is_early = change.to === 'expired' && !change.at_once && held.now < row.expires_at
      if (is_early) return { result: row }
      const after = changed(row, change, held.now)
      return { writes: writesOf(world, after, held.now), result: after }
    },
  }
}

export function heldCharge(held: Held, id: string): Charge {
  const row = held.row(chargeRows, id)
  if (!row) throw new Error(`charge ${id} is gone`)
  return row
}

function changed(row: Charge, change: ChargeChange, now: Date): Charge {
  const next = { ...row, status: change.to, sequence: row.sequence + 1 }
  switch (change.to) {
    case 'open':
      return { ...next, br_code: change.br_code, opened_at: now }
    case 'failed':
      return { ...next, failure_code: change.failure_code, rail_code: change.rail_code, failed_at: now }
    case 'expired':
      return { ...next, expired_at: now, expires_at: row.expires_at < now ? row.expires_at : now }
  }
}

/** The row, and the event of the state that it came into. */
export const writesOf = (world: World, after: Charge, now: Date) => [
  writeTo(updateCharges, after),
  eventWrite(
    world,
    {
      partner_id: after.partner_id,
      type: `pix.charge.${after.status as Exclude<Charge['status'], 'pending'>}`,
      object: renderCharge(after),
      sequence: after.sequence,
    },
    now,
  ),
]
