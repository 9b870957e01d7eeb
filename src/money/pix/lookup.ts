import type { PartnerActor } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { findCustomer } from '../../parties/customers/customers.ts'
import type { AccountHolder } from '../../rails/pix/rail.ts'
import type { World } from '../../world.ts'
import { isAllowed } from './payouts.ts'

type KeyLookup = { readonly pix_key: string; readonly customer_id: string | undefined }

type LookedUp = {
  /** Undefined: the provider lets nobody look the key up. */
  readonly holder: AccountHolder | undefined
  /** Undefined: no customer was named, or nobody can tell before the payment. */
  readonly payable: boolean | undefined
}

/** The holder of a key; with a customer also whether that customer's payouts may go to it. */
export async function lookUpKey(
  world: World,
  actor: PartnerActor,
  { pix_key, customer_id }: KeyLookup,
): Promise<LookedUp> {
  const customer =
    customer_id === undefined
      ? undefined
      : await findCustomer(world, { partner_id: actor.partner_id, id: customer_id })
  const asking = customer && { name: customer.name, document: customer.document }
  const directory = await world.pix.holder(pix_key, asking)
  if (directory.kind === 'nobody') return refuse('pix_key_not_found', { param: 'pix_key' })
  const holder = directory.kind === 'held' ? directory.holder : undefined
  const document = directory.kind === 'held' ? directory.holder.document : directory.document
  if (!customer) return { holder, payable: undefined }
  if (customer.status !== 'active') return { holder, payable: false }
  return {
    holder,
    payable: document === undefined ? undefined : isAllowed({ document }, customer, actor.terms),
  }
}
