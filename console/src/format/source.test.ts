import { expect, test } from 'vitest'
import { sourceText } from './source.ts'

test.each([
  ['fixed', 'fixo'],
  ['mercado_bitcoin', 'Mercado Bitcoin'],
  ['binance, kraken', 'Binance, Kraken'],
  ['our desk', 'our desk'],
  ['OTC', 'OTC'],
])('the source %s is shown as %s', (source, text) => {
  expect(sourceText({ fixed: 'fixo' }, source)).toBe(text)
})
