import type { AnyoneOfPartner } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { findCharge } from '../../money/charges/charges.ts'
import { noteReceived } from '../../money/charges/received.ts'
import { changeCharge } from '../../money/charges/states.ts'
import type { Charge, Received } from '../../money/charges/store.ts'
import { onBehalfOf, worldOf } from '../../parties/keys/keys.ts'
import { endToEndId } from '../../rails/pix/simulated.ts'
import type { World } from '../../world.ts'

type PaymentOrder = {
  /** Absent: the payment names no charge. */
  readonly charge_id?: string
  /** Default: the charge's amount. */
  readonly amount?: bigint
}

/** Plays a payer, who pays a charge, or pays without one. A charge without a code is refused. Each call pays again. */
export async function payByPix(
  world: World,
  actor: AnyoneOfPartner,
  { charge_id, amount }: PaymentOrder,
): Promise<Received> {
  const charge = charge_id === undefined ? undefined : await findPayable(world, actor, charge_id)
  const units =
    amount ??
    charge?.amount ??
    refuse('invalid_amount', { param: 'amount', message: 'A payment without a charge needs an amount.' })
  const now = new Date(world.clock.now())
  const seen = {
    end_to_end_id: endToEndId({ send_id: world.newId('deposit'), sent_at: now }),
    ...(charge ? { txid: charge.txid } : {}),
    amount: units,
    paid_at: now,
    payer: { name: 'Paula Pagadora', document: '11144477735' },
  }
  return noteReceived(worldOf(actor, world), seen, {
    commit: (command) => world.commit(onBehalfOf(actor, command)),
  })
}

async function findPayable(world: World, actor: AnyoneOfPartner, charge_id: string): Promise<Charge> {
  const charge = await findCharge(world, actor, charge_id)
  if (charge.br_code !== null) return charge
  return refuse('invalid_request', {
    param: 'charge_id',
    message: `This charge is ${charge.status}: nobody has its code, so nobody can pay it.`,
  })
}

/** The time to pay ends now. A repeated call changes nothing. */
export async function expireCharge(world: World, actor: AnyoneOfPartner, charge_id: string): Promise<Charge> {
  const charge = await findCharge(world, actor, charge_id)
  const change = changeCharge(world, charge, { to: 'expired', at_once: true })
  const now = await world.commit(onBehalfOf(actor, change))
  if (now.status === 'expired') return now
  if (now.status === 'pending')
    return refuse('invalid_request', {
      param: 'charge_id',
      message: 'This charge is pending: it can expire once it is open.',
    })
  return refuse('already_final', {
    message: `This charge is ${now.status} already; a final state never changes.`,
  })
}
