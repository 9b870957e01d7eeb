import { type Asset, assetNames, parseMoney } from '../core/money.ts'
import { renderCustomer } from '../customers/contract.ts'
import { customerById } from '../customers/store.ts'
import { depositById } from '../deposits/store.ts'
import { act } from '../operator/act.ts'
import type { Worlds } from '../world.ts'
import { actorOf } from './actor.ts'
import { argument, type CliCommand, requiredOption, usage, worldThatHas } from './command.ts'
import { actOnMoney, operatorOption, plainText } from './operator.ts'
import { told } from './told.ts'

const block = (status: 'blocked' | 'active'): CliCommand => ({
  name: status === 'blocked' ? 'customers block' : 'customers unblock',
  takes: 'CUSTOMER',
  about: status === 'blocked' ? 'Stop all money of a customer' : 'Let a customer’s money move again',
  async runWith(input, { office, shared, worlds }) {
    const { world, found } = await worldOfCustomer(worlds, argument(input, 0, 'CUSTOMER'))
    const name = status === 'blocked' ? 'block_customer' : 'unblock_customer'
    const { environment } = world
    const details = { customer_id: found.id }
    const acted = await act(office, await actorOf(input, shared), { name, environment, details })
    return told(acted, (customer) => ({
      json: renderCustomer(customer),
      text: `${customer.id} is ${customer.status}.\n`,
    }))
  },
})

const reason = { type: 'string', value: 'TEXT', about: 'Why', required: true } as const

/** A credit and a debit are typed alike. */
const booking = (name: 'credit' | 'debit', about: string): CliCommand => ({
  name: `customers ${name}`,
  takes: 'CUSTOMER',
  about,
  options: {
    asset: { type: 'string', value: assetNames.join('|'), about: 'Which balance', required: true },
    amount: { type: 'string', value: 'UNITS', about: 'In the smallest unit', required: true },
    reason,
    reference: {
      type: 'string',
      value: 'TEXT',
      about: `Unique: the same reference ${name}s once`,
      required: true,
    },
    operator: operatorOption,
  },
  async runWith(input, reach) {
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
  },
})

export const customerCommands: CliCommand[] = [
  booking('credit', 'Credit a customer. In production this makes a proposal that another operator approves'),
  booking(
    'debit',
    'Debit a customer, blocked or not. In production this makes a proposal that another operator approves',
  ),
  {
    name: 'customers reverse-credit',
    takes: 'DEPOSIT',
    about: 'Take back a mistaken credit, whole and once. In production this makes a proposal',
    options: {
      reason,
      reference: { type: 'string', value: 'TEXT', about: 'Unique: of this correction', required: true },
      operator: operatorOption,
    },
    async runWith(input, reach) {
      const deposit_id = argument(input, 0, 'DEPOSIT')
      const place = await worldThatHas(reach.worlds, (world) => depositById(world.db, deposit_id))
      if (!place) throw new Error(`No deposit ${deposit_id}.`)
      const details = {
        deposit_id,
        reason: plainText(input, 'reason', 200),
        reference: plainText(input, 'reference', 255),
      }
      const { environment } = place.world
      return actOnMoney(input, reach, { name: 'reverse_credit', environment, details })
    },
  },
  {
    name: 'customers allow-third-party',
    takes: 'CUSTOMER',
    about: 'Arrange that a customer’s payouts may go to other documents',
    options: { off: { type: 'boolean', about: 'End the arrangement' } },
    async runWith(input, { office, shared, worlds }) {
      const { world, found } = await worldOfCustomer(worlds, argument(input, 0, 'CUSTOMER'))
      const allowed = input.options.off !== true
      const acted = await act(office, await actorOf(input, shared), {
        name: 'allow_third_party',
        environment: world.environment,
        details: { customer_id: found.id, allowed },
      })
      return told(acted, () => ({
        json: { id: found.id, third_party_payouts: allowed },
        text: `${found.id} ${allowed ? 'may' : 'may not'} pay other documents.\n`,
      }))
    },
  },
  block('blocked'),
  block('active'),
]

async function worldOfCustomer(worlds: Worlds, id: string) {
  const place = await worldThatHas(worlds, (world) => customerById(world.db, id))
  if (!place) throw new Error(`No customer ${id}.`)
  return place
}
