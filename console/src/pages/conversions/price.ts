import type { Trade } from '../../api/types.ts'
import type { Language } from '../../format/amount.ts'

/** A price has at least two decimals: `5.4` is shown as 5.40 / 5,40. It is formatted as text, never parsed to a number. */
export function priceText(price: string, language: Language): string {
  const [whole = '0', fraction = ''] = price.split('.')
  const [group, point] = language === 'en' ? [',', '.'] : ['.', ',']
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, group)}${point}${fraction.padEnd(2, '0')}`
}

type Sides = Pick<Trade, 'from_asset' | 'to_asset' | 'side'>

/** The base asset of the price, and the asset that the price is quoted in. */
export const baseAssetOf = ({ from_asset, to_asset, side }: Sides) => (side === 'buy' ? to_asset : from_asset)
export const quoteAssetOf = ({ from_asset, to_asset, side }: Sides) =>
  side === 'buy' ? from_asset : to_asset
