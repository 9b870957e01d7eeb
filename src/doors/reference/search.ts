/**
 * The search of the docs, shared by the browser script and the server. Words match by their letters, by prefix, by synonym and
 * with one or two typing errors; sections that have more of the words rank higher. It runs on the event loop that serves
 * requests, for anonymous callers: the constants below bound its cost, and the test counts what a query reads.
 */
export type SearchIndex = {
  /** Address, page title, heading and first words of each section, and a score factor if it is not 1. */
  readonly sections: readonly (readonly [
    address: string,
    title: string,
    heading: string,
    text: string,
    factor?: number,
  ])[]
  /**
   * The sections of each word, as one number each: ten times the difference from the previous section, plus the weight there.
   */
  readonly terms: Readonly<Record<string, readonly number[]>>
  /** Words that also find the sections of other words. */
  readonly synonyms: Readonly<Record<string, readonly string[]>>
}

export type FoundSection = {
  readonly address: string
  readonly title: string
  readonly heading: string
  readonly text: string
}

export type Found = {
  /** Best first. */
  readonly sections: readonly FoundSection[]
  /** The best section has every word of the query, if only by a synonym or with a typing error. */
  readonly complete: boolean
  /** The best section has every word of the query as it was typed. */
  readonly literal: boolean
}

export type Search = (query: string) => Found

const RESULTS = 20
/** A page fills at most so many of the results. */
const SECTIONS_OF_A_PAGE = 3
const WORDS = 8
const WORD_CHARS = 40
/** A word is the beginning of at most so many terms. */
const BEGUN = 150
/** A word is compared with at most so many terms for typing errors, and matches at most so many of them. */
const COMPARED = 2000
const MISTYPED = 6

/** Score factors by how a word matched. */
const WHOLE = 1
const SYNONYM = 0.75
const STEM = 0.5
const PREFIX = 0.4
const ONE_ERROR = 0.6
const TWO_ERRORS = 0.4
/** What a match in the title of the page counts for a section of that page. */
const IN_TITLE = 0.5
/** Score factors for a section whose title equals the query, or begins with it. */
const NAMED = 2
const NAMED_SO_FAR = 1.3
/** The weight at which a further mention of a word no longer counts much. */
const SATURATION = 10

/** Lower case without accents. */
export const foldText = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()

const wordPattern = /[\p{L}\p{N}]+(?:[_@.\-/]+[\p{L}\p{N}]+)*/gu
const joints = /[_@.\-/]+/

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
    for (const term of [whole, ...whole.split(joints)]) if (isTerm(term)) terms.add(singular(term))
  return [...terms]
}

/** A single letter matches too many words. */
const isTerm = (word: string) => word.length > 1 && word.length < WORD_CHARS && !common.has(word)

/** Stop words. */
const common = new Set(
  (
    'an and are as at be by can did do does for from has have how if in is it its me my not of on one or our should that the then there ' +
    'this to was we what when where which why will with would you your ' +
    'para por que com uma um de da do em os as no na se ao ou mais como qual quais onde quando porque meu minha eu faco fazer posso'
  ).split(' '),
)

const wordsOf = (text: string): string[] =>
  [...foldText(text).matchAll(wordPattern)]
    .map(([word]) => word)
    .filter(isTerm)
    .map(singular)

/** The beginning that forms of a word share: reconciling, reconciled. */
const stemOf = (word: string): string => {
  const stem = word.replace(/(?:ations?|ing|ed|ion|e|ar|er|ir)$/, '')
  return stem.length < 4 ? word : stem
}

/** How many errors a word of this length may have. */
const errorsIn = ({ length }: string): number => (length < 4 ? 0 : length < 8 ? 1 : 2)

/** The last three rows of the table that `editsBetween` fills, kept because it runs hundreds of times per query. */
const rows = [0, 1, 2].map(() => new Uint8Array(WORD_CHARS + 1))

/**
 * The number of letters to add, remove, replace or swap with their neighbour to get from one word to the other; `most + 1` as soon
 * as it must be more than `most`. Words have less than 40 letters.
 */
