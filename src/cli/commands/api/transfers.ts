import type { CliCommand } from '../../command.ts'
import { customer, idempotency, metadata, yes } from './options.ts'
import { filter, reading } from './reading.ts'
import { receiptCommand } from './receipts.ts'

const load = () => import('../../api/transfers.ts')

export const transferCommands: CliCommand[] = [
  ...reading({
    noun: 'transfers',
    one: 'TRANSFER',
    filters: {
      customer: filter('ID', 'Of this customer'),
      status: filter('pending|processing|confirmed|failed', 'Only these'),
      asset: filter('USDT|BTC', 'Of this asset'),
      network: filter('NAME', 'On this network'),
      'idempotency-key': filter('TEXT', 'Made under this key'),
      'tx-hash': filter('HASH', 'Of this transaction'),
    },
    examples: ['trilho transfers list --asset USDT'],
  }),
  receiptCommand('transfers', 'TRANSFER', 'Save the receipt (comprovante) of a confirmed transfer as a PDF'),
  {
    name: 'transfers create',
    about: 'Send USDT or BTC. Prints its idempotency key first: with it the same command is safe',
    who: 'key',
    options: {
      customer,
      asset: { type: 'string', value: 'USDT|BTC', about: 'What to send', required: true },
      network: {
        type: 'string',
        value: 'polygon|arbitrum|optimism|tron|ethereum|bitcoin',
        about: 'Where the address is',
        required: true,
      },
      amount: { type: 'string', value: '25.00', about: 'In the asset', required: true },
      to: { type: 'string', value: 'ADDRESS', about: 'Where it goes', required: true },
      ...metadata,
      ...idempotency,
      ...yes,
    },
    examples: [
      'trilho transfers create --customer $CUSTOMER --asset USDT --network polygon --amount 25.00 --to $ADDRESS --idempotency-key withdrawal-7',
    ],
    run: async (input) => (await load()).transfersCreate(input),
  },
  {
    name: 'transfers fees',
    about: 'Show what a transfer costs on each network now',
    who: 'key',
    lists: true,
    examples: ['trilho transfers fees'],
    run: async (input) => (await load()).transfersFees(input),
  },
]
