import { type Asset, assetNames, parseMoney } from '../../core/money.ts'
import { depositById } from '../../money/deposits/store.ts'
import { renderCustomer } from '../../parties/customers/contract.ts'
import { customerById } from '../../parties/customers/store.ts'
import type { Worlds } from '../../world.ts'
import {
  argument,
  type Input,
  type Output,
  type Reach,
  requiredOption,
  usage,
  worldThatHas,
} from '../command.ts'
import { actFromShell } from './act-output.ts'
import { actOnMoney, plainText } from './open-orders.ts'

/** `trilho customers credit` and `trilho customers debit`. */
export async function customersBook(name: 'credit' | 'debit', input: Input, reach: Reach): Promise<Output> {
  const { world, found: customer } = await worldOfCustomer(reach.worlds, argument(input, 0, 'CUSTOMER'))
  const asset = requiredOption(input, 'asset') as Asset
  if (!assetNames.includes(asset)) usage(`--asset must be one of ${assetNames.join(', ')}.`)
  const details = {
    partner_id: customer.partner_id,
    customer_id: customer.id,
    asset,
    amount: parseMoney(asset, requiredOption(input, 'amount')).units.toString(),
    reason: plainText(input, 'reason', 200),
    reference: plainText(input, 'reference', 255),
  }
  return actOnMoney(input, reach, { name, environment: world.environment, details })
}

/** `trilho customers block` and `trilho customers unblock`. */
export async function customersBlock(
  status: 'blocked' | 'active',
  input: Input,
  reach: Reach,
): Promise<Output> {
  const { world, found } = await worldOfCustomer(reach.worlds, argument(input, 0, 'CUSTOMER'))
  const name = status === 'blocked' ? 'block_customer' : 'unblock_customer'
  const action = { name, environment: world.environment, details: { customer_id: found.id } } as const
  return actFromShell(input, reach, action, (customer) => ({
    json: renderCustomer(customer),
    text: `${customer.id} is ${customer.status}.\n`,
  }))
}

export async function customersReverseCredit(input: Input, reach: Reach): Promise<Output> {
  const deposit_id = argument(input, 0, 'DEPOSIT')
  const place = await worldThatHas(reach.worlds, (world) => depositById(world.db, deposit_id))
  if (!place) throw new Error(`No deposit ${deposit_id} in production or in the sandbox. Check the id.`)
  const details = {
    deposit_id,
    reason: plainText(input, 'reason', 200),
    reference: plainText(input, 'reference', 255),
  }
  const { environment } = place.world
  return actOnMoney(input, reach, { name: 'reverse_credit', environment, details })
}

export async function customersAllowThirdParty(input: Input, reach: Reach): Promise<Output> {
  const { world, found } = await worldOfCustomer(reach.worlds, argument(input, 0, 'CUSTOMER'))
  const allowed = input.options.off !== true
  const { environment } = world
  const details = { customer_id: found.id, allowed }
  return actFromShell(input, reach, { name: 'allow_third_party', environment, details }, () => ({
    json: { id: found.id, third_party_payouts: allowed },
    text: `${found.id} ${allowed ? 'may' : 'may not'} pay accounts of other people and companies.\n`,
  }))
}

async function worldOfCustomer(worlds: Worlds, id: string) {
  const place = await worldThatHas(worlds, (world) => customerById(world.db, id))
  if (!place) throw new Error(`No customer ${id} in production or in the sandbox. Check the id.`)
  return place
}
