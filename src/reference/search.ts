/**
 * The search of the docs: the same for the script in the browser and for a reader without one. Words are found by how they
 * begin, and all words of a query must be found.
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

const RESULTS = 20
const WORDS = 8

/** Letters without their accents, in small letters. */
export const fold = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()

const wordPattern = /[\p{L}\p{N}]+(?:[_@.\-/]+[\p{L}\p{N}]+)*/gu

/** A compound such as `quote_expired` or `timeout@sandbox.test` is a word, and so is each of its parts. */
export function termsOf(text: string): string[] {
  const terms = new Set<string>()
  for (const [whole] of fold(text).matchAll(wordPattern)) {
    if (whole.length > 1 && whole.length < 40) terms.add(whole)
    for (const part of whole.split(/[_@.\-/]+/)) if (part.length > 1 && part.length < 40) terms.add(part)
  }
  return [...terms].filter((term) => !common.has(term))
}

/** Words that stand everywhere and lead nowhere. */
const common = new Set(
  'an and are as at be by can for from has have if in is it its not of on one or that the then there this to was what when which with you your para por que com uma um de da do em os as no na se ao ou mais'.split(
    ' ',
  ),
)

export function search(index: SearchIndex, query: string): Found[] {
  const words = [...fold(query).matchAll(wordPattern)]
    .map(([word]) => word)
    .filter((word) => !common.has(word))
    .slice(0, WORDS)
  if (words.length === 0) return []
  const [first, ...rest] = words.map((word) => placesOf(index, word))
  const scores = [...first!].flatMap(([section, score]) => {
    const others = rest.map((places) => places.get(section) ?? 0)
    return others.includes(0) ? [] : [[section, others.reduce((sum, one) => sum + one, score)] as const]
  })
  return scores
    .toSorted(([a, scoreOfA], [b, scoreOfB]) => scoreOfB - scoreOfA || a - b)
    .slice(0, RESULTS)
    .map(([section]) => {
      const [address, title, heading, text] = index.sections[section]!
      return { address, title, heading, text }
    })
}

/** A word that is there whole counts more than one that only begins so, and a rare one more than a frequent one. */
function placesOf({ terms, sections }: SearchIndex, word: string): Map<number, number> {
  const places = new Map<number, number>()
  for (const [term, packed] of Object.entries(terms)) {
    if (!term.startsWith(word)) continue
    const rare = Math.log2(2 + sections.length / packed.length)
    let section = 0
    for (const number of packed) {
      section += Math.floor(number / 10)
      const score = (number % 10) * rare * (term === word ? 4 : 1)
      places.set(section, Math.max(places.get(section) ?? 0, score))
    }
  }
  return places
}
