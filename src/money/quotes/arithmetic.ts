import { refuse } from '../../core/errors.ts'
import { type Asset, assets, mulDiv, UNITS_MAX } from '../../core/money.ts'
import { PRICE_DECIMALS } from '../../core/price.ts'

/**
 * The arithmetic of conversions (contract §10), in integers only. Prices are exact decimals; every amount is rounded once, at the
 * end, and against the customer, so that converting there and back never gains.
 */
const pairs = {
  'USDT/BRL': { base: 'USDT', quote: 'BRL' },
  'BTC/USDT': { base: 'BTC', quote: 'USDT' },
  'BTC/BRL': { base: 'BTC', quote: 'BRL' },
} as const satisfies Record<string, { base: Asset; quote: Asset }>

export type Pair = keyof typeof pairs
export const pairNames = Object.keys(pairs) as Pair[]

/** What the customer does with the base asset. */
export type Side = 'buy' | 'sell'

export function pairOf(from: Asset, to: Asset): { pair: Pair; side: Side } | undefined {
  for (const pair of pairNames) {
    const { base, quote } = pairs[pair]
    if (from === quote && to === base) return { pair, side: 'buy' }
    if (from === base && to === quote) return { pair, side: 'sell' }
  }
  return undefined
}

/** A market price before it is rounded: `units` / `scale`, in quote assets for one base asset. */
export type Ratio = { readonly units: bigint; readonly scale: bigint }

const BPS = 10_000n
const PRICE_SCALE = 10n ** BigInt(PRICE_DECIMALS)

/** The price that a quote locks, in 10^-8: moved by the spread and rounded against the customer. */
export function lockedPrice({ units, scale }: Ratio, side: Side, spread_bps: number): bigint {
  const spread = BigInt(spread_bps)
  return side === 'buy'
    ? mulDiv(units * PRICE_SCALE, BPS + spread, scale * BPS, 'up')
    : mulDiv(units * PRICE_SCALE, BPS - spread, scale * BPS, 'down')
}

/** One smallest unit of `from` is `num` / `den` smallest units of `to`. */
export type Rate = { readonly num: bigint; readonly den: bigint }

export function rateOf(conversion: { from: Asset; to: Asset; side: Side; market_price: bigint }): Rate {
  const { from, to, side, market_price } = conversion
  const fromScale = 10n ** BigInt(assets[from].decimals)
  const toScale = 10n ** BigInt(assets[to].decimals)
  return side === 'buy'
    ? { num: toScale * PRICE_SCALE, den: market_price * fromScale }
    : { num: market_price * toScale, den: PRICE_SCALE * fromScale }
}

/** The most that this amount of `from` buys. */
export const toUnits = (from: bigint, { num, den }: Rate): bigint => mulDiv(from, num, den, 'down')

/** The least that this amount of `to` costs. */
export const fromUnits = (to: bigint, { num, den }: Rate): bigint => mulDiv(to, den, num, 'up')

/** Interface §2.5: what one whole `to` costs in smallest units of `from`, rounded half up. For display. */
export function displayPrice(to: Asset, { num, den }: Rate): bigint {
  const one = 10n ** BigInt(assets[to].decimals)
  return mulDiv(one, den, num, 'half_up')
}

/** Fee rates in basis points: the operator's share of the partner's fee moves to the service fee. */
export function feeRates(agreed: {
  partner_fee_bps: number
  service_fee_bps: number
  partner_fee_share_pct: number
}): { partner_bps: number; service_bps: number } {
  const { partner_fee_bps, partner_fee_share_pct } = agreed
  const share_bps = Number(mulDiv(BigInt(partner_fee_bps), BigInt(partner_fee_share_pct), 100n, 'up'))
  return {
    partner_bps: partner_fee_bps - share_bps,
    service_bps: agreed.service_fee_bps + share_bps,
  }
}

export type AmountType = 'gross' | 'net'

type Conversion = {
  readonly from_amount: bigint
  readonly to_amount: bigint
  readonly partner_fee: bigint
  readonly service_fee: bigint
}

/** The four rules of conversion. Refuses an amount that converts to zero, and one that no balance could hold. */
export function convert(order: {
  amount: bigint
  /** The side that `amount` refers to. */
  amount_of: 'from' | 'to'
  amount_type: AmountType
  rate: Rate
  partner_bps: number
  service_bps: number
}): Conversion {
  const { amount, amount_of, amount_type, rate } = order
  const base = amount_of === 'from' ? amount : fromUnits(amount, rate)
  const partner_fee = share(base, order.partner_bps)
  const service_fee = share(base, order.service_bps)
  const total = partner_fee + service_fee
  const converted = amount_type === 'gross' ? base - total : base
  if (converted <= 0n) refuse('amount_too_small', { param: 'amount' })
  const from_amount = converted + total
  const to_amount = amount_type === 'net' && amount_of === 'to' ? amount : toUnits(converted, rate)
  if (to_amount === 0n) refuse('amount_too_small', { param: 'amount' })
  if (from_amount > UNITS_MAX || to_amount > UNITS_MAX) refuse('amount_too_large', { param: 'amount' })
  return { from_amount, to_amount, partner_fee, service_fee }
}

const share = (base: bigint, bps: number): bigint => mulDiv(base, BigInt(bps), BPS, 'up')

/** Value of the converted amount in centavos, for the treasury: the BRL side, or USDT at its price. */
export function worthInBrl(
  traded: { from: Asset; to: Asset; converted: bigint; to_amount: bigint },
  usdt_brl: Ratio,
): bigint {
  const { from, to, converted, to_amount } = traded
  if (from === 'BRL') return converted
  if (to === 'BRL') return to_amount
  return brlOfUsdt(from === 'USDT' ? converted : to_amount, usdt_brl)
}

function brlOfUsdt(units: bigint, { units: price, scale }: Ratio): bigint {
  const centavos = 10n ** BigInt(assets.BRL.decimals)
  return mulDiv(units * centavos, price, scale * 10n ** BigInt(assets.USDT.decimals), 'down')
}
