import { assetNames } from '../../../core/money.ts'
import type { CliCommand } from '../../command.ts'
import { operatorOption, production_or, reason } from '../options.ts'

const load = () => import('../../operator/treasury.ts')

export const treasuryCommands: CliCommand[] = [
  {
    name: 'treasury show',
    about: 'Show what the treasury holds: position, average cost and result, in BRL',
    options: {
      environment: production_or,
    },
    examples: ['trilho treasury show --environment sandbox'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).treasuryShow(input, reach),
  },
  {
    name: 'treasury set-limits',
    takes: assetNames.join('|'),
    about:
      'Say how far the treasury may go in an asset in production; a trade beyond it fails and moves nothing',
    options: {
      lowest: {
        type: 'string',
        value: 'UNITS|none',
        about: 'In the smallest unit; a negative one as --lowest=-500',
      },
      highest: { type: 'string', value: 'UNITS|none', about: 'In the smallest unit' },
    },
    examples: ['trilho treasury set-limits BTC --lowest=-500000 --highest 900000'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).treasurySetLimits(input, reach),
  },
  {
    name: 'partners fees',
    takes: 'PARTNER',
    about: 'Show the fees that a partner has earned by conversions and not been paid',
    options: {
      environment: production_or,
    },
    examples: ['trilho partners fees $PARTNER'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).partnersFees(input, reach),
  },
  {
    name: 'partners pay-fees',
    takes: 'PARTNER',
    about:
      'Pay a partner the fees it has earned, to a customer of its own or outside. In production this makes a proposal',
    options: {
      environment: production_or,
      asset: { type: 'string', value: assetNames.join('|'), about: 'Which fees', required: true },
      amount: { type: 'string', value: 'UNITS', about: 'In the smallest unit', required: true },
      customer: {
        type: 'string',
        value: 'CUSTOMER',
        about: 'The customer to credit; when absent, the fees are paid outside the service',
      },
      reason,
      reference: {
        type: 'string',
        value: 'TEXT',
        about: 'Unique: the same reference pays once. The reference of the bank transfer, when paid outside',
        required: true,
      },
      operator: operatorOption,
    },
    examples: [
      'trilho partners pay-fees $PARTNER --asset BRL --amount 6000 --reason October --reference fees-2026-10',
    ],
    who: 'operator',
    runWith: async (input, reach) => (await load()).partnersPayFees(input, reach),
  },
]
