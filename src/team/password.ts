import { randomInt } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { refuse } from '../core/errors.ts'
import { codePoints } from '../core/text.ts'
import { isCommon } from './common-passwords.ts'

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

export const PASSWORD_LENGTH = { least: 12, most: 128 } as const

/** Of what a person chooses. Those that are made here are random. */
export function assertGoodPassword(password: string, email: string, param = 'password'): void {
  const { least, most } = PASSWORD_LENGTH
  const length = codePoints(password)
  const wrong =
    length < least || length > most
      ? `A password has ${least} to ${most} characters; this one has ${length}.`
      : isCommon(password)
        ? 'This password is one of those that are guessed first. Choose another one.'
        : password.toLowerCase() === email.toLowerCase() && 'A password is not the e-mail address.'
  if (wrong) refuse('invalid_request', { param, message: wrong })
}
