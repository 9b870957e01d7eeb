// Written by `npm run generate` from src/core/document.ts and src/money/pix/key.ts. Not to be edited.

type Document = { type: 'cpf' | 'cnpj'; value: string }

const cpfBare = /^[0-9]{11}$/
const cpfPunctuated = /^[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}$/
const cnpjBare = /^[0-9A-Za-z]{12}[0-9]{2}$/
const cnpjPunctuated = /^[0-9A-Za-z]{2}\.[0-9A-Za-z]{3}\.[0-9A-Za-z]{3}\/[0-9A-Za-z]{4}-[0-9]{2}$/

export function parseDocument(text: string): Document | undefined {
  if (cpfBare.test(text) || cpfPunctuated.test(text)) {
    const value = text.replace(/[.-]/g, '')
    return isGenuine(value, makeCpf) ? { type: 'cpf', value } : undefined
  }
  // The shape is tested before upper-casing: 'ſ' and 'ı' would turn into the plain letters S and I.
  if (cnpjBare.test(text) || cnpjPunctuated.test(text)) {
    const value = text.replace(/[./-]/g, '').toUpperCase()
    return isGenuine(value, makeCnpj) ? { type: 'cnpj', value } : undefined
  }
  return undefined
}

/** The CPF that begins with these nine digits. */
function makeCpf(nine: string): string {
  if (!/^[0-9]{9}$/.test(nine)) throw new RangeError('A CPF is made from nine digits')
  return withCheckDigits(nine, 11)
}

/** The CNPJ that begins with these twelve digits or capital letters. */
function makeCnpj(twelve: string): string {
  if (!/^[0-9A-Z]{12}$/.test(twelve)) throw new RangeError('A CNPJ is made from twelve digits or capitals')
  return withCheckDigits(twelve, 9)
}

function isGenuine(value: string, make: (base: string) => string): boolean {
  // A repeated digit passes the arithmetic of a CPF but is never issued.
  const repeated = value === value.charAt(0).repeat(value.length)
  return !repeated && make(value.slice(0, -2)) === value
}

function withCheckDigits(base: string, weightMax: number): string {
  const first = base + checkDigit(base, weightMax)
  return first + checkDigit(first, weightMax)
}

/** Modulus 11; weights run 2, 3, … from the right and start again after weightMax. */
function checkDigit(characters: string, weightMax: number): number {
  let sum = 0
  let weight = 2
  for (let index = characters.length - 1; index >= 0; index--) {
    sum += (characters.charCodeAt(index) - 48) * weight
    weight = weight === weightMax ? 2 : weight + 1
  }
  const rest = sum % 11
  return rest < 2 ? 0 : 11 - rest
}

type PixKey = { type: 'cpf' | 'cnpj' | 'email' | 'phone' | 'random'; key: string }

/** Longest key that the DICT allows. */
const PIX_KEY_MAX = 77

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
