import type { PersonActor } from '../../../core/actor.ts'
import { Refusal } from '../../../core/errors.ts'
import { type Asset, assetNames } from '../../../core/money.ts'
import { selectNewest } from '../../../db/newest.ts'
import { limitsOf } from '../../../limits/tiers.ts'
import { windowLimitsOf } from '../../../limits/window-limits.ts'
import { type HeldSeries, heldOf, type Series, seriesOf } from '../../../money/daily/series.ts'
import { isBehind } from '../../../money/daily/store.ts'
import type { EndedCounts } from '../../../money/daily/tally.ts'
import { renderMarketPrice } from '../../../money/quotes/contract.ts'
import { currentPrices } from '../../../money/quotes/prices.ts'
import { customerList } from '../../../parties/customers/store.ts'
import { type ApiKey, hasWorkingKey, keysInUse } from '../../../parties/keys/store.ts'
import { type Partner, partnerById } from '../../../parties/partners/store.ts'
import type { World } from '../../../world.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { attentionOf, dismissAct } from './attention.ts'
import { dismissFromOverview, getOverview } from './contract.ts'
import { latestOf } from './latest.ts'

export const overviewRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(getOverview, async ({ world, actor, query }) => {
    const { period = '30d' } = query
    const { partner_id } = actor
    const now = new Date(world.clock.now())
    // Read before the sums: if this is false, they include everything up to now.
    const behind = await isBehind(world.reads)
    const [attention, held, ended, latest, usage, prices, is_new, pix_ready] = await Promise.all([
      attentionOf(world, actor, parts),
      heldOf(world.reads, { partner_id, now }),
      seriesOf(world.reads, { partner_id, period, now }),
      latestOf(world.reads, partner_id),
      usageOf(world, actor, parts),
      currentPrices({ ...world, db: world.reads }, actor),
      isNew(world, partner_id),
      isPixReady(world),
    ])
    return {
      period,
      now: now.toISOString(),
      settled: held.is_of_now && !behind,
      is_new,
      pix_ready,
      attention,
      balances: assetNames.map((asset) => renderHeld(asset, held.assets.get(asset))),
      starts: ended.starts,
      series: ended.series.map(renderSeries),
      latest,
      ...usage,
      prices: prices.map(renderMarketPrice),
    }
  }),

  answer(dismissFromOverview, async ({ actor, params }) => {
    await dismissAct(parts, actor, params.seq)
    return undefined
  }),
]

async function isNew({ reads }: World, partner_id: string): Promise<boolean> {
  const anyTime = { after: undefined, before: undefined, position: undefined }
  const { rows } = await selectNewest<{ id: string; created_at: Date }>(reads, customerList, {
    partner_id,
    filters: {},
    ...anyTime,
    limit: 1,
  })
  return rows.length === 0
}

/** The same check that a payout makes. */
const isPixReady = ({ pix }: World): Promise<boolean> =>
  pix.ready().then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refusal) return false
      throw error
    },
  )

/** How many of the keys that were used today are shown, the last used first. */
const KEYS_SHOWN = 4
const A_DAY_MS = 24 * 3_600_000

async function usageOf(
  world: World,
  { partner_id }: PersonActor,
  { runtimes }: Pick<ConsoleParts, 'runtimes'>,
) {
  const now = new Date(world.clock.now())
  const since = new Date(now.getTime() - A_DAY_MS)
  const [partner, shown, has_key] = await Promise.all([
    partnerById(world.reads, partner_id),
    keysInUse(world.reads, { partner_id, now, since, limit: KEYS_SHOWN }),
    hasWorkingKey(world.reads, { partner_id, now }),
  ])
  const { limiter } = runtimes[world.environment]
  const limits = await Promise.all(shown.map((key) => windowsOf(limiter, partner, key)))
  return { tier: partner.tier, has_key, limits: limits.flat() }
}

async function windowsOf(
  limiter: ConsoleParts['runtimes']['sandbox']['limiter'],
  partner: Partner,
  key: ApiKey,
) {
  const window_limits = windowLimitsOf(limitsOf(partner.tier, partner, key), undefined)
  const used = await limiter.used(key.id, window_limits)
  return window_limits.map(({ kind, limit }, i) => ({
    key_id: key.id,
    name: key.name,
    window: kind as 'minute' | 'day',
    used: used[i]!,
    limit,
  }))
}

function renderHeld(asset: Asset, held: HeldSeries | undefined) {
  const { available = 0n, in_transit = 0n, customers = 0n, days = [] } = held ?? {}
  return {
    asset,
    held: (available + in_transit).toString(),
    available: available.toString(),
    in_transit: in_transit.toString(),
    customers: Number(customers),
    days: days.map(({ day, held }) => ({ day, held: held?.toString() ?? null })),
  }
}

const renderSeries = ({ kind, asset, to_asset, median_ms, each, ...all }: Series) => ({
  kind,
  asset: asset as Asset,
  to_asset: to_asset === '' ? null : (to_asset as Asset),
  ...renderCounts(all),
  median_ms,
  each: each.map(renderCounts),
})

const renderCounts = ({ completed, failed, completed_sum, failed_sum }: EndedCounts) => ({
  completed: Number(completed),
  failed: Number(failed),
  completed_sum: completed_sum.toString(),
  failed_sum: failed_sum.toString(),
})
