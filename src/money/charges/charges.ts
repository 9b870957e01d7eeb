import type { AnyoneOfPartner, PartnerActor } from '../../core/actor.ts'
import { BR_CODE_AMOUNT_MOST } from '../../core/br-code.ts'
import { refuse } from '../../core/errors.ts'
import type { Money } from '../../core/money.ts'
import { findOwned } from '../../core/owned.ts'
import { type Command, type Held, writeTo } from '../../ledger/command.ts'
import { confirmRecord, type Once, once, type Requested, type Responded } from '../../ledger/once.ts'
import { readClaimAndCustomer } from '../../parties/customers/claim-and-customer.ts'
import { activeCustomer } from '../../parties/customers/customers.ts'
import { customerRows } from '../../parties/customers/store.ts'
import { onBehalfOf } from '../../parties/keys/keys.ts'
import type { World } from '../../world.ts'
import { awaitResponse, responseUnder } from './responses.ts'
import { type Charge, chargeById, chargeRow, insertCharges, receivedScan } from './store.ts'
import { txidOf } from './txid.ts'
import type { ChargeWorker } from './worker.ts'

/**
 * Pix charges (decision 0066): a charge is stored with its txid before the provider hears of it, and registered under that txid outside
 * of any transaction (register.ts). What payers send is credited as deposits (received.ts), in any state of the charge.
 */
export type ChargeOrder = {
  readonly customer_id: string
  readonly amount: Money<'BRL'>
  readonly expires_in_seconds: number
  readonly description: string | null
  readonly idempotency_key: string
  readonly metadata: Readonly<Record<string, string>>
}

type ChargeRequest = Requested<ChargeOrder>

export const findCharge = (world: World, { partner_id }: AnyoneOfPartner, id: string): Promise<Charge> =>
  findOwned('charge', { id, partner_id }, () => chargeById(world.db, id))

/** Creates a charge and waits until it is open or failed, for `pix_wait_ms` at most; then responds with its state at that moment. */
export async function createCharge(
  world: World,
  actor: PartnerActor,
  request: ChargeRequest,
  worker: Pick<ChargeWorker, 'register'>,
): Promise<Responded> {
  const { partner_id } = actor
  const { claim, order } = request
  const { customer_id } = order
  const seen = await readClaimAndCustomer(world.db, { claim, customer_id })
  const record = await confirmRecord(world, partner_id, claim, seen?.record)
  if (record) return { response: await responseUnder(world, record), replayed: true }
  await findOwned('customer', { id: customer_id, partner_id }, async () => seen?.customer)
  if (!world.pix.charges) refuse('rail_unavailable', { retry_after_seconds: 60, message: NO_CHARGES })
  // Stored before anybody can pay: payments are read from there on.
  if (!world.pix.charges.is_played) await receivedScan(world.db, world.pix.provider)
  const done = await world.commit(acceptCharge(world, actor, request))
  switch (done.kind) {
    case 'refused':
      return { response: done.response, replayed: false }
    case 'existing':
      return { response: await responseUnder(world, done.record), replayed: true }
    case 'made':
      // After an error a worker takes the charge up when the lease ends.
      return {
        response: await awaitResponse(
          world,
          done.made,
          worker.register(done.made).catch(() => {}),
        ),
        replayed: false,
      }
  }
}

const NO_CHARGES = 'The payment provider of this environment takes no payments in. Ask the operator.'
const TOO_LARGE = `The amount is too large: a Pix code can ask for ${BR_CODE_AMOUNT_MOST} centavos at most. Ask for less.`

export function acceptCharge(
  world: World,
  actor: PartnerActor,
  request: ChargeRequest,
): Command<Once<Charge>> {
  const { claim, bodyOf, order } = request
  const id = world.newId('charge')
  return onBehalfOf(actor, {
    partner_id: actor.partner_id,
    locks: { claim, reads: [{ source: customerRows, id: order.customer_id }] },
    decide: (held) => once(held, claim, bodyOf, () => acceptance(world, actor, held, id, request)),
  })
}

function acceptance(
  world: World,
  { partner_id, key_id }: PartnerActor,
  held: Held,
  id: string,
  { order, request_id = null }: ChargeRequest,
) {
  activeCustomer(held, { partner_id, id: order.customer_id })
  if (order.amount.units > BR_CODE_AMOUNT_MOST)
    refuse('amount_too_large', { param: 'amount', message: TOO_LARGE })
  const now = held.now.getTime()
  const charge: Charge = {
    id,
    partner_id,
    customer_id: order.customer_id,
    api_key_id: key_id,
    idempotency_key: order.idempotency_key,
    amount: order.amount.units,
    description: order.description,
    txid: txidOf(id),
    status: 'pending',
    amount_received: 0n,
    br_code: null,
    failure_code: null,
    rail_code: null,
    attempts: 1,
    next_attempt_at: new Date(now + world.lease_ms),
    sequence: 0,
    created_at: held.now,
    expires_at: new Date(now + order.expires_in_seconds * 1000),
    opened_at: null,
    expired_at: null,
    paid_at: null,
    failed_at: null,
    request_id,
    metadata: order.metadata,
  }
  return {
    resource_id: id,
    response: null,
    writes: [writeTo(insertCharges, chargeRow(charge))],
    result: charge,
  }
}
