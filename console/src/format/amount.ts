/** Amounts are formatted from their digits; they never pass through a floating-point number. */

export type Language = 'en' | 'pt-BR'

const DECIMALS: Readonly<Record<string, number>> = { BRL: 2, USDT: 6, BTC: 8 }
export const decimalsOf = (asset: string): number => DECIMALS[asset] ?? 0

const marks = { en: { group: ',', point: '.' }, 'pt-BR': { group: '.', point: ',' } } as const

const MINUS = '−'
/** Non-breaking: a line never breaks between a figure and its unit. */
const SPACE = '\u00a0'

/** The parts of a formatted amount; `rest` holds trailing zeros, drawn in a quieter colour. */
type AmountParts = {
  readonly sign: '' | '+' | '−'
  /** Symbol before the figure: only BRL has one. */
  readonly currency: '' | 'R$'
  readonly figure: string
  readonly rest: string
  /** Asset code after the figure. */
  readonly unit: string
}

type AmountOptions = { readonly language: Language; readonly change?: boolean | undefined }

export function amountParts(
  units: string | bigint,
  asset: string,
  { language, change = false }: AmountOptions,
): AmountParts {
  const value = BigInt(units)
  const sign = value < 0n ? MINUS : change && value > 0n ? '+' : ''
  const { figure, rest } = digits(value < 0n ? -value : value, decimalsOf(asset), language)
  return {
    sign,
    currency: asset === 'BRL' ? 'R$' : '',
    figure,
    rest,
    unit: asset === 'BRL' ? '' : asset,
  }
}

function digits(value: bigint, decimals: number, language: Language): { figure: string; rest: string } {
  const { group, point } = marks[language]
  const all = value.toString().padStart(decimals + 1, '0')
  const whole = all.slice(0, all.length - decimals)
  const fraction = all.slice(all.length - decimals)
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, group)
  if (decimals === 0) return { figure: grouped, rest: '' }
  const rest = /^\d\d(0+)$/.exec(fraction)?.[1] ?? ''
  return { figure: grouped + point + fraction.slice(0, fraction.length - rest.length), rest }
}

/** The amount as one string, for a sentence, a title or a label: `R$ 4,820.00`, `2,401.000000 USDT`. */
export function amountText(units: string | bigint, asset: string, options: AmountOptions): string {
  const { sign, currency, figure, rest, unit } = amountParts(units, asset, options)
  const before = currency === '' ? '' : currency + SPACE
  const behind = unit === '' ? '' : SPACE + unit
  return `${sign}${before}${figure}${rest}${behind}`
}

/** Converts a typed amount to smallest units; undefined if it is not a valid amount of this asset. */
export function parseAmount(typed: string, asset: string, language: Language): string | undefined {
  const { group, point } = marks[language]
  const plain = typed.trim().replace(/^R\$\s*/, '')
  const [grouped = '', fraction = '', ...more] = plain.split(point)
  // Groups must have three digits: otherwise the decimal point of the other language would multiply the amount by a hundred.
  const groups = grouped.split(group)
  if (!/^\d+$/.test(groups[0]!) || (groups.length > 1 && !/^\d{1,3}$/.test(groups[0]!))) return undefined
  if (!groups.slice(1).every((three) => /^\d{3}$/.test(three))) return undefined
  if (more.length > 0 || !/^\d*$/.test(fraction)) return undefined
  const whole = groups.join('')
  const decimals = decimalsOf(asset)
  if (fraction.length > decimals) return undefined
  return BigInt(whole + fraction.padEnd(decimals, '0')).toString()
}

/** Why a typed text is not an amount above zero: too small, too many decimals, or not a number. */
type AmountFault = 'zero' | 'decimals' | 'figure'

export function faultOfAmount(typed: string, asset: string, language: Language): AmountFault | undefined {
  const units = parseAmount(typed, asset, language)
  if (units !== undefined) return units === '0' ? 'zero' : undefined
  const { point } = marks[language]
  const plain = typed.trim().replace(/^R\$\s*/, '')
  if (/^[-−]/.test(plain))
    return parseAmount(plain.slice(1), asset, language) === undefined ? 'figure' : 'zero'
  const [whole = '', fraction = '', ...more] = plain.split(point)
  const fine = more.length === 0 && /^\d+$/.test(fraction) && fraction.length > decimalsOf(asset)
  return fine && parseAmount(whole, asset, language) !== undefined ? 'decimals' : 'figure'
}

/** Smallest units as a person types them: grouped, with all decimals. */
export function typedAmount(units: string | bigint, asset: string, language: Language): string {
  const { figure, rest } = amountParts(units, asset, { language })
  return figure + rest
}

/** Sum of amounts of one asset, for the foot of a page. */
export const sumUnits = (amounts: readonly (string | bigint)[]): string =>
  amounts.reduce<bigint>((sum, units) => sum + BigInt(units), 0n).toString()

/** The ratio of two amounts in hundredths of a percent, calculated in bigint: for widths and "62.40 %". */
export function shareBps(part: string | bigint, whole: string | bigint): number {
  const total = BigInt(whole)
  return total === 0n ? 0 : Number((BigInt(part) * 10_000n) / total)
}

/** Percent with two decimals, from hundredths of a percent. */
export function percentText(bps: number, language: Language): string {
  const { figure } = digits(BigInt(Math.round(Math.abs(bps))), 2, language)
  return `${bps < 0 ? MINUS : ''}${figure}${SPACE}%`
}

/** A count, grouped: `1,204`. */
export const countText = (count: number, language: Language): string =>
  digits(BigInt(Math.trunc(count)), 0, language).figure

/** Whether an amount has more digits than fit the narrowest balance column at full size. */
export const isLong = (units: string): boolean => units.length > 12
