import { assetNames } from '../../../core/money.ts'
import type { CliCommand } from '../../command.ts'
import { operatorOption, reason } from '../options.ts'

const load = () => import('../../operator/customers.ts')

/** Declares `customers credit` and `customers debit`, which take the same options. */
const booking = (name: 'credit' | 'debit', about: string): CliCommand => ({
  name: `customers ${name}`,
  takes: 'CUSTOMER',
  about: `${about}. In production this makes a proposal that another operator approves`,
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
  examples: [
    `trilho customers ${name} $CUSTOMER --asset BRL --amount 1050 --reason Goodwill --reference ticket-4711`,
  ],
  who: 'operator',
  runWith: async (input, reach) => (await load()).customersBook(name, input, reach),
})

export const customerCommands: CliCommand[] = [
  booking('credit', 'Credit a customer'),
  booking('debit', 'Debit a customer, blocked or not'),
  {
    name: 'customers reverse-credit',
    takes: 'DEPOSIT',
    about: 'Reverse a mistaken credit, in full and once. In production this makes a proposal',
    options: {
      reason,
      reference: {
        type: 'string',
        value: 'TEXT',
        about: 'The unique reference of this correction',
        required: true,
      },
      operator: operatorOption,
    },
    examples: ["trilho customers reverse-credit $DEPOSIT --reason 'Credited twice' --reference ticket-4711"],
    who: 'operator',
    runWith: async (input, reach) => (await load()).customersReverseCredit(input, reach),
  },
  {
    name: 'customers allow-third-party',
    takes: 'CUSTOMER',
    about: 'Allow a customer to pay accounts of other people and companies',
    options: { off: { type: 'boolean', about: 'Forbid it again' } },
    examples: ['trilho customers allow-third-party $CUSTOMER'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).customersAllowThirdParty(input, reach),
  },
  {
    name: 'customers block',
    takes: 'CUSTOMER',
    about: 'Block a customer: it starts no payout, transfer, conversion, charge or deposit address',
    examples: ['trilho customers block $CUSTOMER'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).customersBlock('blocked', input, reach),
  },
  {
    name: 'customers unblock',
    takes: 'CUSTOMER',
    about: 'Unblock a customer: it can start all of these again',
    examples: ['trilho customers unblock $CUSTOMER'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).customersBlock('active', input, reach),
  },
]
