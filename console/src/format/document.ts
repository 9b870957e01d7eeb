const CPF = /^([0-9]{11}|[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2})$/
const CNPJ = /^([0-9A-Za-z]{12}[0-9]{2}|[0-9A-Za-z]{2}(\.[0-9A-Za-z]{3}){2}\/[0-9A-Za-z]{4}-[0-9]{2})$/

/**
 * Whether the text is a CPF or CNPJ with valid check digits, with or without punctuation. The service applies the same rule.
 */
export function isDocument(text: string): boolean {
  if (CPF.test(text)) return isGenuine(text.replace(/[.-]/g, ''), 11)
  return CNPJ.test(text) && isGenuine(text.replace(/[./-]/g, '').toUpperCase(), 9)
}

/** A repeated single digit passes the check-digit rule but is never issued. */
function isGenuine(value: string, most: number): boolean {
  const repeated = value === value.charAt(0).repeat(value.length)
  const first = value.slice(0, -2) + checkDigit(value.slice(0, -2), most)
  return !repeated && first + checkDigit(first, most) === value
}

/** Modulus 11; weights run 2, 3, … from the right and restart after `most`. */
function checkDigit(characters: string, most: number): number {
  const sum = [...characters]
    .reverse()
    .reduce((sum, character, i) => sum + (character.charCodeAt(0) - 48) * (2 + (i % (most - 1))), 0)
  return sum % 11 < 2 ? 0 : 11 - (sum % 11)
}
