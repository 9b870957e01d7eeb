import { randomInt } from 'node:crypto'
import { refuse } from '../../core/errors.ts'
import { codePoints } from '../../core/text.ts'
import { isCommon } from './common-passwords.ts'
import { type Hasher, hashQueue } from './hashing.ts'
import { passwordBits } from './password-strength.ts'

/** 32 characters that are hard to confuse: five bits each. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Groups of characters that are easy to type from a screen. */
export function randomGroups(count: number, length: number): string {
  const group = () => Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
  return Array.from({ length: count }, group).join('-')
}

/** A random password of 100 bits. */
export const newPassword = (): string => randomGroups(4, 5)

/** A password and its hash: argon2id with the library's parameters, which follow OWASP's advice. */
export type FreshPassword = { readonly password: string; readonly password_hash: string }

/** Never call inside a transaction: hashing waits in a queue and takes long. */
export async function freshPassword(hasher: Hasher, password = newPassword()): Promise<FreshPassword> {
  return { password, password_hash: await hasher.hash(password) }
}

/** For acts of operators, and for the demo. */
export const makePassword = (): Promise<FreshPassword> => hashQueue.inTurn({ kind: 'local' }, freshPassword)

/**
 * Hash of 32 random bytes that were thrown away. It is verified for an unknown e-mail, so that the answer takes the
 * same work.
 */
export const NOBODYS_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$A0qPBUFrGWtSlsKiU4wfKg$gU46eBcunQeH8YgfCOK92isYqbSt2Wh6/BWFEd45koQ'

const PASSWORD_LENGTH = { least: 12, most: 128 } as const

/** The least strength of a chosen password: four common words have 44 bits, nine random letters 42. */
const LEAST_BITS = 42

/** For passwords that users choose; generated ones are random. */
export function assertGoodPassword(
  password: string,
  { email, name }: { readonly email: string; readonly name: string },
  param = 'password',
): void {
  const { least, most } = PASSWORD_LENGTH
  const length = codePoints(password)
  const wrong =
    length < least || length > most
      ? `A password has ${least} to ${most} characters; this one has ${length}.`
      : (isCommon(password) || passwordBits(password, [email, name]) < LEAST_BITS) && EASY
  if (wrong) refuse('invalid_request', { param, message: wrong })
}

const EASY =
  'This password is easy to guess: common words, names, years, sequences and repeats count little. Use four or more words that do not belong together, or let a password manager make one.'
