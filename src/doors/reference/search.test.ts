import { expect, test } from 'vitest'
import type { BuiltDocs } from './built-docs.ts'
import {
  arrange,
  editsBetween,
  type Found,
  foldText,
  openSearch,
  type SearchIndex,
  termsOf,
} from './search.ts'
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
  synonyms: { cotacao: ['quote'] },
}
const search = openSearch(index)
const addresses = (query: string) => search(query).sections.map(({ address }) => address)

test('words match by prefix; titles rank first, then whole words', () => {
  expect(addresses('quot')).toEqual(['/a', '/b', '/c'])
  expect(addresses('quote')).toEqual(['/a', '/b', '/c'])
  expect(addresses('expi')).toEqual(['/b'])
  expect(addresses('quote_exp')).toEqual(['/b'])
  expect(addresses('timeout@sandbox.test')).toEqual(['/c'])
})

test('sections with more of the words come first, and stop words do not count', () => {
  expect(addresses('expired quote')[0]).toBe('/b')
  expect(addresses('expired sandbox').toSorted()).toEqual(['/b', '/c'])
  expect(addresses('expired nothingatall')).toEqual(['/b'])
  expect(addresses('what is a sandbox')).toEqual(['/c'])
  expect(addresses('the sandbox')).toEqual(['/c'])
  expect(addresses('how do I')).toEqual([])
})

test.each([
  ['qoute', '/a'],
  ['qutoe', '/a'],
  ['quotw', '/a'],
  ['sandbx', '/c'],
  ['sanbdox', '/c'],
  ['expiredd', '/b'],
  ['quote-expired', '/b'],
  ['quoting', '/a'],
  ['cotação', '/a'],
])('%s is forgiven', (query, address) => {
  expect(addresses(query)[0]).toBe(address)
})

test('a short word, and a word of the docs, is not corrected', () => {
  expect(addresses('qot')).toEqual([])
  expect(addresses('quoted')).toEqual(['/c'])
})

test.each([
  ['payout', 'payout', 0],
  ['payuot', 'payout', 1],
  ['payot', 'payout', 1],
  ['payoutt', 'payout', 1],
  ['paiout', 'payout', 1],
  ['pyaotu', 'payout', 2],
  ['idempotncy', 'idempotency', 1],
  ['idmpotncy', 'idempotency', 2],
  ['webhook', 'payout', 3],
  ['a', 'abcdef', 3],
  ['', 'ab', 2],
])('from %s to %s are %i edits, counted up to two', (a, b, edits) => {
  expect(editsBetween(a, b, 2)).toBe(edits)
  expect(editsBetween(b, a, 2)).toBe(edits)
})

test('says whether the best section has all words, and whether as they were typed', () => {
  const about = (query: string) => {
    const { complete, literal } = search(query)
    return [complete, literal]
  }
  expect(about('expired quote')).toEqual([true, true])
  expect(about('expi')).toEqual([true, true])
  expect(about('cotação')).toEqual([true, false])
  expect(about('sandbx')).toEqual([true, false])
  expect(about('expired nothingatall')).toEqual([false, false])
  expect(about('nothingatall')).toEqual([false, false])
})

test('the reader’s own language goes first, unless only the other one has all words', () => {
  const some = [{ address: '/a', title: 'A', heading: '', text: '' }]
  const found = (complete: boolean, literal: boolean): Found => ({ sections: some, complete, literal })
  const none: Found = { sections: [], complete: false, literal: false }
  expect(arrange(none, none)).toEqual([])
  expect(arrange(none, found(false, false))).toEqual(['other'])
  expect(arrange(found(true, false), none)).toEqual(['own'])
  expect(arrange(found(true, false), found(true, false))).toEqual(['own'])
  expect(arrange(found(true, false), found(true, true))).toEqual(['own', 'other'])
  expect(arrange(found(false, false), found(true, true))).toEqual(['other', 'own'])
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
  const ask = openSearch({ sections: [['/a', 'A', '', '']], terms, synonyms: {} })
  expect(ask('w4999').sections.map(({ address }) => address)).toEqual(['/a'])
  expect(read).toBe(1)
  read = 0
  ask(names.slice(1000, 1020).join(' '))
  expect(read).toBe(8)
  read = 0
  ask('w w w w w w w w')
  expect(read).toBe(0)
})

test('a mistyped word reads at most six terms, however many are like it', () => {
  let read = 0
  const names = Array.from(
    { length: 26 * 26 },
    (_, n) =>
      `word${'abcdefghijklmnopqrstuvwxyz'[n % 26]}${'abcdefghijklmnopqrstuvwxyz'[Math.floor(n / 26)]}`,
  )
  const terms = new Proxy(Object.fromEntries(names.map((name) => [name, [1]])), {
    get(all, name: string) {
      read++
      return all[name]
    },
  })
  const ask = openSearch({ sections: [['/a', 'A', '', '']], terms, synonyms: {} })
  expect(ask('word1a').sections).toHaveLength(1)
  expect(read).toBe(6)
  read = 0
  ask(Array.from({ length: 20 }, (_, n) => `word${n + 10}a`).join(' '))
  expect(read).toBeLessThanOrEqual(48)
})

test('the page and the index are decompressed once', () => {
  const unpacked: string[] = []
  const docs: BuiltDocs = {
    has: () => true,
    newest: () => undefined,
    ready: () => {
      throw new Error('nobody asks')
    },
    text(name) {
      unpacked.push(name)
      return name.endsWith('.json') ? JSON.stringify(index) : '%query% <!--results-->'
    },
  }
  const pages = openSearchPages(docs, { take: () => {} })
  for (const q of ['quote', 'sandbox', 'quote']) pages.pageOf('search.html', { q })
  expect(unpacked.toSorted()).toEqual(['search.html', 'search/en.json'])
})
