import type { AnyoneOfPartner } from '../../core/actor.ts'
import { Refusal, refuse } from '../../core/errors.ts'
import { isNetwork, type Network, networkNames, networks } from '../../core/networks.ts'
import { transaction } from '../../db/pool.ts'
import { findCustomer } from '../../parties/customers/customers.ts'
import type { World } from '../../world.ts'
import {
  addressesOf,
  type DepositAddress,
  indexFor,
  insertAddress,
  lockAddresses,
  newestAddress,
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
    // Throws if the configured key is not that of the stored addresses: the money at these could not be moved.
    const newest = await newestAddress(tx, sharingKey(network))
    if (newest) assertOurs(world, { ...newest, network })
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

/** The networks whose addresses are derived from the same key. */
const sharingKey = (network: Network): readonly Network[] =>
  networkNames.filter((name) => networks[name].kind === networks[network].kind)

async function onNetwork(world: World, customer_id: string, network: Network) {
  const found = (await addressesOf(world.db, customer_id)).find((made) => made.network === network)
  return found && assertOurs(world, found)
}

const isOurs = (
  { deposit_addresses }: Pick<World, 'deposit_addresses'>,
  { network, address_index, address }: DepositAddress,
): boolean => deposit_addresses.addressOf(network, address_index) === address

/** Throws if the address is not derived from the service's key, as after a change in the database: money sent there would be lost. */
export function assertOurs(world: Pick<World, 'deposit_addresses'>, made: DepositAddress): DepositAddress {
  if (!isOurs(world, made))
    throw new Error(`deposits: the address of ${made.id} is not derived from the key of this service`)
  return made
}

/**
 * What is wrong with the configured key: the newest stored address of a network is not derived from it. Undefined if all is right. A
 * network without a key hands out nothing, and its addresses are watched all the same.
 */
export async function foreignAddressProblem(world: World, network: Network): Promise<string | undefined> {
  const made = await newestAddress(world.db, [network])
  try {
    if (!made || isOurs(world, made)) return undefined
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
  return `Deposit address ${made.address} of ${network}, with index ${made.address_index}, is not derived from the extended public key that is configured: the key was exchanged, or the database is another one's. Configure the key of the stored addresses.`
}

export async function listDepositAddresses(
  world: World,
  { partner_id }: Pick<AnyoneOfPartner, 'partner_id'>,
  customer_id: string,
): Promise<DepositAddress[]> {
  const customer = await findCustomer(world, { partner_id, id: customer_id })
  return (await addressesOf(world.db, customer.id)).map((made) => assertOurs(world, made))
}
