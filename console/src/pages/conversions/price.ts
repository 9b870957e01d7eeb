import type { Trade } from '../../api/types.ts'
import type { Language } from '../../format/amount.ts'

/** `5.4` is shown with two decimals at least, as prices are: 5.40 / 5,40. Digits are never counted with. */
export function priceText(price: string, language: Language): string {
  const [whole = '0', fraction = ''] = price.split('.')
  const [group, point] = language === 'en' ? [',', '.'] : ['.', ',']
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, group)}${point}${fraction.padEnd(2, '0')}`
}

type Sides = Pick<Trade, 'from_asset' | 'to_asset' | 'side'>

/** What the price is of, and what it is told in. */
export const baseOf = ({ from_asset, to_asset, side }: Sides) => (side === 'buy' ? to_asset : from_asset)
export const quoteOf = ({ from_asset, to_asset, side }: Sides) => (side === 'buy' ? from_asset : to_asset)
