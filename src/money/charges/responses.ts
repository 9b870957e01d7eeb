import { refuse } from '../../core/errors.ts'
import type { Claim, Command, Decision, IdempotencyRecord, StoredResponse } from '../../ledger/command.ts'
import type { World } from '../../world.ts'
import { renderCharge } from './contract.ts'
import { type Charge, chargeById, chargeRows } from './store.ts'

export const CHARGE_OPERATION = 'pix.charge'

/** The claim under which the charge was made. The fingerprint is not needed once the charge exists. */
export const claimOfCharge = ({ api_key_id, idempotency_key }: Charge): Claim => ({
  scope: api_key_id,
  operation: CHARGE_OPERATION,
  key: idempotency_key,
  fingerprint: '',
})

type Fixed = { readonly response: StoredResponse } | { readonly left_ms: number }

/**
 * Decides the response to the call that created a charge, and to every repeat of it: the charge's state when it is no longer pending, or
 * when `pix_wait_ms` have passed. Before that, returns how much of the wait is left.
 */
export function fixResponse(world: World, charge: Charge): Command<Fixed> {
  const claim = claimOfCharge(charge)
  return {
    partner_id: charge.partner_id,
    locks: { claim, rows: [{ source: chargeRows, id: charge.id }] },
    decide(held): Decision<Fixed> {
      const row = held.row(chargeRows, charge.id) ?? refuse('service_unavailable')
      const record = held.record(claim)
      const own = record?.resource_id === charge.id ? record : undefined
      if (own?.response) return { result: { response: own.response } }
      const left_ms = row.created_at.getTime() + world.pix_wait_ms - held.now.getTime()
      if (row.status === 'pending' && left_ms > 0) return { result: { left_ms } }
      const response = { status: 201, body: JSON.stringify(renderCharge(row)) }
      // Nothing is stored if the idempotency key belongs to another charge by now.
      return { ...(own ? { record: { ...own, response } } : {}), result: { response } }
    },
  }
}

/** The response that the first request under this idempotency key got, or will get. */
export async function responseUnder(
  world: World,
  { response, resource_id }: IdempotencyRecord,
): Promise<StoredResponse> {
  if (response) return response
  const charge = (resource_id && (await chargeById(world.db, resource_id))) || refuse('service_unavailable')
  return awaitResponse(world, charge, undefined)
}

const POLL_MS = 100

/** `registered` resolves when this process has asked the provider. Another node may do it, too: that is found by asking again. */
export async function awaitResponse(
  world: World,
  charge: Charge,
  registered: Promise<unknown> | undefined,
): Promise<StoredResponse> {
  if (registered) await Promise.race([registered, sleep(world.pix_wait_ms)])
  for (;;) {
    const fixed = await world.commit(fixResponse(world, charge))
    if ('response' in fixed) return fixed.response
    await sleep(Math.max(1, Math.min(fixed.left_ms, POLL_MS)))
  }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