export function editsBetween(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let [older, old, row] = rows as [Uint8Array, Uint8Array, Uint8Array]
  for (let j = 0; j <= b.length; j++) old[j] = j
  for (let i = 1; i <= a.length; i++) {
    row[0] = i
    let least = i
    const letter = a.charCodeAt(i - 1)
    for (let j = 1; j <= b.length; j++) {
      let edits = old[j - 1]! + (letter === b.charCodeAt(j - 1) ? 0 : 1)
      edits = Math.min(edits, old[j]! + 1, row[j - 1]! + 1)
      const isSwap =
        i > 1 && j > 1 && letter === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1)
      if (isSwap) edits = Math.min(edits, older[j - 2]! + 1)
      row[j] = edits
      if (edits < least) least = edits
    }
    if (least > most) return most + 1
    ;[older, old, row] = [old, row, older]
  }
  return Math.min(old[b.length]!, most + 1)
}

/** How well one word of the query matches each section, from 0 to 1, and how much the word says. */
type Matches = {
  readonly scores: Float64Array
  /** The sections in which the word matched as it was typed. */
  readonly literal: Uint8Array
  readonly rarity: number
}

export function openSearch(index: SearchIndex): Search {
  const { sections } = index
  const { matchesOf, isKnown } = openTerms(index)
  const names = sections.map(([, title, heading]) => `${wordsOf(heading || title).join(' ')} `)
  const firstOfPage = new Map<string, number>()
  const pageOf = sections.map(([address], section) => {
    const [page] = address.split('#') as [string]
    if (!firstOfPage.has(page)) firstOfPage.set(page, section)
    return firstOfPage.get(page)!
  })

  return (query) => {
    const words = [...new Set(wordsOf(query).flatMap(knownOrParts))].slice(0, WORDS)
    const matches = words.map(matchesOf)
    const known = matches.filter(({ rarity }) => rarity > 0)
    const name = `${words.join(' ')} `
    const ranked = sections
      .map((_, section) => [section, scoreOf(section, known, name)] as const)
      .filter(([, score]) => score > 0)
      .toSorted(([a, scoreOfA], [b, scoreOfB]) => scoreOfB - scoreOfA || a - b)
    const best = ranked[0]?.[0]
    const has = (one: Matches, section: number) => shareOf(one, section) > 0
    const isLiteral = ({ literal }: Matches, section: number) => literal[section] || literal[pageOf[section]!]
    return {
      sections: fewOfEachPage(ranked.map(([section]) => section)).map((section) => {
        const [address, title, heading, text] = sections[section]!
        return { address, title, heading, text }
      }),
      complete: best !== undefined && matches.every((one) => has(one, best)),
      literal: best !== undefined && matches.every((one) => isLiteral(one, best)),
    }
  }

  /** A compound that the docs do not have may have been put together from words that they have: quote-expired. */
  function knownOrParts(word: string): string[] {
    return isKnown(word) ? [word] : word.split(joints).filter(isTerm).map(singular)
  }

  /** The share of a word that a section matches; what the title of its page says counts for all its sections. */
  function shareOf({ scores }: Matches, section: number): number {
    return Math.max(scores[section]!, scores[pageOf[section]!]! * IN_TITLE)
  }

  /**
   * The sum over the words, rare words first. A section that lacks words loses more than their part, so that a section with all
   * words of a question stands before sections that repeat one of them.
   */
  function scoreOf(section: number, matches: readonly Matches[], name: string): number {
    let [sum, matched, all, own] = [0, 0, 0, false]
    for (const one of matches) {
      const share = shareOf(one, section)
      own ||= one.scores[section]! > 0
      all += one.rarity
      if (share > 0) matched += one.rarity
      sum += share * one.rarity
    }
    if (!own) return 0
    const [, , , , factor = 1] = sections[section]!
    const score = sum * (matched / all) ** 2 * factor
    if (!names[section]!.startsWith(name)) return score
    return score * (names[section] === name ? NAMED : NAMED_SO_FAR)
  }

  function fewOfEachPage(ranked: readonly number[]): number[] {
    const counts = new Map<number, number>()
    const kept: number[] = []
    for (const section of ranked) {
      const count = counts.get(pageOf[section]!) ?? 0
      counts.set(pageOf[section]!, count + 1)
      if (count < SECTIONS_OF_A_PAGE) kept.push(section)
      if (kept.length === RESULTS) break
    }
    return kept
  }
}

