import type { Amount } from './generated/types.js'

/** Decimals of each asset. An amount is a whole number of the smallest unit. */
const assets = { BRL: 2, USDT: 6, BTC: 8 } as const
export type Asset = keyof typeof assets

/** An asset, or the `decimals` of a response. */
export type Scale = Asset | number

/** Parses a decimal text into smallest units: `units('10.50', 'BRL')` is `1050n`. */
export function units(text: string, scale: Scale): bigint {
  const decimals = decimalsOf(scale)
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined || typeof text !== 'string')
    throw new RangeError(`${say(text)} is not an amount: write it like '1050.25'.`)
  if (fraction.length > decimals)
    throw new RangeError(`'${text}' has ${fraction.length} decimals, and ${say(scale)} has ${decimals}.`)
  return BigInt(sign + whole + fraction.padEnd(decimals, '0'))
}

/** Formats smallest units as an exact decimal: `decimal(1050n, 'BRL')` is `'10.50'`. */
export function decimal(amount: Amount, scale: Scale): string {
  const { sign, whole, fraction } = split(amount, scale)
  return `${sign}${whole}${fraction && `.${fraction}`}`
}

/** Formats an amount for people: `format(105000n, 'BRL', 'pt-BR')` is `R$ 1.050,00`. */
export function format(amount: Amount, scale: Scale, locale?: string): string {
  const { sign, whole, fraction } = split(amount, scale)
  const formatter = new Intl.NumberFormat(locale, {
    numberingSystem: 'latn',
    minimumFractionDigits: fraction.length,
    // USDT and BTC are not ISO 4217 currencies: their name is appended to the number.
    ...(scale === 'BRL' && { style: 'currency', currency: 'BRL' }),
  })
  // The formatter gets integers only, because it would round a fraction; and never -0, which has no sign as a bigint.
  const shown = BigInt(`${sign}${whole === '0' ? '1' : whole}`)
  const text = formatter
    .formatToParts(shown)
    .map(({ type, value }) => {
      if (type === 'fraction') return fraction
      return type === 'integer' && whole === '0' ? '0' : value
    })
    .join('')
  return typeof scale === 'string' && scale !== 'BRL' ? `${text} ${scale}` : text
}

function split(amount: Amount, scale: Scale): { sign: string; whole: string; fraction: string } {
  const decimals = decimalsOf(scale)
  const [, sign, digits] = /^(-?)(\d+)$/.exec(String(amount)) ?? []
  if (digits === undefined || typeof amount === 'number')
    throw new RangeError(`${say(amount)} is not a whole number of smallest units: pass a bigint, or text.`)
  const padded = digits.replace(/^0+(?=\d)/, '').padStart(decimals + 1, '0')
  const point = padded.length - decimals
  return { sign: sign!, whole: padded.slice(0, point), fraction: padded.slice(point) }
}

function decimalsOf(scale: Scale): number {
  const decimals = typeof scale === 'number' ? scale : assets[scale]
  if (Number.isInteger(decimals) && decimals >= 0 && decimals <= 100) return decimals
  throw new RangeError(
    `${say(scale)} is neither an asset (${Object.keys(assets).join(', ')}) nor a number of decimals.`,
  )
}

const say = (value: unknown) =>
  typeof value === 'string' ? `'${value}'` : `${String(value)} (${typeof value})`
