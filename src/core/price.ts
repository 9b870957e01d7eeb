/** A price: how much of the quote asset one whole base asset costs, as an exact decimal with at most 8 decimals. */
export const PRICE_DECIMALS = 8

/** On the wire: up to 8 digits before the point and 8 after it. */
export const PRICE_PATTERN = '^(0|[1-9][0-9]{0,7})(\\.[0-9]{1,8})?$'
const price = new RegExp(PRICE_PATTERN)

/** As a whole number of 10^-8. Undefined: not a price, or zero. */
export function parsePrice(text: string): bigint | undefined {
  if (!price.test(text)) return undefined
  const [whole = '', fraction = ''] = text.split('.')
  const units = BigInt(whole + fraction.padEnd(PRICE_DECIMALS, '0'))
  return units > 0n ? units : undefined
}

/** 540000000 → "5.4". */
export function formatPrice(units: bigint): string {
  const digits = units.toString().padStart(PRICE_DECIMALS + 1, '0')
  const fraction = digits.slice(-PRICE_DECIMALS).replace(/0+$/, '')
  return digits.slice(0, -PRICE_DECIMALS) + (fraction && `.${fraction}`)
}
