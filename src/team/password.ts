import { randomInt } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'

const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Four groups of five: 100 bits, and still possible to type from a screen. */
export function newPassword(): string {
  const group = () => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return [group(), group(), group(), group()].join('-')
}

/** argon2id with the library's parameters, which follow OWASP's advice. */
export const hashPassword = (password: string): Promise<string> => hash(password)

export const passwordFits = (password_hash: string, password: string): Promise<boolean> =>
  verify(password_hash, password)
