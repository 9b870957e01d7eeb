import { type Asset, assetNames, formatMoney, parseMoney } from '../core/money.ts'
import { isCleanText } from '../core/text.ts'
import { renderCustomer } from '../customers/contract.ts'
import { blockCustomer } from '../customers/customers.ts'
import { customerById } from '../customers/store.ts'
import { operatorCredit } from '../deposits/deposits.ts'
import { approveCredit, proposeCredit } from '../deposits/proposals.ts'
import { identifyOperator, type Shared } from '../partners/partners.ts'
import type { Worlds } from '../world.ts'
import { argument, type CliCommand, type Input, requiredOption, usage, worldThatHas } from './command.ts'

const operator = {
  type: 'string',
  value: 'EMAIL',
  about: 'Who you are; the password is read from OPERATOR_PASSWORD. Production only',
} as const

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
      operator,
    },
    async runWith(input, { shared, worlds }) {
      const { world, found: customer } = await worldOfCustomer(worlds, argument(input, 0, 'CUSTOMER'))
      const asset = requiredOption(input, 'asset') as Asset
      if (!assetNames.includes(asset)) usage(`--asset must be one of ${assetNames.join(', ')}.`)
      const credit = {
        partner_id: customer.partner_id,
        customer_id: customer.id,
        money: parseMoney(asset, requiredOption(input, 'amount')),
        reason: plainText(input, 'reason', 200),
        reference: plainText(input, 'reference', 255),
      }
      if (world.environment === 'production') {
        const { email } = await whoIsThere(shared, input)
        const proposal = await proposeCredit(world, credit, email)
        return {
          json: { proposal_id: proposal.id, status: 'proposed' },
          text: `Proposed as ${proposal.id}. Another operator approves it with: trilho customers approve-credit ${proposal.id} --operator EMAIL\n`,
        }
      }
      const { id, replayed } = await world.commit(operatorCredit(world, credit))
      const done = replayed ? 'had been credited before under this reference' : 'credited'
      return {
        json: { id, replayed, status: 'completed' },
        text: `${formatMoney(credit.money)} ${done}: ${id}\n`,
      }
    },
  },
  {
    name: 'customers approve-credit',
    takes: 'PROPOSAL',
    about: 'Approve a proposed credit, as another operator than the one who proposed it',
    options: { operator: { ...operator, required: true } },
    async runWith(input, { shared, worlds }) {
      const { email } = await whoIsThere(shared, input)
      const proposal = await approveCredit(worlds.production, argument(input, 0, 'PROPOSAL'), email)
      return {
        json: { id: proposal.resource_id, proposal_id: proposal.id, status: 'completed' },
        text: `Credited: ${proposal.resource_id}\n`,
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

function whoIsThere(shared: Shared, input: Input) {
  const email = requiredOption(input, 'operator')
  const password = process.env.OPERATOR_PASSWORD
  if (!password)
    throw new Error('Set OPERATOR_PASSWORD to your password: in production it must be known who acts.')
  return identifyOperator(shared, email, password)
}

function plainText(input: Input, name: string, max: number): string {
  const text = requiredOption(input, name)
  if (text.trim() === '' || text.length > max || !isCleanText(text))
    usage(`--${name} must be plain text of at most ${max} characters.`)
  return text
}
