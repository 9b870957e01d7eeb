/** Letters that people type without their marks, with the marks that names have. */
const marked: Readonly<Record<string, string>> = {
  a: 'áàâãäå',
  c: 'ç',
  e: 'éèêë',
  i: 'íìîï',
  n: 'ñ',
  o: 'óòôõöø',
  u: 'úùûü',
  y: 'ýÿ',
}

/** Combining marks: a stored name may have its marks as separate characters behind the letters. */
const MARKS = '[\u0300-\u036f]*'

/** Lower case, without marks. */
const plain = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()

/**
 * A regular expression of PostgreSQL for text in names, whatever its case and marks. Matching costs about as much as
 * `lower(name)`; functions that remove marks cost seven times as much.
 */
export function namePattern(text: string): string {
  return [...plain(text)]
    .map((letter) => {
      const upper = letter.toUpperCase()
      if (upper === letter || [...upper].length > 1) return `[${letter.replace(/[[\]\\^-]/, '\\$&')}]`
      const all = letter + (marked[letter] ?? '')
      return `[${all}${all.toUpperCase()}]${MARKS}`
    })
    .join('')
}

/** Words of a name begin after these. */
const BEFORE_WORDS = `(^|[ '’(-])`
const WORDS_MAX = 8

/** One pattern per word: a name matches when each word of the text begins a word of it. */
export const wordPatterns = (text: string): string[] =>
  text
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, WORDS_MAX)
    .map((word) => BEFORE_WORDS + namePattern(word))
