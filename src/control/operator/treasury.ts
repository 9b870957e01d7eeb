import {
  type Asset,
  assetNames,
  assets,
  mulDiv,
  mulDivAgainstHouse,
  mulDivTowardsZero,
} from '../../core/money.ts'
import { formatPrice, PRICE_DECIMALS } from '../../core/price.ts'
import { marketPrice } from '../../money/quotes/prices.ts'
import { emptyHolding, type Holding } from '../../money/treasury/average-cost.ts'
import { treasuryLimits, treasuryPositions } from '../../money/treasury/store.ts'
import { foldTrades } from '../../money/treasury/treasury.ts'
import type { FedPrices } from '../../rails/prices/feed.ts'
import type { World } from '../../world.ts'

/** The treasury's position in one asset and its value. Amounts in BRL are in centavos. */
type Valued = {
  readonly asset: Asset
  readonly position: bigint
  readonly lowest: bigint | null
  readonly highest: bigint | null
  /** BRL for one whole unit; null if the position is zero. */
  readonly average_cost: string | null
  readonly price: string | null
  readonly cost: bigint
  /** At the current price; null if the price is unknown. */
  readonly worth: bigint | null
  readonly unrealised: bigint | null
  readonly realised: bigint
}

export async function valuedPositions(world: World): Promise<Valued[]> {
  await foldTrades(world.db)
  const [positions, limits, fed] = await Promise.all([
    treasuryPositions(world.db),
    treasuryLimits(world.db),
    world.prices.latest(),
  ])
  return assetNames.map((asset) => {
    const { lowest = null, highest = null } = limits.find((limit) => limit.asset === asset) ?? {}
    const held = positions.find((position) => position.asset === asset) ?? emptyHolding
    return { asset, lowest, highest, ...valuation(asset, held, fed) }
  })
}

export function valuation(asset: Asset, { amount, cost, realised }: Holding, fed: FedPrices) {
  const price = asset === 'BRL' ? { units: 1n, scale: 1n } : marketPrice(`${asset}/BRL`, fed)
  const whole = 10n ** BigInt(assets[asset].decimals)
  const centavos = 10n ** BigInt(assets.BRL.decimals)
  const digits = 10n ** BigInt(PRICE_DECIMALS)
  const worth = price ? mulDivAgainstHouse(amount, centavos * price.units, whole * price.scale) : null
  const average = amount === 0n ? null : mulDivTowardsZero(cost, whole * digits, amount * centavos)
  return {
    position: amount,
    average_cost: average === null ? null : formatPrice(average),
    price: price ? formatPrice(mulDiv(price.units, digits, price.scale, 'down')) : null,
    cost,
    worth,
    unrealised: worth === null ? null : worth - cost,
    realised,
  }
}
