/**
 * The search of the docs, shared by the browser script and the server. Words match by prefix, and all words of a query must
 * match. It runs on the event loop that serves requests, for anonymous callers: the test bounds its cost.
 */
export type SearchIndex = {
  /** Address, page title, heading and first words of each section. */
  readonly sections: readonly (readonly [address: string, title: string, heading: string, text: string])[]
  /**
   * The sections of each word, as one number each: ten times the difference from the previous section, plus the weight there.
   */
  readonly terms: Readonly<Record<string, readonly number[]>>
}

export type FoundSection = {
  readonly address: string
  readonly title: string
  readonly heading: string
  readonly text: string
}

/** Returns the matches of a query, best first. */
export type Search = (query: string) => FoundSection[]

const RESULTS = 20
const WORDS = 8
const WORD_CHARS = 40

/** Score factors for a section whose title equals the query, or begins with it. */
const NAMED = 4
const NAMED_SO_FAR = 2
/** Score factor for a whole word instead of a prefix. */
const WHOLE = 4

/** Lower case without accents. */
export const foldText = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()

const wordPattern = /[\p{L}\p{N}]+(?:[_@.\-/]+[\p{L}\p{N}]+)*/gu

/** Reduces plurals to the singular: webhooks, currencies, devoluções. */
function singular(word: string): string {
  if (word.length < 4 || !/[^s]s$/.test(word)) return word
  return word.replace(/oes$/, 'ao').replace(/ies$/, 'y').replace(/s$/, '')
}

/**
 * The search terms of a text. A compound such as `quote_expired` or `timeout@sandbox.test` is a term, and so is each of its
 * parts.
 */
export function termsOf(text: string): string[] {
  const terms = new Set<string>()
  for (const [whole] of foldText(text).matchAll(wordPattern))
    for (const term of [whole, ...whole.split(/[_@.\-/]+/)]) if (isTerm(term)) terms.add(singular(term))
  return [...terms]
}

/** A single letter matches too many words. */
const isTerm = (word: string) => word.length > 1 && word.length < WORD_CHARS && !common.has(word)

/** Stop words. */
const common = new Set(
  'an and are as at be by can for from has have if in is it its not of on one or that the then there this to was what when which with you your para por que com uma um de da do em os as no na se ao ou mais'.split(
    ' ',
  ),
)

const wordsOf = (text: string): string[] =>
  [...foldText(text).matchAll(wordPattern)]
    .map(([word]) => word)
    .filter(isTerm)
    .map(singular)

export function openSearch({ sections, terms }: SearchIndex): Search {
  // Sorted, so that words with a common prefix are adjacent and found by binary search.
  const inOrder = Object.keys(terms).toSorted()
  const names = sections.map(([, title, heading]) => `${wordsOf(heading || title).join(' ')} `)
  return (query) => {
    const words = [...new Set(wordsOf(query))].slice(0, WORDS)
    if (words.length === 0) return []
    const places = words.map(placesOf)
    const name = `${words.join(' ')} `
    return sections
      .map((_, section) => [section, scoreOf(section, places, name)] as const)
      .filter(([, score]) => score > 0)
      .toSorted(([a, scoreOfA], [b, scoreOfB]) => scoreOfB - scoreOfA || a - b)
      .slice(0, RESULTS)
      .map(([section]) => {
        const [address, title, heading, text] = sections[section]!
        return { address, title, heading, text }
      })
  }

  function scoreOf(section: number, places: readonly Float64Array[], name: string): number {
    let sum = 0
    for (const scores of places) {
      if (scores[section] === 0) return 0
      sum += scores[section]!
    }
    if (!names[section]!.startsWith(name)) return sum
    return sum * (names[section] === name ? NAMED : NAMED_SO_FAR)
  }

  /** The score of a word per section: whole words count more than prefixes, rare words more than frequent ones. */
  function placesOf(word: string): Float64Array {
    const places = new Float64Array(sections.length)
    for (let at = firstFrom(word); inOrder[at]?.startsWith(word); at++) {
      const packed = terms[inOrder[at]!]!
      const weight = Math.log2(2 + sections.length / packed.length) * (inOrder[at] === word ? WHOLE : 1)
      let section = 0
      for (const number of packed) {
        section += Math.floor(number / 10)
        places[section] = Math.max(places[section]!, (number % 10) * weight)
      }
    }
    return places
  }

  function firstFrom(word: string): number {
    let [low, high] = [0, inOrder.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (inOrder[middle]! < word) low = middle + 1
      else high = middle
    }
    return low
  }
}
