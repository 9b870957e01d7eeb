import type { CliCommand } from '../../command.ts'
import { customer, idempotency, metadata, yes } from './options.ts'
import { filter, reading } from './reading.ts'
import { receiptCommand } from './receipts.ts'

const load = () => import('../../api/payouts.ts')

const order = {
  customer,
  amount: { type: 'string', value: '10.50', about: 'In BRL', required: true },
  to: {
    type: 'string',
    value: 'KEY',
    about: 'The Pix key: CPF, CNPJ, e-mail, phone or random',
    required: true,
  },
  description: { type: 'string', value: 'TEXT', about: 'What the receiver reads' },
  ...metadata,
} as const

export const payoutCommands: CliCommand[] = [
  ...reading({
    noun: 'payouts',
    one: 'PAYOUT',
    filters: {
      customer: filter('ID', 'Of this customer'),
      status: filter('pending|processing|completed|failed', 'Only these'),
      'idempotency-key': filter('TEXT', 'Made under this key'),
      'end-to-end-id': filter('ID', 'Its id in the Pix network'),
    },
    examples: [
      'trilho payouts list --status failed',
      'trilho payouts list --idempotency-key invoice-1042 --json',
    ],
  }),
  receiptCommand('payouts', 'PAYOUT', 'Save the receipt (comprovante) of a completed payout as a PDF'),
  {
    name: 'payouts create',
    about: 'Pay by Pix. Prints its idempotency key first: with it the same command is safe',
    who: 'key',
    options: { ...order, ...idempotency, ...yes },
    examples: [
      'trilho payouts create --customer $CUSTOMER --amount 10.50 --to ana@example.com --idempotency-key invoice-1042',
    ],
    run: async (input) => (await load()).payoutsCreate(input),
  },
  {
    name: 'payouts check',
    about: 'Check whether a payout would be accepted; no money moves',
    who: 'key',
    options: order,
    examples: ['trilho payouts check --customer $CUSTOMER --amount 10.50 --to ana@example.com'],
    run: async (input) => (await load()).payoutsCheck(input),
  },
]
