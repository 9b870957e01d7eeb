import { type Tier, tierNames } from '../limits/tiers.ts'
import { act } from '../operator/act.ts'
import { findPartner, listPartners } from '../partners/partners.ts'
import type { Partner, PartnerChange } from '../partners/store.ts'
import { actorOf } from './actor.ts'
import {
  argument,
  type CliCommand,
  type Input,
  integerOption,
  type Output,
  type Reach,
  requiredOption,
  table,
  usage,
} from './command.ts'
import { limitOptions, limitsFrom } from './limits.ts'
import { told } from './told.ts'

const shown = (partner: Partner) => ({
  json: partner,
  text: table(Object.entries(partner).map(([field, value]) => ({ field, value }))),
})

async function change(input: Input, { office, shared }: Reach, wanted: PartnerChange): Promise<Output> {
  const details = { partner_id: argument(input, 0, 'PARTNER'), change: wanted }
  return told(await act(office, await actorOf(input, shared), { name: 'change_partner', details }), shown)
}

export const partnerCommands: CliCommand[] = [
  {
    name: 'partners create',
    about: 'Create a partner',
    options: { name: { type: 'string', value: 'TEXT', about: 'Its name', required: true } },
    async runWith(input, { office, shared }) {
      const details = { name: requiredOption(input, 'name') }
      const acted = await act(office, await actorOf(input, shared), { name: 'create_partner', details })
      return told(acted, ({ partner }) => shown(partner))
    },
  },
  {
    name: 'partners list',
    about: 'List partners',
    async runWith(_, { shared }) {
      const data = await listPartners(shared)
      return {
        json: { data },
        text: table(
          data.map(({ id, name, tier, created_at }) => ({
            id,
            name,
            tier,
            created_at: created_at.toISOString(),
          })),
        ),
      }
    },
  },
  {
    name: 'partners show',
    takes: 'PARTNER',
    about: 'Show one partner',
    runWith: async (input, { shared }) => shown(await findPartner(shared, argument(input, 0, 'PARTNER'))),
  },
  {
    name: 'partners set-tier',
    takes: `PARTNER ${tierNames.join('|')}`,
    about: 'Put a partner into a tier',
    async runWith(input, reach) {
      const tier = argument(input, 1, 'The tier') as Tier
      if (!tierNames.includes(tier)) usage(`The tier must be one of ${tierNames.join(', ')}.`)
      return change(input, reach, { tier })
    },
  },
  {
    name: 'partners set-limits',
    takes: 'PARTNER',
    about: 'Give a partner custom figures',
    options: limitOptions,
    runWith: (input, reach) => change(input, reach, limitsFrom(input)),
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
    async runWith(input, reach) {
      const pix_fee = integerOption(input, 'pix-fee', 0, 100_000)
      const service_fee_bps = integerOption(input, 'service-bps', 0, 1000)
      const partner_fee_share_pct = integerOption(input, 'share-pct', 0, 100)
      if (pix_fee === undefined && service_fee_bps === undefined && partner_fee_share_pct === undefined)
        usage('Say at least one of --pix-fee, --service-bps, --share-pct.')
      return change(input, reach, {
        ...(pix_fee === undefined ? {} : { pix_fee }),
        ...(service_fee_bps === undefined ? {} : { service_fee_bps }),
        ...(partner_fee_share_pct === undefined ? {} : { partner_fee_share_pct }),
      })
    },
  },
  {
    name: 'partners allow-third-party',
    takes: 'PARTNER',
    about: 'Arrange that a partner’s payouts may go to other documents',
    options: { off: { type: 'boolean', about: 'End the arrangement' } },
    runWith: (input, reach) => change(input, reach, { third_party_payouts: input.options.off !== true }),
  },
]
