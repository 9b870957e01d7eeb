/**
 * JSON whose numbers are kept exactly. Nodes of Bitcoin write amounts as JSON numbers with eight decimals, and `JSON.parse` turns
 * those into floating point. Here a number becomes text, as it was written, unless it is a whole number that a `number` holds
 * exactly. Throws a SyntaxError as `JSON.parse` does.
 */
export function parseExact(text: string): unknown {
  const parts: string[] = []
  let copied = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at)
      const number = text.slice(at, end)
      // What is no number of JSON stays as it is, so that `JSON.parse` refuses it.
      if (NUMBER.test(number) && !isPlain(number)) {
        parts.push(text.slice(copied, at), '"', number, '"')
        copied = end
      }
      at = end
    } else at++
  }
  return JSON.parse(parts.join('') + text.slice(copied))
}

const QUOTE = 34
const MINUS = 45
const BACKSLASH = 92
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const WHOLE = /^-?[0-9]{1,15}$/

const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isPlain = (number: string): boolean => WHOLE.test(number) && number !== '-0'

/** Behind the closing quote. A block is one string of several megabytes, so the search is left to `indexOf`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at + 1
  }
  return text.length
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && isOfNumber(text.charCodeAt(at))) at++
  return at
}

/** Digits, signs, a point, an exponent. */
const isOfNumber = (code: number): boolean =>
  isDigit(code) || code === MINUS || code === 43 || code === 46 || code === 69 || code === 101

const DECIMALS = 8
const AMOUNT = /^([0-9]{1,8})(?:\.([0-9]{1,20}))?(?:[eE]([+-]?[0-9]{1,2}))?$/
/** No more exist. */
const SATOSHIS_MOST = 21_000_000n * 10n ** 8n

/** Satoshis from an amount in bitcoin, as `parseExact` gives it. Throws if the amount is no whole number of satoshis. */
export function satoshisOf(amount: string | number): bigint {
  const [, whole, part = '', exponent = '0'] = AMOUNT.exec(String(amount)) ?? []
  if (whole === undefined) throw new Error('not an amount in bitcoin')
  const shift = DECIMALS - part.length + Number(exponent)
  const digits = BigInt(whole + part)
  const unit = 10n ** BigInt(Math.abs(shift))
  if (shift < 0 && digits % unit !== 0n) throw new Error('a part of a satoshi')
  const satoshis = shift < 0 ? digits / unit : digits * unit
  // On litecoin, on which tests run, four times as many exist.
  if (satoshis > 4n * SATOSHIS_MOST) throw new Error('more than all bitcoin')
  return satoshis
}
