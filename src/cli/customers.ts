import { type Asset, assetNames, parseMoney } from '../core/money.ts'
import { renderCustomer } from '../customers/contract.ts'
import { blockCustomer } from '../customers/customers.ts'
import { customerById, setThirdPartyPayouts } from '../customers/store.ts'
import type { Worlds } from '../world.ts'
import { argument, type CliCommand, requiredOption, usage, worldThatHas } from './command.ts'
import { actOrPropose, operatorOption, plainText } from './operator.ts'

const block = (status: 'blocked' | 'active'): CliCommand => ({
  name: status === 'blocked' ? 'customers block' : 'customers unblock',
  takes: 'CUSTOMER',
  about: status === 'blocked' ? 'Stop all money of a customer' : 'Let a customer’s money move again',
  async runWith(input, { worlds }) {
    const { world, found } = await worldOfCustomer(worlds, argument(input, 0, 'CUSTOMER'))
    const customer = await blockCustomer(world, found.id, status)
    return { json: renderCustomer(customer), text: `${customer.id} is ${customer.status}.\n` }
  },
})

export const customerCommands: CliCommand[] = [
  {
    name: 'customers credit',
    takes: 'CUSTOMER',
    about: 'Credit a customer. In production this makes a proposal that another operator approves',
    options: {
      asset: { type: 'string', value: assetNames.join('|'), about: 'Which balance', required: true },
      amount: { type: 'string', value: 'UNITS', about: 'In the smallest unit', required: true },
      reason: { type: 'string', value: 'TEXT', about: 'Why', required: true },
      reference: {
        type: 'string',
        value: 'TEXT',
        about: 'Unique: the same reference credits once',
        required: true,
      },
      operator: operatorOption,
    },
    async runWith(input, { shared, worlds }) {
      const { world, found: customer } = await worldOfCustomer(worlds, argument(input, 0, 'CUSTOMER'))
      const asset = requiredOption(input, 'asset') as Asset
      if (!assetNames.includes(asset)) usage(`--asset must be one of ${assetNames.join(', ')}.`)
      const credit = {
        partner_id: customer.partner_id,
        customer_id: customer.id,
        asset,
        amount: parseMoney(asset, requiredOption(input, 'amount')).units.toString(),
        reason: plainText(input, 'reason', 200),
        reference: plainText(input, 'reference', 255),
      }
      return actOrPropose(input, shared, world, { name: 'credit', details: credit })
    },
  },
  {
    name: 'customers allow-third-party',
    takes: 'CUSTOMER',
    about: 'Arrange that a customer’s payouts may go to other documents',
    options: { off: { type: 'boolean', about: 'End the arrangement' } },
    async runWith(input, { worlds }) {
      const { world, found } = await worldOfCustomer(worlds, argument(input, 0, 'CUSTOMER'))
      const allowed = input.options.off !== true
      await setThirdPartyPayouts(world.db, found.id, allowed)
      return {
        json: { id: found.id, third_party_payouts: allowed },
        text: `${found.id} ${allowed ? 'may' : 'may not'} pay other documents.\n`,
      }
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
