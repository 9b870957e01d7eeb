/**
 * The search of the docs: the same for the script in the browser and for a reader without one. Words are found by how they
 * begin, and all words of a query must be found. It runs where requests are answered, for anybody: see its cost in the test.
 */
export type SearchIndex = {
  /** Address, title of the page, heading, the first words. */
  readonly sections: readonly (readonly [address: string, title: string, heading: string, text: string])[]
  /** In which sections a word stands: ten times the step from the section before, plus how much it counts there. */
  readonly terms: Readonly<Record<string, readonly number[]>>
}

export type Found = {
  readonly address: string
  readonly title: string
  readonly heading: string
  readonly text: string
}

/** What is found for a query, best first. */
export type Search = (query: string) => Found[]

const RESULTS = 20
const WORDS = 8
const WORD_CHARS = 40

/** How much more a section counts that is called what was asked for, or whose name begins so. */
const NAMED = 4
const NAMED_SO_FAR = 2
/** How much more a word counts that is there whole. */
const WHOLE = 4

/** Letters without their accents, in small letters. */
export const fold = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()

const wordPattern = /[\p{L}\p{N}]+(?:[_@.\-/]+[\p{L}\p{N}]+)*/gu

/** One and many are the same word: webhooks, currencies, devoluções. */
function singular(word: string): string {
  if (word.length < 4 || !/[^s]s$/.test(word)) return word
  return word.replace(/oes$/, 'ao').replace(/ies$/, 'y').replace(/s$/, '')
}

/** A compound such as `quote_expired` or `timeout@sandbox.test` is a word, and so is each of its parts. */
export function termsOf(text: string): string[] {
  const terms = new Set<string>()
  for (const [whole] of fold(text).matchAll(wordPattern))
    for (const term of [whole, ...whole.split(/[_@.\-/]+/)]) if (isTerm(term)) terms.add(singular(term))
  return [...terms]
}

/** Of one letter there are too many words that begin with it. */
const isTerm = (word: string) => word.length > 1 && word.length < WORD_CHARS && !common.has(word)

/** Words that stand everywhere and lead nowhere. */
const common = new Set(
  'an and are as at be by can for from has have if in is it its not of on one or that the then there this to was what when which with you your para por que com uma um de da do em os as no na se ao ou mais'.split(
    ' ',
  ),
)

const wordsOf = (text: string): string[] =>
  [...fold(text).matchAll(wordPattern)]
    .map(([word]) => word)
    .filter(isTerm)
    .map(singular)

export function openSearch({ sections, terms }: SearchIndex): Search {
  // Words that begin alike stand together, so that they are found without looking at the rest.
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

  /** A word that is there whole counts more than one that only begins so, and a rare one more than a frequent one. */
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
