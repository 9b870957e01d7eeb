import { expect, test } from 'vitest'
import { foldText, openSearch, type SearchIndex, termsOf } from './search.ts'
import { openSearchPages } from './search-page.ts'

const index: SearchIndex = {
  sections: [
    ['/a', 'Quotes', '', 'about quotes'],
    ['/b', 'Errors', 'quote_expired', 'too late'],
    ['/c', 'Sandbox', 'Pix keys', 'timeout@sandbox.test'],
  ],
  terms: {
    expired: [15],
    quote_expired: [15],
    quote: [9, 14],
    quoted: [21],
    sandbox: [25],
    'timeout@sandbox.test': [21],
  },
}
const search = openSearch(index)
const addresses = (query: string) => search(query).map(({ address }) => address)

test('words match by prefix; titles rank first, then whole words', () => {
  expect(addresses('quot')).toEqual(['/a', '/b', '/c'])
  expect(addresses('quote')).toEqual(['/a', '/b', '/c'])
  expect(addresses('expi')).toEqual(['/b'])
  expect(addresses('quote_exp')).toEqual(['/b'])
  expect(addresses('timeout@sandbox.test')).toEqual(['/c'])
})

test('all words must match, except stop words', () => {
  expect(addresses('expired quote')).toEqual(['/b'])
  expect(addresses('expired sandbox')).toEqual([])
  expect(addresses('what is a sandbox')).toEqual(['/c'])
  expect(addresses('the sandbox')).toEqual(['/c'])
})

test('singular and plural match', () => {
  for (const many of ['quotes', 'QUOTES', 'quote']) expect(addresses(many)[0]).toBe('/a')
  expect(termsOf('currencies devoluções addresses address status gas')).toEqual([
    'currency',
    'devolucao',
    'addresse',
    'address',
    'statu',
    'gas',
  ])
})

test.each([
  '',
  '   ',
  'q',
  'q e s a',
  '.',
  '@@@',
  '\u0000',
  '__proto__',
  'constructor',
  'a'.repeat(5000),
  '💸',
])('nothing is found for %j', (query) => expect(addresses(query)).toEqual([]))

test('accents and capitals do not matter', () => {
  expect(foldText('Ação')).toBe('acao')
  expect(termsOf('Não há SALDO')).toEqual(['nao', 'ha', 'saldo'])
})

test('a compound and each of its parts are search terms', () => {
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

test('a query uses at most eight words and reads only the terms with their prefixes, never the whole index', () => {
  const names = Array.from({ length: 5000 }, (_, number) => `w${number}`)
  let read = 0
  const terms = new Proxy(Object.fromEntries(names.map((name) => [name, [1]])), {
    get(all, name: string) {
      read++
      return all[name]
    },
  })
  const ask = openSearch({ sections: [['/a', 'A', '', '']], terms })
  expect(ask('w4999').map(({ address }) => address)).toEqual(['/a'])
  expect(read).toBe(1)
  read = 0
  ask(names.slice(1000, 1020).join(' '))
  expect(read).toBe(8)
  read = 0
  ask('w w w w w w w w')
  expect(read).toBe(0)
})

test('the page and the index are decompressed once', () => {
  const unpacked: string[] = []
  const pages = openSearchPages({
    has: () => true,
    newest: () => undefined,
    ready: () => {
      throw new Error('nobody asks')
    },
    text(name) {
      unpacked.push(name)
      return name.endsWith('.json') ? JSON.stringify(index) : '%query% <!--results-->'
    },
  })
  for (const q of ['quote', 'sandbox', 'quote']) pages.pageOf('search.html', { q })
  expect(unpacked.toSorted()).toEqual(['search.html', 'search/en.json'])
})
