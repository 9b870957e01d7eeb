import { type Tier, tierNames } from '../../limits/tiers.ts'
import { findPartner, listPartners } from '../../parties/partners/partners.ts'
import type { Partner, PartnerChange } from '../../parties/partners/store.ts'
import {
  argument,
  type Input,
  integerOption,
  listed,
  type Output,
  type Reach,
  requiredOption,
  table,
  usage,
} from '../command.ts'
import { actFromShell } from './act-output.ts'
import { limitsFrom } from './limits.ts'

const shown = (partner: Partner) => ({
  json: partner,
  text: table(Object.entries(partner).map(([field, value]) => ({ field, value }))),
})

async function change(input: Input, reach: Reach, wanted: PartnerChange): Promise<Output> {
  const details = { partner_id: argument(input, 0, 'PARTNER'), change: wanted }
  return actFromShell(input, reach, { name: 'change_partner', details }, shown)
}

export async function partnersCreate(input: Input, reach: Reach): Promise<Output> {
  const details = { name: requiredOption(input, 'name') }
  return actFromShell(input, reach, { name: 'create_partner', details }, ({ partner }) => shown(partner))
}

export async function partnersList(_: Input, { shared }: Reach): Promise<Output> {
  const data = await listPartners(shared)
  const rows = data.map(({ id, name, tier, created_at }) => ({
    id,
    name,
    tier,
    created_at: created_at.toISOString(),
  }))
  return listed({ data }, rows)
}

export async function partnersShow(input: Input, { shared }: Reach): Promise<Output> {
  return shown(await findPartner(shared, argument(input, 0, 'PARTNER')))
}

export async function partnersSetTier(input: Input, reach: Reach): Promise<Output> {
  const tier = argument(input, 1, 'The tier') as Tier
  if (!tierNames.includes(tier)) usage(`The tier must be one of ${tierNames.join(', ')}.`)
  return change(input, reach, { tier })
}

export async function partnersSetLimits(input: Input, reach: Reach): Promise<Output> {
  return change(input, reach, limitsFrom(input))
}

export async function partnersSetFees(input: Input, reach: Reach): Promise<Output> {
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
}

export async function partnersAllowThirdParty(input: Input, reach: Reach): Promise<Output> {
  return change(input, reach, { third_party_payouts: input.options.off !== true })
}
