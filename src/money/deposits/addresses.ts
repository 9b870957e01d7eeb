import type { AnyoneOfPartner } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { isNetwork, type Network, networkNames } from '../../core/networks.ts'
import { transaction } from '../../db/pool.ts'
import { findCustomer } from '../../parties/customers/customers.ts'
import type { World } from '../../world.ts'
import {
  addressesOf,
  type DepositAddress,
  indexFor,
  insertAddress,
  lockAddresses,
} from './addresses-store.ts'

export function readNetwork(text: string): Network {
  if (isNetwork(text)) return text
  return refuse('unsupported_network', {
    param: 'network',
    message: `Deposits arrive on ${networkNames.join(', ')}.`,
  })
}

type Wanted = { readonly customer_id: string; readonly network: Network }

/** The customer's address on a network: made by the first call, returned by every later one. */
export async function addDepositAddress(
  world: World,
  { partner_id }: Pick<AnyoneOfPartner, 'partner_id'>,
  { customer_id, network }: Wanted,
): Promise<{ readonly address: DepositAddress; readonly is_new: boolean }> {
  const customer = await findCustomer(world, { partner_id, id: customer_id })
  const before = await onNetwork(world, customer_id, network)
  if (before) return { address: before, is_new: false }
  if (customer.status === 'blocked') refuse('customer_blocked')
  // Refuses a network that nothing watches, before anything is locked.
  world.deposit_addresses.addressOf(network, 0)
  return transaction(world.db, async (tx) => {
    await lockAddresses(tx)
    const first = (await addressesOf(tx, customer_id)).find((made) => made.network === network)
    if (first) return { address: first, is_new: false }
    const address_index = await indexFor(tx, customer_id)
    const made = await insertAddress(tx, {
      id: world.newId('deposit_address'),
      partner_id,
      customer_id,
      network,
      address_index,
      address: world.deposit_addresses.addressOf(network, address_index),
    })
    return { address: made, is_new: true }
  })
}

async function onNetwork(world: World, customer_id: string, network: Network) {
  const found = (await addressesOf(world.db, customer_id)).find((made) => made.network === network)
  return found && assertOurs(world, found)
}

/** Money sent to a foreign address is lost: one that was changed in the database is never shown. */
function assertOurs(world: World, made: DepositAddress): DepositAddress {
  if (world.deposit_addresses.addressOf(made.network, made.address_index) !== made.address)
    throw new Error(`deposits: the address of ${made.id} is not derived from the key of this service`)
  return made
}

export async function listDepositAddresses(
  world: World,
  { partner_id }: Pick<AnyoneOfPartner, 'partner_id'>,
  customer_id: string,
): Promise<DepositAddress[]> {
  const customer = await findCustomer(world, { partner_id, id: customer_id })
  return (await addressesOf(world.db, customer.id)).map((made) => assertOurs(world, made))
}