/** The words of the index, as a query finds them. */
function openTerms({ sections, terms, synonyms }: SearchIndex) {
  // Sorted, so that words with a common prefix are adjacent and found by binary search.
  const inOrder = Object.keys(terms).toSorted()
  const isKnown = (word: string) => inOrder[firstFrom(word)]?.startsWith(word) === true
  return { matchesOf, isKnown }

  function matchesOf(word: string): Matches {
    const scores = new Float64Array(sections.length)
    const literal = new Uint8Array(sections.length)
    let whole = 0
    for (const term of startingWith(word)) {
      if (term === word) whole = note(term, WHOLE, literal)
      else note(term, PREFIX * (0.5 + (0.5 * word.length) / term.length), literal)
    }
    if (Object.hasOwn(synonyms, word)) for (const other of synonyms[word]!) note(other, SYNONYM)
    // A word that is in the docs is spelt right.
    if (whole === 0) {
      const stem = stemOf(word)
      if (stem !== word) for (const term of startingWith(stem)) note(term, STEM)
      for (const [term, edits] of mistyped(word)) note(term, edits === 1 ? ONE_ERROR : TWO_ERRORS)
    }
    const found = whole || scores.reduce((count, score) => count + Math.sign(score), 0)
    return {
      scores,
      literal,
      rarity: found === 0 ? 0 : Math.log(1 + (sections.length - found + 0.5) / (found + 0.5)),
    }

    /** Adds the sections of a term, to `typed` too if the word has its letters, and returns how many there are. */
    function note(term: string, factor: number, typed?: Uint8Array): number {
      if (!Object.hasOwn(terms, term)) return 0
      const packed = terms[term]!
      let section = 0
      for (const number of packed) {
        section += Math.floor(number / 10)
        const weight = number % 10
        scores[section] = Math.max(scores[section]!, (weight / (weight + SATURATION)) * factor)
        if (typed) typed[section] = 1
      }
      return packed.length
    }
  }

  function* startingWith(prefix: string, most = BEGUN): Generator<string> {
    const first = firstFrom(prefix)
    for (let at = first; at < first + most && inOrder[at]?.startsWith(prefix); at++) yield inOrder[at]!
  }

  /**
   * The terms that differ from a word by one typing error, or else by two. The first letter is seldom wrong, so only terms that
   * begin with it, or with the second letter, are compared.
   */
  function mistyped(word: string): [term: string, edits: number][] {
    const most = errorsIn(word)
    if (most === 0) return []
    const near: [string, number][] = []
    for (const letter of new Set(word.slice(0, 2)))
      for (const term of startingWith(letter, COMPARED / 2)) {
        if (Math.abs(term.length - word.length) > most || term.length < 4) continue
        const edits = editsBetween(word, term, most)
        if (edits <= most) near.push([term, edits])
      }
    // A term with two errors says little beside one with a single error.
    const least = Math.min(...near.map(([, edits]) => edits))
    return near.filter(([, edits]) => edits === least).slice(0, MISTYPED)
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

export const nothingFound: Found = { sections: [], complete: false, literal: false }

/** Whether to search the other language too: not if a page in the reader's own language has the words as they were typed. */
export const needsOther = (own: Found): boolean => !own.literal

/** In which order to show both languages: the reader's own first, unless only the other one has all words. */
export function arrange(own: Found, other: Found): readonly ('own' | 'other')[] {
  if (own.sections.length === 0) return other.sections.length === 0 ? [] : ['other']
  if (!other.literal) return ['own']
  return own.complete ? ['own', 'other'] : ['other', 'own']
}
