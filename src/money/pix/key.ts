import { DOCUMENT_PATTERN, parseDocument } from '../../core/document.ts'

type PixKey = { type: 'cpf' | 'cnpj' | 'email' | 'phone' | 'random'; key: string }

/** Longest key that the DICT allows. */
export const PIX_KEY_MAX = 77

// The expression of the DICT API, plus at least one dot in the domain. Both cases are written out: under the flags `iu`
// the Kelvin sign would match K.
const email =
  /^[A-Za-z0-9.!#$&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)+$/

// +5511987654321, +55 (11) 98765-4321, +55 11 9 8765-4321. Only mobile numbers, which all begin with 9, are keys.
const phone =
  /^\+55[ -]?(?:\((?<enclosed>[0-9]{2})\)|(?<plain>[0-9]{2}))[ -]?(?<front>9 ?[0-9]{4})[ -]?(?<back>[0-9]{4})$/

// Any UUID version: the DICT's own example of a random key is not of version 4.
const random = /^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$/

// Anatel's numbering plan leaves the other codes unassigned.
const areaCodes: ReadonlySet<string> = new Set(
  [
    '11 12 13 14 15 16 17 18 19',
    '21 22 24 27 28',
    '31 32 33 34 35 37 38',
    '41 42 43 44 45 46 47 48 49',
    '51 53 54 55',
    '61 62 63 64 65 66 67 68 69',
    '71 73 74 75 77 79',
    '81 82 83 84 85 86 87 88 89',
    '91 92 93 94 95 96 97 98 99',
  ].flatMap((region) => region.split(' ')),
)

/** The five forms, for schemas, which allow no named groups. Check digits and area codes are checked by `parsePixKey`. */
export const PIX_KEY_PATTERN = [
  DOCUMENT_PATTERN,
  email.source,
  phone.source.replaceAll(/\?<\w+>/g, '?:'),
  random.source,
].join('|')

/**
 * The key as the directory spells it (contract §8). No text has the shape of two types: only an e-mail has an @, only a
 * phone otherwise begins with +, and eleven bare digits are a CPF, never a phone.
 */
export function parsePixKey(text: string): PixKey | undefined {
  if (text.includes('@')) return parseEmail(text)
  if (text.startsWith('+')) return parsePhone(text)
  if (random.test(text)) return { type: 'random', key: text.toLowerCase() }
  const document = parseDocument(text)
  return document && { type: document.type, key: document.value }
}

function parseEmail(text: string): PixKey | undefined {
  if (text.length > PIX_KEY_MAX || !email.test(text)) return undefined
  return { type: 'email', key: text.toLowerCase() }
}

function parsePhone(text: string): PixKey | undefined {
  const parts = phone.exec(text)?.groups
  const areaCode = parts?.enclosed ?? parts?.plain
  if (parts === undefined || areaCode === undefined || !areaCodes.has(areaCode)) return undefined
  return { type: 'phone', key: `+55${areaCode}${parts.front}${parts.back}`.replace(' ', '') }
}
