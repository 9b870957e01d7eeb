import { type Asset, units } from '#sdk'
import { type Input, requiredOption, usage } from '../command.ts'

const assets: readonly Asset[] = ['BRL', 'USDT', 'BTC']

export const assetNamed = (name: string, option: string): Asset =>
  assets.find((asset) => asset === name) ?? usage(`--${option} must be one of ${assets.join(', ')}.`)

/** Reads --amount as a decimal number in units of the asset, such as 10.50. */
export function amountOption(input: Input, asset: Asset): bigint {
  const amount = unitsOf(requiredOption(input, 'amount'), asset)
  return amount > 0n ? amount : usage('--amount must be above zero, such as 10.50.')
}

function unitsOf(text: string, asset: Asset): bigint {
  try {
    return units(text, asset)
  } catch (error) {
    return usage(`--amount: ${(error as Error).message}`)
  }
}
