type Document = { type: 'cpf' | 'cnpj'; value: string }

const cpfBare = /^[0-9]{11}$/
const cpfPunctuated = /^[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}$/
const cnpjBare = /^[0-9A-Za-z]{12}[0-9]{2}$/
const cnpjPunctuated = /^[0-9A-Za-z]{2}\.[0-9A-Za-z]{3}\.[0-9A-Za-z]{3}\/[0-9A-Za-z]{4}-[0-9]{2}$/

/** CPF and CNPJ, bare and punctuated, for schemas; a pattern cannot verify check digits. */
export const DOCUMENT_PATTERN = [cpfBare, cpfPunctuated, cnpjBare, cnpjPunctuated]
  .map(({ source }) => source)
  .join('|')
/** The form of a masked document. */
export const MASKED_PATTERN =
  '^([*]{3}[.][0-9]{3}[.][0-9]{3}-[*]{2}|[*]{2}[.][0-9A-Z]{3}[.][0-9A-Z]{3}/[0-9A-Z]{4}-[*]{2}|[*]{3})$'

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

/** Hides what identifies the holder; text that is not a bare document is hidden completely. */
export function maskDocument(value: string): string {
  if (cpfBare.test(value)) return `***.${value.slice(3, 6)}.${value.slice(6, 9)}-**`
  if (cnpjBare.test(value)) return `**.${value.slice(2, 5)}.${value.slice(5, 8)}/${value.slice(8, 12)}-**`
  return '***'
}

/** The CPF that begins with these nine digits. */
export function makeCpf(nine: string): string {
  if (!/^[0-9]{9}$/.test(nine)) throw new RangeError('A CPF is made from nine digits')
  return withCheckDigits(nine, 11)
}

/** The CNPJ that begins with these twelve digits or capital letters. */
export function makeCnpj(twelve: string): string {
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
