import { COMMON_WORD_LENGTH, isCommonWord } from './common-words.ts'

/**
 * Estimates the strength of a password in bits, up to about 64. Common words, names, sequences, repeats and years count
 * little however long they are; everything else counts as random. The time is linear in the length of the password:
 * zxcvbn takes seconds for long ones, which strangers could use to stop the service (decision 0025).
 */
export function passwordBits(password: string, personal: readonly string[]): number {
  const own = new Set(personal.flatMap((text) => plain(text).split(/[^a-z0-9]+/)).filter(isTelling))
  const chars = withoutRepeats(squeeze([...plain(password)]))
  const [even, odd] = [0, 1].map((rest) => chars.filter((_, i) => i % 2 === rest))
  // 1q2w3e4r is two interleaved sequences.
  return Math.min(bitsOf(chars, own), bitsOf(even!, own) + bitsOf(odd!, own) + BITS.repeat)
}

const BITS = {
  word: 11,
  personal: 4,
  sequence: 6,
  year: 6,
  letter: 4.7,
  digit: 3.3,
  other: 4,
  space: 1,
  repeat: 2,
}

/** Parts of an e-mail or a name that are long enough to be recognised. */
const isTelling = (part: string): boolean => part.length >= 3

/** Without accents and capitals. */
const plain = (text: string): string => text.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '')

/** A character that is typed several times in a row counts once. */
const squeeze = (chars: readonly string[]): string[] => chars.filter((char, i) => char !== chars[i - 1])

/** The repeated part of a text that consists of repeats: `abc` of `abcabcab`. Any other text is returned whole. */
function withoutRepeats(chars: readonly string[]): readonly string[] {
  const borders = [0]
  for (let i = 1, length = 0; i < chars.length; i++) {
    while (length > 0 && chars[i] !== chars[length]) length = borders[length - 1]!
    if (chars[i] === chars[length]) length++
    borders[i] = length
  }
  const part = chars.length - (borders.at(-1) ?? 0)
  return 2 * part <= chars.length ? chars.slice(0, part) : chars
}

/** No rule needs more bits, and the limit bounds the time for long passwords. */
const ENOUGH = 64

function bitsOf(chars: readonly string[], own: ReadonlySet<string>): number {
  let bits = 0
  for (let i = 0; i < chars.length && bits < ENOUGH; ) {
    const found = longestOf([
      personalAt(chars, i, own),
      sequenceAt(chars, i),
      yearAt(chars, i),
      wordAt(chars, i),
    ])
    bits += found?.bits ?? bitsOfChar(chars[i]!)
    i += found?.length ?? 1
  }
  return bits
}

type Found = { readonly length: number; readonly bits: number } | undefined

const longestOf = (all: readonly Found[]): Found =>
  all.reduce((best, one) => ((one?.length ?? 0) > (best?.length ?? 0) ? one : best), undefined)

function bitsOfChar(char: string): number {
  if (/[0-9]/.test(char)) return BITS.digit
  if (/\s/.test(char)) return BITS.space
  return /\p{L}/u.test(char) ? BITS.letter : BITS.other
}

/** Characters that people type in place of letters. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
}

function wordAt(chars: readonly string[], start: number): Found {
  const { least, most } = COMMON_WORD_LENGTH
  let text = ''
  let found: Found
  for (const char of chars.slice(start, start + most)) {
    const letter = LOOKALIKES[char] ?? char
    if (!/^[a-z]$/.test(letter)) break
    text += letter
    if (text.length >= least && isCommonWord(text)) found = { length: text.length, bits: BITS.word }
  }
  return found
}

function personalAt(chars: readonly string[], start: number, own: ReadonlySet<string>): Found {
  for (const part of own) {
    const { length } = squeeze([...part])
    if (chars.slice(start, start + length).join('') === squeeze([...part]).join(''))
      return { length, bits: BITS.personal }
  }
  return undefined
}

const SEQUENCES = ['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'].flatMap(
  (row) => [row, [...row].reverse().join('')],
)
const SEQUENCE_LEAST = 3

function sequenceAt(chars: readonly string[], start: number): Found {
  const length = Math.max(...SEQUENCES.map((row) => followsIn(row, chars, start)))
  return length >= SEQUENCE_LEAST ? { length, bits: BITS.sequence } : undefined
}

/** How many characters from `start` on follow each other in the row. */
function followsIn(row: string, chars: readonly string[], start: number): number {
  let at = row.indexOf(chars[start]!)
  if (at < 0) return 0
  // Zero stands at both ends of the row of digits.
  if (row[at + 1] !== chars[start + 1]) at = row.lastIndexOf(chars[start]!)
  let length = 0
  while (row[at + length] !== undefined && row[at + length] === chars[start + length]) length++
  return length
}

function yearAt(chars: readonly string[], start: number): Found {
  const text = chars.slice(start, start + 4).join('')
  return /^(19|20)[0-9]{2}$/.test(text) ? { length: 4, bits: BITS.year } : undefined
}
