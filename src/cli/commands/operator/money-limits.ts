import type { CliCommand } from '../../command.ts'
import { moneyLimits, production_or } from '../options.ts'

const load = () => import('../../operator/money-limits.ts')

export const moneyLimitCommands: CliCommand[] = [
  {
    name: 'partners set-money-limits',
    takes: 'PARTNER',
    about: 'Set the money limits for each customer of a partner',
    options: { environment: production_or, ...moneyLimits },
    examples: [
      'trilho partners set-money-limits $PARTNER --payout-day 500000 --transfer-day USDT=1000000000',
    ],
    who: 'operator',
    runWith: async (input, reach) => (await load()).partnersSetMoneyLimits(input, reach),
  },
  {
    name: 'partners money-limits',
    takes: 'PARTNER',
    about: 'Show the money limits for each customer of a partner',
    options: { environment: production_or },
    examples: ['trilho partners money-limits $PARTNER --environment sandbox'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).partnersMoneyLimits(input, reach),
  },
  {
    name: 'customers set-money-limits',
    takes: 'CUSTOMER',
    about: 'Set the money limits of a customer; limits not set follow its partner',
    options: moneyLimits,
    examples: ['trilho customers set-money-limits $CUSTOMER --payout-order 100000'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).customersSetMoneyLimits(input, reach),
  },
  {
    name: 'customers money-limits',
    takes: 'CUSTOMER',
    about: 'Show the money limits of a customer, those of its partner included, and what is used',
    examples: ['trilho customers money-limits $CUSTOMER'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).customersMoneyLimits(input, reach),
  },
]
