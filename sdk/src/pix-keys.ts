import { parseDocument, parsePixKey } from './generated/pix-key.js'

/** Whether the text is a CPF with the right check digits: 11 digits, or written 529.982.247-25. */
export const isCpf = (text: string): boolean =>
  typeof text === 'string' && parseDocument(text)?.type === 'cpf'

/** Whether the text is a CNPJ with the right check digits, also one with letters: 14 characters, or written 12.ABC.345/01DE-35. */
export const isCnpj = (text: string): boolean =>
  typeof text === 'string' && parseDocument(text)?.type === 'cnpj'

/**
 * Whether the text has the form of a Pix key: CPF, CNPJ, e-mail, mobile phone (+55…) or random key. Whether the key exists, and
 * whose it is, says `pix.keys.get`.
 */
export const isPixKey = (text: string): boolean => typeof text === 'string' && parsePixKey(text) !== undefined
