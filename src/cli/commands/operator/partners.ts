import { tierNames } from '../../../limits/tiers.ts'
import type { CliCommand } from '../../command.ts'
import { rateLimits } from '../options.ts'

const load = () => import('../../operator/partners.ts')

export const partnerCommands: CliCommand[] = [
  {
    name: 'partners create',
    about: 'Create a partner',
    options: { name: { type: 'string', value: 'TEXT', about: 'Its name', required: true } },
    examples: ['trilho partners create --name Acme'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).partnersCreate(input, reach),
  },
  {
    name: 'partners list',
    about: 'List partners',
    examples: ['trilho partners list --output jsonl'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).partnersList(input, reach),
  },
  {
    name: 'partners show',
    takes: 'PARTNER',
    about: 'Show one partner',
    examples: ['trilho partners show $PARTNER'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).partnersShow(input, reach),
  },
  {
    name: 'partners set-tier',
    takes: `PARTNER ${tierNames.join('|')}`,
    about: 'Put a partner into a tier',
    examples: ['trilho partners set-tier $PARTNER growth'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).partnersSetTier(input, reach),
  },
  {
    name: 'partners set-limits',
    takes: 'PARTNER',
    about: 'Set custom request limits for a partner',
    options: rateLimits,
    examples: ['trilho partners set-limits $PARTNER --per-minute 700 --per-day none'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).partnersSetLimits(input, reach),
  },
  {
    name: 'partners set-fees',
    takes: 'PARTNER',
    about: 'Set a partner’s fee schedule',
    options: {
      'pix-fee': { type: 'string', value: 'CENTAVOS', about: 'The fee of a Pix payout (0 to 100000)' },
      'service-bps': {
        type: 'string',
        value: 'N',
        about: 'The service’s fee on conversions, in basis points (0 to 1000)',
      },
      'share-pct': {
        type: 'string',
        value: 'N',
        about: 'The operator’s share of the partner’s own fee, in percent (0 to 100)',
      },
    },
    examples: ['trilho partners set-fees $PARTNER --pix-fee 50 --service-bps 30'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).partnersSetFees(input, reach),
  },
  {
    name: 'partners allow-third-party',
    takes: 'PARTNER',
    about: 'Allow a partner’s customers to pay accounts of other people and companies',
    options: { off: { type: 'boolean', about: 'Forbid it again' } },
    examples: [
      'trilho partners allow-third-party $PARTNER',
      'trilho partners allow-third-party $PARTNER --off',
    ],
    who: 'operator',
    runWith: async (input, reach) => (await load()).partnersAllowThirdParty(input, reach),
  },
]
