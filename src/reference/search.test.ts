import { expect, test } from 'vitest'
import { fold, type SearchIndex, search, termsOf } from './search.ts'

const index: SearchIndex = {
  sections: [
    ['/a', 'Quotes', '', 'about quotes'],
    ['/b', 'Errors', 'quote_expired', 'too late'],
    ['/c', 'Sandbox', 'Pix keys', 'timeout@sandbox.test'],
  ],
  terms: {
    expired: [15],
    quote_expired: [15],
    quote: [14],
    quotes: [9],
    sandbox: [25],
    'timeout@sandbox.test': [21],
  },
}
const addresses = (query: string) => search(index, query).map(({ address }) => address)

test('a word is found by how it begins; whole ones come first', () => {
  expect(addresses('quot')).toEqual(['/a', '/b'])
  expect(addresses('quote')).toEqual(['/b', '/a'])
  expect(addresses('quote_exp')).toEqual(['/b'])
  expect(addresses('timeout@sandbox.test')).toEqual(['/c'])
})

test('all words must be there, but for those that stand everywhere', () => {
  expect(addresses('expired quote')).toEqual(['/b'])
  expect(addresses('quotes sandbox')).toEqual([])
  expect(addresses('what is a sandbox')).toEqual([])
  expect(addresses('the sandbox')).toEqual(['/c'])
})

test.each(['', '   ', '.', '@@@', '\u0000', '__proto__', 'constructor', 'a'.repeat(5000), '💸'])(
  'nothing is found for %j',
  (query) => expect(addresses(query)).toEqual([]),
)

test('accents and capitals do not matter', () => {
  expect(fold('Ação')).toBe('acao')
  expect(termsOf('Não há SALDO')).toEqual(['nao', 'ha', 'saldo'])
})

test('a compound is a word, and its parts are', () => {
  expect(termsOf('`quote_expired`, timeout@sandbox.test.')).toEqual([
    'quote_expired',
    'quote',
    'expired',
    'timeout@sandbox.test',
    'timeout',
    'sandbox',
    'test',
  ])
})
