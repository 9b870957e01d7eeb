import type { CliCommand } from '../../command.ts'
import { ASSETS, customer, metadata, yes } from './options.ts'
import { filter, reading } from './reading.ts'

const load = () => import('../../api/quotes.ts')

const pair = {
  customer: filter('ID', 'Of this customer'),
  from: filter(ASSETS, 'From'),
  to: filter(ASSETS, 'To'),
}

export const quoteCommands: CliCommand[] = [
  ...reading({
    noun: 'quotes',
    one: 'QUOTE',
    filters: { ...pair, status: filter('pending|executed|expired', 'Only these') },
    examples: ['trilho quotes list --customer $CUSTOMER'],
  }),
  {
    name: 'quotes create',
    about: 'Get a quote, a price that holds for 30 seconds; no money moves',
    who: 'key',
    options: {
      customer,
      from: { type: 'string', value: ASSETS, about: 'The asset to sell', required: true },
      to: { type: 'string', value: ASSETS, about: 'The asset to buy', required: true },
      amount: { type: 'string', value: '100.00', about: 'How much; in --amount-asset', required: true },
      'amount-asset': {
        type: 'string',
        value: ASSETS,
        about: 'The asset of --amount; that of --from when absent',
      },
      'amount-type': {
        type: 'string',
        value: 'gross|net',
        about: 'gross: --amount includes the fees; net: fees come on top',
      },
      'partner-fee-bps': { type: 'string', value: 'N', about: 'Your own fee, in basis points' },
      ...metadata,
    },
    examples: ['trilho quotes create --customer $CUSTOMER --from BRL --to USDT --amount 100.00'],
    run: async (input) => (await load()).quotesCreate(input),
  },
  {
    name: 'quotes execute',
    takes: 'QUOTE',
    about: 'Execute a quote; a repeated command converts once',
    who: 'key',
    options: yes,
    examples: ['trilho quotes execute $QUOTE'],
    run: async (input) => (await load()).quotesExecute(input),
  },
  ...reading({
    noun: 'trades',
    one: 'TRADE',
    filters: {
      ...pair,
      status: filter('completed|failed', 'Only these'),
      quote: filter('ID', 'Of this quote'),
    },
    examples: ['trilho trades list --all --output jsonl'],
  }),
  {
    name: 'prices list',
    about: 'Show the market’s prices as they are known now',
    who: 'key',
    lists: true,
    examples: ['trilho prices list'],
    run: async (input) => (await load()).pricesList(input),
  },
  {
    name: 'prices set',
    takes: 'USDT/BRL|BTC/USDT PRICE',
    about: 'Set a price in the sandbox, for your own quotes',
    who: 'key',
    lists: true,
    options: {
      'age-seconds': { type: 'string', value: 'N', about: 'Age of the price in seconds; 0 when absent' },
    },
    examples: ['trilho prices set USDT/BRL 5.40'],
    run: async (input) => (await load()).pricesSet(input),
  },
]
