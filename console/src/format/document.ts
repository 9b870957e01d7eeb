const CPF = /^([0-9]{11}|[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2})$/
const CNPJ = /^([0-9A-Za-z]{12}[0-9]{2}|[0-9A-Za-z]{2}(\.[0-9A-Za-z]{3}){2}\/[0-9A-Za-z]{4}-[0-9]{2})$/

/** Whether it is a CPF or CNPJ with right check digits, bare or with its points. The service decides by the same rule. */
export function isDocument(text: string): boolean {
  if (CPF.test(text)) return isGenuine(text.replace(/[.-]/g, ''), 11)
  return CNPJ.test(text) && isGenuine(text.replace(/[./-]/g, '').toUpperCase(), 9)
}

/** One digit repeated fits the arithmetic, and is never issued. */
function isGenuine(value: string, most: number): boolean {
  const repeated = value === value.charAt(0).repeat(value.length)
  const first = value.slice(0, -2) + checkDigit(value.slice(0, -2), most)
  return !repeated && first + checkDigit(first, most) === value
}

/** Modulus 11; weights run 2, 3, … from the right and start again after the most. */
function checkDigit(characters: string, most: number): number {
  const sum = [...characters]
    .reverse()
    .reduce((sum, character, i) => sum + (character.charCodeAt(0) - 48) * (2 + (i % (most - 1))), 0)
  return sum % 11 < 2 ? 0 : 11 - (sum % 11)
}
