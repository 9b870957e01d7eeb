import { assetNames, assets } from '../../core/money.ts'
import { selectNewest } from '../../db/newest.ts'
import { type Handler, handle } from '../../http/endpoint.ts'
import { filterOf, listOf, pageOf } from '../../http/page.ts'
import { partnerById } from '../../parties/partners/store.ts'
import { renderFeePayout } from '../treasury/fee-payouts.ts'
import { accruedFees, type FeePayout, feePayoutList } from '../treasury/store.ts'
import { getAccount, listFeePayouts } from './contract.ts'

export const accountRoutes: Handler[] = [
  handle(getAccount, async ({ world, actor }) => {
    const [partner, fees] = await Promise.all([
      partnerById(world.db, actor.partner_id),
      accruedFees(world.db, actor.partner_id),
    ])
    const accrued = new Map(fees.map(({ asset, amount }) => [asset, amount]))
    return {
      id: partner.id,
      name: partner.name,
      environment: world.environment,
      tier: partner.tier,
      fees: {
        pix: { fee: partner.pix_fee.toString(), asset: 'BRL' as const },
        conversion: { service_bps: partner.service_fee_bps, share_pct: partner.partner_fee_share_pct },
      },
      third_party_payouts: partner.third_party_payouts,
      partner_fees: assetNames.map((asset) => ({
        asset,
        accrued: (accrued.get(asset) ?? 0n).toString(),
        decimals: assets[asset].decimals,
      })),
      created_at: partner.created_at.toISOString(),
    }
  }),

  handle(listFeePayouts, async (call) => {
    const list = listOf(listFeePayouts, call)
    const { partner_id } = call.actor
    const filter = { partner_id, filters: {}, ...filterOf(list, 'fp') }
    return pageOf(list, await selectNewest<FeePayout>(call.world.db, feePayoutList, filter), renderFeePayout)
  }),
]
