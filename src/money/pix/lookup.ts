import type { PartnerActor } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { findCustomer } from '../../parties/customers/customers.ts'
import type { AccountHolder } from '../../rails/pix/rail.ts'
import type { World } from '../../world.ts'
import { isAllowed } from './payouts.ts'

type KeyLookup = { readonly pix_key: string; readonly customer_id: string | undefined }

/** The holder of a key; with a customer also whether that customer's payouts may go to it. */
export async function lookUpKey(
  world: World,
  actor: PartnerActor,
  { pix_key, customer_id }: KeyLookup,
): Promise<{ holder: AccountHolder; payable: boolean | undefined }> {
  const customer =
    customer_id === undefined
      ? undefined
      : await findCustomer(world, { partner_id: actor.partner_id, id: customer_id })
  const holder =
    (await world.pix.holder(pix_key, customer && { name: customer.name, document: customer.document })) ??
    refuse('pix_key_not_found', { param: 'pix_key' })
  return {
    holder,
    payable: customer && customer.status === 'active' && isAllowed(holder, customer, actor.terms),
  }
}
