import { decimalsOf, faultOfAmount, type Language, typedAmount } from '../format/amount.ts'
import type { ui } from './en/ui.ts'

/** The error for a text that is not a valid amount, if any. `example` is in smallest units. */
export function amountError(
  { amount_wrong }: Pick<typeof ui, 'amount_wrong'>,
  { typed, asset, language, example }: Typed,
): string | undefined {
  const fault = faultOfAmount(typed, asset, language)
  if (fault === undefined) return undefined
  if (fault === 'decimals') return amount_wrong.decimals(asset, decimalsOf(asset))
  return fault === 'zero' ? amount_wrong.zero : amount_wrong.figure(typedAmount(example, asset, language))
}

type Typed = {
  readonly typed: string
  readonly asset: string
  readonly language: Language
  readonly example: string
}
