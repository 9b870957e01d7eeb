import type { CliCommand } from '../../command.ts'
import { customer, idempotency, metadata } from './options.ts'
import { filter, reading } from './reading.ts'

const load = () => import('../../api/charges.ts')

export const chargeCommands: CliCommand[] = [
  ...reading({
    noun: 'charges',
    one: 'CHARGE',
    filters: {
      customer: filter('ID', 'Of this customer'),
      status: filter('pending|open|paid|expired|failed', 'Only these'),
      'idempotency-key': filter('TEXT', 'Made under this key'),
    },
    examples: ['trilho charges list --status open'],
  }),
  {
    name: 'charges create',
    about: 'Ask for a Pix payment. Prints its idempotency key first: with it the same command is safe',
    who: 'key',
    options: {
      customer,
      amount: { type: 'string', value: '10.50', about: 'In BRL', required: true },
      description: { type: 'string', value: 'TEXT', about: 'What the payer reads' },
      'expires-in': {
        type: 'string',
        value: 'SECONDS',
        about: 'How long it can be paid; an hour when absent',
      },
      ...metadata,
      ...idempotency,
    },
    examples: ['trilho charges create --customer $CUSTOMER --amount 10.50 --idempotency-key order-1042'],
    run: async (input) => (await load()).chargesCreate(input),
  },
]
