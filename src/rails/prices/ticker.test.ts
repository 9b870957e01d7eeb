import { describe, expect, test } from 'vitest'
import { documentedAnswers } from '../../../test/support/exchange-answers.ts'
import { type ExchangeName, exchangeNames, exchanges, marketNames } from './exchange-table.ts'
import { readTicker } from './ticker.ts'

const read = (name: ExchangeName, text: string, market = documentedAnswers[name].market) =>
  readTicker(exchanges[name], market, text)

test('the documented answer of every exchange is read', () => {
  const found = Object.fromEntries(
    exchangeNames.map((name) => [name, read(name, documentedAnswers[name].text)]),
  )
  expect(found).toEqual({
    binance: { bid: 4_00000000n, ask: 4_00000200n },
    bitso: { bid: 372110_00000000n, ask: 372800_00000000n, stamp_ms: Date.UTC(2023, 2, 9, 20, 58, 23) },
    mercado_bitcoin: { bid: 649000_00000000n, ask: 650000_00000000n },
    kraken: { bid: 30300_00000000n, ask: 30300_10000000n },
    coinbase: { bid: 6265_15000000n, ask: 6267_71000000n, stamp_ms: Date.UTC(2020, 2, 20, 0, 22, 57, 833) },
  })
})

test('every pair has three exchanges, and every exchange is asked for something', () => {
  for (const names of Object.values(marketNames)) expect(Object.keys(names)).toHaveLength(3)
  const used = new Set(Object.values(marketNames).flatMap((names) => Object.keys(names)))
  expect([...used].sort()).toEqual([...exchangeNames].sort())
})

const binance = (bid: string, ask = '"5.5"') =>
  `{"symbol": "USDTBRL", "bidPrice": ${bid}, "askPrice": ${ask}}`
const bidOf = (bid: string) => read('binance', binance(bid), 'USDTBRL').bid

describe('a price', () => {
  test('is exact, as text and as a JSON number', () => {
    expect(bidOf('"5.40123456"')).toBe(5_40123456n)
    expect(bidOf('5.40123456')).toBe(5_40123456n)
    expect(bidOf('5')).toBe(5_00000000n)
    // The nearest floating point number of this one is another one.
    expect(bidOf('12345678.12345678')).toBe(12345678_12345678n)
  })

  test.each([
    '"1e9"',
    '1e9',
    '1E-2',
    '"NaN"',
    '"Infinity"',
    '"-1"',
    '-1',
    '"0"',
    '0',
    '0.00000000',
    '"0.000000001"',
    '5.400000001',
    '123456789012345678901234567890',
    '"123456789012345678901234567890"',
    '"12345678901.5"',
    '"5,40"',
    '" 5.40"',
    '"0x5"',
    '"٥"',
    '""',
    'null',
    'true',
    '[]',
    '["5.4"]',
    '{}',
    `"${'9'.repeat(10_000)}"`,
  ])('is not %s', (bid) => {
    expect(() => bidOf(bid)).toThrow(/^its bid is no price|^it has another form/)
  })
})

test.each<[ExchangeName, string, string]>([
  ['binance', 'USDTBRL', '<html>blocked</html>'],
  ['binance', 'USDTBRL', ''],
  ['binance', 'USDTBRL', 'null'],
  ['binance', 'USDTBRL', '[]'],
  ['binance', 'USDTBRL', '{"code": -1121, "msg": "Invalid symbol."}'],
  ['binance', 'USDTBRL', '{"symbol": "USDTARS", "bidPrice": "5.4", "askPrice": "5.5"}'],
  ['bitso', 'usdt_brl', '{"success": false, "error": {"code": "0301", "message": "Unknown OrderBook"}}'],
  [
    'bitso',
    'usdt_brl',
    '{"success": true, "payload": {"book": "usdt_mxn", "bid": "5", "ask": "5", "created_at": 1}}',
  ],
  [
    'bitso',
    'usdt_brl',
    '{"success": true, "payload": {"book": "usdt_brl", "bid": "5", "ask": "5", "created_at": "now"}}',
  ],
  ['mercado_bitcoin', 'USDT-BRL', '{"bids": [], "asks": [["5", "1"]]}'],
  ['mercado_bitcoin', 'USDT-BRL', '{"bids": [[]], "asks": [["5", "1"]]}'],
  ['mercado_bitcoin', 'USDT-BRL', '{"bids": [["5", "1"], ["x", "1"]], "asks": [["5", "1"]]}'],
  ['kraken', 'XBTUSDT', '{"error": ["EQuery:Unknown asset pair"]}'],
  ['kraken', 'XBTUSDT', '{"error": ["EGeneral:Too many requests"], "result": {}}'],
  ['kraken', 'XBTUSDT', '{"error": [], "result": {}}'],
  [
    'kraken',
    'XBTUSDT',
    '{"error": [], "result": {"A": {"a": ["5"], "b": ["5"]}, "B": {"a": ["5"], "b": ["5"]}}}',
  ],
  ['coinbase', 'BTC-USDT', '{"message": "NotFound"}'],
  ['coinbase', 'BTC-USDT', '{"bid": "5", "ask": "5", "time": "2026-13-45T99:99:99Z"}'],
])('%s: an answer that is an error or about something else is refused: %s %s', (name, market, text) => {
  expect(() => read(name, text, market)).toThrow(/^it is|^it has another form|^its/)
})

test('of the levels of an order book the highest bid and the lowest ask count, in any order', () => {
  const text =
    '{"bids": [["5.1", "1"], ["5.3", "1"]], "asks": [["5.6", "1"], ["5.4", "1"]], "timestamp": 1699999999}'
  expect(read('mercado_bitcoin', text)).toEqual({
    bid: 5_30000000n,
    ask: 5_40000000n,
    stamp_ms: 1699999999000,
  })
})

test.each([
  ['1699999999', 1699999999000],
  ['1699999999123', 1699999999123],
  ['1699999999123456', 1699999999123],
  ['1699999999123456789', 1699999999123],
  ['"1699999999"', 1699999999000],
  ['1699999999.5', 1699999999000],
])('a time stamp of %s is understood by its digits', (stamp, stamp_ms) => {
  const text = `{"bids": [["5", "1"]], "asks": [["5", "1"]], "timestamp": ${stamp}}`
  expect(read('mercado_bitcoin', text)).toMatchObject({ stamp_ms })
})

test.each(['169999999', '16999999990', '-1699999999', '"1e9"', '"yesterday"', '""'])(
  'a time stamp of %s is refused',
  (stamp) => {
    const text = `{"bids": [["5", "1"]], "asks": [["5", "1"]], "timestamp": ${stamp}}`
    expect(() => read('mercado_bitcoin', text)).toThrow('its time stamp is no time')
  },
)

test('a time stamp with nanoseconds is read', () => {
  const text = '{"bid": "5", "ask": "5", "time": "2026-06-19T16:43:33.016274911Z"}'
  expect(read('coinbase', text)).toMatchObject({ stamp_ms: Date.UTC(2026, 5, 19, 16, 43, 33, 16) })
})
