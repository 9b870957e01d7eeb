import { randomInt } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'

/** 32 characters that are not taken for each other: five bits each. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Groups that can be typed from a screen. */
export function randomGroups(count: number, length: number): string {
  const group = () => Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
  return Array.from({ length: count }, group).join('-')
}

/** 100 bits. */
export const newPassword = (): string => randomGroups(4, 5)

/** argon2id with the library's parameters, which follow OWASP's advice. */
export const hashPassword = (password: string): Promise<string> => hash(password)

/** Of 32 random bytes that nobody has. Where there is no person, this is verified: it is as much work, and tells nothing. */
export const NOBODYS_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$A0qPBUFrGWtSlsKiU4wfKg$gU46eBcunQeH8YgfCOK92isYqbSt2Wh6/BWFEd45koQ'

export const passwordFits = (password_hash: string, password: string): Promise<boolean> =>
  verify(password_hash, password)
