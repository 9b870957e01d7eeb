import { Value } from 'typebox/value'
import { parsePrice } from '../../core/price.ts'
import { parseExact } from '../chain/bitcoin/exact-json.ts'
import type { Exchange, Figure } from './exchange-table.ts'

/** What an exchange said, checked: prices in 10^-8, and the exchange's time stamp where it has one. */
export type Ticker = { readonly bid: bigint; readonly ask: bigint; readonly stamp_ms?: number }

/** Throws what is wrong with the answer. Nothing of the answer's text is in the message. */
export function readTicker({ answer, read }: Exchange, market: string, text: string): Ticker {
  const content = parsed(text)
  if (!Value.Check(answer, content)) throw new Error('it has another form')
  const { bids, asks, stamp } = read(content, market)
  return {
    bid: bids.map((bid) => priceIn('bid', bid)).reduce((best, one) => (one > best ? one : best)),
    ask: asks.map((ask) => priceIn('ask', ask)).reduce((best, one) => (one < best ? one : best)),
    ...(stamp === undefined ? {} : { stamp_ms: stampIn(stamp) }),
  }
}

function parsed(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    throw new Error('it is not JSON')
  }
}

function priceIn(side: 'bid' | 'ask', figure: Figure): bigint {
  const price = parsePrice(String(figure))
  if (price === undefined) throw new Error(`its ${side} is no price`)
  return price
}

const ISO_TIME = /^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|\+00:?00)$/
/** Unix time in seconds, milliseconds, microseconds or nanoseconds: the number of digits tells which, until the year 2286. */
const UNIX_TIME = /^([0-9]{10})([0-9]{3})?(?:[0-9]{3}){0,2}(?:\.[0-9]{1,9})?$/

function stampIn(figure: Figure): number {
  const text = String(figure)
  const [, seconds, millis = '000'] = UNIX_TIME.exec(text) ?? []
  const time = seconds !== undefined ? Number(seconds + millis) : ISO_TIME.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(time)) throw new Error('its time stamp is no time')
  return time
}
